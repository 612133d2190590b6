"""Classifiers of other libraries, with their defaults, or tuned as their documentation advises.

Each entry takes the number of threads and returns an unfitted classifier for features in any units. Labels are 0, 1,
...
"""

import importlib.util

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import QuantileTransformer, StandardScaler
from sklearn.svm import SVC

import spectralcls

OURS = {  # classifiers of this package
    name: getattr(module, name)
    for module in (spectralcls, spectralcls.spectral)
    for name in module.__all__
    if name.endswith("Classifier")
}
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)
SVM_GRID = {"svc__C": np.logspace(-1, 3, 5), "svc__gamma": np.logspace(-2, 2, 5, base=4)}
MOST_ROUNDS, PATIENCE, LEAVES = 2000, 30, (15, 63, 255)  # of boosting with early stopping


class ScaledSVC(SVC):
    """`gamma` in units of scikit-learn's "scale"."""

    def fit(self, X, y):
        gamma = self.gamma
        try:
            self.gamma = gamma / (X.shape[1] * X.var())
            return super().fit(X, y)
        finally:
            self.gamma = gamma


def svm(threads, *more_scalers, **options):
    """RBF kernel, 25 pairs of C and gamma by five folds; further ways to scale the features are searched, too."""
    steps = Pipeline([("scaler", StandardScaler()), ("svc", ScaledSVC(cache_size=500, **options))])
    return GridSearchCV(steps, SVM_GRID | {"scaler": [StandardScaler(), *more_scalers]}, cv=FOLDS, n_jobs=threads)


def neighbors(threads, *scalers):
    steps = make_pipeline(*scalers, KNeighborsClassifier(n_jobs=threads))
    return GridSearchCV(steps, {"kneighborsclassifier__n_neighbors": [1, 3, 5, 9, 15]}, cv=FOLDS)


class EarlyStopping:
    """Boosting until the loss on a held-out tenth of the rows no longer falls; `make(rounds, leaves)` returns a model
    of the library, and `watch` fits it and returns its loss and its number of rounds.

    The number of leaves is chosen by the held-out loss as well.
    """

    def __init__(self, make, watch):
        self.make, self.watch = make, watch

    def fit(self, X, y):
        some = y if np.bincount(y)[np.unique(y)].min() > 1 and len(y) > 10 * len(np.unique(y)) else None
        A, B, a, b = train_test_split(X, y, test_size=0.1, random_state=0, stratify=some)
        known = np.isin(b, a)  # the loss of a class that is absent from training is infinite
        tried = {leaves: self.watch(self.make(MOST_ROUNDS, leaves), A, a, B[known], b[known]) for leaves in LEAVES}
        leaves = min(tried, key=tried.get)
        rounds = max(tried[leaves][1], 1)
        self.model_ = self.make(rounds, leaves).fit(X, y)
        return self

    def predict(self, X):
        return np.ravel(self.model_.predict(X)).astype(int)

    def predict_proba(self, X):
        return self.model_.predict_proba(X)


def tuned_boosting(threads):
    return GridSearchCV(
        HistGradientBoostingClassifier(
            max_iter=MOST_ROUNDS, early_stopping=True, n_iter_no_change=PATIENCE, random_state=0
        ),
        {"learning_rate": [0.05, 0.1], "max_leaf_nodes": list(LEAVES)},
        cv=StratifiedKFold(3, shuffle=True, random_state=0),
    )


def tuned_lightgbm(threads):
    import lightgbm

    def make(rounds, leaves):
        return lightgbm.LGBMClassifier(
            n_estimators=rounds, num_leaves=leaves, learning_rate=0.05, n_jobs=threads, verbose=-1
        )

    def watch(model, A, a, B, b):
        stop = lightgbm.early_stopping(PATIENCE, verbose=False)
        model.fit(A, a, eval_set=[(B, b)], callbacks=[stop])
        (scores,) = model.best_score_.values()
        return min(scores.values()), model.best_iteration_

    return EarlyStopping(make, watch)


def xgboost(threads):
    from xgboost import XGBClassifier

    return XGBClassifier(n_jobs=threads, random_state=0)


def lightgbm(threads):
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=threads, random_state=0, verbose=-1)


def catboost(threads):
    from catboost import CatBoostClassifier

    return CatBoostClassifier(thread_count=threads, random_seed=0, verbose=0, allow_writing_files=False)


FOREST = lambda threads: RandomForestClassifier(500, n_jobs=threads, random_state=0)  # noqa: E731
BOOSTING = lambda threads: HistGradientBoostingClassifier(random_state=0)  # noqa: E731
PEERS = {
    "SVM": svm,
    "SVM, ranks": lambda threads: svm(threads, QuantileTransformer(output_distribution="normal")),
    "SVM, calibrated": lambda threads: CalibratedClassifierCV(svm(threads), cv=FOLDS),
    "k-NN": lambda threads: neighbors(threads, StandardScaler()),
    "k-NN, raw": neighbors,
    "RandomForest": FOREST,
    "ExtraTrees": lambda threads: ExtraTreesClassifier(500, n_jobs=threads, random_state=0),
    "HistGradientBoosting": BOOSTING,
    "HistGradientBoosting, tuned": tuned_boosting,
    "LightGBM": lightgbm,
    "LightGBM, tuned": tuned_lightgbm,
    "XGBoost": xgboost,
    "CatBoost": catboost,
}
NEEDED = {"LightGBM": "lightgbm", "LightGBM, tuned": "lightgbm", "XGBoost": "xgboost", "CatBoost": "catboost"}


def installed():
    """Names of the installed peers."""
    return [name for name in PEERS if name not in NEEDED or importlib.util.find_spec(NEEDED[name])]
