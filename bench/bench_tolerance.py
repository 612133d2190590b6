"""Kernel sums in few features, exact and within a tolerance, against all pairs and against libraries that approximate

Points and queries come from a mixture of eight classes. Everything runs on one thread. The bandwidth maximizes the
cross-validated likelihood or the accuracy of the classifier, or follows Silverman's rule. The times of all pairs and of
`KernelDensity` are measured for two numbers of queries and extrapolated linearly, with the fixed time counted once.
"""

from functools import cache
from importlib.util import find_spec

import numpy as np
import pytest
from scipy.interpolate import RegularGridInterpolator
from sklearn.neighbors import KernelDensity

from bench.measure import QUICK, Queries, compare, pruning
from bench.pages import pick, view
from spectralcls import ParzenClassifier
from spectralcls.density import ParzenDensity
from spectralcls.kernels import bandwidth_grid, kernel_sums, log_normalizer, silverman_bandwidth

N = 5000 if QUICK else 1_000_000
RTOL = 1e-3


def mixture(n, d, seed):
    """Points and their components."""
    shape, draw = np.random.default_rng(0), np.random.default_rng(seed)
    centers, scales = shape.uniform(-4, 4, size=(8, d)), shape.uniform(0.3, 1.2, size=8)
    label = draw.integers(8, size=n)
    return centers[label] + draw.normal(size=(n, d)) * scales[label, None], label


@cache
def problem(d, n=N):
    """(X, labels, queries)."""
    return *mixture(n, d, 1), mixture(n, d, 2)[0]


@cache
def bandwidth(d, rule, n=N):
    X, y, _ = problem(d, n)
    if rule == "silverman":
        return float(silverman_bandwidth(X))
    if rule == "accuracy":
        return float(ParzenClassifier(scale=None).fit(X, y).bandwidth_)
    some = X[np.random.default_rng(0).choice(n, min(n, 20_000), replace=False)]
    grid = bandwidth_grid(some)
    logs = kernel_sums(some, some, bandwidth=grid, log=True, exclude_self=True)
    best = grid[(logs.mean(axis=0) - d * np.log(grid)).argmax()]
    return float(best * (len(some) / n) ** (1 / (d + 4)))


def of_all_pairs(call):
    """The same call without the grid and without pruning."""

    def run(q):
        with pruning("never"):
            return call(q)

    return run


def largest_error(values, truth):
    count = min(len(values), len(truth))
    return float(np.max(np.abs(values[:count] - truth[:count]) / truth[:count]))


def fft_density(X, Q, h):
    """KDEpy's FFTKDE on a grid of 1024 points per side, then linear interpolation at the queries."""
    from KDEpy import FFTKDE

    grid, values = FFTKDE(kernel="gaussian", bw=h).fit(X).evaluate(1024)
    axes = [np.unique(grid[:, k]) for k in range(X.shape[1])]
    values = values.reshape([len(a) for a in axes])
    return RegularGridInterpolator(axes, values, bounds_error=False, fill_value=0)(Q)


@pytest.mark.parametrize("rule", ["likelihood", "accuracy", "silverman"])
@pytest.mark.parametrize("d", [2, 3])
def test_sums(record, d, rule):
    """The table gives the seconds of `kernel_sums(rtol=1e-3)`, and the time of the others relative to that. FFTKDE has
    no error bound."""
    (X, _, Q), h = problem(d), bandwidth(d, rule)
    n, scale = len(X), len(X) * np.exp(log_normalizer("gaussian", d, h))

    def trees(q):
        return scale * np.exp(KernelDensity(bandwidth=h, rtol=RTOL).fit(X).score_samples(Q[:q]))

    functions = {
        "ours": lambda: kernel_sums(Q, X, bandwidth=h, rtol=RTOL),
        "all pairs": Queries(of_all_pairs(lambda q: kernel_sums(Q[:q], X, bandwidth=h)), n, n),
        "KernelDensity": Queries(trees, n, n, full=4e8),
    }
    if d == 2 and find_spec("KDEpy"):
        functions["FFTKDE"] = lambda: scale * fft_density(X, Q, h)
    row, results = compare(functions, repeats=3, budget=240)
    truth = results["all pairs"]
    errors = {f"error of {name}": largest_error(found, truth) for name, found in results.items() if name != "all pairs"}
    assert errors["error of ours"] <= RTOL
    record({"n = m": n, "h": h} | row | errors)


@view("sums")
def sums_in_short(rows):
    return [pick(rows, "d", "rule", "n = m", "ours, s", "x *", "error of ours", "error of FFTKDE")]


ANSWERS = {"labels": "predict", "posteriors": "predict_proba", "log densities": "score_samples"}


@pytest.mark.every_isa
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [N // 10, N])
@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("answer", ANSWERS)
def test_few_features(record, answer, d, n, dtype):
    """`ParzenClassifier` and `ParzenDensity` with their defaults, and with `tolerance=1e-3`. Accuracy chooses the
    classifier's bandwidth, the likelihood that of the density. Calls after the first, which packs the points, are
    measured.
    """
    (X, y, Q), rule = problem(d, n), "likelihood" if answer == "log densities" else "accuracy"
    X, Q, h = X.astype(dtype), Q.astype(dtype), bandwidth(d, rule, n)

    def fitted(tolerance):
        if answer == "log densities":
            return ParzenDensity(bandwidth=h, scale=None, tolerance=tolerance, n_jobs=1).fit(X)
        return ParzenClassifier(bandwidth=h, scale=None, tolerance=tolerance, n_jobs=1).fit(X, y)

    exact, tolerant = (getattr(fitted(t), ANSWERS[answer]) for t in (None, RTOL))
    exact(Q[:2]), tolerant(Q[:2])  # pack the points
    functions = {
        "ours": lambda: exact(Q),
        "all pairs": Queries(of_all_pairs(lambda q: exact(Q[:q])), n, n),
        "tolerance 1e-3": lambda: tolerant(Q),
    }
    row, results = compare(functions, repeats=3, budget=60)
    truth = results["all pairs"]
    found = {name: results[name][: len(truth)] for name in ("ours", "tolerance 1e-3")}
    if answer == "labels":
        differ = {name: f"{np.count_nonzero(labels != truth)} of {len(truth)}" for name, labels in found.items()}
    else:
        differ = {name: float(np.max(np.abs(values - truth))) for name, values in found.items()}
        assert differ["ours"] <= (1e-4 if dtype == "float32" else 1e-10)
    record({"n = m": n} | row | {f"differ, {name}": value for name, value in differ.items()})


@view("few_features")
def few_features_in_short(rows):
    """The table gives the time of all pairs relative to `ParzenClassifier` and `ParzenDensity` with their defaults,
    after a first call that packs the points. *Differ* is the number of labels that differ from those computed from all
    pairs, or the largest difference of a posterior or of a log density. The last column is the time with
    `tolerance=1e-3` relative to the time without it, for the largest number of points.
    """
    table = {}
    for row in rows:
        key = {name: row[name] for name in ("answer", "d", "dtype", "isa")}
        line = table.setdefault(tuple(key.values()), key)
        size = f"{row['n = m']:.0e}".replace("e+0", "e")
        line |= {f"{size}, s": row["ours, s"], f"{size}, x all pairs": row["x all pairs"]}
        line[f"{size}, differ"] = row["differ, ours"]
        if row["n = m"] == N:
            line[f"{size}, x tolerance"] = row["x tolerance 1e-3"]
    return [list(table.values())]


@pytest.mark.parametrize("rtol", [1e-3, 0.05])
@pytest.mark.parametrize("d", [2, 3, 6, 10])
def test_mlpack(record, d, rtol):
    """mlpack's dual trees run with the same tolerance on 50 000 points and queries. The table gives our seconds, and
    mlpack's time, including the construction of the trees, relative to ours.
    """
    mlpack = pytest.importorskip("mlpack")
    n = min(N, 50_000)
    (X, _, Q), h = problem(d, n), bandwidth(d, "likelihood", n)
    scale = n * np.exp(log_normalizer("gaussian", d, h))

    def dual_trees():
        options = dict(kernel="gaussian", tree="kd-tree", algorithm="dual-tree", rel_error=rtol, abs_error=0.0)
        return scale * np.ravel(mlpack.kde(reference=X, query=Q, bandwidth=h, **options)["predictions"])

    functions = {"ours": lambda: kernel_sums(Q, X, bandwidth=h, rtol=rtol), "mlpack": dual_trees}
    row, results = compare(
        functions | {"all pairs": Queries(of_all_pairs(lambda q: kernel_sums(Q[:q], X, bandwidth=h)), n, n)},
        repeats=3,
        budget=240,
    )
    errors = {f"error of {name}": largest_error(results[name], results["all pairs"]) for name in ("ours", "mlpack")}
    record({"n = m": n, "h": h} | row | errors)
