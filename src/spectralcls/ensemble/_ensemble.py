"""Fit the members to parts of the points, weight them by their predictions of the rest, and refit them to all."""

import time
from typing import NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from .._tuning import stratified_subsample
from .._utils.cached import cached_property
from .._utils.copies import random_keys
from ._budget import cost, dearest
from ._members import LARGE, indicators_help, make_views

_TO_ALL = 2.0  # exponent of the time in n, to extrapolate from a split to all points
MOST_FOR_VIEWS = 100_000  # points used to learn encodings and metrics
# If fewer than this share of the points are held out, members are not refitted to all points: a second fit takes as
# long as the first, and on 500 000 rows of covertype it would add only 3000 points.
FEW_HELD_OUT = 0.02
# Trees are grown if their weight in the vote is at least CARRIES or, with many points, if their loss is at most NEAR
# times that of the vote. With many points the weight of a few trees says little about grown ones: on 300 000 flights,
# the few trees have weight 0 and 1.06 times the loss of the vote, yet grown trees get weight .6. On 500 000 rows of
# covertype, the few trees have 9 times the loss.
CARRIES, NEAR = 0.3, 1.25
# parameters that, with many points, are tuned on a part and reused for the fit to all
_SETTLED = ("kernel", "bandwidth", "alpha")


class Ensemble(NamedTuple):
    members: list  # (name, fitted pipeline)
    vote: object  # callable that combines the members' predictions
    n_samples: int  # points to which the members were fitted
    judged: np.ndarray  # (n,) bool: held-out points from which the vote was learned
    said: list  # predictions (n_judged, width) of each member for these
    parts: np.ndarray  # (n_judged,) held-out part of each
    seconds: dict  # mean seconds to fit each member and view
    spare: list  # names of members dropped because they add nothing
    complete: bool  # whether the members were fitted to all, or nearly all, points


class Fitting:
    """Members fitted to the same points; each view is learned once."""

    def __init__(self, points, options, clock, step_done):
        self.points, self.options = points, options
        self.clock, self.step_done = clock, step_done
        self.large = len(points.X) > LARGE
        self.models, self.seconds, self._views = {}, {}, {}

    def fit(self, member, *, unseen=None, before=()):
        """Fit a member.

        Members that grow do so until their loss on `unseen` points stops falling, or to the mean size that the
        pipelines `before`, fitted to parts of the points, have reached. With many points, only the last step of the
        first of these is refitted.
        """
        self.step_done(member.name)
        like = before[0] if before and self.large else None
        if like is None:
            view, Z = self._view(member.view)
            start = time.perf_counter()
            head = member.make(Z, self.large, self.options)
            if "categorical" in head.get_params():
                head.set_params(categorical=self.points.categorical)
        else:
            start, view = time.perf_counter(), like[:-1]
            Z, head = mapped(view, self.points.X), clone(like[-1])
            known = [name for name in _SETTLED if name in head.get_params() and hasattr(like[-1], f"{name}_")]
            settled = {name: getattr(like[-1], f"{name}_") for name in known}
            if hasattr(like[-1], "temperature_"):  # learned again, by tuning on a grid of one value
                settled = {f"{name}_grid": [settled[name]] for name in known if name != "kernel"}
            head.set_params(**settled)
        grown = {}
        if "iterations" in head.get_params():
            if before:
                head.set_params(iterations=np.mean([model[-1].iterations_ for model in before], axis=0).round())
            elif unseen is not None:
                grown["unseen"] = mapped(view, unseen.X), unseen.answers, unseen.weights
        grown |= _groups_for(head, self.points)
        head.fit(Z, self.points.answers, sample_weight=self.points.weights_beside(head), **grown)
        self.models[member.name] = Pipeline([*view.steps, ("member", head)])
        self.seconds[member.name] = time.perf_counter() - start

    def said(self, member, X):
        """Predictions of a fitted member for X; their time counts as the member's."""
        start = time.perf_counter()
        found = self.points.said_by(self.models[member.name], X)
        self.seconds[member.name] += time.perf_counter() - start
        return found

    def expected(self, member, before):
        """Predicted seconds of a member not fitted yet: its earlier seconds scaled like those of the others, or twice
        the maximum so far.
        """
        if member.name not in before:
            return 2 * max(self.seconds.values())
        ratio = sum(self.seconds.values()) / sum(before[name] for name in self.seconds)
        return ratio * (before[member.name] + (member.view not in self.seconds) * before.get(member.view, 0.0))

    def _view(self, name):
        if name not in self._views:
            start = time.perf_counter()
            views = make_views(name, self.points, self.indicators, self.options)
            fitted = [(view, self._fitted(view)) for view in views]
            view, Z = fitted[0] if len(fitted) == 1 else min(fitted, key=lambda pair: min(pair[0][-1].loss_curve_))
            self._views[name] = view, Z if len(Z) == len(self.points.X) else mapped(view, self.points.X)
            self.seconds[name] = time.perf_counter() - start
        return self._views[name]

    def _fitted(self, view):
        """Fit a view, and return in its coordinates the points from which it was learned."""
        points = self._seen_by_views
        Z = points.X
        for _, step in view.steps:  # one by one: a pipeline's arguments depend on the user's metadata routing
            options = {"sample_weight": points.sample_weights} | _groups_for(step, points)
            Z = step.fit(Z, points.answers, **options).transform(Z)
        return Z

    @cached_property
    def _seen_by_views(self):
        """The points that views are learned from. Views for classes are learned from at most `MOST_FOR_VIEWS`."""
        if len(self.points.X) <= MOST_FOR_VIEWS or self.points.task != "classification":
            return self.points
        rows = stratified_subsample(self.points.codes, MOST_FOR_VIEWS, random_keys(self.points.X))
        return self.points.take(np.sort(rows))

    @cached_property
    def indicators(self):
        """Whether columns with few values become indicators for kernels."""
        return self.points.task == "classification" and indicators_help(self.points, self.options)


def fit_ensemble(points, members, parts, n_splits, clock, options, step_done, before):
    """Fit all members to the points outside part 0, then part 1, and so on for `n_splits` parts; then to all points.

    If the time does not suffice, these are skipped in turn: members in the first split, so that at least one can be
    fitted to all points; later splits; expensive members with less than half of the weight; the fit to all points.

    Parameters
    ----------
    points : ClassPoints or NumberPoints
    members : list of Member
    parts : ndarray of shape (n,)
        Part of each point.
    clock : Clock
    options : dict
        See `Member`.
    step_done : callable
    before : dict of str to float
        Seconds of each member and view in a fit to fewer points; empty if unknown.

    Returns
    -------
    Ensemble
    """
    X = points.X
    said = {member.name: np.zeros((len(X), points.width)) for member in members}
    judged = np.zeros(len(X), dtype=bool)
    kept, fittings, outsides, to_all = list(members), [], [], 1.0
    for split in range(n_splits):
        inside = parts != split
        if inside.all() or not points.take(inside).teaches:
            continue
        if fittings and not clock.affords((1 + to_all) * cost(kept, fittings[0].seconds)):
            break
        fitting, to_all = Fitting(points.take(inside), options, clock, step_done), (len(X) / inside.sum()) ** _TO_ALL
        for member in list(kept):
            if not fittings and fitting.models:
                reserve = to_all * min(
                    cost([other], fitting.seconds) for other in members if other.name in fitting.models
                )
                if not clock.affords(fitting.expected(member, before) + reserve):
                    kept.remove(member)
                    continue
            fitting.fit(member, unseen=points.take(~inside))
            said[member.name][~inside] = fitting.said(member, X[~inside])
        judged |= ~inside
        fittings.append(fitting)
        outsides.append(~inside)
    tried = kept
    if fittings:
        kept = _with_grown_members(kept, fittings, outsides, said, judged, points, clock, to_all)
        if fittings[0].large:  # enough points to find the members that add nothing
            adds = _learned(kept, said, judged, points).adds
            kept = [member for member, own in zip(kept, adds, strict=True) if own]
    spare = [member.name for member in tried if member not in kept]
    chosen, vote = kept, _learned(kept, said, judged, points)
    weights = {member.name: weight for member, weight in zip(kept, vote.weights, strict=True)}
    while fittings and chosen and not clock.affords(to_all * cost(chosen, fittings[-1].seconds)):
        without = dearest(chosen, fittings[-1].seconds)
        chosen = [member for member in chosen if member is not without]
    enough = bool(chosen) and sum(weights[member.name] for member in chosen) >= (1 - vote.prior_weight) / 2
    worth = not fittings or np.count_nonzero(judged) >= FEW_HELD_OUT * len(X)
    if not fittings or (enough and worth):
        if chosen != kept:
            kept, vote = chosen, _learned(chosen, said, judged, points)
        fittings.append(Fitting(points, options, clock, step_done))
        for member in kept:
            fittings[-1].fit(member, before=[fitting.models[member.name] for fitting in fittings[:-1]])
    last = fittings[-1]
    models = [(member.name, last.models[member.name]) for member in kept]
    names = {name for fitting in fittings for name in fitting.seconds}
    seconds = {name: float(np.mean([f.seconds[name] for f in fittings if name in f.seconds])) for name in names}
    seen = [said[member.name][judged] for member in kept]
    return Ensemble(models, vote, len(last.points.X), judged, seen, parts[judged], seconds, spare, enough or not worth)


def _with_grown_members(kept, fittings, outsides, said, judged, points, clock, to_all):
    """The members; those that contribute much to the vote are replaced by their grown form if that has less loss."""
    vote = _learned(kept, said, judged, points)
    for i, (weight, loss) in enumerate(zip(vote.weights, vote.losses, strict=True)):
        grown = kept[i].grown
        if grown is None or not (loss <= NEAR * vote.loss if fittings[0].large else weight >= CARRIES):
            continue
        said[grown.name] = np.zeros((len(points.X), points.width))
        for fitting, outside in zip(fittings, outsides, strict=True):
            if not clock.affords((1 + to_all) * cost([grown], fittings[0].seconds)):
                return kept
            fitting.fit(grown, unseen=points.take(outside))
            said[grown.name][outside] = fitting.said(grown, points.X[outside])
        own, other = _learned([kept[i], grown], said, judged, points).losses
        if other < own:
            kept = [*kept[:i], grown, *kept[i + 1 :]]
    return kept


def _groups_for(estimator, points):
    """The argument of `fit` with the groups of the points, if there are any and the estimator leaves out points."""
    takes = points.groups is not None and has_fit_parameter(estimator, "groups")
    return {"groups": points.groups} if takes else {}


def mapped(view, X):
    """X in the coordinates of a view, which may have no step."""
    for _, step in view.steps:
        X = step.transform(X)
    return X


def said_by_all(models, X, said_by):
    """List of ``said_by(model, X)`` for several pipelines; shared steps run once."""
    known, found = {}, []
    for model in models:
        Z, path = X, ()
        for _, step in model.steps[:-1]:
            path += (id(step),)
            if path not in known:
                known[path] = step.transform(Z)
            Z = known[path]
        found.append(said_by(model.steps[-1][1], Z))
    return found


def _learned(kept, said, judged, points):
    """The vote, with equal weights if no point was held out."""
    if not judged.any():
        return points.equal_vote(len(kept))
    return points.take(judged).vote([said[member.name][judged] for member in kept])
