"""Classifiers of other libraries to compare with, each with its defaults and there only if it is installed."""

import importlib.util

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import train_test_split

from .registry import Entry


class Coded(ClassifierMixin, BaseEstimator):
    """A classifier that is fitted to the positions 0, 1, ... of the sorted labels, as some libraries demand.

    Parameters
    ----------
    estimator : classifier
    validation : float, default=0
        Share of the points that `fit` of the classifier gets as two further arguments.
    random_state : int, default=0
        Draws them.
    """

    def __init__(self, estimator, *, validation=0.0, random_state=0):
        self.estimator = estimator
        self.validation = validation
        self.random_state = random_state

    def fit(self, X, y):
        """Fit a clone of the estimator."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        parts = X, codes
        if self.validation:
            stratify = codes if np.bincount(codes).min() > 1 and self.validation * len(X) > len(self.classes_) else None
            train, held_out = train_test_split(
                np.arange(len(X)), test_size=self.validation, random_state=self.random_state, stratify=stratify
            )
            parts = X[train], codes[train], X[held_out], codes[held_out]
        self.estimator_ = clone(self.estimator).fit(*parts)
        return self

    def predict(self, X):
        """Labels, (n,)."""
        return self.classes_[np.ravel(np.asarray(self.estimator_.predict(X))).astype(int)]

    def predict_proba(self, X):
        """Probabilities of the classes, (n, n_classes)."""
        return np.asarray(self.estimator_.predict_proba(X))


def _boosting(setting):
    return HistGradientBoostingClassifier(random_state=setting.seed)


def _forest(setting):
    return RandomForestClassifier(500, random_state=setting.seed, n_jobs=setting.n_jobs)


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


def _xrfm(setting):
    from .torch_peers import RecursiveFeatureMachine

    return Coded(RecursiveFeatureMachine(), validation=0.2, random_state=setting.seed)


def _nca(setting):
    from .torch_peers import TorchNCA

    return Coded(TorchNCA(random_state=setting.seed), validation=0.2, random_state=setting.seed)


PEERS = {  # name: module that has to be there, and the entry
    entry.name: (module, entry)
    for module, entry in (
        ("sklearn", Entry("HistGradientBoosting", _boosting, baseline=True)),
        ("sklearn", Entry("RandomForest", _forest, baseline=True)),
        ("xgboost", Entry("XGBoost", _xgboost, baseline=True)),
        ("lightgbm", Entry("LightGBM", _lightgbm, baseline=True)),
        ("catboost", Entry("CatBoost", _catboost, baseline=True)),
        ("xrfm", Entry("xRFM", _xrfm, baseline=True)),
        ("torch", Entry("torch NCA", _nca, baseline=True)),
    )
}


def installed():
    """Entries whose library can be imported."""
    return tuple(entry for module, entry in PEERS.values() if importlib.util.find_spec(module) is not None)
