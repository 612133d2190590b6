"""Distinct samples with the total weight of their copies, and what repeated values tell about the density.

Rounded values repeat because they lie on a lattice. Other values repeat because samples were copied or because the
distribution has an atom. Only in the first case are pairs of equal samples evidence about a density.
"""

from typing import NamedTuple

import numpy as np

from .._inputs.training_data import TrainingData
from .._utils.copies import equal_rows, matching_rows, random_keys
from .._utils.quantile import weighted_quantile

MOST_PLACES = 1000  # places sampled to count lattice neighbors; 250, or all, change the share of ties by at most .1
NEXT = 0.01  # lattice neighbors differ by the step, within this relative error
# equal pairs count fully if there are at most this many per pair of neighbors; rounded normal samples have 1.3
ENOUGH = 2.0
ATOM = 10.0  # limit on the weight of a place, in multiples of the median weight; further equal samples do not count


class Places(NamedTuple):
    """Distinct samples of each group.

    Attributes
    ----------
    data : TrainingData
        The distinct rows, with the total weights of their copies.
    group : (n,) place of each sample
    first : (p,) the first sample of each place, ascending
    share : (p,) mean fraction of a place's weight that belongs to one sample
    """

    data: TrainingData
    group: np.ndarray
    first: np.ndarray
    share: np.ndarray

    @classmethod
    def of(cls, data):
        first, group = equal_rows(data.X, data.groups)
        own = np.ones(len(group)) if data.weights is None else data.weights
        weights = np.bincount(group, own)
        share = np.bincount(group, (own / weights[group]) ** 2)
        return cls(data.take(first)._replace(weights=weights), group, first, share)


def steps_of(X, weights):
    """Lattice step of each column, (d,): the median distance of its samples to the nearest other value; 0 if no value
    of the column repeats."""
    out = np.zeros(X.shape[1])
    for column, values in enumerate(X.T):
        some, place = np.unique(values, return_inverse=True)
        if 1 < len(some) < len(values):
            gaps = np.diff(some.astype(np.float64))
            nearest = np.minimum(np.append(gaps, np.inf), np.insert(gaps, 0, np.inf))
            out[column] = weighted_quantile(nearest, 0.5, np.bincount(place, weights))
    return out


def share_of_ties(places, steps):
    """Weight of a pair of equal samples as evidence, from 0 to 1.

    On a lattice, the density determines the number of equal pairs: it is about the number of pairs one step apart along
    a column. Copies and atoms add further pairs, which are not evidence.
    """
    X, weights = places.data.X, places.data.weights
    if len(X) == len(places.group) or not steps.any():
        return 0.0
    some = np.argsort(random_keys(X))[:MOST_PLACES]
    equal, neighbors = weights[some] @ (weights * (1 - places.share))[some], 0.0
    for column in np.flatnonzero(steps):
        values, place = np.unique(X[:, column], return_inverse=True)
        gaps = np.diff(values.astype(np.float64), append=np.inf)
        asked = some[np.abs(gaps[place[some]] / steps[column] - 1) < NEXT]
        moved = X[asked]
        moved[:, column] = values[place[asked] + 1]
        found = matching_rows(moved, X)
        neighbors = max(neighbors, weights[asked] @ np.where(found < 0, 0.0, weights[found]))
    return float(min(1.0, ENOUGH * neighbors / equal)) if equal > 0 else 0.0


def without_atoms(places, ties):
    """Places without the excess weight of copies, because a single place with such a weight would decide the
    bandwidth."""
    weights = places.data.weights
    if len(places.first) == len(places.group):
        return places
    kept = np.minimum(weights, np.maximum(ATOM * weighted_quantile(weights, 0.5), ties * weights))
    data = places.data._replace(weights=kept)
    return places._replace(data=data, share=np.minimum(places.share * weights / kept, 1.0))
