"""The classifiers and regressors of the command line: those of this package, one line each, and scikit-learn's."""

import difflib
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
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
    grouped: bool = False  # whether folds for tuning keep groups together


@dataclass(frozen=True)
class Entry:
    """An estimator with its name on the command line and in the table."""

    name: str
    summary: str
    make: Callable[[Setting], object]
    front: bool = False  # compared by default
    bandwidth_of: Callable[[object], object] = lambda fitted: getattr(fitted, "bandwidth_", None)


def _ours(where, summary, front=False):
    """Entry of an estimator ``module.Class`` of this package, with its defaults."""
    return Entry(where.rpartition(".")[2], summary, lambda setting: _made(f"spectralcls.{where}", setting), front)


def _theirs(name, summary, where, front=True, *, grid=None, **parameters):
    """Entry of a baseline ``module.Class`` of scikit-learn, tuned over a grid that depends on the training data."""

    def make(setting):
        from sklearn.base import is_regressor
        from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

        estimator = _made(f"sklearn.{where}", setting, grid is not None, **parameters)
        if grid is None:
            return estimator
        splitter = KFold if is_regressor(estimator) else StratifiedKFold
        if setting.grouped:
            splitter = GroupKFold if is_regressor(estimator) else StratifiedGroupKFold
        folds = splitter(setting.n_folds, shuffle=True, random_state=setting.seed)
        return GridSearchCV(estimator, grid(setting), cv=folds, n_jobs=setting.n_jobs)

    return Entry(name, summary, make, front)


def _made(where, setting, is_tuned=False, **parameters):
    """An estimator with the seed and, unless a search around it has them, the threads of the setting."""
    module, _, name = where.rpartition(".")
    kind = getattr(import_module(module), name)
    common = {"random_state": setting.seed} | ({} if is_tuned else {"n_jobs": setting.n_jobs})
    takes = inspect.signature(kind).parameters
    return kind(**{key: value for key, value in common.items() if key in takes}, **parameters)


def _widths(setting, powers):
    scale = 1 / (setting.n_features * setting.variance or 1)  # gamma="scale"
    return [scale * 4.0**k for k in powers]


def _neighbors(setting):
    smallest_training_part = setting.n_train - -(-setting.n_train // setting.n_folds)
    return {"n_neighbors": [k for k in (1, 3, 5, 7, 9, 13, 19, 27, 39) if k <= smallest_training_part]}


_SVC = _theirs(
    "RBF-SVM",
    "scikit-learn's SVC with a grid search",
    "svm.SVC",
    grid=lambda setting: {"C": [0.1, 1.0, 10.0, 100.0, 1000.0], "gamma": _widths(setting, range(-2, 3))},
    cache_size=500,
)
_SVR = _theirs(
    "SVR",
    "scikit-learn's SVR with a grid search",
    "svm.SVR",
    grid=lambda setting: {
        "C": [0.1, 1.0, 10.0, 100.0],
        "gamma": _widths(setting, range(-2, 2)),
        "epsilon": [0.05, 0.2],
    },
    cache_size=500,
)


def _svr(setting):
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.preprocessing import StandardScaler

    return TransformedTargetRegressor(_SVR.make(setting), transformer=StandardScaler())


ENTRIES = (
    _ours("ensemble.AutoClassifier", "a vote of several classifiers; the one to try first", True),
    _ours("regression.KernelRidgeClassifier", "kernel ridge regression on the classes", True),
    _ours("perturbo.PerTurboClassifier", "how much a class's kernel matrix is perturbed by a new point", True),
    _ours("kernel_mean.ParzenClassifier", "Bayes' rule with kernel densities", True),
    replace(_SVC, bandwidth_of=lambda fitted: (2 * fitted.best_params_["gamma"]) ** -0.5),
    _theirs(
        "k-NN",
        "scikit-learn's k nearest neighbors with a grid search",
        "neighbors.KNeighborsClassifier",
        grid=_neighbors,
    ),
    _theirs("HistGradientBoosting", "scikit-learn's boosted trees", "ensemble.HistGradientBoostingClassifier"),
    _theirs("RandomForest", "scikit-learn's forest of 500 trees", "ensemble.RandomForestClassifier", n_estimators=500),
    _theirs(
        MAJORITY,
        "always the most frequent class, a baseline for all classifiers",
        "dummy.DummyClassifier",
        strategy="prior",
    ),
    _theirs(
        "GaussianNB",
        "scikit-learn's naive Bayes with a grid search",
        "naive_bayes.GaussianNB",
        front=False,
        grid=lambda setting: {"var_smoothing": [1e-9, 1e-7, 1e-5, 1e-3, 1e-1]},
    ),
    _ours("kernel_mean.ISEClassifier", "integrated squared error between class densities"),
    _ours("kernel_mean.LaplacianISEClassifier", "the same, weighted by the inverse density"),
    _ours("kernel_mean.CauchySchwarzClassifier", "Cauchy-Schwarz divergence between class densities"),
    _ours("spectral.SpectralISEClassifier", "integrated squared error in leading eigenvectors"),
    _ours("spectral.SpectralLaplacianISEClassifier", "the same with the normalized kernel"),
    _ours("spectral.LaplacianSpectralClassifier", "cosine to class means in eigenvectors of the normalized kernel"),
    _ours("spectral.SpectralKernelClassifier", "a linear classifier on spectral kernels"),
    _ours("ccdr.CCDRClassifier", "classes and neighbors in one graph, for few labels"),
)
REGRESSORS = (
    _ours("ensemble.AutoRegressor", "a vote of several regressors; the one to try first", True),
    _ours("regression.KernelRidgeRegressor", "kernel ridge regression", True),
    _ours("regression.KernelRegressor", "local means and lines", True),
    replace(_SVR, make=_svr),
    _theirs(
        "k-NN",
        "scikit-learn's k nearest neighbors with a grid search",
        "neighbors.KNeighborsRegressor",
        grid=_neighbors,
    ),
    _theirs("HistGradientBoosting", "scikit-learn's boosted trees", "ensemble.HistGradientBoostingRegressor"),
    _theirs("RandomForest", "scikit-learn's forest of 500 trees", "ensemble.RandomForestRegressor", n_estimators=500),
    _theirs(
        "Ridge",
        "scikit-learn's linear ridge regression, tuned",
        "linear_model.RidgeCV",
        alphas=[10.0**k for k in range(-3, 4)],
    ),
    _theirs(MEAN, "always the mean, a baseline for all regressors", "dummy.DummyRegressor"),
)
OF_TASK = {"classification": ENTRIES, "regression": REGRESSORS}
KIND = {"classification": "classifier", "regression": "regressor"}


def listing():
    """Lines with all names and what they are, for the help."""
    width = max(len(entry.name) for entries in OF_TASK.values() for entry in entries)
    lines = ["classifiers (case and the word Classifier may be left out, as in parzen; --all takes those with *):"]
    for entries in OF_TASK.values():
        lines += [f"{' ' if entry.front else '*'} {entry.name.ljust(width)}  {entry.summary}" for entry in entries]
        lines += ["", "regressors, for a target of numbers:"] if entries is ENTRIES else []
    return "\n".join(lines)


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
