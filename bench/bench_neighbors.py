"""Exact k-NN searches against faiss, SciPy's, pykdtree's and nanoflann's k-d trees, in turns in one process"""

from importlib.util import find_spec

import numpy as np
import pytest
from scipy.spatial import cKDTree

from bench.bench_pruning import SIZES, problem
from bench.data import load, standardized
from bench.measure import QUICK, compare, pruning
from bench.pages import pick, view
from spectralcls.kernels import PackedPoints
from spectralcls.neighbors import knn

N = 10_000
K = 10
FASTEST = ("x pykdtree", "x nanoflann")
MANY = [  # k, d, n, threads; at a million points a turn of the peers takes up to ten minutes
    (k, d, n, threads)
    for n in (200_000, 1_000_000)
    for k in (1, 10, 30)
    for d in (2, 3, 4, 6, 8)
    for threads in (1, 2)
    if k == 10 or d <= 4
    if n < 1_000_000 or d < 8 or threads == 2
]


def points(kind, n, d, seed):
    """Uniform or normal points, or 100 normal clusters with widths from 0.002 to 0.01 in a cube; float32."""
    rng = np.random.default_rng(seed)
    if kind == "uniform":
        X = rng.random((n, d))
    else:
        X = rng.standard_normal((n, d))
    if kind == "clusters":
        of_all = np.random.default_rng(0)
        centers, widths = of_all.random((100, d)), 0.002 * 5 ** of_all.random((100, 1))
        labels = rng.integers(100, size=n)
        X = centers[labels] + widths[labels] * X
    return X.astype(np.float32)


def peers(Q, X, k, threads):
    """Installed searches; each call builds its index once, as ours does."""
    found = {
        "cKDTree": lambda: cKDTree(X).query(Q, k, workers=threads),
        "cKDTree, midpoint": lambda: cKDTree(X, balanced_tree=False, compact_nodes=False).query(Q, k, workers=threads),
    }
    if find_spec("pykdtree"):
        from pykdtree.kdtree import KDTree

        found["pykdtree"] = lambda: KDTree(X).query(Q, k)
    if find_spec("pynanoflann"):
        import pynanoflann

        def nano():
            tree = pynanoflann.KDTree(n_neighbors=k, metric="L2")
            tree.fit(X)
            return tree.kneighbors(Q, n_jobs=threads)

        found["nanoflann"] = nano
    if X.shape[1] > 8:  # trees would take minutes and be slower
        found = {}
    if find_spec("faiss"):
        import faiss

        def flat():
            index = faiss.IndexFlatL2(X.shape[1])
            index.add(X)
            squared, indices = index.search(Q, k)
            return np.sqrt(np.maximum(squared, 0)), indices

        if X.shape[1] > 8:
            found["faiss, flat"] = flat
    return found


def distances(result):
    found = np.asarray(result[0])
    return found[:, None] if found.ndim == 1 else found


@view("low_dimensions", "many_points")
def low_dimensions_in_short(*sections):
    """The table gives the time of the faster of pykdtree and nanoflann, including the construction of the tree,
    relative to ours. Each cell is the range over three kinds of data, one and two threads, and both instruction sets.
    `neighbors.json` has every row.
    """
    rows = [row for section in sections for row in section]
    table = []
    for n, d in sorted({(row["n"], row["d"]) for row in rows}):
        line = {"n": n, "d": d}
        for k in sorted({row["k"] for row in rows}):
            found = [row for row in rows if (row["n"], row["d"], row["k"]) == (n, d, k)]
            best = [min(row[name]["median"] for name in FASTEST if name in row) for row in found]
            line[f"k = {k}"] = f"{min(best):.1f} to {max(best):.1f}" if best else ""
        table.append(line)
    return [table]


@pytest.mark.every_isa
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("n", [N])
@pytest.mark.parametrize("kind", ["uniform", "normal", "clusters"])
@pytest.mark.parametrize("d", [2, 3, 4, 6, 8])
@pytest.mark.parametrize("k", [1, 10, 30])
def test_low_dimensions(record, k, d, kind, n, threads):
    """The k nearest of n points for n / 2 queries of the same distribution, float32, `algorithm="auto"`: time of other
    exact searches relative to ours. Every call builds its index, on both sides. All distances agree."""
    X, Q = points(kind, n, d, 1), points(kind, n // 2, d, 2)
    functions = {"ours": lambda: knn(Q, X, k, n_jobs=threads)} | peers(Q, X, k, threads)
    row, _ = compare(functions, threads=threads, repeats=5, budget=60, rtol=1e-4, atol=1e-6, answer=distances)
    record({"kind": kind, "n": n, "m": n // 2, "d": d, "k": k} | row)


@pytest.mark.every_isa
@pytest.mark.parametrize("kind", ["uniform", "normal", "clusters"])
@pytest.mark.parametrize(("k", "d", "n", "threads"), MANY)
def test_many_points(record, k, d, n, threads, kind):
    """As in low dimensions, but with more points and only the two fastest peers. All k are used up to d = 4, and k = 10
    beyond; a million points with d = 8 on two threads only.
    """
    n = N // 2 if QUICK else n
    X, Q = points(kind, n, d, 1), points(kind, n // 2, d, 2)
    fastest = {name: f for name, f in peers(Q, X, k, threads).items() if f"x {name}" in FASTEST}
    functions = {"ours": lambda: knn(Q, X, k, n_jobs=threads)} | fastest
    row, _ = compare(functions, threads=threads, repeats=3, budget=10, rtol=1e-4, atol=1e-6, answer=distances)
    record({"m": n // 2} | row)


REAL = [name for name in SIZES if name not in ("covertype 30000", "covertype 100000", "skin")]


@pytest.mark.every_isa
@pytest.mark.parametrize("name", REAL)
def test_real_sets(record, name):
    """Up to 10 000 queries search for their 10 nearest neighbors among up to 200 000 standardized points."""
    X, _, Q = problem(name, False)
    X, Q = np.ascontiguousarray(X[:200_000]), np.ascontiguousarray(Q[:10_000])

    def all_pairs():
        with pruning("never"):
            return knn(Q, X, K, n_jobs=1)

    functions = {"ours": lambda: knn(Q, X, K, n_jobs=1), "all pairs": all_pairs} | peers(Q, X, K, 1)
    row, _ = compare(functions, repeats=5, budget=120, rtol=2e-2, atol=1e-2, answer=lambda found: found[0][:, 1:])
    record({"n": len(X), "m": len(Q), "d": X.shape[1]} | row)


@view("real_sets")
def real_sets_in_short(rows):
    """Up to 10 000 queries search for their 10 nearest neighbors among up to 200 000 standardized points, on one
    thread. The table gives the time of all pairs and of other exact searches relative to ours; every call builds its
    tree or index. The BLAS of faiss uses the best instruction set of the machine, even if `isa` restricts ours."""
    rows = [{k: round(v["median"], 2) if isinstance(v, dict) else v for k, v in row.items()} for row in rows]
    return [pick(rows, "name", "isa", "n", "m", "d", "x *")]


@pytest.mark.parametrize("n", [N])
@pytest.mark.parametrize("d", [16, 36, 64, 256])
def test_graph_against_peers(record, n, d):
    """All points search for their 10 nearest neighbors among all points, on one thread. The data are normal, in
    float32. No bound can prune any pair here."""
    X = points("normal", n, d, 0)
    functions = {"ours": lambda: knn(X, X, K, n_jobs=1)} | peers(X, X, K, 1)
    row, _ = compare(functions, repeats=5, budget=60, rtol=2e-2, answer=lambda found: found[0][:, 1:])
    record({"n": n, "d": d} | row)


@pytest.mark.every_isa
@pytest.mark.parametrize(
    "name, n", [("letter", 16_000), ("shuttle", 43_500), ("covertype", 200_000), ("fashion", 30_000)]
)
def test_one_query(record, name, n):
    """One query searches for its 10 nearest neighbors among kept points, on one thread. The data are standardized
    public sets, in float32. `PackedPoints` and the indices of faiss are built before the call. A turn takes 20 queries,
    with one call for each."""
    X, Q = split(load(name), 2000 if QUICK else n, 20)
    kept, queries = PackedPoints(X), [Q[i : i + 1] for i in range(len(Q))]

    def one_by_one(search):
        return lambda: np.concatenate([search(q) for q in queries])

    functions = {"ours": one_by_one(lambda q: knn(q, kept, K, n_jobs=1)[0])}
    functions["not kept"] = one_by_one(lambda q: knn(q, X, K, n_jobs=1)[0])
    if find_spec("faiss"):
        import faiss

        for form, index in faiss_indices(faiss, X.shape[1]).items():
            index.add(X)
            functions[form] = one_by_one(lambda q, index=index: np.sqrt(np.maximum(index.search(q, K)[0], 0)))
    knn(Q[:1], kept, K)  # packs the points
    row, _ = compare(functions, repeats=7, budget=30, rtol=2e-2, atol=1e-2, answer=lambda found: found[:, 1:])
    record({"n": len(X), "d": X.shape[1]} | row)


def split(arrays, n, m):
    """n points and m queries of a set, standardized by the points, float32."""
    X = arrays["X"] if "X" in arrays else np.vstack([arrays["X_train"], arrays["X_test"]])
    order = np.random.default_rng(0).permutation(len(X))
    return [part.astype(np.float32) for part in standardized(X[order[:n]], X[order[-m:]])]


def faiss_indices(faiss, d):
    """Exact indices of this version of faiss."""
    found = {"faiss, flat": faiss.IndexFlatL2(d)}
    if hasattr(faiss, "IndexFlatL2Panorama"):
        found["faiss, Panorama"] = faiss.IndexFlatL2Panorama(d, 8)
    return found
