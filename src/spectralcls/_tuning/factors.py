"""Factors of categories and gaps, chosen with the bandwidth by the leave-one-out log loss of the Parzen posterior.

A factor multiplies the coordinates of a category, or the indicator of missing values of a column (a gap). An
uninformative category gets the factor 0, which makes its levels equal [1]_. Gaps get a positive factor only if this
makes held-out labels clearly more likely. Numbers keep their scales. In the loss, missing values are replaced by other
values of the column.

References
----------
.. [1] P. Hall, J. Racine, Q. Li, "Cross-validation and the estimation of conditional probability densities", Journal of
   the American Statistical Association 99 (468), 2004, pp. 1015-1026.
"""

import numpy as np

from .held_out_loss import HeldOutLoss

FACTORS = (0.0, 0.5, 1.0, 2.0, 4.0)  # with 1, a category has the variance of a standardized number
ROUNDS = 2
MOST_POINTS, MOST_VALIDATED = 2000, 500
GAIN = 1e-3  # smallest gain in log loss that justifies a larger factor
# required reduction of the loss by a gap indicator, in standard errors; 2 would accept 1 in 10 uninformative ones
ERRORS = 3.0
MOST_GROUPS = 50  # with more categories, similarly informative ones share a factor
# The 4 most informative categories share one factor, the next 8 another, the next 16 another, and so on. On three
# generated tables of 120 to 500 columns this is as accurate as 50 equal groups (accuracies .87, .82 and .50, against
# .84, .81 and .51) and takes a sixth of the time.
SMALLEST_GROUP = 4


def choose_factors(table, data, bandwidth, *, categories=True, random_state=0, n_jobs=None):
    """Set the factors of a table's categories and gaps, and return those of the training data's coordinates, (d,).

    Parameters
    ----------
    table : Table
        Table with all factors 1; modified.
    data : TrainingData
        Training data encoded by the table.
    bandwidth : float, array of floats or None
        The only bandwidth to try, or one for each class; None means the default grid.
    categories : bool
        Whether to choose factors of categories too; otherwise they stay 1.
    """
    weighed = [*table.gaps, *(table.categories if categories else ())]
    if weighed and len(data.classes) > 1:
        loss = _FactorLoss(table, data, bandwidth, random_state, n_jobs)
        factors = np.ones(len(loss.columns))
        places = np.arange(len(loss.columns) - len(table.gaps), len(loss.columns))
        factors[places] = 0.0
        _let_gaps_count(places, factors, loss)
        if categories and table.categories:
            _weigh_categories(factors, loss)
        chosen = set(map(id, weighed))
        for column, factor in zip(loss.columns, factors, strict=True):
            if id(column) in chosen:
                column.factor = float(factor)
        if not table.features.size:
            for category in table.categories or weighed:
                category.factor = 1.0
    return _factors(table)


def _let_gaps_count(places, factors, loss):
    """Set the factor of each gap that clearly reduces the loss to 1; more than `MOST_GROUPS` gaps are not tried one by
    one. If no single gap does, set the factors of all gaps to 1 if together they clearly reduce the loss. Modifies
    `factors`.
    """
    if not len(places):
        return
    none, without = factors.copy(), loss.of_samples(factors)
    for place in places if len(places) <= MOST_GROUPS else ():
        factors[place] = loss.clearly_less(loss.of_samples(_with(none, place, 1.0)), without)
    if not factors[places].any() and loss.clearly_less(loss.of_samples(_with(factors, places, 1.0)), without):
        factors[places] = 1.0


def _weigh_categories(factors, loss):
    best = loss(factors)
    groups = _order_by_importance(loss.groups(), factors, loss)
    for _ in range(ROUNDS):
        before = best
        for group in groups:
            best = _improve(group, factors, loss, best)
        if best == before:
            break


def _order_by_importance(groups, factors, loss):
    """The groups, ordered by the loss that results without each of them, the least important first."""
    without = [loss(_with(factors, group, 0.0)) for group in groups]
    return [groups[i] for i in np.argsort(np.round(without, 12), kind="stable")]


def _improve(group, factors, loss, best):
    """Take the smallest factor within `GAIN` of the least loss; modifies `factors`."""
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


class _FactorLoss:
    """Leave-one-out log loss as a function of the factors of columns and gaps."""

    def __init__(self, table, data, bandwidth, random_state, n_jobs):
        options = {"random_state": random_state, "n_jobs": n_jobs}
        self.losses = HeldOutLoss(data, bandwidth, most_points=MOST_POINTS, most_validated=MOST_VALIDATED, **options)
        self.bandwidths = self.losses.bandwidths(self.losses.X)
        self.columns = [column for column in (*table.columns, *table.gaps) if column.width]
        self.categories = [i for i, column in enumerate(self.columns) if column.is_category]
        self.widths = np.array([column.width for column in self.columns])

    def groups(self):
        """Groups of categories that share a factor, as indices. More than `MOST_GROUPS` categories are grouped by their
        variance between classes.
        """
        own = np.array(self.categories, dtype=np.intp)
        if len(own) <= MOST_GROUPS:
            return list(own[:, None])
        X, codes, weights = self.losses.X, self.losses.codes, self.losses.weights
        members = (codes == np.unique(codes)[:, None]) * (1.0 if weights is None else weights)  # (C, n)
        shares = members.sum(axis=1) / members.sum()
        means = members @ X / members.sum(axis=1, keepdims=True)
        between = shares @ (means - shares @ means) ** 2
        said = np.add.reduceat(between, np.cumsum(self.widths) - self.widths)[own]
        order = own[np.argsort(np.round(said, 12), kind="stable")]
        ends = len(own) - SMALLEST_GROUP * (2 ** np.arange(1, len(own).bit_length()) - 1)
        return np.split(order, ends[ends > 0][::-1])

    def of_samples(self, factors):
        """Loss of each validated sample, (v,), at the best bandwidth."""
        X = self.losses.X
        factors = np.repeat(factors.astype(X.dtype), self.widths)
        X = X[:, factors != 0] * factors[factors != 0] if factors.any() else np.zeros((len(X), 1))
        return self.losses(X, self.bandwidths)

    def __call__(self, factors):
        return float(self.losses.mean(self.of_samples(factors)))

    def clearly_less(self, losses, others):
        """Whether the mean of `losses` is below that of `others` by more than `GAIN` and more than `ERRORS` standard
        errors of the difference.
        """
        gain = self.losses.mean(others - losses)
        error = np.sqrt(self.losses.mean((others - losses - gain) ** 2) / len(losses))
        return gain > max(ERRORS * error, GAIN)


def _factors(table):
    """Factor of each coordinate, (d,), in the layout of the table with all factors 1."""
    columns = [*table.columns, *table.gaps]
    chosen = [column.factor for column in columns]
    factors = []
    for column, factor in zip(columns, chosen, strict=True):
        if factor is not None:
            column.factor = 1.0
        factors.append(np.full(column.width, 1.0 if factor is None else factor))
        if factor is not None:
            column.factor = factor
    return np.concatenate(factors)


def rescale(X, factors):
    """Coordinates times their factors; coordinates of factor 0 are dropped."""
    return np.ascontiguousarray((X * factors.astype(X.dtype))[:, factors != 0])
