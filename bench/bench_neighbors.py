"""Exact k-NN graphs against faiss, scikit-learn and SciPy's k-d tree, in one run.

SPECTRALCLS_BENCH_N sets the numbers of points (20000; 20000,100000 is what docs/measured/neighbors.md shows).
"""

import os

import numpy as np
import pytest
from scipy.spatial import cKDTree
from sklearn.neighbors import NearestNeighbors

from bench.measure import limit, peak_gib, side_by_side
from spectralcls._core.threads import effective_n_threads
from spectralcls.neighbors import knn, knn_graph

SIZES = [int(n) for n in os.environ.get("SPECTRALCLS_BENCH_N", "20000").split(",")]
K = 10


def points(d, n):
    return np.random.default_rng(0).standard_normal((n, d)).astype(np.float32)


def peers(X, k):
    """Searches of X in X by what users have today; index building counts, as ours does."""
    d = X.shape[1]
    found = {"sklearn brute": lambda: NearestNeighbors(n_neighbors=k, algorithm="brute").fit(X).kneighbors(X)}
    if d <= 8:
        found["cKDTree"] = lambda: cKDTree(X).query(X, k, workers=effective_n_threads())
    try:
        import faiss
    except ImportError:
        return found

    def flat():
        index = faiss.IndexFlatL2(d)
        index.add(X)
        squared, indices = index.search(X, k)
        return np.sqrt(squared), indices

    faiss.omp_set_num_threads(effective_n_threads())
    return found | {"faiss IndexFlatL2": flat}


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("d", [4, 8, 36, 64, 256])
def test_graph_against_peers(benchmark, n, d):
    """The 10 nearest neighbors of all points among all points, normal data in float32, `algorithm="auto"`. Ratios are
    the peer's median time over ours, in turns; building an index counts. The limit is one multiply-add a feature and
    pair, whether or not the pair was looked at."""
    X = points(d, n)
    ours = lambda: knn(X, X, K)  # noqa: E731
    times, results = side_by_side({"spectralcls": ours} | peers(X, K), repeats=5, budget=30)
    for name, (distances, indices) in results.items():
        # Peers work with |x|^2 + |y|^2 - 2 x.y in float32, hence tolerate near-ties and their cancellation.
        assert np.mean(indices == results["spectralcls"][1]) > 0.99, name
        np.testing.assert_allclose(distances[:, 1:], results["spectralcls"][0][:, 1:], rtol=2e-2, err_msg=name)
    benchmark.pedantic(ours, rounds=1)
    threads, taken = effective_n_threads(), times["spectralcls"][0]
    benchmark.extra_info.update(
        {
            "median seconds in turns": taken,
            "pairs/s": n**2 / taken,
            "% of limit": 100 * n**2 / taken / limit(d, "float32", threads),
        }
        | {f"times {name}": times[name][0] / taken for name in times if name != "spectralcls"}
    )


@pytest.mark.parametrize("mode", ["binary", "heat"])
def test_knn_graph(benchmark, mode):
    """The symmetric graph of 10 neighbors in CSR, d = 36: search, union and weights."""
    X = points(36, SIZES[0])
    graph = benchmark.pedantic(knn_graph, (X, K), {"mode": mode}, rounds=3)
    assert abs(graph - graph.T).max() == 0 and len(X) * K <= graph.nnz <= 2 * len(X) * K
    benchmark.extra_info.update({"n": len(X), "edges": graph.nnz, "GiB of the process": peak_gib()})
