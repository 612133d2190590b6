"""Fitting the members on parts of the points, weighing them by what they say of the rest, fitting them to all."""

import time
from typing import NamedTuple

import numpy as np

from ._vote import Vote, learn_vote


class Ensemble(NamedTuple):
    members: list  # (name, fitted classifier)
    vote: Vote
    n_samples: int  # points that the members have seen
    n_judged: int  # points by which the vote was learned
    dropped: list  # names of members for which the time did not suffice


def fit_ensemble(X, codes, n_classes, members, parts, n_splits, clock, dtype, options, step_done):
    """Fit all members to the points outside of part 0, 1, ... `n_splits` - 1, then to all.

    Where the time does not suffice, later splits, the fit to all points, and in the first split members are left out.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    codes : ndarray of shape (n,)
    members : list of Member
    parts : ndarray of shape (n,)
        Part of each point.
    clock : Clock
    dtype, options
        See `Member`.
    step_done : callable

    Returns
    -------
    Ensemble
    """
    posteriors = {member.name: np.zeros((len(X), n_classes)) for member in members}
    judged = np.zeros(len(X), dtype=bool)
    seconds, fitted = {}, {}

    def fit(member, rows):
        step_done(member.name)
        start = time.monotonic()
        model = member.make(dtype, options).fit(X[rows], codes[rows])
        seconds[member.name] = time.monotonic() - start
        return model

    kept = list(members)
    for split in range(n_splits):
        inside = parts != split
        if len(np.unique(codes[inside])) < 2 or inside.all():
            continue
        if split and not clock.affords(1.1 * sum(seconds.values())):
            break
        for member in list(kept):
            slowest = max(seconds.values(), default=0.0)
            if not split and fitted and not clock.affords(slowest):
                kept.remove(member)
                continue
            fitted[member.name] = fit(member, inside)
            posteriors[member.name][~inside] = posterior(fitted[member.name], X[~inside], n_classes)
        judged |= ~inside
    vote = _learned(kept, posteriors, judged, codes)
    growth = (len(X) / max(np.sum(parts != 0), 1)) ** 2.5
    n_seen = len(X)
    if not fitted or clock.affords(growth * sum(seconds.values())):
        fitted = {member.name: fit(member, slice(None)) for member in kept}
    else:
        n_seen = int(np.sum(parts != 0))
    models = [(member.name, fitted[member.name]) for member in kept]
    return Ensemble(models, vote, n_seen, int(judged.sum()), [m.name for m in members if m not in kept])


def posterior(model, X, n_classes):
    """Probabilities (n, n_classes) by a model that was fitted to codes; 0 for classes that it has not seen."""
    out = np.zeros((len(X), n_classes))
    out[:, model.classes_] = model.predict_proba(X)
    return out


def _learned(kept, posteriors, judged, codes):
    """The vote; equal weights where no point could be judged."""
    if not judged.any():
        m = len(kept)
        return Vote(np.full(m, 1 / m), np.ones(m), 1.0, np.full(m, np.nan), np.nan)
    return learn_vote([posteriors[member.name][judged] for member in kept], codes[judged])
