"""Exact k-NN graphs beside faiss, scikit-learn and SciPy's k-d tree, in one run.

``extra_info`` holds pairs a second, the percentage of the machine's limit (one multiply-add slot per
feature), the ratio to each peer and the peak memory. SPECTRALCLS_BENCH_N sets the number of points (20000).
"""

import os

import numpy as np
import pytest
from scipy.spatial import cKDTree
from sklearn.neighbors import NearestNeighbors

from bench.measure import limit, peak_gib, side_by_side
from spectralcls._parallel import effective_n_threads
from spectralcls.neighbors import knn, knn_graph

N = int(os.environ.get("SPECTRALCLS_BENCH_N", 20_000))
K = 10


def points(d, n=N):
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


@pytest.mark.parametrize("algorithm", ["auto", "brute"])
@pytest.mark.parametrize("d", [4, 8, 36, 64, 256])
def test_knn_beside_peers(benchmark, d, algorithm):
    X = points(d)
    ours = lambda: knn(X, X, K, algorithm=algorithm)  # noqa: E731
    times, results = side_by_side({"spectralcls": ours} | peers(X, K), repeats=3, budget=60)
    for name, (distances, indices) in results.items():
        # Peers work with |x|^2 + |y|^2 - 2 x.y in float32, hence tolerate near-ties and their cancellation.
        assert np.mean(indices == results["spectralcls"][1]) > 0.99, name
        np.testing.assert_allclose(
            distances[:, 1:], results["spectralcls"][0][:, 1:], rtol=2e-2, err_msg=name
        )
    benchmark.pedantic(ours, rounds=3)
    pairs, best = len(X) ** 2, benchmark.stats.stats.min
    threads = effective_n_threads()
    benchmark.extra_info.update(
        n=len(X),
        pairs_per_second=pairs / best,
        percent_of_limit=100 * pairs / best / limit(d, "float32", threads),
        threads=threads,
        peak_gib=peak_gib(),
        **{
            f"times {name}": times[name][0] / times["spectralcls"][0]
            for name in times
            if name != "spectralcls"
        },
    )


@pytest.mark.parametrize("mode", ["binary", "heat"])
def test_knn_graph(benchmark, mode):
    X = points(36)
    graph = benchmark.pedantic(knn_graph, (X, K), {"mode": mode}, rounds=3)
    assert abs(graph - graph.T).max() == 0 and len(X) * K <= graph.nnz <= 2 * len(X) * K
    benchmark.extra_info.update(n=len(X), peak_gib=peak_gib())
