"""The scale in which targets are summed: differences from a central value, divided by a power of two."""

from typing import NamedTuple

import numpy as np


class TargetUnits(NamedTuple):
    """Maps targets to [-1, 1], so that float32 sums stay accurate in any units.

    The origin is a median, which outliers do not move. For sums with a tolerance it is the smallest target, so that no
    term is negative. Each output has separate units. Multiplying the targets by a power of two, or shifting them
    without rounding, changes no bit of the scaled targets.
    """

    exponent: np.ndarray  # (k,) |Y| 2^-exponent is below 1/2, so that differences do not overflow
    origin: np.ndarray  # (k,)
    extent: np.ndarray  # (k,) exponent of the largest difference from the origin

    @classmethod
    def of(cls, Y, tolerance=None):
        """The `TargetUnits` of targets (n, k)."""
        exponent = np.frexp(np.abs(Y).max(axis=0))[1] + 1
        scaled = np.ldexp(Y, -exponent)
        middle = (len(Y) - 1) // 2
        origin = np.partition(scaled, middle, axis=0)[middle] if tolerance is None else scaled.min(axis=0)
        return cls(exponent, origin, np.frexp(np.abs(scaled - origin).max(axis=0))[1])

    def to(self, Y):
        """Scaled targets; Y may be a Dask array."""
        return np.ldexp(np.ldexp(Y, -self.exponent) - self.origin, -self.extent)

    def back(self, Z):
        """Scaled numbers (m, k) as targets; Z may be a Dask array."""
        return np.ldexp(np.ldexp(Z, self.extent) + self.origin, self.exponent)
