"""Densities, kernel regression and mean shift against those who have them, answers compared, in one run.

Everything runs as it comes: ours on all processors, the peers on those that they use. For an idle machine.
SPECTRALCLS_BENCH_DENSITY sets the number of points of the densities (20000), SPECTRALCLS_BENCH_SHIFT that of mean
shift (10000).
"""

import os
import warnings

import numpy as np
import pytest
from scipy.stats import gaussian_kde
from sklearn.cluster import MeanShift
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import KernelDensity

from bench.measure import limit, side_by_side, slots
from spectralcls import KernelMeanShift, KernelRegressor, ParzenDensity
from spectralcls._core.threads import effective_n_threads

N = int(os.environ.get("SPECTRALCLS_BENCH_DENSITY", 20_000))
N_SHIFT = int(os.environ.get("SPECTRALCLS_BENCH_SHIFT", 10_000))


def normal(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def peer(name):
    """A module of another project, whatever its imports warn of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip(name)


def report(benchmark, functions, repeats=5, budget=20.0, peers_share=1.0):
    """Seconds of ours, the first, in turns with the others; how many times as long those took, or would have taken if
    they did a share of the work. Their results."""
    ours, *peers = functions
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the peers' own dependencies
        times, results = side_by_side(functions, repeats, budget)
        benchmark.pedantic(functions[ours], rounds=1)
    benchmark.extra_info["our seconds"] = times[ours][0]
    for peer in peers:
        benchmark.extra_info[f"times {peer}"] = times[peer][0] / peers_share / times[ours][0]
    return results


@pytest.mark.parametrize("d", [2, 16])
def test_log_densities_of_as_many_queries_as_points(benchmark, d):
    """`score_samples` at Scott's bandwidth of `KernelDensity` as it comes (a tree), and with rtol=1e-4. Both answer a
    twentieth of the queries, and their times are taken twenty times. Errors in nats against sums by NumPy, the
    largest of 200 queries. *At the limit*: as many times as `KernelDensity` takes if all pairs cost no more than the
    multiply-adds of the machine, on all its processors."""
    X, Q = normal(N, d), normal(N, d, 1)
    h, some = N ** (-1 / (d + 4)), Q[: N // 20]
    found = report(
        benchmark,
        {
            "ParzenDensity": lambda: ParzenDensity(h).fit(X).score_samples(Q),
            "KernelDensity": lambda: KernelDensity(bandwidth=h).fit(X).score_samples(some),
            "KernelDensity rtol=1e-4": lambda: KernelDensity(bandwidth=h, rtol=1e-4).fit(X).score_samples(some),
        },
        repeats=3,
        peers_share=1 / 20,
    )
    info = benchmark.extra_info
    seconds = N * N / limit(slots(d, "float64"), "float64", effective_n_threads(None))
    info["times KernelDensity at the limit"] = info["times KernelDensity"] * info["our seconds"] / seconds
    exact = by_hand(Q[:200], X, h)
    for name, logs in found.items():
        benchmark.extra_info[f"error of {name}"] = float(np.abs(logs[:200] - exact).max())
    assert np.abs(found["ParzenDensity"][:200] - exact).max() < 1e-9


def by_hand(Q, X, h):
    d = X.shape[1]
    logs = np.array([np.logaddexp.reduce(-np.sum((X - q) ** 2, axis=1) / (2 * h**2)) for q in Q])
    return logs - np.log(len(X)) - d * np.log(h) - d / 2 * np.log(2 * np.pi)


def test_error_far_from_the_data_in_many_dimensions(benchmark):
    """Log densities at d = 50, of queries among the points and up to a thousand bandwidths away: the largest errors in
    nats."""
    X, h = normal(2000, 50), 0.3
    Q = np.vstack([X[:50] + 0.1, X[:50] + np.linspace(1, 1000, 50)[:, None] * h * np.eye(50)])
    exact = by_hand(Q, X, h)
    found = report(
        benchmark,
        {
            "ParzenDensity": lambda: ParzenDensity(h).fit(X).score_samples(Q),
            "KernelDensity": lambda: KernelDensity(bandwidth=h).fit(X).score_samples(Q),
        },
        repeats=1,
    )
    for name, logs in found.items():
        benchmark.extra_info[f"error of {name}"] = float(np.abs(logs - exact).max())
    assert np.abs(found["ParzenDensity"] - exact).max() < 1e-6


@pytest.mark.parametrize("d", [1, 2, 8])
def test_scipy(benchmark, d):
    """`gaussian_kde` at its own bandwidth, 5000 queries and points: the same kernels, shaped by the covariance."""
    X, Q = normal(5000, d), normal(5000, d, 1)
    factor = float(gaussian_kde(X.T).factor * np.sqrt(5000 / 4999))
    found = report(
        benchmark,
        {
            "ParzenDensity": lambda: np.exp(ParzenDensity(factor, covariance_type="full").fit(X).score_samples(Q)),
            "gaussian_kde": lambda: gaussian_kde(X.T)(Q.T),
        },
    )
    np.testing.assert_allclose(found["ParzenDensity"], found["gaussian_kde"], rtol=1e-9)


@pytest.mark.parametrize("d", [1, 2])
def test_kdepy(benchmark, d):
    """KDEpy on the grid that its FFT needs, 100 000 points: 1024 places in one dimension, 128 x 128 in two. Ours once
    exact, once with tolerance=1e-4; errors are relative to the largest density."""
    kdepy = peer("KDEpy")
    X, h = normal(100_000, d), 0.1
    side = np.linspace(-6, 6, 1024 if d == 1 else 128)
    grid = np.stack(np.meshgrid(*[side] * d, indexing="ij"), axis=-1).reshape(-1, d)
    functions = {
        "ParzenDensity": lambda: np.exp(ParzenDensity(h).fit(X).score_samples(grid)),
        "ParzenDensity, tolerance=1e-4": lambda: np.exp(ParzenDensity(h, tolerance=1e-4).fit(X).score_samples(grid)),
        "FFTKDE": lambda: kdepy.FFTKDE(bw=h, kernel="gaussian").fit(X).evaluate(grid),
        "TreeKDE": lambda: kdepy.TreeKDE(bw=h, kernel="gaussian").fit(X).evaluate(grid),
    }
    found = report(benchmark, functions, repeats=3)
    exact = found["ParzenDensity"]
    for name, f in found.items():
        benchmark.extra_info[f"error of {name}"] = float(np.abs(f - exact).max() / exact.max())


@pytest.mark.parametrize("d", [1, 2, 4])
def test_bandwidth_by_leave_one_out_likelihood(benchmark, d):
    """`KDEMultivariate(bw="cv_ml")` of statsmodels, n = 2000, one bandwidth for each feature by a simplex search; ours
    for all features, the best of sixteen. The mean log density of a point by the others, of both bandwidths.
    Their search takes more steps with every feature; ours is sixteen bandwidths in one pass over all pairs, whatever
    the number of features."""
    statsmodels = peer("statsmodels.nonparametric.api")
    X = normal(2000, d)
    found = report(
        benchmark,
        {
            "ParzenDensity": lambda: ParzenDensity().fit(X).bandwidth_,
            "KDEMultivariate": lambda: statsmodels.KDEMultivariate(X, var_type="c" * d, bw="cv_ml").bw,
        },
        budget=1.0,
    )
    for name, bandwidth in found.items():
        scale = np.broadcast_to(bandwidth, d)
        held_out = ParzenDensity(bandwidth_grid=[1.0]).fit(X / scale).cv_results_["mean_test_score"][0]
        benchmark.extra_info[f"log likelihood of {name}"] = float(held_out - np.log(scale).sum())


@pytest.mark.parametrize("degree, reg_type", [(0, "lc"), (1, "ll")])
def test_regression_by_leave_one_out(benchmark, degree, reg_type):
    """`KernelReg` of statsmodels with its bandwidth by cross-validation, n = 1000 points of one feature: the mean
    squared error of the prediction of the function at 500 places."""
    statsmodels = peer("statsmodels.nonparametric.api")
    rng = np.random.default_rng(0)
    X, Q = rng.uniform(-3, 3, size=(1000, 1)), np.linspace(-3, 3, 500)[:, None]
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=1000)
    found = report(
        benchmark,
        {
            "KernelRegressor": lambda: KernelRegressor(degree=degree).fit(X, y).predict(Q),
            "KernelReg": lambda: statsmodels.KernelReg(y, X, var_type="c", reg_type=reg_type, bw="cv_ls").fit(Q)[0],
        },
        budget=1.0,
    )
    for name, predicted in found.items():
        benchmark.extra_info[f"error of {name}"] = float(np.mean((predicted - np.sin(2 * Q[:, 0])) ** 2))


@pytest.mark.parametrize("kernel", ["epanechnikov", "gaussian"])
def test_mean_shift(benchmark, kernel):
    """`MeanShift` of scikit-learn with a flat kernel, ten groups in three dimensions: the same steps as ours with the
    Epanechnikov density, whose kernel of means is flat; the Gaussian's bandwidth is that of the same variance.
    `MeanShift` climbs from a random fiftieth of the points instead of from all, and its time is taken fifty times."""
    X, y = make_blobs(N_SHIFT, 3, centers=10, cluster_std=1.0, random_state=0)
    h, seeds = 2.0, X[np.random.default_rng(0).permutation(N_SHIFT)[: N_SHIFT // 50]]
    found = report(
        benchmark,
        {
            "KernelMeanShift": lambda: KernelMeanShift(
                h if kernel != "gaussian" else h / np.sqrt(7), kernel=kernel
            ).fit(X),
            "MeanShift": lambda: MeanShift(bandwidth=h, seeds=seeds).fit(X),
        },
        repeats=1,
        peers_share=1 / 50,
    )
    benchmark.extra_info["points"] = N_SHIFT
    for name, model in found.items():
        benchmark.extra_info[f"clusters of {name}"] = len(model.cluster_centers_)
        benchmark.extra_info[f"agreement of {name} with the groups"] = float(adjusted_rand_score(y, model.labels_))
    benchmark.extra_info["agreement"] = float(
        adjusted_rand_score(found["MeanShift"].labels_, found["KernelMeanShift"].labels_)
    )
