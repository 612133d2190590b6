"""The scale of each category, chosen with the bandwidth by the leave-one-out log loss of the Parzen posterior.

An uninformative category gets the scale 0: its levels are then equal [1]_. Numbers keep their scales. Other values
of the column stand in the place of missing ones.

References
----------
.. [1] P. Hall, J. Racine, Q. Li, "Cross-validation and the estimation of conditional probability densities", Journal of
   the American Statistical Association 99 (468), 2004, pp. 1015-1026.
"""

import numpy as np

from .._tuning import candidate_bandwidths, drawn_seed, random_keys, stratified_subsample
from ..kernels import kernel_sums

FACTORS = (0.0, 0.5, 1.0, 2.0, 4.0)  # of the scale at which a category varies as a standardized number does
ROUNDS = 2
MOST_POINTS, MOST_VALIDATED = 2000, 500
FLOOR = 1e-3  # probability below which the loss of a point grows no further
GAIN = 1e-3  # of the loss, for which a category counts more
STEP = 2  # of the grid of bandwidths every second one


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
        loss = _Loss(table, data, bandwidth, drawn_seed(random_state), n_jobs)
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
    """Log loss of points left out, at the best bandwidth, for the factors that the table has at the time."""

    def __init__(self, table, data, bandwidth, seed, n_jobs):
        keys, rows = random_keys(data.X, seed), np.arange(len(data.X))
        if len(rows) > MOST_POINTS:
            rows = stratified_subsample(data.codes, MOST_POINTS, keys)
        self.X, self.codes = filled(data.X)[rows], data.codes[rows]
        self.weights = None if data.weights is None else data.weights[rows]
        self.validated = np.arange(len(rows))
        if len(rows) > MOST_VALIDATED:
            self.validated = stratified_subsample(self.codes, MOST_VALIDATED, keys[rows])
        self.table, self.n_classes, self.n_jobs = table, data.n_classes, n_jobs
        ends = np.cumsum([0, *(column.width for column in table.columns)])
        self.layout = [(c, slice(a, b)) for c, a, b in zip(table.columns, ends[:-1], ends[1:], strict=True) if c.width]
        sample = data._replace(X=self.X, codes=self.codes, weights=self.weights)
        self.bandwidths = candidate_bandwidths(None, sample)[::STEP] if bandwidth is None else np.array([bandwidth])

    def __call__(self):
        parts = []
        for column, span in self.layout:
            factor = getattr(column, "factor", 1.0)
            if factor:
                parts.append(self.X[:, span] * self.X.dtype.type(factor))
        X = np.concatenate(parts or [np.zeros((len(self.X), 1))], axis=1)
        sums = kernel_sums(
            X[self.validated],
            X,
            weights=self.weights,
            labels=self.codes,
            n_labels=self.n_classes,
            log=True,
            bandwidth=self.bandwidths,
            exclude_self=self.validated,
            n_jobs=self.n_jobs,
        ).astype(np.float64)
        own = np.take_along_axis(sums, self.codes[self.validated, None, None], axis=2)[..., 0]
        with np.errstate(invalid="ignore"):
            log_p = np.nan_to_num(own - np.logaddexp.reduce(sums, axis=2), nan=-np.inf)
        losses = -np.maximum(log_p, np.log(FLOOR))
        weights = None if self.weights is None else self.weights[self.validated]
        return float(np.average(losses, axis=0, weights=weights).min())


def filled(X):
    """X with the observed values of each column, one after the other, in the place of missing ones.

    Both in an order that is random, but follows from what the rows have: the order of rows and columns does not matter.
    Columns that are missing together come from one row.
    """
    missing = np.isnan(X)
    if not missing.any():
        return X
    X, order = np.array(X), np.argsort(random_keys(X), kind="stable")
    for column, gap in zip(X.T, missing.T, strict=True):
        lacking = gap[order]
        known = column[order[~lacking]]
        column[order[lacking]] = np.resize(known, np.count_nonzero(lacking)) if len(known) else 0.0
    return X


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
