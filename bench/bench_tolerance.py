"""Kernel sums within a tolerance against all pairs, scikit-learn's KernelDensity and KDEpy's FFTKDE.

Training points and queries come from a mixture of eight classes. The bandwidth is at the cross-validated optimum,
for the likelihood of points left out and for the accuracy of the classifier, and Silverman's for comparison.
All pairs and KernelDensity are timed on a random sample of the queries and extrapolated in proportion to the
number of queries (``extra_info`` says how many were timed). FFTKDE works on a grid, here of 1024 points a side,
and interpolates the queries from it; its largest relative error on the sample is reported next to ours.
Size: SPECTRALCLS_BENCH_N (default 100000).
"""

import os
from functools import cache

import numpy as np
import pytest
from KDEpy import FFTKDE
from scipy.interpolate import RegularGridInterpolator
from sklearn.neighbors import KernelDensity

from bench.measure import peak_gib, timed
from spectralcls import ParzenClassifier
from spectralcls.kernels import bandwidth_grid, kernel_sums, silverman_bandwidth

N = int(float(os.environ.get("SPECTRALCLS_BENCH_N", 100_000)))
RTOL = 1e-3
RULES = ("likelihood", "accuracy", "silverman")


def mixture(n, d, seed):
    """Points and their components."""
    shape, draw = np.random.default_rng(0), np.random.default_rng(seed)
    centers, scales = shape.uniform(-4, 4, size=(8, d)), shape.uniform(0.3, 1.2, size=8)
    label = draw.integers(8, size=n)
    return centers[label] + draw.normal(size=(n, d)) * scales[label, None], label


@cache
def problem(d):
    """(X, labels, queries)."""
    return *mixture(N, d, 1), mixture(N, d, 2)[0]


@cache
def bandwidth(d, rule):
    X, y, _ = problem(d)
    if rule == "silverman":
        return float(silverman_bandwidth(X))
    if rule == "accuracy":
        return float(ParzenClassifier(scale=None).fit(X, y).bandwidth_)
    some = X[np.random.default_rng(0).choice(N, min(N, 20_000), replace=False)]
    grid = bandwidth_grid(some)
    logs = kernel_sums(some, some, bandwidth=grid, log=True, exclude_self=True)
    best = grid[(logs.mean(axis=0) - d * np.log(grid)).argmax()]
    return float(best * (len(some) / N) ** (1 / (d + 4)))


def relative_error(values, truth):
    return float(np.max(np.abs(values - truth) / truth))


def fft_density(X, Q, h):
    """FFTKDE on a grid, then linear interpolation at the queries."""
    grid, values = FFTKDE(kernel="gaussian", bw=h).fit(X).evaluate(1024)
    axes = [np.unique(grid[:, k]) for k in range(X.shape[1])]
    values = values.reshape([len(a) for a in axes])
    return RegularGridInterpolator(axes, values, bounds_error=False, fill_value=0)(Q)


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("rule", RULES)
def test_tolerance(benchmark, d, rule):
    (X, _, Q), h = problem(d), bandwidth(d, rule)
    ours = benchmark.pedantic(kernel_sums, (Q, X), {"bandwidth": h, "rtol": RTOL}, rounds=1, warmup_rounds=0)
    seconds = benchmark.stats.stats.min

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
        info = {
            "fftkde_seconds": fft_seconds,
            "fftkde_ratio": fft_seconds / seconds,
            "fftkde_relative_error": relative_error(fft[sample], density),
        }
    benchmark.extra_info.update(
        n=N,
        d=d,
        rule=rule,
        bandwidth=h,
        relative_error=error,
        pairs_per_second=N * N / seconds,
        n_sampled=n_sampled,
        all_pairs_seconds=exact_seconds,
        all_pairs_ratio=exact_seconds / seconds,
        n_sampled_kernel_density=n_peer,
        kernel_density_seconds=peer_seconds,
        kernel_density_ratio=peer_seconds / seconds,
        peak_gib=peak_gib(),
        **info,
    )


@pytest.mark.parametrize("d", [2, 3])
def test_classifier(benchmark, d):
    """`predict` of the Parzen classifier on all queries, compared with itself without a tolerance on a sample."""
    X, y, Q = problem(d)
    h = bandwidth(d, "accuracy")
    exact = ParzenClassifier(bandwidth=h, scale=None).fit(X, y)
    tolerant = ParzenClassifier(bandwidth=h, scale=None, tolerance=RTOL).fit(X, y)
    labels = benchmark.pedantic(tolerant.predict, (Q,), rounds=1, warmup_rounds=0)
    seconds = benchmark.stats.stats.min
    n_sampled = min(N, max(512, int(4e9 / N)))
    sample = np.random.default_rng(3).choice(N, n_sampled, replace=False)
    posteriors, exact_seconds = timed(exact.predict_proba, Q[sample])
    error = np.abs(tolerant.predict_proba(Q[sample]) - posteriors).max()
    assert error <= RTOL / (1 - RTOL)
    exact_seconds *= N / n_sampled
    benchmark.extra_info.update(
        n=N,
        d=d,
        bandwidth=h,
        largest_error_of_a_posterior=float(error),
        n_sampled=n_sampled,
        all_pairs_seconds=exact_seconds,
        all_pairs_ratio=exact_seconds / seconds,
        other_labels=float(np.mean(labels[sample] != exact.classes_[posteriors.argmax(axis=1)])),
        peak_gib=peak_gib(),
    )
