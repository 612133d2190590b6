"""Parameters and attributes that several estimators share: one name, one meaning, one description."""

import inspect
from numbers import Integral, Real
from typing import NamedTuple

from .._tuning import SCORINGS
from .._utils.docstrings import fill, sections
from .._utils.from_sklearn import HasMethods, Interval, StrOptions
from ..kernels import KERNELS


class Parameter(NamedTuple):
    constraint: list
    kind: str
    description: str


_COUNT = Interval(Integral, 1, None, closed="left")

PARAMETERS = {
    "bandwidth": Parameter(
        [
            Interval(Real, 0, None, closed="neither"),
            StrOptions({"cv", "silverman", "silverman_per_class"}),
            "array-like",
        ],
        '{"cv", "silverman", "silverman_per_class"}, float or array-like of shape (n_classes,)',
        """
        Radius h of the kernel. ``"cv"`` takes the bandwidth of the best cross-validated accuracy, ``"silverman"`` is
        the normal-reference rule for all samples, ``"silverman_per_class"`` for each class; an array has one value
        per class. Data without spread get 1.
        """,
    ),
    "kernel": Parameter(
        [StrOptions(set(KERNELS))],
        '{"gaussian", "laplace", "epanechnikov", "uniform", "quartic", "triweight", "cosine", "linear"}',
        """
        Shape of the kernel; all but "gaussian" and "laplace" are compact: they vanish beyond the bandwidth.
        """,
    ),
    "metric": Parameter(
        [StrOptions({"whiten", "diagonal", "full"}), HasMethods(["transform"]), None],
        '{"whiten", "diagonal", "full"}, transformer or None',
        """
        Map that is learned in `fit` and applied to the coordinates first: a
        :class:`~spectralcls.metric.KernelMetric` of that kind, or any transformer. A transformer that is fitted already
        is used as it is (cloning undoes the fit, unless it is in a :class:`sklearn.frozen.FrozenEstimator`).
        Bandwidths are in units of the mapped points. None: no map.
        """,
    ),
    "categorical_features": Parameter(
        [StrOptions({"from_dtype"}), "array-like", None],
        '"from_dtype", array-like of bool, int or str, or None',
        """
        Columns that hold categories: a mask, positions, or names. ``"from_dtype"`` takes the columns of a data frame
        that hold no numbers. Any two levels are equally far apart, those of an ordered category by their ranks. How
        far is chosen for each column together with the bandwidth; a category that says nothing gets distance 0.
        """,
    ),
    "scale": Parameter(
        [StrOptions({"auto"}), None],
        '"auto" or None',
        """
        ``"auto"`` brings each column of numbers to mean 0 and standard deviation 1, estimated robustly if there are
        outliers or rare values; columns of standard deviation 1 stay as they are. Scales are learned once, in `fit` or
        the first `partial_fit`, and bandwidths are in these units. None: the numbers as they are.
        """,
    ),
    "class_weight": Parameter(
        [dict, StrOptions({"balanced"}), None],
        'dict, "balanced" or None',
        """
        Weights of the classes, which multiply the sample weights: ``{label: weight}``, or ``"balanced"`` for weights
        inversely proportional to the classes' frequencies. None: all are one.
        """,
    ),
    "scoring": Parameter(
        [StrOptions(set(SCORINGS))],
        '{"auto", "accuracy", "balanced_accuracy", "neg_log_loss"}',
        """
        What tuning maximizes on held-out points. ``"auto"`` is the accuracy; of the candidates within one standard
        error of the best it takes the one of the least log loss.
        """,
    ),
    "n_components": Parameter(
        [_COUNT, StrOptions({"cv", "all"})],
        'int, "cv" or "all"',
        """
        Number of leading eigenvectors. ``"cv"`` tries 1 to `max_components` with every bandwidth, ``"all"`` keeps the
        whole space.
        """,
    ),
    "max_components": Parameter(
        [_COUNT],
        "int",
        """
        Largest number of components that ``n_components="cv"`` tries; at most half of the tuning samples, and `rank`.
        """,
    ),
    "potential": Parameter(
        [StrOptions({"convolved", "same"})],
        '{"convolved", "same"}',
        """
        Kernel of the pairs in the squared norm of a class mean. ``"convolved"`` is the Gaussian of variance 2 h^2,
        with which the norm is the integral of the squared density estimate; ``"same"`` is the kernel of the class
        means, as always for the other kernels.
        """,
    ),
    "cv": Parameter(
        [
            Interval(Integral, 2, None, closed="left"),
            StrOptions({"loo"}),
            HasMethods(["split", "get_n_splits"]),
            "array-like",
        ],
        'int, "loo", splitter or list of splits',
        """
        Folds of the cross-validation. An int makes random stratified folds, ``"loo"`` leaves out one point at a time;
        both treat copies of a row (of one class) as one point of greater weight, which is never validated against
        itself, but in tables with categories, where different samples are often equal. The test sets of a splitter have
        to partition the samples.
        """,
    ),
    "bandwidth_grid": Parameter(
        ["array-like", None],
        "array-like",
        """
        Bandwidths to try; by default :func:`~spectralcls.kernels.bandwidth_grid` of the training data.
        """,
    ),
    "max_tuning_samples": Parameter(
        [Interval(Integral, 2, None, closed="left"), None],
        "int or None",
        """
        With more points than this in total, parameters are tuned on a random subsample of this size, stratified by
        class; `n_tuning_samples_` says how many points were used. A bandwidth that was tuned within m of n points is
        scaled to all of them by ``(m / n) ** (1 / (d + 4))``.
        """,
    ),
    "tolerance": Parameter(
        [Interval(Real, 0, 1, closed="neither"), None],
        "float or None",
        """
        Relative error allowed in kernel sums, in (0, 1); None: exact to rounding. Approximate sums are used if they
        are predicted to be faster; tuning stays exact.
        """,
    ),
    "rank": Parameter(
        [_COUNT, None],
        "int or None",
        """
        Columns of a low-rank factor F F^T of the kernel matrix by randomly pivoted Cholesky (Gaussian kernel only):
        n `rank` kernel values and O(n rank) memory instead of passes over the n^2 pairs. None: exact. Tuning, if
        any, stays exact.
        """,
    ),
    "solver": Parameter(
        [StrOptions({"auto", "lanczos", "arpack", "dense"})],
        '{"auto", "lanczos", "arpack", "dense"}',
        """
        See :func:`~spectralcls.linalg.top_eigenpairs`.
        """,
    ),
    "tol": Parameter(
        [Interval(Real, 0, 1, closed="left"), None],
        "float or None",
        """
        Convergence of the eigensolver: bound on the residuals, relative to the eigenvalues. None: ``eps ** (2 / 3)``
        of the data's precision.
        """,
    ),
    "random_state": Parameter(
        ["random_state"],
        "int, RandomState instance or None",
        """
        Draws whatever is random: folds, subsamples, landmarks, starts. With an int a refit gives the same bits.
        """,
    ),
    "n_jobs": Parameter(
        [_COUNT, Interval(Integral, None, -1, closed="right"), None],
        "int or None",
        """
        Threads; None means all cores unless joblib or threadpoolctl says otherwise.
        """,
    ),
}

ATTRIBUTES = {
    "classes_": """
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    """,
    "bandwidth_": """
    bandwidth_ : float or ndarray of shape (n_classes,)
        Bandwidth in use.
    """,
    "metric_": """
    metric_ : transformer or None
        The fitted map in use.
    """,
    "cv_results_": """
    cv_results_ : dict of str to ndarray
        What was tried, in the layout of :class:`sklearn.model_selection.GridSearchCV`: `params`, a column
        ``param_<name>`` for each of them, `mean_test_score` (accuracy weighted by `sample_weight`), `std_test_score`,
        `rank_test_score`, and ``split<k>_test_score`` for each fold. Only present if something was tuned. Of tied
        candidates the lower middle one is chosen.
    """,
    "best_score_": """
    best_score_ : float
        Mean test score of what was chosen. Only present if something was tuned.
    """,
    "n_tuning_samples_": """
    n_tuning_samples_ : int
        Number of (distinct) points validated. Only present if something was tuned.
    """,
    "n_features_in_": """
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features. Only present if X has string names.
    """,
}


def complete(cls):
    """Give a class the constraints and descriptions of its parameters of shared names.

    A line ``%(inherited)s`` stands for the parameters, attributes and references of the class above.
    """
    defaults = {name: parameter.default for name, parameter in inspect.signature(cls.__init__).parameters.items()}
    shared = {name: PARAMETERS[name].constraint for name in defaults if name in PARAMETERS}
    cls._parameter_constraints = shared | getattr(cls, "_parameter_constraints", {})
    if cls.__doc__:
        cls.__doc__ = fill(cls.__doc__, lambda name: _described(name, defaults, cls))


def _described(name, defaults, cls):
    if name == "inherited":
        above = (sections(base.__doc__ or "", "Parameters", "Attributes", "References") for base in cls.__mro__[1:])
        return next(filter(None, above))
    if name in ATTRIBUTES:
        return ATTRIBUTES[name]
    shared = PARAMETERS[name]
    description = inspect.cleandoc(shared.description).replace("\n", "\n    ")
    return f"{name} : {shared.kind}, default={_shown(defaults[name])}\n    {description}"


def _shown(value):
    return f'"{value}"' if isinstance(value, str) else repr(value)
