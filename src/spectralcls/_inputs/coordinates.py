"""Coordinates of the numbers of a table, for a Gaussian kernel.

An unordered category multiplies the kernel by 1 for equal levels and by lambda otherwise. With one indicator of scale s
per level, different levels are ``sqrt(2) s`` apart, so ``lambda = exp(-s^2 / h^2)``. Ordered levels become ranks.
"""

from dataclasses import dataclass

import numpy as np

from .._tuning.spread import centers_and_spreads, moments
from .._utils.conversion import brought_into_range
from .types import MOST_LEVELS

# If most values of a column are equal, its scale is so large that the root mean square distance of the other values
# from them is at most this many scales.
RARE = 3.0
FEWEST_GAPS = 10  # a column with fewer missing or fewer known values gets no gap indicator
UNIT = 1e-6  # a spread that differs from 1 by less than this counts as 1


@dataclass(eq=False)
class Scaled:
    """A number: ``(x - center) / scale``."""

    name: object
    center: float = 0.0
    scale: float = 1.0
    observed: bool = True
    spread: float = 1.0  # spread of the coordinate
    is_category = ordered = False
    factor = None  # numbers have no factor

    @property
    def width(self):
        return int(self.observed)

    @classmethod
    def of_columns(cls, names, columns, scale, weights=None):
        """One object for each name and column of values (n,), NaN if missing; `scale` says whether to scale the
        values.
        """
        observed = [not np.isnan(values).all() for values in columns]
        if scale:
            centers, scales = centers_and_scales(columns, weights)
            found = zip(names, centers.tolist(), scales.tolist(), observed, strict=True)
            return [cls(*of_column) if of_column[-1] else cls(of_column[0], observed=False) for of_column in found]
        spreads = centers_and_spreads(columns, weights)[1].tolist()
        found = zip(names, observed, spreads, strict=True)
        return [cls(name, observed=some, spread=spread if some else 1.0) for name, some, spread in found]


@dataclass(eq=False)
class Indicators:
    """The position of a level, as indicators of scale `scale`, or as a rank times `scale`."""

    name: object
    n_positions: int
    ordered: bool
    scale: float  # gives two random rows the mean squared distance 2
    factor: float = 1.0  # tuned; 0 leaves the column out
    places: np.ndarray | None = None  # indicator of each level if the rarest levels share one
    is_category = True

    @property
    def width(self):
        if self.n_positions < 2 or self.factor == 0:
            return 0
        return 1 if self.ordered or self.n_positions == 2 else self.n_positions

    @classmethod
    def learned(cls, own, positions, weights=None):
        """Learn from the type of a column and the level positions of its rows."""
        known = ~np.isnan(positions)
        which = positions[known].astype(np.intp)
        weights, n, places = np.ones(len(which)) if weights is None else weights[known], own.n_levels, None
        if n > MOST_LEVELS and not own.ordered:
            n, places = MOST_LEVELS, np.full(n, MOST_LEVELS - 1)
            places[np.argsort(-np.bincount(which, weights, own.n_levels), kind="stable")[: n - 1]] = np.arange(n - 1)
            which = places[which]
        return cls(own.name, n, own.ordered, _level_scale(which, n, own.ordered, weights), places=places)

    def encode(self, position):
        """Coordinates before multiplication by `factor`; NaN for a missing position."""
        if self.places is not None:
            position = np.append(self.places, np.nan)[np.where(np.isnan(position), -1, position).astype(np.intp)]
        if self.width == 1:
            spread = 1.0 if self.ordered else np.sqrt(2.0)
            return (position * spread * self.scale)[:, None]
        out = (position[:, None] == np.arange(self.width)) * self.scale
        out[np.isnan(position)] = np.nan
        return out


@dataclass(eq=False)
class Gap:
    """A standardized indicator that a number is missing; the indicator itself is never missing."""

    position: int  # position of the number's column in the matrix
    scale: float
    factor: float = 1.0
    is_category = False

    @classmethod
    def learned(cls, position, missing, weights=None):
        """Learn from the mask of missing values; None if too few values are missing, or too few known."""
        if not FEWEST_GAPS <= np.count_nonzero(missing) <= len(missing) - FEWEST_GAPS:
            return None
        share = np.average(missing, weights=weights)
        return cls(position, float(min(1 / np.sqrt(share * (1 - share)), RARE)))

    @property
    def width(self):
        return int(self.factor != 0)


def scaled(X, center, scale):
    """``(X - center) / scale`` in the precision of X; X itself if nothing changes."""
    center, scale = np.asarray(center, X.dtype), np.asarray(scale, X.dtype)
    if not center.any() and (scale == 1).all():
        return X
    with np.errstate(over="ignore", invalid="ignore"):
        return brought_into_range((X - center) / scale)


def centers_and_scales(columns, weights=None):
    """Center and scale of each column: (0, 1) if the spread is 1, and scale 1 for a constant."""
    centers, spreads = centers_and_spreads(columns, weights, farthest=RARE)
    plain = np.abs(spreads - 1) < UNIT
    return np.where(plain, 0.0, centers), np.where(plain | (spreads == 0), 1.0, spreads)


def _level_scale(which, n_positions, ordered, weights):
    """Scale at which the mean squared distance between two random rows is 2, as between standardized numbers."""
    if n_positions < 2 or not len(which):
        return 1.0
    if ordered:
        return float(1 / (moments(which, weights)[1] or 1.0))
    shares = np.bincount(which, weights, minlength=n_positions) / weights.sum()
    return float(1 / np.sqrt(max(1 - shares @ shares, 1e-12))) if shares.max() < 1 else 1.0
