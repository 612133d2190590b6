"""Classifiers of other libraries, with their defaults, or tuned as their documentation advises.

Each entry takes the number of threads and returns an unfitted classifier for features in any units. Labels are 0, 1,
...
"""

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import spectralcls
from bench.measure import peer

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


def svm(threads):
    """RBF kernel, 25 pairs of C and gamma by five folds."""
    steps = Pipeline([("scaler", StandardScaler()), ("svc", ScaledSVC(cache_size=500))])
    return GridSearchCV(steps, SVM_GRID, cv=FOLDS, n_jobs=threads)


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


def tuned_lightgbm(threads):
    lightgbm = peer("lightgbm")

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


def lightgbm(threads):
    return peer("lightgbm").LGBMClassifier(n_jobs=threads, random_state=0, verbose=-1)


PEERS = {
    "SVM": svm,
    "k-NN": lambda threads: neighbors(threads, StandardScaler()),
    "k-NN, raw": neighbors,
    "RandomForest": lambda threads: RandomForestClassifier(500, n_jobs=threads, random_state=0),
    "ExtraTrees": lambda threads: ExtraTreesClassifier(500, n_jobs=threads, random_state=0),
    "HistGradientBoosting": lambda threads: HistGradientBoostingClassifier(random_state=0),
    "LightGBM": lightgbm,
    "LightGBM, tuned": tuned_lightgbm,
}
