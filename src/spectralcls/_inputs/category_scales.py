"""The scale of each category, chosen with the bandwidth by the leave-one-out log loss of the Parzen posterior.

An uninformative category gets the scale 0: its levels are then equal [1]_. Numbers keep their scales. Other values
of the column stand in the place of missing ones.

References
----------
.. [1] P. Hall, J. Racine, Q. Li, "Cross-validation and the estimation of conditional probability densities", Journal of
   the American Statistical Association 99 (468), 2004, pp. 1015-1026.
"""

import numpy as np

from .held_out import HeldOutLoss

FACTORS = (0.0, 0.5, 1.0, 2.0, 4.0)  # of the scale at which a category varies as a standardized number does
ROUNDS = 2
MOST_POINTS, MOST_VALIDATED = 2000, 500
GAIN = 1e-3  # of the loss, for which a category counts more


def choose_category_scales(table, data, bandwidth, *, random_state=0, n_jobs=None):
    """Set the factors of a table's categories; those of the coordinates of the training data, (d,), for `rescale`.

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
        loss = _Loss(table, data, bandwidth, random_state, n_jobs)
        best = loss()
        in_turn = _order_by_importance(categories, loss)
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


def _order_by_importance(categories, loss):
    """The least important first: those without which the loss is least."""
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
    """Log loss of points left out, for the factors that the table has at the time."""

    def __init__(self, table, data, bandwidth, random_state, n_jobs):
        options = {"random_state": random_state, "n_jobs": n_jobs}
        self.losses = HeldOutLoss(data, bandwidth, most_points=MOST_POINTS, most_validated=MOST_VALIDATED, **options)
        self.bandwidths = self.losses.bandwidths(self.losses.X)
        ends = np.cumsum([0, *(column.width for column in table.columns)])
        self.layout = [(c, slice(a, b)) for c, a, b in zip(table.columns, ends[:-1], ends[1:], strict=True) if c.width]

    def __call__(self):
        X, parts = self.losses.X, []
        for column, span in self.layout:
            factor = getattr(column, "factor", 1.0)
            if factor:
                parts.append(X[:, span] * X.dtype.type(factor))
        X = np.concatenate(parts or [np.zeros((len(X), 1))], axis=1)
        return float(self.losses.mean(self.losses(X, self.bandwidths)))


def _factors(table, categories):
    """The factor of each coordinate that there is if all factors are 1, (d,)."""
    chosen = {id(category): category.factor for category in categories}
    for category in categories:
        category.factor = 1.0
    factors = [np.full(column.width, chosen.get(id(column), 1.0)) for column in table.columns]
    for category in categories:
        category.factor = chosen[id(category)]
    return np.concatenate(factors)


def rescale(X, factors):
    """Coordinates times their factors, without those of factor 0."""
    return np.ascontiguousarray((X * factors.astype(X.dtype))[:, factors != 0])
