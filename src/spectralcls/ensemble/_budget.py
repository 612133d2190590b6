"""How many points fit into a time budget."""

import time

import numpy as np

SMALLEST, _SMALLEST_OF_CLASS = 200, 4  # points of the first, timed ensemble, in all and of a class on average
_GROWTH, _LEAST_GROWTH = 4, 1.5  # of the size from one timed ensemble to the next, if it fits and at least
_SHARE = 0.9  # of the time left that is planned for
_FIRST = 1.5  # exponent of the time in n that is assumed at first, when most of it does not depend on n
_STEEPEST = 3.0


class Clock:
    """Time since its making, against a budget of seconds (None: without end)."""

    def __init__(self, budget):
        self.budget, self._start = budget, time.monotonic()

    @property
    def elapsed(self):
        return time.monotonic() - self._start

    def affords(self, seconds):
        """Whether so many more seconds fit."""
        return self.budget is None or seconds <= self.budget - self.elapsed


def affordable_sizes(n, clock, n_classes=2):
    """Numbers of points to learn from, one after the other, the last being as many as time allows.

    Without a budget all points at once. With one, from few points upwards: what the last two sizes took, extrapolated
    by a power of n, says whether all points fit in what is left; if not, four times as many, or as many as fit.
    """
    size, times = max(SMALLEST, _SMALLEST_OF_CLASS * n_classes), []
    if clock.budget is None or n <= size:
        yield n
        return
    while True:
        start = clock.elapsed
        yield size
        times.append((size, clock.elapsed - start))
        if size == n:
            return
        left = _SHARE * (clock.budget - clock.elapsed)
        exponent = _exponent(times)
        largest = int(min(size * (max(left, 0.0) / times[-1][1]) ** (1 / exponent), n))
        if largest >= n:
            size = n
        elif largest >= _GROWTH**2 * size:
            size = _GROWTH * size
        elif largest >= _LEAST_GROWTH * size:
            size = largest
        else:
            return


def _exponent(times):
    """Of the time in n, between the last two sizes and somewhat more."""
    if len(times) < 2:
        return _FIRST
    (n_0, t_0), (n_1, t_1) = times[-2:]
    return float(np.clip(np.log(t_1 / t_0) / np.log(n_1 / n_0) + 0.5, 1.0, _STEEPEST))
