"""Shared parts of the classifier's and the regressor's vote: sizes within a time budget, held-out parts, the
summary.
"""

import html
from dataclasses import KW_ONLY
from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_random_state

from .._core.threads import serial_blas
from .._estimator import Estimator, fit_steps, with_parameters
from .._tuning import check_folds, drawn_seed, group_folds, shuffled_ranks
from .._utils.advice import quietly, tell
from .._utils.bases import CallbackSupport
from .._utils.from_sklearn import HasMethods, Interval
from .._utils.typing import CategoricalFeatures, CrossValidation, RandomState
from ._budget import next_ensemble
from ._ensemble import fit_ensemble, said_by_all
from ._members import LARGE
from ._positions import Positions

# because trees are faster, they are reported to be as good alone if their loss exceeds that of the vote by at most this
# fraction
_AS_GOOD = 0.005
_HELD_OUT_OF_MANY = 5  # above LARGE points, at most one in this many is held out


@with_parameters
class Auto(CallbackSupport, Estimator):
    """A vote of members; a subclass reads the points and lists the members.

    A subclass has `_PRIOR`, the name of the member that learns nothing, and ``_member(name, pipeline, position)``,
    which returns the public form of a fitted member.
    """

    _: KW_ONLY
    time_budget: float | None = None
    categorical_features: CategoricalFeatures = "from_dtype"
    cv: CrossValidation = 3
    random_state: RandomState = 0
    verbose: bool = False
    n_jobs: int | None = None

    _groups = None
    _parameter_constraints = {
        "time_budget": [Interval(Real, 0, None, closed="neither"), None],
        "cv": [Interval(Integral, 2, None, closed="left"), HasMethods(["split", "get_n_splits"]), "array-like"],
    }

    def _make_inputs(self):
        return Positions(
            type(self).__name__,
            categories=self.categorical_features,
            class_weight=getattr(self, "class_weight", None),
        )

    def _vote_on(self, data, points_of, members_for, clock):
        """Fit the members and their vote.

        Parameters
        ----------
        data : TrainingData
        points_of : callable
            ``points_of(data, categorical, options)`` returns the points that members learn from.
        members_for : callable
            Maps the number of points to the members, and to the names of those that do not scale to that number.
        clock : Clock
        """
        n = len(data.X)
        self._n_given = n
        rng = check_random_state(self.random_state)
        options = {"random_state": rng.randint(np.iinfo(np.int32).max), "n_jobs": self.n_jobs}
        ranks = shuffled_ranks(data.codes, data.keys(drawn_seed(rng)))
        copies = data.copies.group
        folds = None if isinstance(self.cv, Integral) else check_folds(self.cv, data)
        points = points_of(data, self._inputs.are_categories(data.X.shape[1]), options)
        members, not_scaling = members_for(n)
        # Suppress warnings: a member's weight already shows that it learned nothing.
        with quietly(), fit_steps(self, "vote", len(members) * self._n_fits(n, folds)) as step_done:
            ensemble, timed = None, []
            while step := next_ensemble(
                n, members, timed, clock, n_classes=data.n_classes, n_fits=lambda size: self._n_fits(size, folds)
            ):
                size, chosen = step
                before = timed[-1][1] if timed else {}
                rows = np.flatnonzero((ranks * size) // n != ((ranks + 1) * size) // n)
                parts = self._parts(data, rows, ranks, copies, folds)
                found = fit_ensemble(points.take(rows), chosen, *parts, clock, options, step_done, before)
                timed.append((size, found.seconds))
                if ensemble is None or not found.vote.loss > ensemble.vote.loss:
                    ensemble, seen = found, rows
        voting = {*dict(ensemble.members), *ensemble.spare}
        left_out = [m.name for m in members if m.name not in voting and not (m.grown and m.grown.name in voting)]
        self._set(ensemble, not_scaling, left_out, n)
        if len(seen) < n or left_out or not ensemble.complete:
            tell(
                f"time_budget={self.time_budget:g} seconds did not suffice for all points and members: {self.summary_}."
            )
        judged = seen[ensemble.judged]
        truth = data.codes if data.targets is None else data.targets
        weights = np.ones(len(judged)) if data.weights is None else data.weights[judged]
        if data.groups is not None:
            self._groups = np.unique(data.groups[judged], return_inverse=True)[1]
        self._held_out = truth[judged], weights, ensemble.said, ensemble.parts, judged  # only arrays, for storage
        if ensemble.n_samples < len(seen):
            seen = seen[~ensemble.judged]
        self._seen = seen if len(seen) < n else None

    def _parts(self, data, rows, ranks, copies, folds):
        """Part of each row, and the number of parts that are held out in turn.

        Groups, and copies of a row, share a part; copies do not if there are fewer distinct rows than parts.
        """
        n = len(rows)
        if folds is not None:
            parts = folds[rows]
        else:
            n_parts = max(_HELD_OUT_OF_MANY, n // LARGE) if n > LARGE else min(self.cv, n)
            if data.groups is not None:
                return group_folds(data.take(rows), n_parts, 0), self._n_fits(n, folds) - 1
            first, group = np.unique(copies[rows], return_index=True, return_inverse=True)[1:]
            if len(first) < n_parts:
                first, group = np.arange(n), np.arange(n)
            parts = (np.argsort(np.argsort(ranks[rows[first]])) % n_parts)[group]
        return parts, self._n_fits(n, folds) - 1

    def _n_fits(self, n, folds):
        """Number of fits of each member for n points."""
        return 2 if n > LARGE else (min(self.cv, n) if folds is None else int(folds.max()) + 1) + 1

    def _set(self, ensemble, not_scaling, left_out, n):
        self._vote = ensemble.vote
        self.members_ = [(name, self._member(model, i)) for i, (name, model) in enumerate(ensemble.members)]
        self.weights_, self.prior_weight_ = self._vote.weights, self._vote.prior_weight
        self.losses_, self.loss_ = self._vote.losses, self._vote.loss
        self.n_samples_used_ = ensemble.n_samples
        self.dropped_ = not_scaling + left_out
        parts = [
            f"{name} {w:.2f}{_in_words(model[-1], ensemble.n_samples)}"
            for (name, model), w in zip(ensemble.members, self.weights_, strict=True)
        ]
        if self.prior_weight_:
            parts.append(f"{self._PRIOR} {self.prior_weight_:.2f}")
        self.summary_ = f"vote of {', '.join(parts)} by {self._loss_in_words()} on {len(ensemble.parts)} unseen points"
        if ensemble.n_samples < n:
            self.summary_ += f"; learned from {ensemble.n_samples} of {n} points"
        if self.dropped_:
            self.summary_ += f"; without {', '.join(self.dropped_)}"
        for (name, _), loss in zip(self.members_, self.losses_, strict=True):
            if "trees" in name and len(self.members_) > 1 and loss <= (1 + _AS_GOOD) * self.loss_:
                self.summary_ += f"; {name} alone are as good"

    def _said(self, X, said_by):
        with serial_blas():
            return said_by_all([member.pipeline for _, member in self.members_], X, said_by)

    def __repr__(self, N_CHAR_MAX=700):
        text = super().__repr__(N_CHAR_MAX)
        return f"{text}: {self.summary_}" if hasattr(self, "summary_") else text

    def _repr_html_inner(self):  # scikit-learn's hook for old notebooks; the next one is for current ones
        return super()._repr_html_inner() + self._summary_as_html()

    def _repr_mimebundle_(self, **kwargs):
        shown = super()._repr_mimebundle_(**kwargs)
        return shown | {"text/html": shown["text/html"] + self._summary_as_html()} if "text/html" in shown else shown

    def _summary_as_html(self):
        return f"<p>{html.escape(self.summary_)}</p>" if hasattr(self, "summary_") else ""


def vote_of(estimator):
    """The vote of a fitted estimator, the samples that its members saw (None: all), and the number of samples."""
    return estimator._vote, vars(estimator).get("_seen"), estimator._n_given


def held_out_order(rows, n):
    """Position of each of n training samples among the held-out `rows`; -1 for the others."""
    order = np.full(n, -1)
    order[rows] = np.arange(len(rows))
    return order


def _in_words(head, n):
    """Text with the number of iterations, and the number of points that the member learned from if fewer than n."""
    words = []
    if "iterations_" in vars(head):
        words.append(f"{int(np.max(head.iterations_))} iterations")
    if vars(head).get("n_points_", n) < n:
        words.append(f"{head.n_points_} points")
    return f" ({', '.join(words)})" if words else ""
