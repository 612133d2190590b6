"""The classifiers that the command line knows: ours, one line each, and scikit-learn's, tuned."""

import difflib
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from ..ccdr import CCDRClassifier
from ..ensemble import AutoClassifier
from ..kernel_mean import CauchySchwarzClassifier, ISEClassifier, LaplacianISEClassifier, ParzenClassifier
from ..perturbo import PerTurboClassifier
from ..regression import KernelRidgeClassifier
from ..spectral import (
    LaplacianSpectralClassifier,
    SpectralISEClassifier,
    SpectralKernelClassifier,
    SpectralLaplacianISEClassifier,
)
from .errors import CommandError


@dataclass(frozen=True)
class Setting:
    """What a factory may need to know about the training data."""

    n_train: int
    n_folds: int  # folds for tuning, as many as every class can fill
    variance: float  # of all entries of X
    n_features: int
    seed: int
    n_jobs: int | None


@dataclass(frozen=True)
class Entry:
    """A classifier under the name that it has on the command line and in the table."""

    name: str
    make: Callable[[Setting], BaseEstimator]
    baseline: bool = False
    bandwidth_of: Callable[[BaseEstimator], object] = lambda fitted: getattr(fitted, "bandwidth_", None)


def _ours(classifier, name=None, /, **parameters):
    """Entry of one of this package's classifiers, with its defaults but for ``parameters``."""
    takes = inspect.signature(classifier).parameters

    def make(setting):
        common = {"n_jobs": setting.n_jobs, "random_state": setting.seed}
        return classifier(**{key: value for key, value in common.items() if key in takes}, **parameters)

    return Entry(name or classifier.__name__, make)


def _tuned(estimator, grid, setting):
    folds = StratifiedKFold(setting.n_folds, shuffle=True, random_state=setting.seed)
    return GridSearchCV(estimator, grid, cv=folds, n_jobs=setting.n_jobs)


def _svm(setting):
    scale = 1 / (setting.n_features * setting.variance or 1)  # SVC's gamma="scale"
    grid = {"C": np.logspace(-1, 3, 5), "gamma": scale * np.logspace(-2, 2, 5, base=4)}
    return _tuned(SVC(cache_size=500), grid, setting)


def _k_nearest(setting):
    smallest_training_part = setting.n_train - -(-setting.n_train // setting.n_folds)
    neighbors = [k for k in (1, 3, 5, 7, 9, 13, 19, 27, 39) if k <= smallest_training_part]
    return _tuned(KNeighborsClassifier(), {"n_neighbors": neighbors}, setting)


def _naive_bayes(setting):
    return _tuned(GaussianNB(), {"var_smoothing": np.logspace(-9, -1, 5)}, setting)


def _svm_bandwidth(fitted):
    return 1 / np.sqrt(2 * fitted.best_params_["gamma"])


ENTRIES = (
    _ours(AutoClassifier),
    _ours(ParzenClassifier),
    _ours(ISEClassifier),
    _ours(LaplacianISEClassifier),
    _ours(CauchySchwarzClassifier),
    _ours(SpectralISEClassifier),
    _ours(SpectralLaplacianISEClassifier),
    _ours(LaplacianSpectralClassifier),
    _ours(SpectralKernelClassifier),
    _ours(PerTurboClassifier),
    _ours(PerTurboClassifier, "PerTurboClassifier (full)", regularization=None),
    _ours(PerTurboClassifier, "PerTurboClassifier (truncated)", regularization="truncate"),
    _ours(CCDRClassifier),
    _ours(CCDRClassifier, "CCDRClassifier (linear)", estimator=RidgeClassifier(alpha=1e-6)),
    _ours(KernelRidgeClassifier),
    Entry("RBF-SVM", _svm, baseline=True, bandwidth_of=_svm_bandwidth),
    Entry("k-NN", _k_nearest, baseline=True),
    Entry("GaussianNB", _naive_bayes, baseline=True),
)


def _key(name):
    """Case, punctuation and the word Classifier do not matter: parzen is ParzenClassifier, knn is k-NN."""
    return re.sub(r"[^a-z0-9]", "", name.lower()).replace("classifier", "")


def select(names=None, peers=()):
    """Entries of the given names, in the given order; all of ours and scikit-learn's for None, which are ENTRIES."""
    if names is None:
        return ENTRIES
    everything = (*ENTRIES, *peers)
    known = {_key(entry.name): entry for entry in everything}
    chosen = {}
    for name in names:
        if _key(name) not in known:
            close = difflib.get_close_matches(_key(name), known, n=1)
            hint = f" Did you mean {known[close[0]].name}?" if close else ""
            raise CommandError(
                f"unknown classifier {name!r}.{hint} There are: {', '.join(entry.name for entry in everything)}."
            )
        chosen[_key(name)] = known[_key(name)]
    return tuple(chosen.values())
