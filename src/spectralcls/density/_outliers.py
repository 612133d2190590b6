"""Outliers and novelties: points of low density."""

from dataclasses import KW_ONLY
from numbers import Real
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import clone

from .._conformal.left_out import LeftOut
from .._conformal.sums_left_out import SumsLeftOut
from .._estimator import Estimator, leave_one_out, transactional, with_parameters
from .._expansion import Rule, TrainingPoints, class_means
from .._inputs.frames import like
from .._inputs.training_data import TrainingData
from .._utils.available import available_if
from .._utils.bases import OutlierMixin
from .._utils.from_sklearn import Interval, StrOptions
from .._utils.quantile import weighted_quantile
from .._utils.typing import Array, ArrayLike
from .._utils.validation import nonnegative_weights, with_left_out, within_groups
from ._marginals import surprises, usual_surprises
from ._parzen_density import ParzenDensity

# Pairs (share, factor), tried in this order. The fence lies below the quantile of this share by the factor times the
# distance from this quantile to the upper quartile.
FENCES = (0.25, 1.5), (0.1, 0.724)
# decimals of shares of the weight; 8 to 14 give the same thresholds, because a term adds an error of only 1e-16
_DECIMALS = 12


def _finds(novelties, message):
    """A check for `available_if`."""

    def check(estimator):
        if estimator.novelty != novelties:
            raise AttributeError(message)
        return True

    return check


_finds_outliers = _finds(
    False,
    "fit_predict is not available when novelty=True. Use novelty=False if you want to predict on the training set.",
)
_finds_novelties = _finds(
    True,
    "Queries are answered only if novelty=True. With novelty=False, fit_predict finds outliers of the training set.",
)


def _explains(estimator):
    if estimator.density is not None and estimator.density.kernel != "gaussian":
        raise AttributeError("explain needs kernel='gaussian': other kernels do not factor by feature.")
    return _finds_novelties(estimator)


@with_parameters
class ParzenOutlierDetector(OutlierMixin, Estimator):
    """Outlier and novelty detection by the kernel density of the other samples.

    The score of a training sample is its log density under all other samples, including its copies. The score of a new
    point is its log density under all samples. Points with scores below `offset_` are outliers.

    Parameters
    ----------
    density : ParzenDensity or None, default=None
        Density by which samples are scored. `fit` fits a copy of it. A fitted density is used as it is, until cloning
        undoes its fit; then X may contain its samples, each of which is left out in turn, and others, such as normal
        ones that set the threshold. None means a :class:`ParzenDensity` with its defaults.
    contamination : "auto" or float, default="auto"
        Fraction of outliers in the training set, in (0, 0.5]. Equal scores stay together, so the fraction may differ.
        "auto" uses Tukey's fence [2]_, 1.5 interquartile ranges below the lower quartile of the training scores. It
        finds points unlike most samples but does not control the rate of false alarms: of clean normal samples 8 % lie
        beyond the fence in one dimension, 5 % in two and 3 % in ten; of log-normal samples 6 to 10 %. If more than nine
        tenths of the samples have the same score, as zeros in counts do, all lower scores lie beyond. `p_values`
        controls this rate.
    novelty : bool, default=False
        As in :class:`sklearn.neighbors.LocalOutlierFactor`. If False, `fit_predict` finds outliers of the training set,
        where each sample is scored by its density under the others. If True, `predict`, `decision_function` and
        `score_samples` apply to new points, which must not be the training samples.

    Attributes
    ----------
    leave_one_out_score_ : ndarray of shape (n_samples,)
        Log density of each training sample under the others; higher is more normal.
    offset_ : float
        Threshold of the scores, below which points are outliers.
    density_ : ParzenDensity
        Fitted density.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features. Only present if X has string names.

    See Also
    --------
    ParzenDensity : The density itself.
    sklearn.neighbors.LocalOutlierFactor : Compares the density with that of the neighbors.

    Notes
    -----
    Cost: the fit of the density, and one pass over the n^2 pairs for the scores. A query takes O(n d).

    References
    ----------
    .. [1] D.-Y. Yeung, C. Chow, "Parzen-window network intrusion detectors", International Conference on Pattern
       Recognition, 2002.
    .. [2] J. W. Tukey, "Exploratory Data Analysis", Addison-Wesley, 1977.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralcls import ParzenOutlierDetector
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> X[7] = 6.0
    >>> np.flatnonzero(ParzenOutlierDetector(contamination=0.01).fit_predict(X) < 0)
    array([7])
    """

    density: ParzenDensity | None = None
    _: KW_ONLY
    contamination: Literal["auto"] | float = "auto"
    novelty: bool = False

    _parameter_constraints = {
        "density": [ParzenDensity, None],
        "contamination": [StrOptions({"auto"}), Interval(Real, 0, 0.5, closed="right")],
        "novelty": ["boolean"],
    }

    def _make_inputs(self):
        shared = {"n_jobs": self.density_.n_jobs, "random_state": self.density_.random_state}
        return super()._make_inputs(scale=None, unitless=self.density_.scale is not None, **shared)

    @transactional
    def fit(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None, *, groups: ArrayLike | None = None
    ) -> Self:
        """Fit the density, and score each sample by its density under the others.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; float32 stays float32, everything else becomes float64.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights, as in :meth:`ParzenDensity.fit`. A sample of weight 0 is scored but has no influence.
        groups : array-like of shape (n_samples,), default=None
            Group of each sample, such as a patient with several rows. Whatever leaves out samples, to choose
            parameters or to judge predictions, leaves out whole groups; what is promised then holds for new groups.

        Returns
        -------
        self : object
            Fitted detector.

        Raises
        ------
        ValueError
            As in :meth:`ParzenDensity.fit`, and if there is only one sample.
        """
        density = ParzenDensity() if self.density is None else self.density
        self._counts = None
        if hasattr(density, "_form"):
            if groups is not None:
                raise ValueError("The density is already fitted, and it leaves out the groups that its fit was given.")
            self.density_, self._inputs, self._form = density, density._inputs, density._form
            Q = self._inputs(X)
            weights, self.leave_one_out_score_ = nonnegative_weights(sample_weight, len(Q)), self._form.of_others(Q)
            self._counts = weights * (np.count_nonzero(weights) / weights.sum())
            scores = self.leave_one_out_score_
        else:
            self.density_ = clone(density)
            self._inputs = self._make_inputs()
            data, place = self.density_._learn(self._inputs, X, sample_weight, groups)
            self._form = self.density_._form
            weights = np.ones(len(data.X)) if data.weights is None else data.weights
            scores = self._form.leave_one_out(place, weights / weights.sum())
            self.leave_one_out_score_ = with_left_out(
                data, scores, lambda left_out: self._form.log_density(self._inputs(X)[left_out])
            )
        self.offset_: float = (
            fence(scores, weights) if self.contamination == "auto" else border(scores, weights, self.contamination)
        )
        return self

    @available_if(_finds_outliers)
    def fit_predict(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None, *, groups: ArrayLike | None = None
    ) -> Array:
        """Fit, and find the outliers among the samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; float32 stays float32, everything else becomes float64.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights, as in `fit`.
        groups : array-like of shape (n_samples,), default=None
            Group of each sample, as in `fit`.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            -1 for outliers, 1 for the others.
        """
        return _labels(self.fit(X, sample_weight=sample_weight, groups=groups).leave_one_out_score_ - self.offset_)

    @available_if(_finds_novelties)
    def score_samples(self, X: Any) -> Array:
        """Log density of new points.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            New points.

        Returns
        -------
        log_density : ndarray of shape (n_queries,), float64
            Higher is more normal.
        """
        X = self._queries(X)
        return self._form.log_density(X)

    @available_if(_finds_novelties)
    def decision_function(self, X: Any) -> Array:
        """Compute the scores of new points minus `offset_`, negative for novelties.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            New points.

        Returns
        -------
        decision : ndarray of shape (n_queries,), float64
            Negative for novelties, otherwise zero or positive.
        """
        return self.score_samples(X) - self.offset_

    @available_if(_finds_novelties)
    def predict(self, X: Any) -> Array:
        """Predict -1 for novelties and 1 for other new points.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            New points.

        Returns
        -------
        labels : ndarray of shape (n_queries,)
            Integers, -1 or 1.
        """
        return _labels(self.decision_function(X))

    _without_leave_one_out = None

    @property
    def _one_sum(self):
        """Whether another sample adds one known term to the density at each sample."""
        return len(self._form.widths) == 1 and self._counts is None

    def _leave_one_out(self):
        form, n = self._form, len(self._form.X)
        share, scores = 1 / len(self.leave_one_out_score_), self.leave_one_out_score_
        counts = form.weights.sum(axis=1) / share
        if self._one_sum:
            data = TrainingData(form.X, np.zeros(n, int), np.zeros(1), counts, groups=form.groups)
            points = TrainingPoints.of(data, form.tolerance, form.n_jobs)
            return SumsLeftOut(class_means(Rule("density"), points, form.kernel, form.widths[0])[0])
        if self._counts is None:
            scores = form.leave_one_out(np.arange(n), np.minimum(counts, 1.0) * share)
            counts = within_groups(counts, form.groups)
        else:
            counts = self._counts
        return LeftOut(np.zeros(len(counts), int), counts, scores[:, None], lambda Q: form.log_density(Q)[:, None])

    @available_if(_finds_novelties)
    def p_values(self, X: Any) -> Array:
        """Conformal p-value of each new point.

        The p-value is the fraction of the samples, including the new point, whose density under all others is at most
        that of the new point.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            New points; missing values are filled from the samples, as in `predict`.

        Returns
        -------
        p : ndarray of shape (n_queries,)
            P-values in (0, 1]. If points with ``p <= t`` are called novel, the rate of false alarms is at most t among
            points from the distribution of the training samples.

        Notes
        -----
        In this conformal test [1]_, a new point joins the samples, and each gets its density under all others. The
        guarantee is exact if the samples are exchangeable and bandwidth and covariance were not learned from them. With
        ``bandwidth="cv"``, the densities of the samples leave out the new point, and the guarantee is approximate; with
        a density that was fitted to other samples, it is exact again.
        Takes two passes over the n_queries x n_samples pairs and, in the first call, one over the pairs of samples.

        References
        ----------
        .. [1] R. Laxhammar, G. Falkman, "Conformal prediction for distribution-independent anomaly detection in
           streaming vessel data", StreamKDD 2010, pp. 47-55.
        """
        points, Q = leave_one_out(self), self._queries(X)
        return points.p_values(self._form.space.enter(Q) if self._one_sum else Q, False)[:, 0]

    @available_if(_explains)
    def explain(self, X: Any) -> Any:
        """Explain how surprising each feature of new points is given the others, beyond the usual amount.

        Parameters
        ----------
        X : array-like or data frame of shape (n_queries, n_features)
            New points; missing values are filled from the samples, as in `predict`.

        Returns
        -------
        surprise : ndarray of shape (n_queries, n_features), float64, or a data frame of the kind of X
            ``-log p(x_j | all other features)`` under the fitted density, minus its leave-one-out median over the
            training samples. There is one value for each column of X, including categories and dates, with the name of
            the column if X has names; 0 for a column that is not used. The units of the features do not matter.

        Notes
        -----
        Exact, in n_features + 1 passes over the n_queries x n_samples pairs. The first call takes as many for
        up to 1000 training samples.
        """
        Q, columns, n_columns = self._queries(X), self._inputs.column_of, self.n_features_in_
        known = self.__dict__
        if "_usual" not in known:
            share = 1 / len(self.leave_one_out_score_)
            known["_usual"] = usual_surprises(self._form, columns, n_columns, share)
        found = surprises(lambda form, own: form.log_density(Q[:, own]), self._form, columns, n_columns)
        return like(found - known["_usual"], X)


def fence(scores, weights):
    """Tukey's fence, 1.5 interquartile ranges below the lower quartile.

    If the quartiles are equal, the lowest tenth replaces the lowest quarter, with the factor that gives normal scores
    the same fence. If its upper end also equals the upper quartile, all lower scores lie beyond.
    """
    upper = weighted_quantile(scores, 0.75, weights)
    for share, factor in FENCES:
        lower = weighted_quantile(scores, share, weights)
        if lower < upper:
            return float(lower - factor * (upper - lower))
    return float(upper)


def border(scores, weights, share):
    """Threshold below which the fraction of the weight is as close as possible to `share`.

    Equal scores stay together, and at most half of the weight lies below.
    """
    order = np.argsort(scores, kind="stable")
    ordered = scores[order]
    below = np.round(np.append(0.0, np.cumsum(weights[order])) / weights.sum(), _DECIMALS)
    cuts = np.append(0, np.flatnonzero(ordered[1:] > ordered[:-1]) + 1)
    cuts = cuts[below[cuts] <= 0.5]
    best = cuts[np.argmin(np.round(np.abs(below[cuts] - share), _DECIMALS))]
    return float(ordered[best] if best == 0 else ordered[best - 1 : best + 1].mean())


def _labels(decision):
    return np.where(decision < 0, -1, 1)
