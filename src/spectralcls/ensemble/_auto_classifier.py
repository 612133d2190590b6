"""The default classifier: a vote of kernel machines with learned metrics, without parameters to choose."""

from dataclasses import KW_ONLY
from functools import partial
from typing import Any, Self

import numpy as np

from .._conformal.left_out import LeftOut
from .._estimator import prediction_sets, refuse_many_classes, transactional, with_parameters
from .._utils.bases import BaseEstimator, ClassifierMixin
from .._utils.typing import Array, ArrayLike, ClassWeight
from .._utils.validation import units_of, within_groups
from ._auto import Auto, held_out_order
from ._budget import Clock
from ._member_points import ClassPoints, posterior
from ._members import members_for
from ._vote import learn_vote, unseen_votes

# On one core, a fit takes 2.4 s with 300 rows and 100 classes, and 13 s with 900 rows and 300 classes; 1000 classes
# would take minutes.
MOST_CLASSES = 1000


@with_parameters
class AutoClassifier(ClassifierMixin, Auto):
    """A vote of kernel machines that learn their metrics: good accuracy without tuning, and calibrated probabilities.

    Each member is fitted to its own encoding of the table. Categories become indicators, and so do columns with 3 to 10
    distinct values if this makes held-out labels more likely; other columns are standardized or mapped to normal
    quantiles. A missing value is replaced by the mean and marked by an indicator. The members are:

    - PerTurbo: the share of a query's image that the span of a class explains;
    - kernel ridge regression with the Laplace kernel, after a :class:`~spectralcls.metric.GradientMetric`;
    - the same after a :class:`~spectralcls.metric.KernelMetric`;
    - a Parzen classifier after the same :class:`~spectralcls.metric.KernelMetric`;
    - a Parzen classifier on numbers divided by one common scale, so that columns of the same unit count in proportion
      to their spread;
    - boosted trees, which cut where smooth kernels cannot: 30 iterations, or at most 240 trees for more than 8 classes.
      If they contribute much to the vote, they are replaced by trees that use all points, with categories and missing
      values as they are. Such trees are added until the log loss of unseen points stops falling.

    The members' probabilities for unseen points determine a temperature and a weight for each member; then all members
    are refitted to all points. The class shares vote too, and take the weight of members that learned nothing. With
    more than 3000 points, members that add nothing are dropped; above 150 000 the held-out points are few, and members
    are not refitted.

    Parameters
    ----------
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply the sample weights: ``{label: weight}``, or ``"balanced"`` for weights
        inversely proportional to the class frequencies. None means that all are one. Probabilities refer to a
        population with these weighted shares.
    time_budget : float, default=None
        Seconds that `fit` may take. If they do not suffice, the slowest members are left out or members learn from a
        random part of the points, with a warning. None: no limit.
    categorical_features : "from_dtype", array-like of bool, int or str, or None, default="from_dtype"
        Categorical columns, as a mask, positions or names. ``"from_dtype"`` means the columns of a data frame that do
        not hold numbers.
    cv : int, splitter or list of splits, default=3
        Folds; the test sets of a splitter must partition the samples. With more than 3000 points only one part is held
        out: the first test set of a splitter, otherwise a fifth of the points, or about 3000 of more than 15 000.
    random_state : int, RandomState instance or None, default=0
        Seed of folds, subsamples, landmarks and starting vectors. With an int, a refit gives identical results.
    verbose : bool, default=False
        Report progress on stderr.
    n_jobs : int or None, default=None
        Number of threads. None means all cores, unless joblib or threadpoolctl sets a lower limit.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    class_prior_ : ndarray of shape (n_classes,)
        Shares of the classes in the training data, weighted.
    members_ : list of (str, estimator)
        Names and fitted classifiers, whose `predict` and `predict_proba` take tables as `fit` does.
    weights_ : ndarray of shape (n_members,)
        Weights of the members' calibrated probabilities; with `prior_weight_` they add up to 1.
    prior_weight_ : float
        Weight of `class_prior_`: near 1 if no member learned anything.
    losses_ : ndarray of shape (n_members,)
        Log loss of each member on points that it had not seen.
    loss_ : float
        Log loss of the vote on these points.
    dropped_ : list of str
        Members that do not scale to the number of points, or for which the time did not suffice.
    n_samples_used_ : int
        Number of points learned from. Without a time budget, all of them; above 150 000, all but about 3000 that are
        held out.
    summary_ : str
        One line with the members' weights, iterations and points, and whether trees alone are as good; also at the end
        of the fitted classifier's `repr`.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features. Only present if X has string names.

    See Also
    --------
    spectralcls.regression.KernelRidgeClassifier : The model of two members, each after a learned metric.
    spectralcls.metric.KernelMetric : The metric of one of these two, and of a Parzen classifier.
    spectralcls.perturbo.PerTurboClassifier : A further member, without a metric.

    Notes
    -----
    Cost: up to 3000 points a fit takes O(n^3) for about 40 Cholesky factors. Above, tuning uses 2000 points; ridge
    regression takes O(n^2) per step of conjugate gradients up to 20 000 points, and O(n) above, in cells. PerTurbo and
    members with a :class:`~spectralcls.metric.KernelMetric` are left out above 100 000. Memory is O(n) above 6000
    points, and O(n^2) below.

    The order of the samples and columns and the names of the classes change probabilities only by rounding.

    References
    ----------
    R. Caruana, A. Niculescu-Mizil, G. Crew, A. Ksikes, "Ensemble selection from libraries of models", ICML 2004.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from spectralcls import AutoClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> AutoClassifier().fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    True
    """

    _: KW_ONLY
    class_weight: ClassWeight = None

    _PRIOR = "class shares"
    # mypy resolves these later, because of a circular import.
    conformal_p_values = prediction_sets.conformal_p_values  # type: ignore[has-type]
    predict_set = prediction_sets.predict_set  # type: ignore[has-type]

    @transactional
    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, *, groups: ArrayLike | None = None
    ) -> Self:
        """Fit the members and their vote.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers, or a data frame (pandas, polars, Arrow), which may also hold categories, texts with few distinct
            values, and Boolean values. Values may be missing (NaN, None).
        y : array-like of shape (n_samples,)
            Class labels of at least two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the samples in encodings, members, temperatures and the vote; weight 0 leaves a
            sample out. A count is as many rows if a row of another class is equal. Otherwise, a weight of two equals
            a row given twice only for the kernel methods, and if the folds are the same, which random folds do not
            guarantee; the leaves of the boosted trees count rows.
        groups : array-like of shape (n_samples,), default=None
            Group of each sample, such as a patient with several rows. Whatever leaves out samples, to choose
            parameters or to judge predictions, leaves out whole groups; what is promised then holds for new groups.

        Returns
        -------
        self : object
            The fitted classifier.

        Raises
        ------
        ValueError
            For infinite values, columns that are neither numbers nor categories, a single class, or more than 1000
            classes.

        Warns
        -----
        UserWarning
            If `time_budget` did not suffice for all points and members, or if all unseen points get the same class.
        """
        clock = Clock(self.time_budget)
        self._inputs = self._make_inputs()
        data = self._inputs.fit(X, y, sample_weight, groups)
        refuse_many_classes(self, data.n_classes, MOST_CLASSES)
        self.classes_: Array = data.classes
        self.class_prior_ = data.class_weight / data.class_weight.sum()
        self._vote_on(data, self._points, members_for, clock)
        if len(self._held_out[-1]):
            self._warn_if_one_class(self._vote(self._held_out[2]))
        return self

    def _points(self, data, categorical, options):
        units = None
        if self.class_weight is not None and data.weights is not None:
            units = units_of(data.codes, data.weights, data.n_classes, True)
        return ClassPoints(data.X, data.codes, data.weights, data.n_classes, categorical, units, data.groups)

    def _member(self, pipeline, position):
        return VotingMember(self._inputs, pipeline, self.classes_)

    def _loss_in_words(self):
        return f"log loss {self.loss_:.3f}"

    def predict_proba(self, X: Any) -> Array:
        """Probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Queries.

        Returns
        -------
        p : ndarray of shape (n_queries, n_classes)
            Each row adds up to one.
        """
        return self._probabilities(self._queries(X))

    def _probabilities(self, X):
        return self._vote(self._said(X, partial(posterior, n_classes=len(self.classes_))))

    @property
    def _without_leave_one_out(self):
        if "_held_out" in vars(self) and not len(self._held_out[-1]):
            return "no points were held out: they are too few, or time_budget did not suffice."
        return None

    def _leave_one_out(self):
        codes, weights, posteriors, parts, rows = self._held_out

        def learned(part):
            return learn_vote([p[part] for p in posteriors], codes[part], weights[part])

        held_out = unseen_votes(self._vote, posteriors, parts, learned)
        order = held_out_order(rows, self._n_given)
        weights = weights / units_of(codes, weights, len(self.classes_), self.class_weight is not None)[codes]
        weights = within_groups(weights, self._groups)
        return LeftOut(codes, weights, _log(held_out), lambda X: _log(self._probabilities(X)), order)

    def predict(self, X: Any) -> Array:
        """Predict the most probable class of each query.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Queries.

        Returns
        -------
        y : ndarray of shape (n_queries,)
            Labels, in the dtype of `classes_`.

        Notes
        -----
        Costs the same as `predict_proba`.
        """
        probability = self.predict_proba(X)
        return self.classes_[probability.argmax(axis=1)]


class VotingMember(ClassifierMixin, BaseEstimator):
    """A member of a fitted vote that takes the user's tables and returns the user's labels.

    Parameters
    ----------
    inputs : Inputs
        Inputs of the vote.
    pipeline : Pipeline
        Model of the numbers from `inputs`, fitted to codes of the labels.
    classes : ndarray of shape (n_classes,)
    """

    def __init__(self, inputs, pipeline, classes):
        self.inputs = inputs
        self.pipeline = pipeline
        self.classes = classes

    @property
    def classes_(self):
        """Class labels, (n_classes,)."""
        return self.classes

    def predict_proba(self, X):
        """Probabilities, (n_queries, n_classes), before the vote's temperature."""
        return posterior(self.pipeline, self.inputs(X), len(self.classes))

    def predict(self, X: Any) -> Array:
        """The most probable class of each query, (n_queries,)."""
        return self.classes[self.predict_proba(X).argmax(axis=1)]


def _log(p):
    with np.errstate(divide="ignore"):
        return np.log(p)
