"""Distinct samples with the total weight of their copies, and what repeated values tell about the density.

Rounded values repeat because they lie on a lattice. Other values repeat because samples were copied or because the
distribution has an atom. Only in the first case are pairs of equal samples evidence about a density.
"""

from typing import NamedTuple

import numpy as np

from .._inputs.training_data import TrainingData
from .._utils.copies import equal_rows, hashes
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
        first, group = equal_rows(data.X)
        n = len(group)
        if data.groups is not None:
            each = group * (data.groups.max() + 1) + data.groups
            _, first, group = np.unique(each, return_index=True, return_inverse=True)
        if len(first) == n:
            return cls(data, np.arange(n), np.arange(n), np.ones(n))
        own = np.ones(n) if data.weights is None else data.weights
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
    X = X.astype(np.float64)
    lattice = np.flatnonzero(steps)
    keys = np.zeros(len(X), dtype=np.uint64)
    moved = []  # change of the key by one step up, and mask of the places with a neighbor there
    for column in lattice:
        values, place = np.unique(X[:, column], return_inverse=True)
        of_value = hashes(values[:, None], seed=column)
        is_next = np.abs(np.diff(values) / steps[column] - 1) < NEXT
        keys += of_value[place]
        moved.append((np.append(np.diff(of_value), np.uint64(0))[place], np.append(is_next, False)[place]))
    others = np.setdiff1d(np.arange(X.shape[1]), lattice)
    if len(others):
        keys += hashes(np.ascontiguousarray(X[:, others]), seed=X.shape[1])
    order = np.argsort(keys)
    ordered = keys[order]
    some = np.argsort(keys)[:: max(1, len(X) // MOST_PLACES)]
    equal = weights[some] @ (weights * (1 - places.share))[some]
    most = 0.0
    for change, is_next in moved:
        asked = some[is_next[some]]
        found = np.minimum(np.searchsorted(ordered, keys[asked] + change[asked]), len(keys) - 1)
        is_there = ordered[found] == keys[asked] + change[asked]
        most = max(most, weights[asked[is_there]] @ weights[order[found[is_there]]])
    return float(min(1.0, ENOUGH * most / equal)) if equal > 0 else 0.0


def without_atoms(places, ties):
    """Places without the excess weight of copies, because a single place with such a weight would decide the
    bandwidth."""
    weights = places.data.weights
    if len(places.first) == len(places.group):
        return places
    least = np.maximum(ATOM * weighted_quantile(weights, 0.5), ties * weights)
    kept = np.minimum(weights, least)
    return places._replace(
        data=places.data._replace(weights=kept), share=np.minimum(places.share * weights / kept, 1.0)
    )
