"""The default regressor: a vote of kernel machines with learned metrics, without parameters to choose."""

from dataclasses import KW_ONLY
from functools import partial
from typing import Literal

from sklearn.utils import check_random_state

from .._conformal import Residuals
from .._estimator import Regressor, with_parameters
from .._inputs.encoder import ColumnEncoder
from .._utils.bases import BaseEstimator, RegressorMixin
from .._utils.from_sklearn import StrOptions
from ..regression import predictions_left_out
from ._auto import Auto, held_out_order
from ._blend import learn_blend
from ._budget import Clock
from ._loss import KINDS
from ._member_points import NumberPoints, predictions
from ._members import OF_NUMBERS, members_for
from ._target_map import chosen_map
from ._vote import unseen_votes


@with_parameters
class AutoRegressor(Auto, Regressor):
    """A vote of kernel machines that learn their metrics, and of boosted trees: good predictions without tuning.

    Each member is fitted to its own encoding of the table. Categories become indicators; numbers are standardized or
    mapped to normal quantiles; a missing value is replaced by the mean and marked by an indicator. The members are:

    - kernel ridge regression on standardized numbers, and on ranks;
    - the same with the Laplace kernel after a :class:`~spectralcls.metric.GradientMetric` of standardized numbers, and
      of ranks;
    - local means (:class:`~spectralcls.KernelRegressor`) after the metric of standardized numbers;
    - boosted trees, which cut where smooth kernels cannot.

    Non-negative least squares on their predictions for unseen points gives the weights; then all members are refitted
    to all points (not above 150 000, where few points are held out). The mean of the targets votes too, and takes the
    weight of members that learned nothing. All members learn the targets themselves, unless logarithms make held-out
    targets clearly more likely, or ranks clearly reduce their loss.

    Parameters
    ----------
    loss : {"squared", "absolute", "huber"}, default="squared"
        Loss that the weights minimize. With "absolute", predictions are medians, not means. "huber" is squared up to
        1.345 robust standard deviations of the residuals, and grows linearly from there.
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
    members_ : list of (str, estimator)
        Names and fitted regressors, whose `predict` takes tables as `fit` does.
    weights_ : ndarray of shape (n_members,)
        Weights of the members' predictions; with `prior_weight_` they add up to 1.
    prior_weight_ : float
        Weight of the mean of the targets (their median with the other losses): near 1 if no member learned anything.
    transformation_ : {"none", "log", "ranks"}
        Transformation of the targets learned by the members.
    losses_ : ndarray of shape (n_members,)
        Loss of each member on points that it had not seen, relative to that of the mean (the median with the other
        losses); of logarithms, if the members learn these.
    loss_ : float
        The same for the vote; with the squared loss it is 1 - R^2.
    dropped_ : list of str
        Members that do not scale to the number of points, or for which the time did not suffice.
    n_samples_used_ : int
        Number of points learned from. Without a time budget, all of them; above 150 000, all but about 3000 that are
        held out.
    summary_ : str
        One line with the members' weights, iterations and points, and whether trees alone are as good; also at the end
        of the fitted regressor's `repr`.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features. Only present if X has string names.

    See Also
    --------
    AutoClassifier : The same for classes.
    KernelRidgeRegressor : One of the members alone, which is faster and has intervals in closed form.
    KernelRegressor : Local means and lines, for curves and few features.

    Notes
    -----
    Cost: up to 3000 points a fit takes O(n^3) for sixteen Cholesky factors, and about 200 factors of at most 500
    points, on which ridge penalties and metrics are tuned. Above, ridge regression takes O(n^2) per step of conjugate
    gradients, and O(n) from 20 000 points on, in cells of neighbors; local means take O(n^2) and are left out above 100
    000 points. Memory is O(n) above 6000 points, and O(n^2) below. Boosted trees use all points, and are added as long
    as the loss on unseen points falls.

    All outputs share the weights and the kind of transformation. A prediction is a mean; for a transformed target it
    averages over the residuals of unseen points (Duan's smearing estimate). With the absolute loss it is a median. The
    logarithm is judged by Laplace densities, which two large targets cannot dominate as they dominate squared errors;
    the members' logarithms are then mixed before they are mapped back.

    References
    ----------
    L. Breiman, "Stacked regressions", Machine Learning 24, 1996.
    N. Duan, "Smearing estimate: a nonparametric retransformation method", Journal of the American Statistical
    Association 78, 1983.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from spectralcls import AutoRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> AutoRegressor().fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.4
    True
    """

    _: KW_ONLY
    loss: Literal["squared", "absolute", "huber"] = "squared"

    _parameter_constraints = {"loss": [StrOptions(set(KINDS))]}
    _PRIOR = "mean"

    def _learn(self, data):
        self._vote_on(data, self._points, partial(members_for, members=OF_NUMBERS), Clock(self.time_budget))
        self.transformation_ = self._vote.map.kind
        self._coordinates = self._coordinates[self._held_out[-1]]

    def _points(self, data, categorical, options):
        self._encoder = ColumnEncoder(indicators=False, categorical=categorical).fit(data.X, sample_weight=data.weights)
        self._coordinates = self._encoder.transform(data.X)  # for sizes of residuals
        rng = check_random_state(options["random_state"])
        chosen = chosen_map(self._coordinates, data.targets, data.weights, self.loss, rng, data.groups)
        return NumberPoints(data.X, data.targets, data.weights, categorical, chosen, self.loss, data.groups)

    def _member(self, pipeline, position):
        return VotingRegressor(self._inputs, pipeline, self._vote, position, self._one_output)

    def _loss_in_words(self):
        what = {"squared": "squared error", "absolute": "absolute error", "huber": "Huber's loss"}[self.loss]
        of = "" if self._vote.map.kind == "none" else f" with {self._vote.map.kind} of the targets"
        return f"{what} {self.loss_:.3f} of the mean's{of}"

    @property
    def _units(self):
        return self._vote.units

    def _scaled(self, X):
        return self._vote.scaled(self._said(X, predictions))

    def _back(self, scaled):
        return self._vote.back(scaled)

    def _coordinates_of(self, X):
        return self._encoder.transform(X)

    @property
    def _without_leave_one_out(self):
        if "_held_out" in vars(self) and not len(self._held_out[-1]):
            return "no points were held out: they are too few, or time_budget did not suffice."
        return None

    def _leave_one_out(self):
        vote, (targets, weights, held_out, parts, rows) = self._vote, self._held_out

        def learned(rows):
            own = [p[rows] for p in held_out]
            return learn_blend(own, targets[rows], vote.map, self.loss, weights[rows]).scaled

        said = held_out
        if self._seen is None and len(rows) == self._n_given:  # members fitted to parts err more
            alone = [predictions_left_out(member.pipeline[-1]) for _, member in self.members_]
            said = [folds if own is None else own for own, folds in zip(alone, held_out, strict=True)]
        unseen = unseen_votes(vote.scaled, said, parts, learned)
        options = {"order": held_out_order(rows, self._n_given), "units": self._groups, "n_jobs": self.n_jobs}
        return Residuals.of(vote.units.to(targets) - unseen, weights, self._coordinates, **options)


class VotingRegressor(RegressorMixin, BaseEstimator):
    """A member of a fitted vote that takes the user's tables.

    Parameters
    ----------
    inputs : Inputs
        Inputs of the vote.
    pipeline : Pipeline
        Model of the numbers from `inputs`, fitted to the transformed targets.
    vote : Blend
    position : int
        Position of the member in the vote.
    one_output : bool
        Whether targets are a vector.
    """

    def __init__(self, inputs, pipeline, vote, position, one_output):
        self.inputs = inputs
        self.pipeline = pipeline
        self.vote = vote
        self.position = position
        self.one_output = one_output

    def predict(self, X):
        """Predictions, (n_queries,) or (n_queries, n_outputs)."""
        said = predictions(self.pipeline, self.inputs(X))
        predicted = self.vote.back(self.vote.member(self.position, said))
        return predicted[:, 0] if self.one_output else predicted
