"""The classifier to import first: a vote of kernel machines with learned metrics, without parameters to choose."""

from dataclasses import KW_ONLY
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state

from .._core.threads import blas_threads_for
from .._estimator import Estimator, prediction_sets, refuse_many_classes, transactional, with_parameters
from .._expansion.left_out import LeftOut
from .._tuning import check_folds, drawn_seed, shuffled_ranks
from .._utils.advice import quietly, tell
from .._utils.from_sklearn import HasMethods, Interval
from .._utils.progress import progress
from .._utils.typing import Array, RandomState
from .._utils.validation import units_of
from ._budget import Clock, next_ensemble
from ._columns import Positions
from ._ensemble import Ensemble, Points, VotingMember, fit_ensemble, posteriors_of
from ._members import LARGE, members_for
from ._vote import unseen_votes

# 900 rows with 300 classes of 3 take 13 s on one core, 300 rows with 100 classes 2.4 s: 1000 classes take minutes.
MOST_CLASSES = 1000
_HELD_OUT_OF_MANY = 5  # one in so many is held out above LARGE


@with_parameters
class AutoClassifier(ClassifierMixin, Estimator):
    """A vote of kernel machines that learn their metrics: good accuracy without tuning, and calibrated probabilities.

    The members, each fitted to the table in an encoding of its own (categories become indicators, and so do columns of
    3 to 10 distinct values if labels left out are likelier then; others are standardized or mapped to normal quantiles;
    a further indicator says where values are missing, which count as the mean):

    - PerTurbo: the share of a query that the span of a class explains;
    - kernel ridge regression with the Laplace kernel, after a :class:`~spectralcls.metric.GradientMetric`;
    - the same after a :class:`~spectralcls.metric.KernelMetric`;
    - a Parzen classifier after the same :class:`~spectralcls.metric.KernelMetric`;
    - a Parzen classifier on numbers in one scale, for columns of the same unit, whose spread says how much they count;
    - boosted trees, which cut where smooth kernels cannot: 30 iterations, with more than 8 classes 240 trees at most.

    Their probabilities for points that they have not seen decide on one temperature for each and on the weights; then
    all of them are fitted again to all points. The shares of the classes vote too: they get the weight of members that
    learned nothing.

    Parameters
    ----------
    time_budget : float, default=None
        Seconds that `fit` may take. If they do not suffice, members learn from a random part of the points or are left
        out, whichever has the smaller log loss on unseen points, and a warning says so. None: as long as it takes.
    cv : int, splitter or list of splits, default=3
        Folds; the test sets of a splitter have to partition the samples. With more than 3000 points one part is held
        out once instead: the first test set of a splitter, otherwise a fifth, of more than 15 000 points some 3000.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply the sample weights: ``{label: weight}``, or ``"balanced"`` for weights
        inversely proportional to the classes' frequencies. None: all are one. Probabilities are those of a population
        with such shares.
    random_state : int, RandomState instance or None, default=0
        Draws whatever is random: folds, subsamples, landmarks, starts. With an int a refit gives the same bits.
    verbose : bool, default=False
        Report progress on stderr.
    n_jobs : int or None, default=None
        Threads; None means all cores unless joblib or threadpoolctl says otherwise.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    class_prior_ : ndarray of shape (n_classes,)
        Shares of the classes in the training data, weighted.
    members_ : list of (str, estimator)
        Names and classifiers with `predict` and `predict_proba`, which take tables as `fit` does.
    weights_ : ndarray of shape (n_members,)
        Weights of the members' calibrated probabilities; with `prior_weight_` they add up to 1.
    prior_weight_ : float
        Weight of `class_prior_`: near 1 if no member learned anything.
    losses_ : ndarray of shape (n_members,)
        Log loss of each member on points that it had not seen.
    loss_ : float
        That of the vote.
    dropped_ : list of str
        Members that do not scale to as many points, or for which the time did not suffice.
    n_samples_used_ : int
        Points learned from; all of them without a time budget.
    summary_ : str
        What votes and why, in a line; also at the end of the fitted classifier's `repr`.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features. Only present if X has string names.

    See Also
    --------
    spectralcls.regression.KernelRidgeClassifier : Two of the members, each after a learned metric.
    spectralcls.metric.KernelMetric : The metric of one of them, and of the Parzen classifier.
    spectralcls.perturbo.PerTurboClassifier : A further member, here without a metric.

    Notes
    -----
    Cost: up to 3000 points a fit takes O(n^3), some 40 Cholesky factors. Above, tuning works on 2000 points; ridge
    regression takes O(n^2) a step of its conjugate gradients and is left out above 30 000 points, PerTurbo above
    100 000. Memory is O(n) above 6000 points, and O(n^2) below.

    The order of the samples does not matter. That of the columns and the names of the classes decide ties between
    splits of the trees and where the searches for metrics end: another order may change probabilities in their second
    digit, and a label where two classes are equally probable.

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
    time_budget: float | None = None
    cv: Any = 3
    class_weight: str | dict | None = None
    random_state: RandomState = 0
    verbose: bool = False
    n_jobs: int | None = None

    _parameter_constraints = {
        "time_budget": [Interval(Real, 0, None, closed="neither"), None],
        "cv": [Interval(Integral, 2, None, closed="left"), HasMethods(["split", "get_n_splits"]), "array-like"],
    }
    # mypy finds these later, in a circle of imports.
    conformal_p_values = prediction_sets.conformal_p_values  # type: ignore[has-type]
    predict_set = prediction_sets.predict_set  # type: ignore[has-type]

    @transactional
    def fit(self, X, y, sample_weight=None):
        """Fit the members and their vote.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers, or a data frame (pandas, polars, Arrow) with categories, text of few values and truth values too.
            Values may be missing (NaN, None).
        y : array-like of shape (n_samples,)
            Class labels, two classes at least.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the samples in encodings, members, temperatures and the vote; weight 0 leaves a
            sample out. To the kernel methods a weight of two is a row given twice if `cv` keeps the copies in one
            fold; random folds do not, and the leaves of the boosted trees count rows.

        Returns
        -------
        self : object
            The fitted classifier.

        Raises
        ------
        ValueError
            For infinite values, columns that are neither numbers nor categories, one class only, or more than 1000
            classes.

        Warns
        -----
        UserWarning
            If `time_budget` did not suffice for all points and members, or all points that members have not seen get
            the same class.
        """
        clock = Clock(self.time_budget)
        self._inputs = Positions(type(self).__name__, class_weight=self.class_weight)
        data = self._inputs.fit(X, y, sample_weight)
        refuse_many_classes(self, data.n_classes, MOST_CLASSES)
        self.classes_, self._n_given = data.classes, len(data.codes)
        self.class_prior_ = data.class_weight / data.class_weight.sum()
        rng = check_random_state(self.random_state)
        options = {"random_state": rng.randint(np.iinfo(np.int32).max), "n_jobs": self.n_jobs}
        ranks = shuffled_ranks(data.codes, data.keys(drawn_seed(rng)))
        copies = data.copies.group
        folds = check_folds(self.cv, data)
        n, categorical = len(data.codes), self._inputs.are_categories(data.X.shape[1])
        units = None
        if self.class_weight is not None and data.weights is not None:
            units = units_of(data.codes, data.weights, data.n_classes, True)
        points = Points(data.X, data.codes, data.weights, data.n_classes, categorical, units)
        members, not_scaling = members_for(n)
        # Quietly: a member that learned nothing has its weight.
        with quietly(), progress("vote", len(members) * self._n_fits(n, folds), silent=not self.verbose) as step_done:
            ensemble, timed = None, []
            while step := next_ensemble(
                n, members, timed, clock, n_classes=data.n_classes, n_fits=lambda size: self._n_fits(size, folds)
            ):
                size, chosen = step
                before = timed[-1][1] if timed else {}
                rows = np.flatnonzero((ranks * size) // n != ((ranks + 1) * size) // n)
                parts = self._parts(rows, ranks, copies, folds)
                found = fit_ensemble(points.take(rows), chosen, *parts, clock, options, step_done, before)
                timed.append((size, found.seconds))
                if ensemble is None or not found.vote.loss > ensemble.vote.loss:
                    ensemble, seen = found, rows
        left_out = [member.name for member in members if member.name not in dict(ensemble.members)]
        self._set(ensemble, not_scaling, left_out, n)
        judged = seen[ensemble.judged]
        self._held_out = data.take(judged), ensemble.posteriors, ensemble.parts, judged
        self._seen = seen if len(seen) < n else None
        return self

    def _parts(self, rows, ranks, copies, folds):
        """Part of each of the rows, and how many of the parts are held out, one after the other.

        Copies of a row are in one part, unless there are fewer distinct rows than parts.
        """
        n = len(rows)
        if folds is not None:
            parts = folds[rows]
        else:
            n_parts = max(_HELD_OUT_OF_MANY, n // LARGE) if n > LARGE else min(self.cv, n)
            first, group = np.unique(copies[rows], return_index=True, return_inverse=True)[1:]
            if len(first) < n_parts:
                first, group = np.arange(n), np.arange(n)
            parts = (np.argsort(np.argsort(ranks[rows[first]])) % n_parts)[group]
        return parts, self._n_fits(n, folds) - 1

    def _n_fits(self, n, folds):
        """How often members are fitted for n points."""
        return 2 if n > LARGE else (min(self.cv, n) if folds is None else int(folds.max()) + 1) + 1

    def _set(self, ensemble: Ensemble, not_scaling, left_out, n):
        self.members_ = [(name, VotingMember(self._inputs, model, self.classes_)) for name, model in ensemble.members]
        self._vote = ensemble.vote
        self.weights_, self.prior_weight_ = self._vote.weights, self._vote.prior_weight
        self.losses_, self.loss_ = self._vote.losses, self._vote.loss
        self.n_samples_used_ = ensemble.n_samples
        self.dropped_ = not_scaling + left_out
        parts = [f"{name} {w:.2f}" for (name, _), w in zip(self.members_, self.weights_, strict=True)]
        if self.prior_weight_:
            parts.append(f"class shares {self.prior_weight_:.2f}")
        self.summary_ = (
            f"vote of {', '.join(parts)} by log loss {self.loss_:.3f} on {len(ensemble.parts)} unseen points"
        )
        if ensemble.n_samples < n:
            self.summary_ += f"; learned from {ensemble.n_samples} of {n} points"
        if self.dropped_:
            self.summary_ += f"; without {', '.join(self.dropped_)}"
        if len(ensemble.parts):
            self._warn_if_one_class(self._vote(ensemble.posteriors))
        if ensemble.n_samples < n or left_out:
            tell(
                f"time_budget={self.time_budget:g} seconds did not suffice for all points and members: {self.summary_}."
            )

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
        with blas_threads_for(X):
            return self._vote(posteriors_of([member.pipeline for _, member in self.members_], X, len(self.classes_)))

    @property
    def _without_leave_one_out(self):
        if "_held_out" in vars(self) and not len(self._held_out[-1]):
            return "no points were held out: they are too few, or time_budget did not suffice."
        return None

    def _leave_one_out(self):
        data, posteriors, parts, rows = self._held_out
        held_out = unseen_votes(self._vote, posteriors, data.codes, parts, data.weights)
        order = np.full(self._n_given, -1)
        order[rows] = np.arange(len(rows))
        weights = np.ones(len(rows)) if data.weights is None else data.weights
        weights = weights / units_of(data.codes, weights, len(data.classes), self.class_weight is not None)[data.codes]
        return LeftOut(data.codes, weights, _log(held_out), lambda X: _log(self._probabilities(X)), order)

    def predict(self, X):
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
        The cost is that of `predict_proba`.
        """
        probability = self.predict_proba(X)
        return self.classes_[probability.argmax(axis=1)]

    def __repr__(self, N_CHAR_MAX=700):
        text = super().__repr__(N_CHAR_MAX)
        return f"{text}: {self.summary_}" if hasattr(self, "summary_") else text


def vote_of(estimator):
    """The `Vote` of a fitted AutoClassifier, the samples that its members have seen (None: all), and their number."""
    return estimator._vote, vars(estimator).get("_seen"), estimator._n_given


def _log(p):
    with np.errstate(divide="ignore"):
        return np.log(p)
