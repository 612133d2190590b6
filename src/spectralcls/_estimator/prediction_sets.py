"""Prediction sets of classifiers that can score each training point by all others.

A classifier takes `conformal_p_values` and `predict_set` as its methods, and gives ``_leave_one_out()``, a
`LeaveOneOut`, and `_without_leave_one_out`: None, or why it has none.
"""

from numbers import Real

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._expansion.leave_one_out import conformal_p_values as p_values
from .._expansion.leave_one_out import conformal_sets
from .._utils.advice import tell
from .._utils.available import available_if
from .base import fitted_in_memory

NOT_IN_CLOSED_FORM = "its training points cannot be left out one at a time in closed form."


def _has_leave_one_out(estimator):
    fitted_in_memory(estimator)
    reason = getattr(estimator, "_without_leave_one_out", NOT_IN_CLOSED_FORM)
    if reason is not None:
        raise AttributeError(f"{type(estimator).__name__} has no prediction sets: {reason}")
    return True


def _check_by_class(by_class):
    if not isinstance(by_class, bool | np.bool_):
        raise ValueError(f"by_class must be True or False, got {by_class!r}.")


def leave_one_out(estimator):
    """The training points of a fitted classifier as the others see them, a `LeaveOneOut`; computed once.

    Raises
    ------
    AttributeError
        If the classifier has none, with the reason.
    """
    check_is_fitted(estimator)
    _has_leave_one_out(estimator)
    known = vars(estimator)
    if "_points_left_out" not in known:
        known["_points_left_out"] = estimator._leave_one_out()
    return known["_points_left_out"]


@available_if(_has_leave_one_out)
def conformal_p_values(self, X, by_class=False):
    """How well each class suits each query, relative to how well labels suit the training points.

    A query joins the training points with each label in turn. The p-value is the share of all these points,
    itself included, whose labels the others support no better; support is the log odds of a label by all other
    points, against the other classes and a background. That is a score which is the same everywhere, and which 2 %
    of the training points do not reach for their own class.

    Parameters
    ----------
    X : array-like of shape (n_queries, n_features)
        Queries.
    by_class : bool, default=False
        Whether to compare with the training points of that class alone.

    Returns
    -------
    p : ndarray of shape (n_queries, n_classes)
        In (0, 1]. For a query drawn like the training points, the p-value of its true class is at most t with a
        probability of at most t, for any t.

    Raises
    ------
    ValueError
        For queries with infinity, with missing values (but for `AutoClassifier`), or of another number of features
        than in `fit`.
    sklearn.exceptions.NotFittedError
        Before `fit`.

    Notes
    -----
    The statement is exact for points in random order if bandwidth, ridge, metric, scales and background were not
    chosen with these training points; what is chosen changes it by what one more point would change there. A metric
    that is learned from the same points changes it much, see `predict_set`. Approximate are
    also rules weighted by 1/f, whose weights are those of the fit, and :class:`~spectralcls.AutoClassifier`, which
    compares with out-of-fold probabilities of its training points and has no guarantee for finite samples.

    The first call scores the training points, O(n^2) kernel values once. PerTurbo inverts the matrix of each class,
    kernel ridge regression that of all points: O(n^3), and the inverse is kept. Then the kernel means evaluate the
    n_queries x n_samples pairs twice; a query meets PerTurbo's inverses, and as a rule few points of other classes,
    and for kernel ridge regression the whole inverse, n^2 multiply-adds.

    References
    ----------
    .. [1] V. Vovk, A. Gammerman, G. Shafer, "Algorithmic Learning in a Random World", Springer, 2005.
    """
    _check_by_class(by_class)
    points = leave_one_out(self)
    return p_values(points, self._queries(X), by_class)


@available_if(_has_leave_one_out)
def predict_set(self, X, coverage=0.9, by_class=False):
    """All classes that cannot be excluded for each query.

    Parameters
    ----------
    X : array-like of shape (n_queries, n_features)
        Queries.
    coverage : float, default=0.9
        Probability with which the true class is to be in the set, in (0, 1).
    by_class : bool, default=False
        Whether the coverage is to hold within each class, not only over all.

    Returns
    -------
    members : ndarray of bool of shape (n_queries, n_classes)
        Which of `classes_` are in the set. More than one: the data do not decide. None: the query is unlike all
        classes, "unknown". Far from all points kernel ridge regression and `AutoClassifier` tend to the classes'
        shares, and their sets to all classes if many training points are as undecided.

    Raises
    ------
    ValueError
        For a coverage outside of (0, 1), and as `conformal_p_values`, which also says when coverage is exact.

    Warns
    -----
    UserWarning
        If a metric was learned from the same points, which lowers the coverage by some points (tuning the other
        parameters does so with few points: by up to five of a hundred with a dozen, hardly from a hundred on, by
        measurement); if there are too few training points to exclude any class: fewer than ``1 / (1 - coverage) - 1``,
        with `by_class` of that class.
    """
    if not isinstance(coverage, Real) or not 0 < coverage < 1:
        raise ValueError(f"coverage must be a number in (0, 1), got {coverage!r}.")
    _check_by_class(by_class)
    points = leave_one_out(self)
    step = getattr(self._inputs, "step", None)
    if step is not None and step.learned:
        tell(
            "The metric was learned from the same points, which it suits better than queries: sets may hold the "
            "true class less often than coverage says. Learn it from other points, and pass the fitted "
            "transformer, in a FrozenEstimator if the classifier is cloned."
        )
    error = (1 - coverage) * (1 + 1e-12)
    few = np.atleast_1d(points.number(by_class) + 1) * error < 1
    if few.any():
        of = f" of the class(es) {', '.join(map(str, self.classes_[few]))}" if by_class else ""
        tell(
            f"Too few training points{of} to exclude a class at coverage={coverage:g}, so that "
            f"{'these are' if by_class else 'every class is'} in all sets: it takes "
            f"{int(np.ceil(1 / error - 1 - 1e-9))} points."
        )
    return conformal_sets(points, self._queries(X), by_class, error)
