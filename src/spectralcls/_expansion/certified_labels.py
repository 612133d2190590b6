"""Predicted labels, computed without the exact sums of classes that cannot win.

Certified labels equal those of full scores; all other labels are computed from full scores.
"""

import numpy as np

from ..kernels import LabelRule

TOLERANCES = (2.0**-3, 2.0**-10)  # relative errors allowed in successive passes over the undecided queries
MANY = 1024  # from this many queries on, bounds on sums are predicted to be faster than sums
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
    rule, rows = label_rule(model, np.result_type(Q, model.points.X)), np.arange(len(Q))
    for tolerance in TOLERANCES:
        if len(rows) < MANY:
            break
        found = model.points.certain_labels(Q[rows], model.columns, model.kernel, model.bandwidth, tolerance, rule)
        if found is None:
            break
        labels[rows] = found
        rows = rows[found == UNCERTAIN]
    if len(rows):
        labels[rows] = model.scores(Q[rows], all_pairs=len(rows) < len(Q)).argmax(axis=1)
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
