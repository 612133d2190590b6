"""Labels, class sums and neighbors with pruning, against all pairs and against other libraries

Pairs that cannot change the rounded result are pruned before they are computed. Points are float32, raw or
standardized; `ParzenClassifier` chose the bandwidth. Everything runs on one thread. The time of each method includes
one construction of its packed points, tree or index. With more than 4e9 pairs, the time of all pairs is measured for
two numbers of queries and extrapolated linearly, with the fixed time counted once.
"""

import pickle
from importlib.util import find_spec

import numpy as np
import pytest
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist
from sklearn.neighbors import KDTree

from bench.data import load, standardized
from bench.measure import QUICK, Queries, compare, processor_seconds, pruning, side_by_side
from bench.pages import pick, view
from spectralcls import ParzenClassifier
from spectralcls.kernels import PackedPoints, kernel_sums
from spectralcls.neighbors import knn

SIZES = {
    "letter": (16_000, 4_000),
    "satimage": (4_435, 2_000),
    "shuttle": (43_500, 14_500),
    "covertype 30000": (30_000, 20_000),
    "covertype 100000": (100_000, 20_000),
    "covertype 500000": (500_000, 81_012),
    "skin": (50_000, 20_000),
    "curved 256": (8_000, 2_000),
    "curved 784": (8_000, 2_000),
}
AGREEMENT = 5000  # least number of queries whose labels are compared
K = 10
if QUICK:
    SIZES = {"letter": (2_000, 500), "curved 256": (1_000, 200)}
each_scale = pytest.mark.parametrize("raw", [False, True])


def problem(name, raw):
    """float32 points, labels and queries of a data set."""
    (n, m), arrays = SIZES[name], curved(int(name.split()[1])) if name.startswith("curved") else load(name.split()[0])
    if "X" in arrays:
        order = np.random.default_rng(0).permutation(len(arrays["X"]))
        X, y = (arrays[key][order] for key in "Xy")
        X, y, Q = X[:n], y[:n], X[n : n + m]
    else:
        X, y, Q = arrays["X_train"], arrays["y_train"], arrays["X_test"]
    X, Q = (X, Q) if raw else standardized(X, Q)
    return X.astype(np.float32), np.unique(y, return_inverse=True)[1], Q.astype(np.float32)


def curved(d):
    """Eight classes on a curved twelve-dimensional surface in d features, with a little noise."""
    draw = np.random.default_rng(0)
    y = draw.integers(8, size=10_000)
    inner = draw.normal(size=(8, 12))[y] + draw.normal(size=(len(y), 12)) * 0.85 ** np.arange(12)
    X = np.tanh(inner @ draw.normal(size=(12, 64)) / 3.5) @ draw.normal(size=(64, d)) / 8
    return {"X": X + 0.05 * draw.normal(size=X.shape), "y": y}


def noise(name, n, d):
    draw = np.random.default_rng(0)
    values = draw.uniform(size=(n + n // 2, d)) if name == "uniform" else draw.normal(size=(n + n // 2, d))
    values = values.astype(np.float32)
    return values[:n], draw.integers(2, size=n), values[n:]


def tuned_bandwidth(X, y):
    return float(ParzenClassifier(scale=None, max_tuning_samples=2000).fit(X, y).bandwidth_)


def measure(X, y, Q):
    """A row with the seconds of all pairs, and their time relative to labels, sums, and sums within a tolerance."""
    h, n, m = tuned_bandwidth(X, y), len(X), len(Q)
    fitted = ParzenClassifier(bandwidth=h, scale=None, n_jobs=1).fit(X, y)
    stored = pickle.dumps(fitted)
    fitted.predict(Q[:2])  # packs the points of `fitted`; a copy from `stored` must pack them

    def sums(way, **more):
        def call(q):
            with pruning(way):
                return kernel_sums(Q[:q], PackedPoints(X, labels=y), bandwidth=h, log=True, n_jobs=1, **more)

        return Queries(call, m, n if way == "never" else 1)

    def labels(way, prepare):
        def call(q, model):
            with pruning(way):
                return model.predict(Q[:q])

        return Queries(call, m, n if way == "never" else 1, prepare=prepare)

    functions = {
        "labels": labels("sampled", lambda: pickle.loads(stored)),
        "labels, second call": labels("sampled", lambda: fitted),
        "sums": sums("sampled"),
        "sums, rtol=1e-3": sums("sampled", rtol=1e-3),
        "labels of all pairs": labels("never", lambda: pickle.loads(stored)),
        "sums of all pairs": sums("never"),
    }
    times, results = side_by_side(functions, repeats=7, budget=120, threads=1)
    truth = results["labels of all pairs"]
    differ = np.count_nonzero(results["labels"][: len(truth)] != truth)
    assert len(truth) >= min(m, AGREEMENT) and differ <= 1e-3 * len(truth)
    row = {"n": n, "m": m, "d": X.shape[1], "h": h}
    row |= {"all pairs, s": times["labels of all pairs"].median, "labels, s": times["labels"].median}
    for name, all_pairs in (
        ("labels", "labels"),
        ("labels, second call", "labels"),
        ("sums", "sums"),
        ("sums, rtol=1e-3", "sums"),
    ):
        theirs = np.array(times[f"{all_pairs} of all pairs"].turns)
        row[f"x {name}"] = float(np.median(theirs[-len(times[name].turns) :] / times[name].turns[-len(theirs) :]))
    row |= {"labels that differ": f"{differ} of {len(truth)}", "turns": len(times["labels of all pairs"].turns)}
    return row | {"measured": times["labels of all pairs"].sampled}


@pytest.mark.every_isa
@each_scale
@pytest.mark.parametrize("name", SIZES)
def test_labels_and_sums(record, name, raw):
    """The table gives the time of all pairs relative to `ParzenClassifier.predict` and to class sums. The first call
    packs the points, and the fitted classifier keeps them for the second. The record also has the number of labels that
    differ from those computed from all pairs.
    """
    record(measure(*problem(name, raw)))


@view("labels_and_sums")
def labels_and_sums_in_short(rows):
    return [pick(rows, "name", "raw", "isa", "n", "m", "x *")]


@pytest.mark.every_isa
@pytest.mark.parametrize(
    "name, n, d",
    [
        ("gaussian", 20_000, 10),
        ("gaussian", 20_000, 50),
        ("uniform", 20_000, 10),
        ("uniform", 20_000, 50),
        ("gaussian", 4000, 36),
    ],
)
def test_noise(record, name, n, d):
    """In noise no pair can be pruned, so the time shows what the search for such pairs costs. There are half as many
    queries as points.
    """
    row = measure(*noise(name, n // 10 if QUICK else n, d))
    record({key: value for key, value in row.items() if key.startswith("x ") or key == "labels that differ"})


@each_scale
@pytest.mark.parametrize("name", SIZES)
def test_what_binds(record, name, raw):
    """The table gives fractions of all pairs, averaged over 200 queries. To *settle a label*, the nearest points are
    added in order until the sums of the best two classes differ by more than all remaining points could add. The pairs
    that *count for sums* change the rounded sum of their class. No pruning method can compute fewer pairs. For the last
    two columns, each class is halved repeatedly in principal coordinates, into tiles of at most 48 points. A tile
    counts if its bounding box is no farther from one of eight neighboring queries than the farthest point that the
    label or the sum of this query needs.
    """
    X, y, Q = problem(name, raw)
    record({"n": len(X), "d": X.shape[1]} | shares(X.astype(float), y, Q.astype(float), tuned_bandwidth(X, y)))


def first_coordinates(X, Q, most=32):
    """The leading principal coordinates of points and queries."""
    mean = X.mean(axis=0)
    axes = np.linalg.svd((X - mean)[:: max(1, len(X) // 4096)], full_matrices=False)[2][:most].T
    return (X - mean) @ axes, (Q - mean) @ axes


def halved(Z, rows, leaf):
    """Divide rows into parts of at most `leaf`, by halving along the coordinate of largest variance."""
    if len(rows) <= leaf:
        return [rows]
    n_leaves = -(-len(rows) // leaf)
    half = (n_leaves + 1) // 2 * leaf
    rows = rows[np.argsort(Z[rows, Z[rows].var(axis=0).argmax()], kind="stable")]
    return halved(Z, rows[:half], leaf) + halved(Z, rows[half:], leaf)


def shares(X, y, Q, h):
    digits, n, n_classes = 24, len(X), y.max() + 1
    (Z, ZQ), sizes = first_coordinates(X, Q), np.bincount(y)
    blocks = [block for block in halved(ZQ, np.arange(len(Q)), 8) if len(block) == 8]
    rows = np.concatenate([blocks[i] for i in np.random.default_rng(0).permutation(len(blocks))[:25]])
    exponents = cdist(Q[rows], X, "sqeuclidean") / (2 * h**2)
    leaves = [leaf for c in range(n_classes) for leaf in halved(Z, np.flatnonzero(y == c), 48)]
    low, high = (np.array([side(Z[leaf], axis=0) for leaf in leaves]) for side in (np.min, np.max))
    gaps = np.maximum(np.maximum(low - ZQ[rows, None], ZQ[rows, None] - high), 0)
    boxes = (gaps**2).sum(axis=2) / (2 * h**2)

    order = exponents.argsort(axis=1)
    near = np.take_along_axis(exponents, order, axis=1)
    settled = np.array([settling(row, y[at], n_classes) for row, at in zip(near, order, strict=True)])
    label_reach = near[np.arange(len(rows)), settled - 1]
    nearest = np.array([exponents[:, y == c].min(axis=1) for c in range(n_classes)]).T
    size = np.log2(np.maximum(1, nearest - np.log(sizes)))
    sum_reach = nearest + (digits + 2 + np.log2(sizes) - size) * np.log(2)
    seen = {
        "tiles for a label": boxes <= label_reach[:, None],
        "tiles for sums": boxes <= sum_reach[:, [y[leaf[0]] for leaf in leaves]],
    }
    found = {"settle a label": settled.mean() / n, "count for sums": np.mean(exponents <= sum_reach[:, y])}
    found |= {what: near.reshape(-1, 8, len(leaves)).any(axis=1).mean() for what, near in seen.items()}
    return {key: float(value) for key, value in found.items()}


def settling(exponents, labels, n_classes):
    """Number of points, nearest first, that determine the label."""
    n, k = len(labels), np.exp(exponents[0] - exponents)
    sums = np.zeros((n, n_classes))
    sums[np.arange(n), labels] = k
    best = np.partition(sums.cumsum(axis=0), (-2, -1), axis=1)
    rest = np.arange(n - 1, -1, -1) * np.append(k[1:], 0)
    return int(np.argmax(best[:, -1] - best[:, -2] > rest)) + 1 if n_classes > 1 else 1


@each_scale
@pytest.mark.parametrize("bandwidth", ["tuned", "fixed"])
def test_growth(record, bandwidth, raw):
    """The time for covertype with n points and n / 5 queries is fitted by a power of n; the exponent of computing all
    pairs is 2. The bandwidth is tuned for each n, or kept from the smallest n; tuning and fitting are timed separately.
    The record also has the seconds.
    """
    if QUICK:
        pytest.skip("needs covertype")
    sizes, (X, y, Q) = (30_000, 100_000, 400_000), problem("covertype 500000", raw)
    h, row, seconds = tuned_bandwidth(X[: sizes[0]], y[: sizes[0]]), {}, {"fit": [], "labels": [], "sums": []}
    for n in sizes:
        model = ParzenClassifier("cv" if bandwidth == "tuned" else h, scale=None, max_tuning_samples=2000, n_jobs=1)
        _, fit = processor_seconds(model.fit, X[:n], y[:n])
        queries, stored = Q[: n // 5], pickle.dumps(model)
        functions = {
            "labels": Queries(lambda _, m, Q=queries: m.predict(Q), 1, 1, prepare=lambda s=stored: pickle.loads(s)),
            "sums": lambda Q=queries, m=model, n=n: kernel_sums(
                Q, PackedPoints(X[:n], labels=y[:n]), bandwidth=m.bandwidth_, log=True, n_jobs=1
            ),
        }
        times, _ = side_by_side(functions, repeats=3, threads=1)
        for name, taken in {"fit": fit}.items() | {key: time.median for key, time in times.items()}.items():
            seconds[name].append(taken)
    for name, taken in seconds.items():
        row |= {f"{name}, {n}, s": value for n, value in zip(sizes, taken, strict=True)}
        row[f"exponent of {name}"] = round(float(np.polyfit(np.log(sizes), np.log(taken), 1)[0]), 1)
    record(row)


@view("growth")
def growth_in_short(rows):
    return [pick(rows, "raw", "bandwidth", "exponent *")]


def searches(X, Q):
    """Installed peers, as `Queries`: every call builds the index, once for all queries."""
    few = dict(m=len(Q), n=len(X), full=4e8)
    found = {
        "KDTree": Queries(lambda q: KDTree(X).query(Q[:q], K), **few),
        "cKDTree": Queries(lambda q: cKDTree(X).query(Q[:q], K), **few),
        "cKDTree, midpoint": Queries(
            lambda q: cKDTree(X, balanced_tree=False, compact_nodes=False).query(Q[:q], K), **few
        ),
    }
    if find_spec("pykdtree"):
        from pykdtree.kdtree import KDTree as PyKDTree

        found["pykdtree"] = Queries(lambda q: PyKDTree(X).query(Q[:q], K), **few)
    if find_spec("pynanoflann"):
        import pynanoflann

        def nano(q):
            tree = pynanoflann.KDTree(n_neighbors=K, metric="L2")
            tree.fit(X)
            return tree.kneighbors(Q[:q])

        found["nanoflann"] = Queries(nano, **few)
    if X.shape[1] > 64:  # trees would take minutes and be slower
        found = {}
    if find_spec("faiss"):
        import faiss

        def flat():
            index = faiss.IndexFlatL2(X.shape[1])
            index.add(X)
            distances, indices = index.search(Q, K)
            return np.sqrt(distances), indices

        found["faiss, flat"] = flat
    return found


@pytest.mark.every_isa
@pytest.mark.parametrize(
    "name", [*(n for n in SIZES if n not in ("covertype 30000", "covertype 100000", "skin")), "noise 256"]
)
def test_neighbors(record, name):
    """Up to 10 000 queries search for their 10 nearest neighbors among up to 200 000 standardized points, on one
    thread. The table gives the time of all pairs and of other exact searches relative to ours. A tree is built once;
    beyond 4e8 pairs the time of its queries is extrapolated from two sizes. The BLAS of faiss uses the best instruction
    set of the machine, even if `isa` restricts ours."""
    X, Q = noise("gaussian", 10_000, 256)[::2] if name.startswith("noise") else problem(name, False)[::2]
    X, Q = np.ascontiguousarray(X[:200_000]), np.ascontiguousarray(Q[:10_000])

    def ours(way):
        with pruning(way):
            return knn(Q, X, K, n_jobs=1)

    functions = {"ours": lambda: ours("sampled"), "all pairs": lambda: ours("never")} | searches(X, Q)
    row, _ = compare(functions, repeats=5, budget=120, rtol=2e-2, atol=1e-2, answer=lambda found: found[0][:, 1:])
    record({"n": len(X), "m": len(Q), "d": X.shape[1]} | row)


@view("neighbors")
def neighbors_in_short(rows):
    rows = [{k: round(v["median"], 2) if isinstance(v, dict) else v for k, v in row.items()} for row in rows]
    return [pick(rows, "name", "isa", "n", "m", "d", "x *")]
