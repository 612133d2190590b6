"""Kernel sums within a tolerance beside all pairs, scikit-learn's KernelDensity and KDEpy's FFTKDE.

Training points and queries from a mixture; the bandwidth is Silverman's, about the cross-validated optimum,
and a third of it. All pairs and KernelDensity are timed on a sample of the queries and scaled up
(``extra_info`` says how many). FFTKDE works on a grid, here of 1024 points a side, and interpolates the
queries from it; its largest relative error on the sample is reported beside ours.
Size: SPECTRALCLS_BENCH_N (default 100000).
"""

import os
import resource
import time

import numpy as np
import pytest
from KDEpy import FFTKDE
from scipy.interpolate import RegularGridInterpolator
from sklearn.neighbors import KernelDensity

from spectralcls._tolerance import approximate_sums
from spectralcls.kernels import kernel_sums

N = int(float(os.environ.get("SPECTRALCLS_BENCH_N", 100_000)))
RTOL = 1e-3


def mixture(n, d, seed):
    shape, draw = np.random.default_rng(0), np.random.default_rng(seed)
    centres, scales = shape.uniform(-4, 4, size=(8, d)), shape.uniform(0.3, 1.2, size=8)
    label = draw.integers(8, size=n)
    return centres[label] + draw.normal(size=(n, d)) * scales[label, None]


def silverman(X):
    n, d = X.shape
    return np.sqrt(X.var(axis=0).mean()) * (4 / ((2 * d + 1) * n)) ** (1 / (d + 4))


def timed(function, *args, **kwargs):
    start = time.perf_counter()
    result = function(*args, **kwargs)
    return result, time.perf_counter() - start


def relative_error(values, truth):
    return float(np.max(np.abs(values - truth) / truth))


def fft_density(X, Q, h):
    """FFTKDE on a grid, then linear interpolation at the queries."""
    grid, values = FFTKDE(kernel="gaussian", bw=h).fit(X).evaluate(1024)
    axes = [np.unique(grid[:, k]) for k in range(X.shape[1])]
    values = values.reshape([len(a) for a in axes])
    return RegularGridInterpolator(axes, values, bounds_error=False, fill_value=0)(Q)


@pytest.mark.parametrize("d, share", [(2, 1.0), (2, 1 / 3), (3, 1.0), (3, 1 / 3)])
def test_tolerance(benchmark, d, share):
    X, Q = mixture(N, d, 1), mixture(N, d, 2)
    h = silverman(X) * share
    ours = benchmark.pedantic(
        approximate_sums, (Q, X), {"bandwidth": h, "rtol": RTOL}, rounds=1, warmup_rounds=0
    )
    assert ours is not None
    ours, seconds = ours[:, 0, 0, 0], benchmark.stats.stats.min

    n_sampled = min(N, max(512, int(4e9 / N)))
    sample = np.random.default_rng(3).choice(N, n_sampled, replace=False)
    truth, exact_seconds = timed(kernel_sums, Q[sample], X, bandwidth=h)
    error = relative_error(ours[sample], truth)
    assert error <= RTOL
    exact_seconds *= N / n_sampled

    n_peer = min(n_sampled, max(100, int(4e8 / N)))
    tree, fit_seconds = timed(KernelDensity(bandwidth=h, rtol=RTOL).fit, X)
    _, peer_seconds = timed(tree.score_samples, Q[sample[:n_peer]])
    peer_seconds = fit_seconds + peer_seconds * N / n_peer
    info = {}
    if d == 2:
        fft, fft_seconds = timed(fft_density, X, Q, h)
        density = truth / (N * 2 * np.pi * h**2)
        info = {"fftkde_seconds": fft_seconds, "fftkde_ratio": fft_seconds / seconds,
                "fftkde_relative_error": relative_error(fft[sample], density)}
    benchmark.extra_info.update(
        n=N, d=d, bandwidth=h, relative_error=error, pairs_per_second=N * N / seconds, n_sampled=n_sampled,
        all_pairs_seconds=exact_seconds, all_pairs_ratio=exact_seconds / seconds,
        kernel_density_seconds=peer_seconds, kernel_density_ratio=peer_seconds / seconds,
        peak_gib=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, **info,
    )
