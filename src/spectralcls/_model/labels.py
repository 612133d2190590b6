"""Labels without the sums of classes that cannot win: certified, or else from all scores."""

from functools import partial

import numpy as np

# Shares of a query's sums that may be missing, tried one after the other on the queries that are not yet certain.
TOLERANCES = (2.0**-3, 2.0**-10)
MANY = 1024  # queries from which the core looks for pairs to leave out
UNCERTAIN = -1
AGREEMENT = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-12}  # of sums with the truth, relative


def certified_labels(model, Q):
    """``model.scores(Q).argmax(axis=1)`` of an expansion by class, whatever is left out on the way.

    A query keeps the best class of sums within a tolerance if the least score that this class can have, with what is
    missing and what is rounded, exceeds the largest of every other. The others are summed with a smaller tolerance, and
    those that are left by all scores: near ties, and queries that no kernel reaches.

    Parameters
    ----------
    model : Expansion
    Q : ndarray of shape (m, d)

    Returns
    -------
    labels : ndarray of shape (m,)
    """
    labels = np.full(len(Q), UNCERTAIN, dtype=np.intp)
    log_shares = model.points.log_shares(model.columns)
    for tolerance in TOLERANCES:
        rows = np.flatnonzero(labels == UNCERTAIN)
        if len(rows) < MANY and tolerance == TOLERANCES[0]:
            break
        sums = partial(
            model.points.bounded_log_sums, columns=model.columns, kernel=model.kernel, bandwidth=model.bandwidth,
            tolerance=tolerance,
        )
        queries = Q if len(rows) == len(Q) else Q[rows]
        found = model.points.evaluate(queries, sums, partial(certain, model, log_shares), 0)
        labels[rows] = found.astype(np.intp)
        if not (labels == UNCERTAIN).any():
            return labels
    rows = np.flatnonzero(labels == UNCERTAIN)
    labels[rows] = model.scores(Q[rows]).argmax(axis=1)
    return labels


def certain(model, log_shares, bounded):
    """The best class of each query, (m,), or `UNCERTAIN`.

    `bounded` holds log sums (m, C, k), the share of their totals that may be missing, and the dtype they were rounded
    to. A class misses no more than its share (C, k) of the weights in that.
    """
    log_sums, tolerance, dtype = bounded
    with np.errstate(invalid="ignore", divide="ignore"):
        # Between these sums and those of all pairs: each is this close to the truth, and no closer than the distances
        # that it comes from are rounded.
        size = np.abs(np.where(np.isfinite(log_sums), log_sums, 0.0))
        slack = 2 * (AGREEMENT[dtype] + 8 * np.finfo(dtype).eps * size)
        most = log_sums
        if tolerance:
            total = np.logaddexp.reduce(log_sums, axis=1, keepdims=True)
            most = np.logaddexp(log_sums, total + log_shares + np.log(tolerance))
        lowest, highest = log_sums - slack, most + slack
        lower, upper = lowest[..., 0] + model.log_scale, highest[..., 0] + model.log_scale
        if model.rule.decision == "distance":
            if model.log_share is not None and log_sums.shape[2] > 1:
                densities = (np.logaddexp.reduce(part[..., 1] + model.log_share, axis=1) for part in (highest, lowest))
                low_g, high_g = (-part[:, None] / 2 for part in densities)
                lower, upper = lower + low_g, upper + high_g
            lower, upper = (_less_offsets(part, model.offsets, side) for part, side in ((lower, -1), (upper, 1)))
        best = lower.argmax(axis=1)
        rows = np.arange(len(best))
        least = lower[rows, best]
        upper[rows, best] = -np.inf
        return np.where(least > upper.max(axis=1), best, UNCERTAIN)


def _less_offsets(log_inner, offsets, side):
    """Scores by distance, with the rounding of the difference on one side."""
    inner = np.exp(log_inner)
    finite = np.where(np.isfinite(offsets), offsets, 0.0)
    return inner - offsets + side * 8 * np.finfo(np.float64).eps * (inner + np.abs(finite))
