"""The classifiers and regressors of the command line: those of this package, one line each, and scikit-learn's."""

import difflib
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from .errors import CommandError

MAJORITY, MEAN = "majority class", "mean"
NAIVE = {MAJORITY: "the most frequent class", MEAN: "the mean of the target"}  # the baseline of a comparison


@dataclass(frozen=True)
class Setting:
    """Properties of the training data, which factories use."""

    n_train: int
    n_folds: int  # folds for tuning, limited by the smallest class
    variance: float  # variance of all entries of X
    n_features: int
    seed: int
    n_jobs: int | None


@dataclass(frozen=True)
class Entry:
    """An estimator with its name on the command line and in the table."""

    name: str
    summary: str
    make: Callable[[Setting], object]
    front: bool = False  # compared by default
    baseline: bool = False
    bandwidth_of: Callable[[object], object] = lambda fitted: getattr(fitted, "bandwidth_", None)


def _ours(where, summary, *, title=None, front=False, **parameters):
    """Entry of an estimator ``module:Class`` of this package, with its defaults except for ``parameters``."""
    module, name = where.split(":")

    def make(setting):
        classifier = getattr(import_module(f"spectralcls.{module}"), name)
        common = {"n_jobs": setting.n_jobs, "random_state": setting.seed}
        takes = inspect.signature(classifier).parameters
        return classifier(**{key: value for key, value in common.items() if key in takes}, **parameters)

    return Entry(title or name, summary, make, front)


def _linear_ccdr(setting):
    from sklearn.linear_model import RidgeClassifier

    from ..ccdr import CCDRClassifier

    return CCDRClassifier(estimator=RidgeClassifier(alpha=1e-6), n_jobs=setting.n_jobs)


def _tuned(estimator, grid, setting):
    from sklearn.base import is_classifier
    from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold

    kind = StratifiedKFold if is_classifier(estimator) else KFold
    folds = kind(setting.n_folds, shuffle=True, random_state=setting.seed)
    return GridSearchCV(estimator, grid, cv=folds, n_jobs=setting.n_jobs)


def _svm(setting):
    from sklearn.svm import SVC

    scale = 1 / (setting.n_features * setting.variance or 1)  # SVC's gamma="scale"
    grid = {"C": [0.1, 1.0, 10.0, 100.0, 1000.0], "gamma": [scale * 4.0**k for k in range(-2, 3)]}
    return _tuned(SVC(cache_size=500), grid, setting)


def _neighbors(setting):
    smallest_training_part = setting.n_train - -(-setting.n_train // setting.n_folds)
    neighbors = [k for k in (1, 3, 5, 7, 9, 13, 19, 27, 39) if k <= smallest_training_part]
    return {"n_neighbors": neighbors}


def _k_nearest(setting):
    from sklearn.neighbors import KNeighborsClassifier

    return _tuned(KNeighborsClassifier(), _neighbors(setting), setting)


def _k_nearest_numbers(setting):
    from sklearn.neighbors import KNeighborsRegressor

    return _tuned(KNeighborsRegressor(), _neighbors(setting), setting)


def _svr(setting):
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVR

    scale = 1 / (setting.n_features * setting.variance or 1)  # SVR's gamma="scale"
    grid = {"C": [0.1, 1.0, 10.0, 100.0], "gamma": [scale * 4.0**k for k in range(-2, 2)], "epsilon": [0.05, 0.2]}
    return TransformedTargetRegressor(_tuned(SVR(cache_size=500), grid, setting), transformer=StandardScaler())


def _naive_bayes(setting):
    from sklearn.naive_bayes import GaussianNB

    return _tuned(GaussianNB(), {"var_smoothing": [1e-9, 1e-7, 1e-5, 1e-3, 1e-1]}, setting)


def _boosting(setting):
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=setting.seed)


def _forest(setting):
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(500, random_state=setting.seed, n_jobs=setting.n_jobs)


def _boosted_numbers(setting):
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(random_state=setting.seed)


def _forest_of_numbers(setting):
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(500, random_state=setting.seed, n_jobs=setting.n_jobs)


def _linear(setting):
    from sklearn.linear_model import RidgeCV

    return RidgeCV([10.0**k for k in range(-3, 4)])


def _mean(setting):
    from sklearn.dummy import DummyRegressor

    return DummyRegressor()


def _majority(setting):
    from sklearn.dummy import DummyClassifier

    return DummyClassifier(strategy="prior")


def _svm_bandwidth(fitted):
    return (2 * fitted.best_params_["gamma"]) ** -0.5


def _baseline(name, summary, make, front=True, **more):
    return Entry(name, summary, make, front, baseline=True, **more)


ENTRIES = (
    _ours("ensemble:AutoClassifier", "a vote of several classifiers; the one to try first", front=True),
    _ours("regression:KernelRidgeClassifier", "kernel ridge regression on the classes", front=True),
    _ours("perturbo:PerTurboClassifier", "how much a class's kernel matrix is perturbed by a new point", front=True),
    _ours("kernel_mean:ParzenClassifier", "Bayes' rule with kernel densities", front=True),
    _baseline("RBF-SVM", "scikit-learn's SVC with a grid search", _svm, bandwidth_of=_svm_bandwidth),
    _baseline("k-NN", "scikit-learn's k nearest neighbors with a grid search", _k_nearest),
    _baseline("HistGradientBoosting", "scikit-learn's boosted trees", _boosting),
    _baseline("RandomForest", "scikit-learn's forest of 500 trees", _forest),
    _baseline(MAJORITY, "always the most frequent class, a baseline for all classifiers", _majority),
    _baseline("GaussianNB", "scikit-learn's naive Bayes with a grid search", _naive_bayes, front=False),
    _ours("kernel_mean:ISEClassifier", "integrated squared error between class densities"),
    _ours("kernel_mean:LaplacianISEClassifier", "the same, weighted by the inverse density"),
    _ours("kernel_mean:CauchySchwarzClassifier", "Cauchy-Schwarz divergence between class densities"),
    _ours("spectral:SpectralISEClassifier", "integrated squared error in leading eigenvectors"),
    _ours("spectral:SpectralLaplacianISEClassifier", "the same with the normalized kernel"),
    _ours("spectral:LaplacianSpectralClassifier", "cosine to class means in eigenvectors of the normalized kernel"),
    _ours("spectral:SpectralKernelClassifier", "a linear classifier on spectral kernels"),
    _ours(
        "perturbo:PerTurboClassifier", "without regularization", title="PerTurboClassifier (full)", regularization=None
    ),
    _ours(
        "perturbo:PerTurboClassifier",
        "with leading eigenvectors",
        title="PerTurboClassifier (truncated)",
        regularization="truncate",
    ),
    _ours("ccdr:CCDRClassifier", "classes and neighbors in one graph, for few labels"),
    Entry("CCDRClassifier (linear)", "with a linear classifier on the embedding", _linear_ccdr),
)


REGRESSORS = (
    _ours("ensemble:AutoRegressor", "a vote of several regressors; the one to try first", front=True),
    _ours("regression:KernelRidgeRegressor", "kernel ridge regression", front=True),
    _ours("regression:KernelRegressor", "local means and lines", front=True),
    _baseline("SVR", "scikit-learn's SVR with a grid search", _svr),
    _baseline("k-NN", "scikit-learn's k nearest neighbors with a grid search", _k_nearest_numbers),
    _baseline("HistGradientBoosting", "scikit-learn's boosted trees", _boosted_numbers),
    _baseline("RandomForest", "scikit-learn's forest of 500 trees", _forest_of_numbers),
    _baseline("Ridge", "scikit-learn's linear ridge regression, tuned", _linear),
    _baseline(MEAN, "always the mean, a baseline for all regressors", _mean),
)
OF_TASK = {"classification": ENTRIES, "regression": REGRESSORS}
KIND = {"classification": "classifier", "regression": "regressor"}


def _key(name):
    """Normalize a name: case, punctuation and the words Classifier and Regressor do not matter (knn: k-NN)."""
    return re.sub(r"[^a-z0-9]", "", name.lower()).replace("classifier", "").replace("regressor", "")


def check(names):
    """Raise for a name that is unknown in every task, before the data are read."""
    of_numbers = {_key(entry.name) for entry in OF_TASK["regression"]}
    select([name for name in names if _key(name) not in of_numbers])


def select(names=None, everything=False, task="classification"):
    """Entries with the given names, in order. None: the default entries, or everything."""
    entries = OF_TASK[task]
    if names is None:
        return tuple(entry for entry in entries if everything or entry.front)
    known = {_key(entry.name): entry for entry in entries}
    chosen = {}
    for name in names:
        if _key(name) not in known:
            close = difflib.get_close_matches(_key(name), known, n=1)
            hint = f" Did you mean {known[close[0]].name}?" if close else ""
            what = f"unknown {KIND[task]} {name!r}.{hint}"
            if any(_key(name) == _key(entry.name) for other in OF_TASK.values() for entry in other):
                held, other = ("classes", "regression") if task == "classification" else ("numbers", "classification")
                what = f"{name} does not predict {held}, and this is a {task}; --task {other} changes that."
            raise CommandError(f"{what} There are: {', '.join(entry.name for entry in known.values())}.")
        chosen[_key(name)] = known[_key(name)]
    return tuple(chosen.values())


def prepared(estimator, X, categorical, scale):
    """Prepare an estimator for numbers and codes of categories, with the preprocessing that it needs.

    Parameters
    ----------
    estimator : classifier or regressor
    X : ndarray (n, d)
        All data, NaN if a value is missing.
    categorical : list of int
        Positions of categories.
    scale : bool
        Whether to bring numbers to mean 0 and variance 1.
    """
    import numpy as np
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler
    from sklearn.utils import get_tags

    lacking = bool(np.isnan(X).any())
    parameters = estimator.get_params(deep=False)
    if not scale and "scale" in parameters:
        estimator.set_params(scale=None)
    takes_categories = "categorical_features" in parameters
    if takes_categories and categorical:
        estimator.set_params(categorical_features=categorical)
    if (takes_categories or not categorical) and (not lacking or get_tags(estimator).input_tags.allow_nan):
        return make_pipeline(StandardScaler(), estimator) if scale and not takes_categories else estimator
    if takes_categories:
        estimator.set_params(categorical_features=type(estimator)().categorical_features)
    numbers = make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler()) if scale else SimpleImputer()
    levels = make_pipeline(
        SimpleImputer(strategy="most_frequent", keep_empty_features=True),
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
    )
    rest = [position for position in range(X.shape[1]) if position not in set(categorical)]
    return make_pipeline(make_column_transformer((numbers, rest), (levels, categorical)), estimator)
