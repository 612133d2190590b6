"""Fitting the members on parts of the points, weighing them by what they say of the rest, fitting them to all."""

import time
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.pipeline import Pipeline

from ._members import LARGE, make_view
from ._vote import Vote, class_shares, learn_vote

_SETTLED = ("bandwidth", "alpha")  # what the fit to many points takes over from the fit to a part of them


class Ensemble(NamedTuple):
    members: list  # (name, fitted pipeline)
    vote: Vote
    n_samples: int  # points that the members have seen
    judged: np.ndarray  # (n,) bool: points by which the vote was learned, as members saw them that had not
    posterior: np.ndarray  # (n_judged, C) of the vote for them
    dropped: list  # names of members for which the time did not suffice


class Points(NamedTuple):
    """What the members learn from."""

    X: np.ndarray  # (n, d), NaN where a value is missing
    codes: np.ndarray  # (n,)
    weights: np.ndarray | None  # (n,)
    n_classes: int
    categorical: np.ndarray  # (d,) bool: numbers that are levels
    units: np.ndarray | None = None  # (C,) weight of one sample of each class, if classes have weights

    @property
    def sample_weights(self):
        """The weights without those of classes, which say what an error counts and not how often a point was seen."""
        return self.weights if self.units is None else self.weights / self.units[self.codes]

    def take(self, rows):
        weights = None if self.weights is None else self.weights[rows]
        return self._replace(X=self.X[rows], codes=self.codes[rows], weights=weights)


class Fitting:
    """Members fitted to the same points; each view is learned once."""

    def __init__(self, points, options, clock, step_done):
        self.points, self.options = points, options
        self.clock, self.step_done = clock, step_done
        self.large = len(points.X) > LARGE
        self.models, self.seconds, self._views = {}, {}, {}

    def fit(self, member, like=None):
        """Fit a member; with `like`, a pipeline that was fitted to most of the points, only its last step, anew."""
        self.step_done(member.name)
        start = time.monotonic()
        if like is None:
            view, Z = self._view(member.view)
            head = member.make(Z, self.large, self.options)
        else:
            view = like[:-1]
            Z, head = view.transform(self.points.X), clone(like[-1])
            settled = {name: getattr(like[-1], f"{name}_") for name in _SETTLED if name in head.get_params()}
            if hasattr(like[-1], "temperature_"):  # which is learned anew
                settled = {f"{name}_grid": [value] for name, value in settled.items()}
            head.set_params(**settled)
        head.fit(Z, self.points.codes, sample_weight=self._weights_beside(head))
        self.models[member.name] = Pipeline([*view.steps, ("classifier", head)])
        self.seconds[member.name] = time.monotonic() - start

    def _weights_beside(self, head):
        """Weights of the points, but for what a classifier takes as weights of classes."""
        points = self.points
        if points.units is None or "class_weight" not in head.get_params():
            return points.weights
        head.set_params(class_weight={int(c): float(points.units[c]) for c in np.unique(points.codes)})
        return points.sample_weights

    def _view(self, name):
        if name not in self._views:
            view = make_view(name, self.large, self.points.categorical, self.options)
            Z = self.points.X
            for _, step in view.steps:  # one by one: what a pipeline passes on depends on the user's metadata routing
                Z = step.fit(Z, self.points.codes, sample_weight=self.points.sample_weights).transform(Z)
            self._views[name] = view, Z
        return self._views[name]

    @property
    def total(self):
        return sum(self.seconds.values())


def fit_ensemble(points, members, parts, n_splits, clock, options, step_done):
    """Fit all members to the points outside of part 0, 1, ... `n_splits` - 1, then to all.

    If the time does not suffice, later splits, the fit to all points, and in the first split members are left out.

    Parameters
    ----------
    points : Points
    members : list of Member
    parts : ndarray of shape (n,)
        Part of each point.
    clock : Clock
    options : dict
        See `Member`.
    step_done : callable

    Returns
    -------
    Ensemble
    """
    X, codes, n_classes = points.X, points.codes, points.n_classes
    posteriors = {member.name: np.zeros((len(X), n_classes)) for member in members}
    judged = np.zeros(len(X), dtype=bool)
    kept, last, n_seen = list(members), None, 0
    for split in range(n_splits):
        inside = parts != split
        if len(np.unique(codes[inside])) < 2 or inside.all():
            continue
        if last is not None and not clock.affords(1.1 * last.total):
            break
        fitting = Fitting(points.take(inside), options, clock, step_done)
        for member in list(kept):
            if last is None and fitting.models and not clock.affords(max(fitting.seconds.values())):
                kept.remove(member)
                continue
            fitting.fit(member)
            posteriors[member.name][~inside] = posterior(fitting.models[member.name], X[~inside], n_classes)
        judged |= ~inside
        last, n_seen = fitting, int(inside.sum())
    vote = _learned(kept, posteriors, judged, points)
    if last is None or clock.affords(last.total * (len(X) / n_seen) ** 2.5):
        whole = Fitting(points, options, clock, step_done)
        for member in kept:
            whole.fit(member, like=last.models[member.name] if whole.large and last is not None else None)
        last, n_seen = whole, len(X)
    models = [(member.name, last.models[member.name]) for member in kept]
    held_out = vote([posteriors[member.name][judged] for member in kept])
    return Ensemble(models, vote, n_seen, judged, held_out, [m.name for m in members if m not in kept])


class VotingMember(ClassifierMixin, BaseEstimator):
    """A member of a fitted vote, for the user's own tables and labels.

    Parameters
    ----------
    inputs : Inputs
        Of the vote.
    pipeline : Pipeline
        Fitted to the numbers that `inputs` gives and to the positions of the labels.
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

    def predict(self, X):
        """The most probable class of each query, (n_queries,)."""
        return self.classes[self.predict_proba(X).argmax(axis=1)]


def posterior(model, X, n_classes):
    """Probabilities (n, n_classes) by a model that was fitted to codes; 0 for classes that it has not seen."""
    out = np.zeros((len(X), n_classes))
    out[:, model.classes_] = model.predict_proba(X)
    return out


def posteriors_of(models, X, n_classes):
    """Those of several pipelines, in a list; what they share of their steps is done once."""
    mapped, found = {}, []
    for model in models:
        Z, path = X, ()
        for _, step in model.steps[:-1]:
            path += (id(step),)
            if path not in mapped:
                mapped[path] = step.transform(Z)
            Z = mapped[path]
        found.append(posterior(model.steps[-1][1], Z, n_classes))
    return found


def _learned(kept, posteriors, judged, points):
    """The vote; equal weights where no point could be judged."""
    if not judged.any():
        m = len(kept)
        prior = class_shares(points.codes, points.weights, points.n_classes)
        return Vote(prior, 0.0, np.full(m, 1 / m), np.ones(m), 1.0, np.full(m, np.nan), np.nan)
    part = points.take(judged)
    return learn_vote([posteriors[member.name][judged] for member in kept], part.codes, part.weights)
