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
MOST_GROUPS = 50  # more categories share factors with those that say as much about the classes


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
        factors = np.ones(len(loss.columns))
        best = loss(factors)
        groups = _order_by_importance(loss.groups(), factors, loss)
        for _ in range(ROUNDS):
            before = best
            for group in groups:
                best = _improve(group, factors, loss, best)
            if best == before:
                break
        for i in np.concatenate(groups) if groups else ():
            loss.columns[i].factor = float(factors[i])
        if not table.features.size:
            for category in categories:
                category.factor = 1.0
    return _factors(table, categories)


def _order_by_importance(groups, factors, loss):
    """The least important first: those without which the loss is least."""
    without = [loss(_with(factors, group, 0.0)) for group in groups]
    return [groups[i] for i in np.argsort(np.round(without, 12), kind="stable")]


def _improve(group, factors, loss, best):
    """Take the factor of least loss, the smaller one unless the gain is worth it; changes `factors`."""
    tried = {float(factors[group[0]]): best}
    for factor in FACTORS:
        if factor not in tried:
            tried[factor] = loss(_with(factors, group, factor))
    least = min(tried.values())
    factors[group] = chosen = min(factor for factor, value in tried.items() if value <= least + GAIN)
    return tried[chosen]


def _with(factors, group, factor):
    factors = factors.copy()
    factors[group] = factor
    return factors


class _Loss:
    """Log loss of points left out, for a factor of each column that has coordinates."""

    def __init__(self, table, data, bandwidth, random_state, n_jobs):
        options = {"random_state": random_state, "n_jobs": n_jobs}
        self.losses = HeldOutLoss(data, bandwidth, most_points=MOST_POINTS, most_validated=MOST_VALIDATED, **options)
        self.bandwidths = self.losses.bandwidths(self.losses.X)
        self.columns = [column for column in table.columns if column.width]
        self.widths = np.array([column.width for column in self.columns])

    def groups(self):
        """Places of categories that share a factor; of more than `MOST_GROUPS` by their variance between classes."""
        own = np.array([i for i, column in enumerate(self.columns) if hasattr(column, "factor")], dtype=np.intp)
        if len(own) <= MOST_GROUPS:
            return list(own[:, None])
        X, codes, weights = self.losses.X, self.losses.codes, self.losses.weights
        members = (codes == np.unique(codes)[:, None]) * (1.0 if weights is None else weights)  # (C, n)
        shares = members.sum(axis=1) / members.sum()
        means = members @ X / members.sum(axis=1, keepdims=True)
        between = shares @ (means - shares @ means) ** 2
        said = np.add.reduceat(between, np.cumsum(self.widths) - self.widths)[own]
        return np.array_split(own[np.argsort(np.round(said, 12), kind="stable")], MOST_GROUPS)

    def __call__(self, factors):
        X = self.losses.X
        factors = np.repeat(factors.astype(X.dtype), self.widths)
        X = X[:, factors != 0] * factors[factors != 0] if factors.any() else np.zeros((len(X), 1))
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
