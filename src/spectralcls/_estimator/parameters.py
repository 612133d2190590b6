"""Parameters and attributes that several estimators share: one name, one meaning, one description."""

import inspect
from numbers import Integral, Real
from typing import NamedTuple

from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from .._docstrings import fill, sections
from ..kernels import KERNELS


class Parameter(NamedTuple):
    constraint: list
    kind: str
    description: str


_COUNT = Interval(Integral, 1, None, closed="left")

PARAMETERS = {
    "bandwidth": Parameter(
        [
            Interval(Real, 0, None, closed="neither"), StrOptions({"cv", "silverman", "silverman_per_class"}),
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
        '{"gaussian", "epanechnikov", "uniform", "quartic", "triweight", "cosine"}',
        """
        All but the Gaussian vanish beyond the bandwidth.
        """,
    ),
    "metric": Parameter(
        [StrOptions({"whiten", "diagonal", "full"}), HasMethods(["transform"]), list, tuple, None],
        '{"whiten", "diagonal", "full"}, transformer, list of these or None',
        """
        Map of the points before anything else, learned in `fit`: a :class:`~spectralcls.metric.KernelMetric` of that
        kind, or any transformer. One that is fitted already is used as it is (cloning undoes that, unless it is in a
        :class:`sklearn.frozen.FrozenEstimator`). Bandwidths are in units of the mapped points. Of a list the one of
        the best accuracy is taken, the whole of `fit` being cross-validated with each. None: the points as they are.
        """,
    ),
    "categorical_features": Parameter(
        [StrOptions({"from_dtype"}), "array-like", None],
        '"from_dtype", array-like of bool, int or str, or None',
        """
        Columns that hold categories: those of a data frame that hold no numbers, a mask, positions, or names. A level
        differs from all others alike, those of an ordered category by their ranks; how much, in each column, is chosen
        with the bandwidth, and a category that says nothing counts nothing.
        """,
    ),
    "missing": Parameter(
        [StrOptions({"marginalize", "error"})],
        '{"marginalize", "error"}',
        """
        ``"marginalize"``: a feature that a query lacks is integrated out; one that a training point lacks is completed
        by the kernel regression on the points of its class. For the Gaussian kernel; ``cv="loo"`` then takes 20 folds.
        ``"error"``: refuse NaN and its like.
        """,
    ),
    "scale": Parameter(
        [StrOptions({"auto"}), None],
        '"auto" or None',
        """
        ``"auto"`` brings each column of numbers to mean 0 and standard deviation 1, or what is left of it without
        outliers and rare values; columns of standard deviation 1 stay as they are. Bandwidths are in these units. They
        are learned in `fit`, or in the first call of `partial_fit`. None: the numbers as they are.
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
        Largest number of components that ``n_components="cv"`` tries.
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
            Interval(Integral, 2, None, closed="left"), StrOptions({"loo"}), HasMethods(["split", "get_n_splits"]),
            "array-like",
        ],
        'int, "loo", splitter or iterable of splits',
        """
        Folds of the cross-validation. An int makes random stratified folds, ``"loo"`` leaves out one point at a time;
        both treat copies of a row (of one class) as one point of greater weight, which is never validated against
        itself. The test sets of a splitter have to partition the samples.
        """,
    ),
    "bandwidth_grid": Parameter(
        ["array-like", None],
        "array-like",
        """
        Bandwidths to try; by default :func:`~spectralcls.bandwidth.bandwidth_grid` of the training data.
        """,
    ),
    "max_tuning_samples": Parameter(
        [Interval(Integral, 2, None, closed="left"), None],
        "int or None",
        """
        With more points than this, all classes together, parameters are tuned on a stratified random subsample of
        this size; `n_tuning_samples_` says how many points were used. A bandwidth that was tuned within the subsample
        is scaled to all n points by ``(m / n) ** (1 / (d + 4))``.
        """,
    ),
    "tolerance": Parameter(
        [Interval(Real, 0, 1, closed="neither"), None],
        "float or None",
        """
        Relative error allowed in kernel sums, in (0, 1); None: exact to rounding. Approximate sums are used where they
        are predicted to be faster, in low dimension and with compact kernels; tuning stays exact.
        """,
    ),
    "rank": Parameter(
        [_COUNT, None],
        "int or None",
        """
        Columns of a low-rank factor F F^T of the kernel matrix by randomly pivoted Cholesky (Gaussian kernel only):
        n `rank` kernel values and O(n rank) memory instead of passes over the n^2 pairs. None: exact. Tuning stays
        exact.
        """,
    ),
    "solver": Parameter(
        [StrOptions({"auto", "lanczos", "arpack", "dense"})],
        '{"auto", "lanczos", "arpack", "dense"}',
        """
        See :func:`~spectralcls.eigen.top_eigenpairs`.
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
        Draws folds, subsamples and random starts. With an int a refit gives the same bits.
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
    metric_cv_results_ : dict of str to ndarray
        The metrics that were tried, in the layout of `cv_results_`. Only present if `metric` is a list.
    """,
    "cv_results_": """
    cv_results_ : dict of str to ndarray
        What was tried, in the layout of :class:`sklearn.model_selection.GridSearchCV`: `params`, a column
        ``param_<name>`` for each of them, `mean_test_score` (accuracy weighted by `sample_weight`), `std_test_score`,
        `rank_test_score`, and ``split<k>_test_score`` for each fold. Only present if something was tuned. Of tied
        candidates the lower middle one is chosen.
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
    defaults = {
        name: parameter.default for name, parameter in inspect.signature(cls.__init__).parameters.items()
    }
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
