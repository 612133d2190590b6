"""Prediction intervals of a regression: coverage and width, against split and cross conformal prediction

The tables of numbers and categories come from R packages and were chosen by their columns; missing values are kept. All
methods but the last use `KernelRegressor` with its defaults. *Jackknife+* is its `predict_interval`. *Split* trains the
model on half of the rows and takes the quantile of the absolute residuals from the other half. *CV+* is MAPIE's, with
five folds. *CQR* trains boosted trees for two quantiles on half of the rows and corrects them by the other half. The
level is 90 %; at most 500 rows are for testing.
"""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from bench import conformal
from bench.frames import TABLES, boosting, table
from bench.measure import QUICK, half_interval, processor_seconds
from bench.pages import view
from spectralcls import KernelRegressor

DRAWN = ["one number", "five numbers", "two categories", "noise that grows"]
SIZES = {30: 2} if QUICK else {30: 20, 100: 12, 300: 6, 1000: 3, 5000: 1}
MANY = {30: 2} if QUICK else {30: 100, 100: 50}
COVERAGE, TESTED = 0.9, 500
NAMES = [*TABLES["intervals"], *DRAWN]


def kernel_regressor():
    return KernelRegressor(n_jobs=1)


METHODS = {
    "jackknife+": (conformal.own, kernel_regressor),
    "split": (conformal.split, kernel_regressor),
    "CV+": (conformal.cross, kernel_regressor),
    "CQR": (conformal.cqr, boosting),
}


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
    X, y = table("intervals", name)
    if 2 * len(y) < 3 * n:
        pytest.skip(f"{name} has {len(y)} rows")
    rows = rng.permutation(len(y))
    train, test = rows[:n], rows[n : n + TESTED]
    return X.iloc[train], y[train].astype(float), X.iloc[test], y[test].astype(float)


def intervals(method, X, y, Q, seed):
    """Ends of the intervals (m, 2) by a method."""
    of, make = METHODS[method]
    return of(make, X, y, Q, [COVERAGE], seed)[0]


@pytest.mark.parametrize("name, n", list(product(NAMES, MANY)))
def test_many_draws(record, name, n):
    """Coverage of the jackknife+ in percent, over enough draws for a standard error below one point for each table."""
    found, draws = [], MANY[n]
    for seed in range(1000, 1000 + draws):
        X, y, Q, truth = draw(name, n, seed)
        found.append(100 * conformal.covered(intervals("jackknife+", X, y, Q, seed), truth)[0])
    record({"draws": draws, "coverage": np.mean(found), "error": np.std(found, ddof=1) / draws**0.5})


@pytest.mark.parametrize("name, n", list(product(NAMES, SIZES)))
def test_coverage(record, name, n):
    """Share of the targets in the interval in percent, mean width, and processor seconds of fit and intervals,
    averaged over draws.
    """
    found = {}
    for seed in range(SIZES[n]):
        X, y, Q, truth = draw(name, n, seed)
        for method in METHODS:
            ends, seconds = processor_seconds(intervals, method, X, y, Q, seed)
            covered, width = conformal.covered(ends, truth)
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
