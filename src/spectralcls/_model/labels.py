"""Labels without the sums of classes that cannot win: certified, or else from all scores."""

import numpy as np

from .points import blocks

# Shares of a query's sums that may be missing, tried one after the other on the queries that are not yet certain.
TOLERANCES = (2.0**-3, 2.0**-10)
MANY = 1024  # queries from which the core looks for pairs to leave out
UNCERTAIN = -1
CACHED_BYTES = 1 << 17  # of sums that are looked at together
LARGEST_LOG_SUM = 16.0  # of a sum relative to its scale, but for the roundings that are far smaller than its own
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
    shares = model.points.shares(model.columns)
    for tolerance in TOLERANCES:
        rows = np.flatnonzero(labels == UNCERTAIN)
        if len(rows) == 0 or (len(rows) < MANY and tolerance == TOLERANCES[0]):
            break
        scale, sums, missing, dtype = model.points.bounded_sums(
            Q if len(rows) == len(Q) else Q[rows], model.columns, model.kernel, model.bandwidth, tolerance
        )
        for part in blocks(len(rows), 8 * sums[:1].size, CACHED_BYTES):
            labels[rows[part]] = certain(model, shares, scale[part], sums[part], missing, dtype)
    rows = np.flatnonzero(labels == UNCERTAIN)
    if len(rows):
        labels[rows] = model.scores(Q[rows]).argmax(axis=1)
    return labels


def certain(model, shares, log_scale, sums, tolerance, dtype):
    """The best class of each query, (m,), or `UNCERTAIN`.

    Of sums (m, C, k), to be multiplied by exp(log_scale), (m, C). They may miss a share `tolerance` of their totals, a
    class no more than its share (C, k) of the weights in that; `dtype` is what they were rounded to.
    """
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        scale = np.where(sums.any(axis=2), log_scale, -np.inf).astype(np.float64)
        top = np.maximum(scale.max(axis=1, keepdims=True), np.finfo(np.float64).min)
        # Between these sums and those of all pairs: each is this close to the truth, and no closer than the distances
        # that it comes from are rounded.
        slack = 2 * (AGREEMENT[dtype] + 8 * np.finfo(dtype).eps * (LARGEST_LOG_SUM + np.abs(log_scale)))
        low, high = (sums * np.exp(scale - top + side * slack)[..., None] for side in (-1, 1))
        if tolerance:
            high += tolerance * shares * high.sum(axis=1, keepdims=True)
        if model.rule.decision == "distance":
            factor = np.exp(top + model.log_scale)
            lower, upper = low[..., 0] * factor, high[..., 0] * factor
            if model.log_share is not None and sums.shape[2] > 1:
                log_densities = (np.log(part[..., 1] @ np.exp(model.log_share)) + top[:, 0] for part in (high, low))
                low_g, high_g = (np.exp(-part[:, None] / 2) for part in log_densities)
                lower, upper = lower * low_g, upper * high_g
            lower, upper = (_less_offsets(part, model.offsets, side) for part, side in ((lower, -1), (upper, 1)))
        else:
            factor = np.exp(model.log_scale - np.max(model.log_scale))
            lower, upper = low[..., 0] * factor, high[..., 0] * factor
        best = lower.argmax(axis=1)
        rows = np.arange(len(best))
        least = lower[rows, best]
        upper[rows, best] = -np.inf
        return np.where(least > upper.max(axis=1), best, UNCERTAIN)


def _less_offsets(inner, offsets, side):
    """Scores by distance, with the rounding of the difference on one side."""
    finite = np.where(np.isfinite(offsets), offsets, 0.0)
    return inner - offsets + side * 8 * np.finfo(np.float64).eps * (inner + np.abs(finite))
