"""How much each category counts, chosen with the bandwidth by the leave-one-out log loss of the Parzen posterior.

A category that says nothing about the classes gets the scale 0: all its levels are then equal, and it smooths itself
away [1]_. Numbers keep their scales. In the place of missing values stand others of the column.

References
----------
.. [1] P. Hall, J. Racine, Q. Li, "Cross-validation and the estimation of conditional probability densities", Journal of
   the American Statistical Association 99 (468), 2004, pp. 1015-1026.
"""

import numpy as np
from sklearn.utils import check_random_state

from .._tuning import candidate_bandwidths, filled, stratified_subsample
from ..kernels import kernel_sums

FACTORS = (0.0, 0.5, 1.0, 2.0, 4.0)  # of the scale at which a category varies as a standardized number does
ROUNDS = 2
MOST_POINTS, MOST_VALIDATED = 2000, 500
FLOOR = 1e-3  # probability below which the loss of a point grows no further
GAIN = 1e-3  # of the loss, for which a category counts more
STEP = 2  # of the grid of bandwidths every second one


def choose_smoothing(table, data, bandwidth, *, random_state=0, n_jobs=None):
    """Set the factors of a table's categories; those of the coordinates of the training data, (d,), for `rescaled`.

    Parameters
    ----------
    table : Table
        With all factors 1; changed.
    data : TrainingData
        Encoded by it.
    bandwidth : float, array of floats or None
        The only one to try; None: the default grid.
    """
    categories = table.categories
    if categories and len(data.classes) > 1:
        loss = _Loss(table, data, bandwidth, check_random_state(random_state), n_jobs)
        best = loss()
        in_turn = _by_what_they_say(categories, loss)  # not by their place in the table
        for _ in range(ROUNDS):
            before = best
            for category in in_turn:
                best = _improve(category, loss, best)
            if best == before:
                break
        if not table.features.size:
            for category in categories:
                category.factor = 1.0
    return _factors(table, categories)


def _by_what_they_say(categories, loss):
    """Those first without which the loss is least: they add least to the others."""
    without = []
    for category in categories:
        category.factor = 0.0
        without.append(loss())
        category.factor = 1.0
    return [categories[i] for i in np.argsort(np.round(without, 12), kind="stable")]


def _improve(category, loss, best):
    """Take the factor of least loss, the smaller one unless the gain is worth it."""
    tried = {category.factor: best}
    for factor in FACTORS:
        if factor not in tried:
            category.factor = factor
            tried[factor] = loss()
    least = min(tried.values())
    category.factor = min(factor for factor, value in tried.items() if value <= least + GAIN)
    return tried[category.factor]


class _Loss:
    """Log loss of points left out, at the best bandwidth, for the factors that the table has at the time."""

    def __init__(self, table, data, bandwidth, rng, n_jobs):
        rows = np.arange(len(data.X))
        if len(rows) > MOST_POINTS:
            rows = stratified_subsample(data.codes, MOST_POINTS, rng)
        self.X, self.codes = filled(data.X)[rows], data.codes[rows]
        self.weights = None if data.weights is None else data.weights[rows]
        self.validated = np.arange(len(rows))
        if len(rows) > MOST_VALIDATED:
            self.validated = stratified_subsample(self.codes, MOST_VALIDATED, rng)
        self.table, self.n_classes, self.n_jobs = table, len(data.classes), n_jobs
        self.layout = [(column, table.places(column)) for column in table.columns if column.width]
        sample = data._replace(X=self.X, codes=self.codes, weights=self.weights)
        self.bandwidths = candidate_bandwidths(None, sample)[::STEP] if bandwidth is None else np.array([bandwidth])

    def __call__(self):
        parts = []
        for column, places in self.layout:
            factor = getattr(column, "factor", 1.0)
            if factor:
                parts.append(self.X[:, places] * self.X.dtype.type(factor))
        X = np.concatenate(parts or [np.zeros((len(self.X), 1))], axis=1)
        sums = kernel_sums(
            X[self.validated], X, weights=self.weights, labels=self.codes, n_labels=self.n_classes, log=True,
            bandwidth=self.bandwidths, exclude_self=self.validated, n_jobs=self.n_jobs,
        ).astype(np.float64)
        own = np.take_along_axis(sums, self.codes[self.validated, None, None], axis=2)[..., 0]
        with np.errstate(invalid="ignore"):
            log_p = np.nan_to_num(own - np.logaddexp.reduce(sums, axis=2), nan=-np.inf)
        losses = -np.maximum(log_p, np.log(FLOOR))
        weights = None if self.weights is None else self.weights[self.validated]
        return float(np.average(losses, axis=0, weights=weights).min())


def _factors(table, categories):
    """The factor of each coordinate that there is if all factors are 1, (d,)."""
    chosen = {id(category): category.factor for category in categories}
    for category in categories:
        category.factor = 1.0
    factors = [np.full(column.width, chosen.get(id(column), 1.0)) for column in table.columns]
    for category in categories:
        category.factor = chosen[id(category)]
    return np.concatenate(factors)


def rescaled(X, factors):
    """Coordinates times their factors, without those of factor 0."""
    return np.ascontiguousarray((X * factors.astype(X.dtype))[:, factors != 0])
