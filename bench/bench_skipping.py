"""Labels, sums and neighbors that leave out unseen what they cannot see, beside all pairs and beside peers.

All pairs are timed on a sample of the queries and extrapolated in proportion (``sampled`` says how many). Processor
time of one thread; what has to be built first counts, every time.
"""


import numpy as np
import pytest
from scipy.spatial import cKDTree
from sklearn.neighbors import BallTree

from bench import data
from bench.measure import processor_seconds
from spectralcls import ParzenClassifier
from spectralcls.kernels import KernelPoints, kernel_sums
from spectralcls.neighbors import knn

SKIPPING = "SPECTRALCLS_SKIPPING"
ALL_PAIRS = 1e8  # that are timed
SIZES = {
    "letter": (16_000, 4_000), "satimage": (4_435, 2_000), "shuttle": (43_500, 14_500), "covertype": (100_000, 20_000),
    "covertype 30 000": (30_000, 20_000), "covertype 500 000": (500_000, 81_012),
}
K = 10


def standardized(X, Q):
    scale = X.std(axis=0)
    scale[scale == 0] = 1
    return (X - X.mean(axis=0)) / scale, (Q - X.mean(axis=0)) / scale


def problem(name, raw):
    """float32 points, labels and queries of a data set."""
    arrays = data.load(name.split()[0])
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


def noise(name, d):
    draw = np.random.default_rng(0)
    values = draw.normal(size=(30_000, d)) if name == "gaussian" else draw.uniform(size=(30_000, d))
    values = values.astype(np.float32)
    return values[:20_000], draw.integers(2, size=20_000), values[20_000:]


def measure(benchmark, monkeypatch, X, y, Q):
    """Medians of turns: labels, log sums of every class, those within a tolerance, each with newly packed points."""
    h = float(ParzenClassifier(scale=None, max_tuning_samples=2000).fit(X, y).bandwidth_)
    fitted = ParzenClassifier(bandwidth=h, scale=None, n_jobs=1).fit(X, y)
    n_sampled = min(len(Q), max(200, int(ALL_PAIRS / len(X))))
    seconds = {name: [] for name in ("labels", "sums", "rtol=1e-3", "all pairs", "labels by all pairs")}
    options = dict(bandwidth=h, log=True, n_jobs=1)

    agree = []

    def points():
        return KernelPoints(X, labels=y)

    def turn():
        monkeypatch.setenv(SKIPPING, "sampled")
        vars(fitted._model.points).pop("_kept", None)
        labels, taken = processor_seconds(fitted.predict, Q)
        seconds["labels"].append(taken)
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

    benchmark.pedantic(turn, rounds=1 if len(X) * len(Q) > 1e10 else 3, warmup_rounds=0)
    median = {name: float(np.median(taken)) for name, taken in seconds.items()}
    beside = {"labels": "labels by all pairs", "sums": "all pairs", "rtol=1e-3": "all pairs"}
    ratios = {f"x {name}": float(np.median(np.divide(seconds[all_], seconds[name]))) for name, all_ in beside.items()}
    sizes = {"n": len(X), "m": len(Q), "d": X.shape[1], "h": h, "sampled": n_sampled, "agree": min(agree)}
    benchmark.extra_info.update(sizes | median | ratios)


@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize("name", SIZES)
def test_labels_and_sums(benchmark, monkeypatch, name, raw):
    """`ParzenClassifier.predict` and class sums at the bandwidth that it chooses, raw data or standardized: seconds,
    and how many times faster than the same by all pairs. `agree`: the share of labels that are those of all pairs, but
    for exact ties. Sets of few queries are bound by what is built first, which these have to share.

    What binds exact sums where they gain little: each class is summed to rounding, however far it is, so that a
    query sees its nearest part of every class. On letter few pairs count, but in sixteen dimensions the boxes of
    tiles overlap: most tiles hold a point that counts for one of eight queries, and nearly all have to be looked
    at, which takes about as long as half of the distances. On satimage a fifth of all pairs counts, and tiles are
    first looked at and then computed. Within a tolerance, and for labels, classes far away are left alone;
    covertype and shuttle have tight clusters."""
    measure(benchmark, monkeypatch, *problem(name, raw))


@pytest.mark.parametrize("d", [10, 50])
@pytest.mark.parametrize("name", ["gaussian", "uniform"])
def test_noise(benchmark, monkeypatch, name, d):
    """Nothing can be left out, and nothing must be lost."""
    measure(benchmark, monkeypatch, *noise(name, d))


@pytest.mark.parametrize("d, m", [(8, 1_000_000), (50, 100_000)])
def test_confidence(benchmark, d, m):
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
    benchmark.extra_info.update({
        "n": len(X), "m": len(Q), "d": d, "h": options["bandwidth"], "with confidence": taken, "x rtol alone":
        certain / 20_000 * len(Q) / taken, "x all pairs": all_pairs / taken, "largest error": float(errors.max()),
        "violations": violations,
    })
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
    try:
        import faiss
    except ImportError:
        return found

    def flat():
        index = faiss.IndexFlatL2(X.shape[1])
        index.add(X)
        return index.search(Q, K)[1]

    faiss.omp_set_num_threads(1)
    return found | {"faiss IndexFlatL2": flat}


@pytest.mark.parametrize("name", ["covertype", "letter", "satimage", "shuttle", "noise 256", "noise 784"])
def test_neighbors(benchmark, monkeypatch, name):
    """The 10 nearest neighbors of up to 10 000 queries among up to 200 000 points, standardized, beside all pairs and
    peers: how many times faster. Trees answer 500 queries, and their ratio is that of the seconds a query."""
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
        assert np.mean(indices == ours[: len(indices)]) > 0.9  # ties come in another order
    benchmark.extra_info.update(results)
