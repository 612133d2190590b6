"""Choose the number of points and the members that fit into a time budget."""

import time

import numpy as np

from .._expansion.tree_cells import MANY

SMALLEST, _SMALLEST_OF_CLASS = 200, 4  # points of the first, timed ensemble: in total, and per class on average
_GROWTH, _LEAST_GROWTH = 4, 1.5  # largest and smallest growth of the size from one timed ensemble to the next
_SHARE = 0.9  # fraction of the remaining time that is used
_FIRST = 1.5  # first exponent of the time in n: at first, most of the time does not depend on n
_STEEPEST = 3.0


class Clock:
    """Compares the time since its creation with a budget of seconds (None: unlimited)."""

    def __init__(self, budget):
        self.budget, self._start = budget, time.monotonic()

    @property
    def elapsed(self):
        return time.monotonic() - self._start

    def affords(self, seconds):
        """Whether this many seconds remain."""
        return self.budget is None or seconds <= self.budget - self.elapsed


def cost(members, seconds):
    """Seconds to fit members and their views; every view counts once."""
    names = {name for member in members for own in (member, member.grown) if own for name in (own.name, own.view)}
    return sum(seconds.get(name, 0.0) for name in names)


def dearest(members, seconds):
    """The member whose removal saves the most time."""
    return min(members, key=lambda member: cost([other for other in members if other is not member], seconds))


def next_ensemble(n, members, timed, clock, *, n_classes=2, n_fits=lambda size: 1):
    """Number of points and members of the next ensemble; None if no larger one fits.

    Without a budget all points are used at once. With one, sizes grow: the times of the last two sizes are extrapolated
    for each member and view. Members are left out rather than points, the most expensive ones first, until the others
    can learn from all points in the remaining time. If no member can, the next size has four times as many points, or
    as many as fit. If hardly more fit, the most expensive member is left out, and this is repeated.

    Parameters
    ----------
    n : int
    members : list of Member
    timed : list of (int, dict of str to float)
        Size of each ensemble so far and the seconds of one fit of its members and views.
    clock : Clock
    n_classes : int
    n_fits : callable
        Maps the size of an ensemble to the number of fits of its members.
    """
    if not timed:
        smallest = max(SMALLEST, _SMALLEST_OF_CLASS * n_classes)
        return (n if clock.budget is None else min(n, smallest)), members
    size, seconds = timed[-1]
    if size == n:
        return None
    sizes = np.unique(np.geomspace(size, n, 100).astype(int))[1:]
    fits = np.array([n_fits(size) for size in sizes.tolist()])
    predicted = {name: fits * t * _growth(size, sizes, _exponent(name, timed)) for name, t in seconds.items()}
    at_most = {name: t[-1] for name, t in predicted.items()}
    left = _SHARE * (clock.budget - clock.elapsed)
    kept = [member for member in members if member.name in seconds]
    cheap = list(kept)
    while cheap and cost(cheap, at_most) > left:
        cheap.remove(dearest(cheap, at_most))
    if cheap and n >= _GROWTH**2 * size:  # far from n: if this is cheap, time all members on more points first
        costs = cost(kept, {name: np.interp(_GROWTH * size, sizes, t) for name, t in predicted.items()})
        if costs <= left / _GROWTH:
            return _GROWTH * size, kept
    if cheap:
        return n, cheap
    while kept:
        largest = sizes[cost(kept, predicted) <= left].max(initial=0)
        if largest >= _GROWTH**2 * size:
            return _GROWTH * size, kept
        if largest >= _LEAST_GROWTH * size:
            return int(largest), kept
        kept.remove(dearest(kept, at_most))
    return None


def _growth(size, sizes, exponent):
    """Ratio of the time for `sizes` points to that for `size`: a power of n up to `MANY` points, and linear beyond,
    where cells are used.
    """
    few, many = np.minimum(sizes, MANY) / min(size, MANY), np.maximum(sizes, MANY) / max(size, MANY)
    return few**exponent * many


def _exponent(name, timed):
    """Exponent of the time in n from the last two sizes, increased for safety."""
    if len(timed) < 2 or name not in timed[-2][1]:
        return _FIRST
    (n_0, seconds_0), (n_1, seconds_1) = timed[-2:]
    return float(np.clip(np.log(seconds_1[name] / seconds_0[name]) / np.log(n_1 / n_0) + 0.5, 1.0, _STEEPEST))
