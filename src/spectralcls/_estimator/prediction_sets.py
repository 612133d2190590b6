"""Prediction sets of classifiers that can score each training point by all others.

A classifier has the functions `conformal_p_values` and `predict_set` as methods. It defines ``_leave_one_out()``, which
returns a `LeftOut`, and `_without_leave_one_out`: None, or the reason why there is none.
"""

from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import is_regressor
from sklearn.utils.validation import check_is_fitted

from .._utils.advice import tell
from .._utils.available import available_if
from .._utils.typing import Array
from .base import fitted_in_memory

NOT_IN_CLOSED_FORM = "its training points cannot be left out one at a time in closed form."


def has_leave_one_out(estimator):
    """True if an estimator leaves out its training points; otherwise raises an AttributeError with the reason."""
    fitted_in_memory(estimator)
    reason = getattr(estimator, "_without_leave_one_out", NOT_IN_CLOSED_FORM)
    if reason is not None:
        what = "intervals" if is_regressor(estimator) else "prediction sets"
        raise AttributeError(f"{type(estimator).__name__} has no {what}: {reason}")
    return True


def _check_by_class(by_class):
    if not isinstance(by_class, bool | np.bool_):
        raise ValueError(f"by_class must be True or False, got {by_class!r}.")


def leave_one_out(estimator):
    """What a fitted estimator says about its training points when they are left out, computed once: the `LeftOut` of a
    classifier, the `Residuals` of a regressor.

    Raises
    ------
    AttributeError
        If the estimator has none; the message gives the reason.
    """
    check_is_fitted(estimator)
    has_leave_one_out(estimator)
    known = vars(estimator)
    if "_points_left_out" not in known:
        known["_points_left_out"] = points = estimator._leave_one_out()
        n = len(points.weights if points.order is None else points.order)
        first = np.unique(estimator._inputs.rows(n), return_index=True)[1]
        if len(first) < n:  # a row may stand for several samples
            points.order = first if points.order is None else points.order[first]
    return known["_points_left_out"]


@available_if(has_leave_one_out)
def conformal_p_values(self: Any, X: Any, by_class: bool = False) -> Array:
    """Conformal p-value of each class for each query.

    The p-value of a class is the fraction of the training points, including the query, whose labels have no more
    support than this class has for the query. The support of a label is its log odds, given all other points, against
    the other classes and a background: a constant score that 2 % of the training points do not reach for their own
    class. The notes state the guarantees.

    Parameters
    ----------
    X : array-like of shape (n_queries, n_features)
        Queries.
    by_class : bool, default=False
        Whether to compare a query only with the training points of the class.

    Returns
    -------
    p : ndarray of shape (n_queries, n_classes)
        P-values in (0, 1]. For a query from the distribution of the training points, the p-value of its true class is
        at most t with probability about t.

    Raises
    ------
    ValueError
        If queries contain infinity or, except for `AutoClassifier`, missing values, or differ from `fit` in the number
        of features.
    sklearn.exceptions.NotFittedError
        Before `fit`.

    Notes
    -----
    The guarantee depends on the classifier.

    *Kernel means, spectral classifiers with all components, PerTurbo*: full conformal prediction [1]_. The query joins
    each class of the training points in turn, and every point is scored by all others, including the query. If the
    points are exchangeable, and bandwidth, metric, scales and background were not chosen with these training points,
    the probability is at most t for every t. Such a choice changes the probability only as much as one more point would
    change the choice. A metric learned from the same points has a larger effect; see `predict_set`. Rules weighted by
    1/f keep the weights of the fit.

    *Kernel ridge regression,* :class:`~spectralcls.AutoClassifier`: leave-one-out ranks (the jackknife).
    The training points are scored by models that have not seen them, in closed form or, for `AutoClassifier`, out of
    fold; the query is scored by the model of all points. There is no guarantee for finite samples. The probability
    tends to t as the influence of one point on the model vanishes [2]_; measured coverage is within a percentage point
    of the requested one.

    The first call scores the training points, with O(n^2) kernel values; PerTurbo inverts the matrix of each class,
    O(n^3). Results of tuning are reused. Later calls score the queries and, in full conformal prediction, compare the
    pairs of queries and points whose order is undecided; p-values compare more of them than `predict_set`. The page
    *How sure?* of the documentation has measured times.

    References
    ----------
    .. [1] V. Vovk, A. Gammerman, G. Shafer, "Algorithmic Learning in a Random World", Springer, 2005.
    .. [2] L. Steinberger, H. Leeb, "Conditional predictive inference for stable algorithms", Annals of Statistics 51
       (1), 2023, pp. 290-311.
    """
    _check_by_class(by_class)
    return leave_one_out(self).p_values(self._queries(X), by_class)


@available_if(has_leave_one_out)
def predict_set(self: Any, X: Any, coverage: float = 0.9, by_class: bool = False) -> Array:
    """Predict the set of classes that cannot be excluded for each query.

    Parameters
    ----------
    X : array-like of shape (n_queries, n_features)
        Queries.
    coverage : float, default=0.9
        Probability with which the set contains the true class, in (0, 1).
    by_class : bool, default=False
        Whether the coverage should hold within each class instead of over all classes.

    Returns
    -------
    members : ndarray of bool of shape (n_queries, n_classes)
        Which of `classes_` are in the set. Several classes mean that the data do not decide; no class means that the
        query is unlike all of them ("unknown"). Far from all points, kernel ridge regression and
        `AutoClassifier` predict the class proportions; their sets then contain all classes if many training points are
        equally undecided.

    Raises
    ------
    ValueError
        If the coverage is outside (0, 1), and as in `conformal_p_values`, whose notes state the guarantees.

    Warns
    -----
    UserWarning
        If a metric was learned from the same points, which lowers the coverage by some percentage points. (Tuning other
        parameters lowers the measured coverage by up to five points with a dozen samples, and hardly at all with a
        hundred or more.) Also if there are too few training points to exclude a class: fewer than
        ``1 / (1 - coverage) - 1``, with `by_class` in that class.
    """
    if not isinstance(coverage, Real) or not 0 < coverage < 1:
        raise ValueError(f"coverage must be a number in (0, 1), got {coverage!r}.")
    _check_by_class(by_class)
    points = leave_one_out(self)
    step = getattr(self._inputs, "step", None)
    if step is not None and step.learned:
        tell(
            "The metric was learned from the same points, which it suits better than queries: sets may contain the "
            "true class less often than requested. Learn it from other points, and pass the fitted "
            "transformer, in a FrozenEstimator if the classifier is cloned."
        )
    error = (1 - coverage) * (1 + 1e-12)
    few = np.atleast_1d(points.number(by_class) + 1) * error < 1
    if few.any():
        of = f" of the class(es) {', '.join(map(str, self.classes_[few]))}" if by_class else ""
        tell(
            f"Too few training points{of} to exclude a class at coverage={coverage:g}, so that "
            f"{'these are' if by_class else 'every class is'} in all sets: at least "
            f"{int(np.ceil(1 / error - 1 - 1e-9))} are needed."
        )
    return points.sets(self._queries(X), by_class, error)
