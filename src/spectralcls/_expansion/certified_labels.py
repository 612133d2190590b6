"""Predicted labels, computed without the exact sums of classes that cannot win.

Certified labels equal those of full scores; all other labels are computed from full scores.
"""

import numpy as np

from ..kernels import GRID_QUERIES, LabelRule, bounded_sums, certain_labels, grid_labels, gridded_sums
from .points import blocks

# Relative errors allowed in sums on a grid, by the number of features. With one feature, a tighter tolerance costs
# nothing, and it decides the many queries near ties. With two and three features, tolerances of 2^-8 to 2^-12 differ by
# less than a tenth in time (eight overlapping classes of 1e5 points), although 2^-12 needs a wider stencil with three
# features.
ON_GRID = {1: 2.0**-16, 2: 2.0**-10, 3: 2.0**-10}
TOLERANCES = (2.0**-3, 2.0**-10)  # relative errors allowed in successive passes over the undecided queries
MANY = 1024  # from this many queries on, the core looks for pairs to skip
BY_ALL_PAIRS = GRID_QUERIES - 1  # largest number of queries for which the core does not use the grid
UNCERTAIN = -1
ROUNDINGS = 40  # bound on the relative error of a kernel value, in units of eps times the kernel's exponent
AGREEMENT = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-12}  # bound on a sum's relative rounding error


def certified_labels(model, Q):
    """``model.scores(Q).argmax(axis=1)`` for an expansion by class; skips most of the sums.

    Sums within a tolerance decide a query if the lower bound of the best class's score exceeds the upper bounds of all
    other classes; the bounds allow for missing terms and rounding. Undecided queries are summed with a smaller
    tolerance. Full scores are computed for the rest: queries near ties, and those out of reach of all kernels.

    Parameters
    ----------
    model : Expansion
    Q : ndarray of shape (m, d)

    Returns
    -------
    labels : ndarray of shape (m,)
    """
    labels = np.full(len(Q), UNCERTAIN, dtype=np.intp)
    rule = label_rule(model, np.result_type(Q, model.points.X))
    ways = [(from_grid, tolerance) for d, tolerance in ON_GRID.items() if d == Q.shape[1]]
    for way, tolerance in [*ways, *((from_pairs, tolerance) for tolerance in TOLERANCES)]:
        rows = np.flatnonzero(labels == UNCERTAIN)
        if len(rows) == 0 or (len(rows) < MANY and tolerance == TOLERANCES[0]):
            break
        found = way(model, Q if len(rows) == len(Q) else Q[rows], rule, tolerance)
        if found is not None:
            labels[rows] = found
    rows = np.flatnonzero(labels == UNCERTAIN)
    for part in blocks(len(rows), 1, BY_ALL_PAIRS):
        labels[rows[part]] = model.scores(Q[rows[part]]).argmax(axis=1)
    return labels


def label_rule(model, dtype):
    """The `LabelRule` of an expansion by class, for sums in the precision `dtype`."""
    by_distance, share = model.rule.decision == "distance", None
    if model.rule.needs_query_density:
        share = np.asarray(model.log_share, dtype=np.float64)
    factors = np.array(np.broadcast_to(model.log_scale, len(model.offsets)), dtype=np.float64)
    return LabelRule(
        factors,
        np.asarray(model.offsets, dtype=np.float64) if by_distance else None,
        share,
        2 * AGREEMENT[dtype],
        float(2 * ROUNDINGS * np.finfo(dtype).eps),
    )


def from_grid(model, Q, rule, tolerance):
    """Labels that sums on a grid decide, `UNCERTAIN` for other queries; None if the grid is not used."""
    if np.ndim(model.bandwidth) > 0:
        return _from_sums(model, gridded_sums, Q, rule, tolerance)
    return model.points.by_class(grid_labels, Q, model.columns, model.kernel, model.bandwidth, tolerance, rule=rule)


def from_pairs(model, Q, rule, tolerance):
    """Labels that sums without far tiles decide, `UNCERTAIN` for other queries."""
    return _from_sums(model, bounded_sums, Q, rule, tolerance)


def _from_sums(model, way, Q, rule, tolerance):
    found = model.points.by_class(way, Q, model.columns, model.kernel, model.bandwidth, tolerance)
    return None if found is None else certain_labels(found, rule)
