"""Prediction intervals of a regression: coverage and width, against split and cross conformal prediction

The tables of numbers and categories come from R packages and were chosen by their columns; missing values are kept. All
methods but the last use `KernelRegressor` with its defaults. *Jackknife+* is its `predict_interval`. *Split* trains the
model on half of the rows and takes the quantile of the absolute residuals from the other half. *CV+* is MAPIE's, with
five folds. *CQR* trains boosted trees for two quantiles on half of the rows and corrects them by the other half. The
level is 90 %; at most 500 rows are for testing. *By fifths* has other methods, and all tables with at least 1000 rows.
"""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from bench import conformal
from bench.frames import TABLES, boosting, table
from bench.measure import QUICK, half_interval, processor_seconds
from bench.pages import view
from bench.plots import Dots
from spectralcls import AutoRegressor, KernelRegressor, KernelRidgeRegressor

DRAWN = ["one number", "five numbers", "two categories", "noise that grows"]
SIZES = {30: 2} if QUICK else {30: 20, 100: 12, 300: 6, 1000: 3, 5000: 1}
MANY = {30: 2} if QUICK else {30: 100, 100: 50}
COVERAGE, TESTED = 0.9, 500
NAMES = [*TABLES["intervals"], *DRAWN]
MANY_ROWS, FITTED = 1000, 600
FIFTHS = ["lowest", "second", "middle", "fourth", "highest"]


def kernel_regressor():
    return KernelRegressor(n_jobs=1)


METHODS = {
    "jackknife+": (conformal.own, kernel_regressor),
    "split": (conformal.split, kernel_regressor),
    "CV+": (conformal.cross, kernel_regressor),
    "CQR": (conformal.cqr, boosting),
}


OF_FIFTHS = {
    "AutoRegressor": (conformal.own, lambda: AutoRegressor(n_jobs=1)),
    "KernelRidgeRegressor": (conformal.own, lambda: KernelRidgeRegressor(n_jobs=1)),
    "MAPIE, CV+": (conformal.cross, lambda: KernelRidgeRegressor(n_jobs=1)),
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


@pytest.mark.parametrize("name", [*TABLES["intervals"], *TABLES["regression"]])
def test_fifths(record, name):
    """Share of the targets in the interval in percent, by fifths of the middles of the intervals, and the mean width in
    standard deviations of the targets.
    """
    X, y = table("regression" if name in TABLES["regression"] else "intervals", name)
    if len(y) < MANY_ROWS:
        pytest.skip(f"{name} has {len(y)} rows")
    rows, found = np.random.default_rng(0).permutation(len(y)), {}
    train, test = rows[:FITTED], rows[FITTED : FITTED + MANY_ROWS]
    truth = y[test].astype(float)
    for method, (of, make) in OF_FIFTHS.items():
        ends = of(make, X.iloc[train], y[train].astype(float), X.iloc[test], [COVERAGE], 0)[0]
        order = np.argsort(ends.sum(axis=1), kind="stable")
        inside = ((ends[:, 0] <= truth) & (truth <= ends[:, 1]))[order]
        fifths = [100 * float(part.mean()) for part in np.array_split(inside, len(FIFTHS))]
        found[method] = [*fifths, conformal.covered(ends, truth)[1]]
    record(found | {"tested": len(test)})


@view("fifths")
def by_fifths(rows):
    """The test rows of each table are divided into fifths by the middle of their interval. *Worst* is the fifth of each
    table with the lowest coverage; *by chance* is its mean if the coverage is 90 % everywhere. *All* has all rows;
    widths are geometric means relative to those of `AutoRegressor`. MAPIE's CV+ uses `KernelRidgeRegressor`.
    """
    found = {method: np.array([row[method] for row in rows]) for method in OF_FIFTHS}
    widths = {method: np.log(values[:, 5]) for method, values in found.items()}
    lines = [
        {
            "method": method,
            "all": f"{values[:, :5].mean():.1f}",
            "worst fifth": f"{values[:, :5].min(axis=1).mean():.1f} ± {half_interval(values[:, :5].min(axis=1)):.1f}",
            "worst fifth below 86 %": f"{np.count_nonzero(values[:, :5].min(axis=1) < 86)} of {len(rows)}",
            "width": f"{np.exp(np.mean(widths[method] - widths['AutoRegressor'])):.2f}",
        }
        for method, values in found.items()
    ]
    drawn = [
        np.random.default_rng(0).binomial(row["tested"] // 5, 0.9, (9999, 5)) * 500 / row["tested"] for row in rows
    ]
    lines.append(
        {"method": "by chance", "all": "90.0", "worst fifth": f"{np.mean([d.min(axis=1) for d in drawn]):.1f}"}
    )
    return [f"{len(rows)} tables, {FITTED} training rows.", lines]


@view("fifths", page=False)
def fifths_in_short(rows):
    """The picture and the table for the guide."""
    found = {method: np.array([row[method] for row in rows]) for method in OF_FIFTHS}
    places = {f"{fifth} fifth": slice(i, i + 1) for i, fifth in enumerate(FIFTHS)} | {"worst fifth": slice(0, 5)}

    def covered(method, place):
        values = found[method][:, place].min(axis=1)
        return {"median": float(values.mean()), "spread": float(half_interval(values))}

    dots = [{"rows": name} | {method: covered(method, place) for method in found} for name, place in places.items()]
    return [Dots(dots, "rows", tuple(found), "covered, %", 90.0), by_fifths(rows)[1]]


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
