"""Low-rank kernel factors against scikit-learn's Nystroem (uniform landmarks) at equal rank.

Both give a feature map G with G G^T ~= K. They run in turns on the same number of threads (1, and what the machine
has); ``extra_info`` holds medians, the relative trace residual of each map and the peak memory.
Sizes: SPECTRALCLS_BENCH_N (default 20000) and SPECTRALCLS_BENCH_RANK (200).
"""

import os

import numpy as np
import pytest
from sklearn.kernel_approximation import Nystroem
from threadpoolctl import threadpool_limits

from bench.measure import peak_gib, side_by_side
from spectralcls import SpectralLaplacianISEClassifier
from spectralcls.linalg import rpcholesky

N = int(float(os.environ.get("SPECTRALCLS_BENCH_N", 20_000)))
RANK = int(os.environ.get("SPECTRALCLS_BENCH_RANK", 200))
BANDWIDTHS = {4: 3.0, 16: 8.0}  # the residual at this rank is a few per cent


def unbalanced_blobs(n, d, dtype):
    rng = np.random.default_rng(0)
    sizes = rng.dirichlet(np.full(30, 0.3))
    label = rng.choice(30, size=n, p=sizes)
    X = (rng.normal(scale=3, size=(30, d))[label] + rng.normal(scale=0.7, size=(n, d))).astype(dtype)
    return X, label


def relative_trace_residual(G):
    return float(1 - np.einsum("ij,ij->", G, G, dtype=np.float64) / len(G))


def test_classifier_of_low_rank(benchmark):
    """A spectral classifier by way of the factor: fit and predict on all points. First here: it reports memory."""
    (X, y), bandwidth = unbalanced_blobs(N, 16, np.float32), BANDWIDTHS[16]
    classifier = SpectralLaplacianISEClassifier(bandwidth=bandwidth, n_components=min(30, RANK), scale=None, rank=RANK)
    accuracy = benchmark.pedantic(lambda: classifier.fit(X, y).score(X, y), rounds=1, warmup_rounds=0)
    assert accuracy > 0.9
    benchmark.extra_info.update(
        n=N, rank=RANK, accuracy=accuracy, trace_residual=classifier.map_.trace_residual_, peak_gib=peak_gib()
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [4, 16])
@pytest.mark.parametrize("threads", [1, None])
def test_rpcholesky_against_nystroem(benchmark, threads, d, dtype):
    (X, _), bandwidth = unbalanced_blobs(N, d, dtype), BANDWIDTHS[d]
    peer = Nystroem(gamma=0.5 / bandwidth**2, n_components=RANK, random_state=0)
    functions = {
        "rpcholesky": lambda: rpcholesky(X, RANK, bandwidth=bandwidth, random_state=0),
        "nystroem": lambda: peer.fit_transform(X),
    }
    with threadpool_limits(threads):
        times, results = benchmark.pedantic(side_by_side, (functions, 7, 30.0), rounds=1, warmup_rounds=0)
    factor, residual = results["rpcholesky"], relative_trace_residual(results["nystroem"])
    assert relative_trace_residual(factor.factor) == pytest.approx(factor.relative_trace_residual, abs=1e-4)
    assert factor.relative_trace_residual < residual
    benchmark.extra_info.update(
        n=N,
        rank=RANK,
        d=d,
        dtype=np.dtype(dtype).name,
        threads=threads or "all",
        seconds=times["rpcholesky"][0],
        nystroem_seconds=times["nystroem"][0],
        speedup=times["nystroem"][0] / times["rpcholesky"][0],
        residual=factor.relative_trace_residual,
        nystroem_residual=residual,
        peak_gib=peak_gib(),
    )
