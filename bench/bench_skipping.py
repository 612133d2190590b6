"""Labels, sums and neighbors that leave out unseen what they cannot see, against all pairs and against peers.

All pairs are timed on a sample of the queries and extrapolated in proportion (``sampled`` says how many). Processor
time of one thread; what has to be built first counts, every time. Run it once for each instruction set, by
SPECTRALCLS_ISA: rows carry its name.
"""

from importlib.util import find_spec

import numpy as np
import pytest
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist
from sklearn.neighbors import BallTree

from bench import data
from bench.measure import processor_seconds
from spectralcls import ParzenClassifier, kernels, show_config
from spectralcls._expansion import labels
from spectralcls.kernels import KernelPoints, kernel_sums
from spectralcls.neighbors import knn

SKIPPING = "SPECTRALCLS_SKIPPING"
ALL_PAIRS = 1e8  # that are timed
SIZES = {
    "letter": (16_000, 4_000),
    "satimage": (4_435, 2_000),
    "shuttle": (43_500, 14_500),
    "covertype": (100_000, 20_000),
    "covertype 30 000": (30_000, 20_000),
    "covertype 500 000": (500_000, 81_012),
    "skin": (50_000, 20_000),
    "curved 256": (8_000, 2_000),
    "curved 784": (8_000, 2_000),
}
GOALS = {"letter": 2, "satimage": 4, "shuttle": 15}  # times faster than all pairs
K = 10
VARIANT = show_config("dict")["variant"]
VARIANTS = pytest.mark.parametrize("isa", ["avx512", "avx2"])


@pytest.fixture(autouse=True)
def only_with_the_variant_in_use(request):
    isa = request.node.callspec.params.get("isa", "any")
    if isa not in ("any", VARIANT):
        pytest.skip(f"runs with SPECTRALCLS_ISA={isa}")


def standardized(X, Q):
    scale = X.std(axis=0)
    scale[scale == 0] = 1
    return (X - X.mean(axis=0)) / scale, (Q - X.mean(axis=0)) / scale


def problem(name, raw):
    """float32 points, labels and queries of a data set."""
    arrays = curved(int(name.split()[1])) if name.startswith("curved") else data.load(name.split()[0])
    if "X" in arrays:
        order, n = np.random.default_rng(0).permutation(len(arrays["X"])), SIZES[name][0]
        X, y = (arrays[key][order] for key in "Xy")
        X, y, Q = X[:n], y[:n], X[n : n + SIZES[name][1]]
    else:
        X, y, Q = arrays["X_train"], arrays["y_train"], arrays["X_test"]
    X, Q = X.astype(np.float64), Q.astype(np.float64)
    if not raw:
        X, Q = standardized(X, Q)
    return X.astype(np.float32), np.unique(y, return_inverse=True)[1], Q.astype(np.float32)


def curved(d):
    """Eight classes on a curved surface of twelve dimensions among d features, and a little noise."""
    draw = np.random.default_rng(0)
    y = draw.integers(8, size=10_000)
    inner = draw.normal(size=(8, 12))[y] + draw.normal(size=(len(y), 12)) * 0.85 ** np.arange(12)
    X = np.tanh(inner @ draw.normal(size=(12, 64)) / 3.5) @ draw.normal(size=(64, d)) / 8
    return {"X": X + 0.05 * draw.normal(size=X.shape), "y": y}


def noise(name, d):
    draw, n = np.random.default_rng(0), 4_000 if name.startswith("few") else 20_000
    values = draw.uniform(size=(n + n // 2, d)) if name == "uniform" else draw.normal(size=(n + n // 2, d))
    values = values.astype(np.float32)
    return values[:n], draw.integers(2, size=n), values[n:]


def measure(benchmark, monkeypatch, X, y, Q):
    """Medians of turns: labels, log sums of every class, those within a tolerance, each with newly packed points."""
    h = float(ParzenClassifier(scale=None, max_tuning_samples=2000).fit(X, y).bandwidth_)
    fitted = ParzenClassifier(bandwidth=h, scale=None, n_jobs=1).fit(X, y)
    n_sampled = min(len(Q), max(200, int(ALL_PAIRS / len(X))))
    ways = ("labels", "labels again", "sums", "rtol=1e-3", "all pairs", "labels by all pairs")
    seconds = {name: [] for name in ways}
    options = dict(bandwidth=h, log=True, n_jobs=1)

    agree = []

    def points():
        return KernelPoints(X, labels=y)

    def turn():
        monkeypatch.setenv(SKIPPING, "sampled")
        vars(fitted._model.points).pop("_kept", None)
        labels, taken = processor_seconds(fitted.predict, Q)
        seconds["labels"].append(taken)
        seconds["labels again"].append(processor_seconds(fitted.predict, Q)[1])
        seconds["sums"].append(processor_seconds(kernel_sums, Q, points(), **options)[1])
        seconds["rtol=1e-3"].append(processor_seconds(kernel_sums, Q, points(), rtol=1e-3, **options)[1])
        monkeypatch.setenv(SKIPPING, "never")
        sums, taken = processor_seconds(kernel_sums, Q[:n_sampled], points(), **options)
        seconds["all pairs"].append(taken * len(Q) / n_sampled)
        vars(fitted._model.points).pop("_kept", None)
        taken = processor_seconds(fitted.predict, Q[:n_sampled])[1]
        seconds["labels by all pairs"].append(taken * len(Q) / n_sampled)
        agree.append(float(np.mean(sums.argmax(axis=1) == labels[:n_sampled])))
        assert agree[-1] > 0.999

    n_pairs = len(X) * len(Q)
    benchmark.pedantic(turn, rounds=1 if n_pairs > 1e10 else 3 if n_pairs > 1e9 else 15, warmup_rounds=0)
    median = {name: float(np.median(taken)) for name, taken in seconds.items()}
    slow = dict.fromkeys(("labels", "labels again"), "labels by all pairs")
    slow |= dict.fromkeys(("sums", "rtol=1e-3"), "all pairs")
    ratios = {f"x {name}": float(np.median(np.divide(seconds[all_], seconds[name]))) for name, all_ in slow.items()}
    sizes = {"n": len(X), "m": len(Q), "d": X.shape[1], "h": h, "sampled": n_sampled, "agree": min(agree)}
    benchmark.extra_info.update(sizes | median | ratios)


@VARIANTS
@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize("name", SIZES)
def test_labels_and_sums(benchmark, monkeypatch, isa, name, raw):
    """`ParzenClassifier.predict` and class sums at the bandwidth that it chooses, raw data or standardized: seconds,
    and how many times faster than the same by all pairs. `agree`: the share of labels that equal those by all pairs,
    exact ties aside. With few queries, building what the search needs takes most of the time. A fitted classifier keeps
    it, in memory alone: `labels again` is a second call."""
    measure(benchmark, monkeypatch, *problem(name, raw))


@VARIANTS
@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize("name", ["letter", "satimage", "shuttle", "curved 256"])
def test_where_the_time_goes(benchmark, monkeypatch, isa, name, raw):
    """Milliseconds of the first `predict` above. `building`: tiles, their boxes and coordinates, which a second call of
    the same classifier finds done. `sums within bounds`: the core's part of that second call, boxes, distances and
    exponentials. `certifying`: comparing the bounds of classes. `checks`: everything else in Python. `us a query`:
    microseconds of the second call for each query. `goal`: how many times faster than all pairs labels were to be, and
    `us a query at the goal`.

    At its goal a query of satimage has about twice the time that the checks and the comparison of bounds take by
    themselves, and one of shuttle less than two microseconds for everything. The core's time has no single owner: it
    is spread over coordinates, boxes, lists of near tiles, single pairs, reaches, and putting the queries in order."""
    X, y, Q = problem(name, raw)
    h = float(ParzenClassifier(scale=None, max_tuning_samples=2000).fit(X, y).bandwidth_)
    fitted = ParzenClassifier(bandwidth=h, scale=None, n_jobs=1).fit(X, y)
    parts = {"core": [], "certifying": []}

    def timed(part, function):
        def call(*arguments):
            result, taken = processor_seconds(function, *arguments)
            parts[part].append(taken)
            return result

        return call

    monkeypatch.setattr(kernels.compiled, "packed_kernel_sums", timed("core", kernels.compiled.packed_kernel_sums))
    monkeypatch.setattr(labels, "certain", timed("certifying", labels.certain))
    turns = []

    def turn():
        monkeypatch.setenv(SKIPPING, "sampled")
        vars(fitted._model.points).pop("_kept", None)
        first = processor_seconds(fitted.predict, Q)[1]
        for taken in parts.values():
            taken.clear()
        again = processor_seconds(fitted.predict, Q)[1]
        core, certifying = (sum(taken) for taken in parts.values())
        monkeypatch.setenv(SKIPPING, "never")
        everything = processor_seconds(fitted.predict, Q)[1]
        turns.append((first, first - again, core, certifying, again - core - certifying, again, everything))

    benchmark.pedantic(turn, rounds=9, warmup_rounds=1)
    first, *split, again, everything = 1000 * np.median(turns, axis=0)
    per_query, goal = 1000 / len(Q), GOALS.get(name)
    found = dict(zip(("building", "sums within bounds", "certifying", "checks"), split, strict=True))
    found = {"first call": first} | found | {"us a query": again * per_query, "by all pairs": everything}
    if goal:
        found |= {"goal": goal, "us a query at the goal": everything / goal * per_query}
    benchmark.extra_info.update({key: float(value) for key, value in found.items()})


@VARIANTS
@pytest.mark.parametrize(
    "name, d", [("gaussian", 10), ("gaussian", 50), ("uniform", 10), ("uniform", 50), ("few gaussian", 36)]
)
def test_noise(benchmark, monkeypatch, isa, name, d):
    """On noise nothing can be left out, and looking for it must not cost much."""
    measure(benchmark, monkeypatch, *noise(name, d))


def first_coordinates(X, Q, most=32):
    """The leading principal coordinates of points and queries."""
    mean = X.mean(axis=0)
    axes = np.linalg.svd((X - mean)[:: max(1, len(X) // 4096)], full_matrices=False)[2][:most].T
    return (X - mean) @ axes, (Q - mean) @ axes


def halved(Z, rows, leaf):
    """Rows in parts of at most `leaf`, halved in the coordinate of the largest variance."""
    if len(rows) <= leaf:
        return [rows]
    n_leaves = -(-len(rows) // leaf)
    half = (n_leaves + 1) // 2 * leaf
    rows = rows[np.argsort(Z[rows, Z[rows].var(axis=0).argmax()], kind="stable")]
    return halved(Z, rows[:half], leaf) + halved(Z, rows[half:], leaf)


@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize("name", ["letter", "satimage", "shuttle", "covertype 30 000", "curved 256"])
def test_what_binds(benchmark, name, raw):
    """Shares of all pairs, means over 200 queries, at the bandwidth of the table above.

    `settle a label`: the nearest points, one after the other, until the sums of the best two classes differ by more
    than all points that are left could add. `count for sums`: those that the sum of their class, rounded, can see. No
    way of skipping computes less.

    `tiles for a label`, `tiles for sums`: the share of tiles of 48 points of a class, halves of halves in principal
    coordinates, whose bounding box is no farther from a query than such a pair. `of 8`: than from one of eight
    neighboring queries, which are computed together. What is between these and the first two is the width of boxes in
    so many dimensions: those tiles have to be looked at, coordinate by coordinate.

    Tiles of 16 points, in groups with boxes of their own, would touch fewer coordinates. A prototype with AVX-512 was
    slower with nearly all labels, sums and neighbors of these sets: a register block of 8 queries and 16 points has
    less to do between two tests, and there are three times as many boxes, entries in lists and updates of reaches."""
    X, y, Q = problem(name, raw)
    h = float(ParzenClassifier(scale=None, max_tuning_samples=2000).fit(X, y).bandwidth_)
    benchmark.extra_info.update(benchmark.pedantic(shares, (X.astype(float), y, Q.astype(float), h), rounds=1))


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
    found = {
        "n": n,
        "d": X.shape[1],
        "h": h,
        "settle a label": settled.mean() / n,
        "count for sums": np.mean(exponents <= sum_reach[:, y]),
    }
    for what, of_query in seen.items():
        found |= {what: of_query.mean(), f"{what}, of 8": of_query.reshape(-1, 8, len(leaves)).any(axis=1).mean()}
    ordered, starts = np.concatenate(leaves), np.cumsum([0, *map(len, leaves[:-1])])
    Z, ZQ = first_coordinates(X, Q, most=X.shape[1])
    of_pairs = {"a label": np.tile(label_reach[:, None], n), "sums": sum_reach[:, y[ordered]]}
    for what, reach in of_pairs.items():
        found[f"coordinates for {what}"] = touched(Z[ordered], ZQ[rows], reach, starts, 2 * h**2)
    return {key: float(value) for key, value in found.items()}


def touched(Z, ZQ, reach, starts, unit):
    """The share of coordinates that blocks of 8 queries touch before a tile, which begins at `starts`, is dropped."""
    n, d = Z.shape
    sizes, n_touched = np.diff(np.append(starts, n)), 0
    ends = [*(end for end in 2 ** np.arange(3, 20) if end < d), d]
    for block in range(0, len(ZQ), 8):
        partial, alive, begin = np.zeros((8, n)), np.full(len(starts), True), 0
        for end in ends:
            partial += cdist(ZQ[block : block + 8, begin:end], Z[:, begin:end], "sqeuclidean") / unit
            n_touched += (end - begin) * sizes[alive].sum()
            near = (partial <= reach[block : block + 8]).any(axis=0)
            alive &= np.logical_or.reduceat(near, starts)
            begin = end
    return n_touched / (len(ZQ) / 8 * n * d)


def settling(exponents, labels, n_classes):
    """How many of the points, nearest first, settle the label."""
    n, k = len(labels), np.exp(exponents[0] - exponents)
    sums = np.zeros((n, n_classes))
    sums[np.arange(n), labels] = k
    best = np.partition(sums.cumsum(axis=0), (-2, -1), axis=1)
    rest = np.arange(n - 1, -1, -1) * np.append(k[1:], 0)
    return int(np.argmax(best[:, -1] - best[:, -2] > rest)) + 1 if n_classes > 1 else 1


@VARIANTS
@pytest.mark.parametrize("raw", [False, True])
def test_growth(benchmark, monkeypatch, isa, raw):
    """Covertype, n / 5 queries for n points from 30 000 to 400 000, each at its tuned bandwidth: seconds, and the
    exponent of n that fits them. It is 2 for all pairs."""
    monkeypatch.setenv(SKIPPING, "sampled")
    sizes = (30_000, 100_000, 400_000)
    X, y, Q = problem("covertype 500 000", raw)

    def turn(n):
        fitted = ParzenClassifier(scale=None, max_tuning_samples=2000, n_jobs=1).fit(X[:n], y[:n])
        queries, h = Q[: n // 5], fitted.bandwidth_
        points = KernelPoints(X[:n], labels=y[:n])
        labels = processor_seconds(fitted.predict, queries)[1]
        return labels, processor_seconds(kernel_sums, queries, points, bandwidth=h, log=True, n_jobs=1)[1]

    labels, sums = zip(*benchmark.pedantic(lambda: [turn(n) for n in sizes], rounds=1), strict=True)
    for what, seconds in {"labels": labels, "sums": sums}.items():
        benchmark.extra_info.update({f"{what} {n}": taken for n, taken in zip(sizes, seconds, strict=True)})
        benchmark.extra_info[f"exponent of {what}"] = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


@VARIANTS
@pytest.mark.parametrize("d, m", [(8, 1_000_000), (50, 100_000)])
def test_confidence(benchmark, isa, d, m):
    """`rtol=0.05` with and without `confidence=1 - 1e-6`: up to a million queries, normal like 100 000 points of two
    labels, at a wide bandwidth. `violations`: queries whose sums are off by more than `rtol`."""
    draw = np.random.default_rng(0)
    X = draw.normal(size=(100_000, d)).astype(np.float32)
    Q = draw.normal(size=(m, d)).astype(np.float32)
    options = dict(labels=draw.integers(2, size=len(X)), bandwidth=1.2 * np.sqrt(d), n_jobs=1)
    rtol, confidence = 0.05, 1 - 1e-6
    part = slice(0, 20_000)
    _, certain = processor_seconds(kernel_sums, Q[part], X, rtol=rtol, **options)
    sums, taken = benchmark.pedantic(
        processor_seconds, (kernel_sums, Q, X), {"rtol": rtol, "confidence": confidence, **options}, rounds=1
    )
    truth, all_pairs = processor_seconds(kernel_sums, Q, X, **options)
    errors = np.abs(sums - truth).sum(axis=1) / truth.sum(axis=1)
    violations = int(np.sum(errors > rtol + 1e-5))
    benchmark.extra_info.update(
        {
            "n": len(X),
            "m": len(Q),
            "d": d,
            "h": options["bandwidth"],
            "with confidence": taken,
            "x rtol alone": certain / 20_000 * len(Q) / taken,
            "x all pairs": all_pairs / taken,
            "largest error": float(errors.max()),
            "violations": violations,
        }
    )
    assert violations == 0


def neighbors_problem(name):
    if name.startswith("noise"):
        values = np.random.default_rng(0).standard_normal((12_000, int(name.split()[1]))).astype(np.float32)
        return values[:10_000], values[10_000:]
    X, _, Q = problem({"covertype": "covertype 500 000"}.get(name, name), False)
    return X[:200_000], Q[:10_000]


def searches(X, Q):
    """Peers whose packages import here, as functions of nothing that return indices; building an index counts."""
    found = {}
    if X.shape[1] <= 64:  # beyond, trees take minutes
        found = {tree.__name__: lambda tree=tree: tree(X).query(Q[:500], K)[1] for tree in (BallTree, cKDTree)}
    if find_spec("faiss"):
        import faiss

        def flat():
            index = faiss.IndexFlatL2(X.shape[1])
            index.add(X)
            return index.search(Q, K)[1]

        faiss.omp_set_num_threads(1)
        found["faiss IndexFlatL2"] = flat
    if find_spec("pynndescent"):
        from pynndescent import NNDescent

        def descent():
            return NNDescent(X, n_neighbors=30, random_state=0, n_jobs=1).query(Q, K)[0]

        NNDescent(X[:500], n_neighbors=30, random_state=0, n_jobs=1).query(Q[:10], K)  # compiles itself
        found["pynndescent"] = descent
    return found


@VARIANTS
@pytest.mark.parametrize(
    "name",
    ["covertype", "letter", "satimage", "shuttle", "curved 256", "curved 784", "noise 256", "noise 784"],
)
def test_neighbors(benchmark, monkeypatch, isa, name):
    """The 10 nearest neighbors of up to 10 000 queries among up to 200 000 points, standardized, against all pairs and
    peers: how many times faster. Trees answer 500 queries, and their ratio is that of the seconds a query. What
    pynndescent finds is not exact: `recall` says how much of it is among the nearest. In noise of hundreds of features
    all points are about equally far: nothing can be left out, and what remains is a product of two matrices, for us as
    for faiss, whose BLAS takes the best instructions of the machine, whatever `isa` restricts us to."""
    X, Q = neighbors_problem(name)
    monkeypatch.setenv(SKIPPING, "sampled")
    (_, ours), taken = benchmark.pedantic(processor_seconds, (knn, Q, X, K), {"n_jobs": 1}, rounds=1)
    monkeypatch.setenv(SKIPPING, "never")
    (_, everything), all_pairs = processor_seconds(knn, Q, X, K, n_jobs=1)
    np.testing.assert_array_equal(ours, everything)
    results = {"n": len(X), "m": len(Q), "d": X.shape[1], "spectralcls": taken, "x all pairs": all_pairs / taken}
    for peer, search in searches(X, Q).items():
        indices, theirs = processor_seconds(search)
        results[f"x {peer}"] = theirs / len(indices) * len(Q) / taken
        recall = float(np.mean([len(np.intersect1d(*pair)) / K for pair in zip(indices, ours, strict=False)]))
        if peer == "pynndescent":
            results["recall"] = recall
        else:
            assert recall > 0.99  # ties come in another order
    benchmark.extra_info.update(results)
