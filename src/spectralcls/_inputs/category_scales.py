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
        best = loss()
        groups = _order_by_importance(loss.groups(), loss)
        for _ in range(ROUNDS):
            before = best
            for group in groups:
                best = _improve(group, loss, best)
            if best == before:
                break
        if not table.features.size:
            for category in categories:
                category.factor = 1.0
    return _factors(table, categories)


def _order_by_importance(groups, loss):
    """The least important first: those without which the loss is least."""
    without = []
    for group in groups:
        _set_factor(group, 0.0)
        without.append(loss())
        _set_factor(group, 1.0)
    return [groups[i] for i in np.argsort(np.round(without, 12), kind="stable")]


def _improve(group, loss, best):
    """Take the factor of least loss, the smaller one unless the gain is worth it."""
    tried = {group[0].factor: best}
    for factor in FACTORS:
        if factor not in tried:
            _set_factor(group, factor)
            tried[factor] = loss()
    least = min(tried.values())
    chosen = min(factor for factor, value in tried.items() if value <= least + GAIN)
    _set_factor(group, chosen)
    return tried[chosen]


def _set_factor(group, factor):
    for category in group:
        category.factor = factor


class _Loss:
    """Log loss of points left out, for the factors that the table has at the time."""

    def __init__(self, table, data, bandwidth, random_state, n_jobs):
        options = {"random_state": random_state, "n_jobs": n_jobs}
        self.losses = HeldOutLoss(data, bandwidth, most_points=MOST_POINTS, most_validated=MOST_VALIDATED, **options)
        self.bandwidths = self.losses.bandwidths(self.losses.X)
        ends = np.cumsum([0, *(column.width for column in table.columns)])
        self.layout = [(c, slice(a, b)) for c, a, b in zip(table.columns, ends[:-1], ends[1:], strict=True) if c.width]

    def groups(self):
        """Lists of categories that share a factor; with more than `MOST_GROUPS` by their variance between classes."""
        spans = [(column, span) for column, span in self.layout if hasattr(column, "factor")]
        if len(spans) <= MOST_GROUPS:
            return [[category] for category, _ in spans]
        X, codes, weights = self.losses.X, self.losses.codes, self.losses.weights
        members = (codes == np.unique(codes)[:, None]) * (1.0 if weights is None else weights)  # (C, n)
        shares = members.sum(axis=1) / members.sum()
        means = members @ X / members.sum(axis=1, keepdims=True)
        between = shares @ (means - shares @ means) ** 2
        said = [between[span].sum() for _, span in spans]
        order = np.argsort(np.round(said, 12), kind="stable")
        return [[spans[i][0] for i in part] for part in np.array_split(order, MOST_GROUPS)]

    def __call__(self):
        X = self.losses.X
        factors = np.array([getattr(column, "factor", 1.0) for column, _ in self.layout], dtype=X.dtype)
        factors = np.repeat(factors, [span.stop - span.start for _, span in self.layout])
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
