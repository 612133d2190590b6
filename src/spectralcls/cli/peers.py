"""Boosting of other libraries to compare with, each with its defaults and there only if it is installed."""

import importlib.util

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from .registry import Entry


class Coded(ClassifierMixin, BaseEstimator):
    """A classifier that is fitted to the positions 0, 1, ... of the sorted labels, as some libraries demand.

    Parameters
    ----------
    estimator : classifier
    """

    def __init__(self, estimator):
        self.estimator = estimator

    def fit(self, X, y):
        """Fit a clone of the estimator."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.estimator_ = clone(self.estimator).fit(X, codes)
        return self

    def predict(self, X):
        """Labels, (n,)."""
        return self.classes_[np.ravel(np.asarray(self.estimator_.predict(X))).astype(int)]

    def predict_proba(self, X):
        """Probabilities of the classes, (n, n_classes)."""
        return np.asarray(self.estimator_.predict_proba(X))


def _xgboost(setting):
    from xgboost import XGBClassifier

    return Coded(XGBClassifier(random_state=setting.seed, n_jobs=setting.n_jobs))


def _lightgbm(setting):
    from lightgbm import LGBMClassifier

    return Coded(LGBMClassifier(random_state=setting.seed, n_jobs=setting.n_jobs, verbose=-1))


def _catboost(setting):
    from catboost import CatBoostClassifier

    return Coded(
        CatBoostClassifier(
            random_seed=setting.seed, thread_count=setting.n_jobs or -1, verbose=0, allow_writing_files=False
        )
    )


PEERS = {  # name: module that has to be there, and the entry
    name: (name.lower(), Entry(name, f"{name} with its defaults", make, baseline=True))
    for name, make in (("XGBoost", _xgboost), ("LightGBM", _lightgbm), ("CatBoost", _catboost))
}


def installed():
    """Entries whose library can be imported."""
    return tuple(entry for module, entry in PEERS.values() if importlib.util.find_spec(module) is not None)
