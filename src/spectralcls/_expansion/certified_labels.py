"""Labels without exact sums for classes that cannot win.

Certified labels are exact; all others are computed from full scores.
"""

import numpy as np

from ..kernels import GRID_QUERIES, bounded_sums, gridded_sums
from .points import blocks

# Relative errors allowed in sums on a grid, by the number of features. In one feature, a tighter tolerance costs
# nothing, and many queries are near ties. In two and three features, 2^-8 to 2^-12 take the same time within a tenth
# (eight overlapping classes of 1e5 points); in three features 2^-12 needs the next wider stencil.
ON_GRID = {1: 2.0**-16, 2: 2.0**-10, 3: 2.0**-10}
TOLERANCES = (2.0**-3, 2.0**-10)  # relative errors of successive passes over the undecided queries
MANY = 1024  # from this many queries on, the core looks for pairs to skip
BY_ALL_PAIRS = GRID_QUERIES - 1  # largest batch of undecided queries: too small for the grid
UNCERTAIN = -1
CACHED_BYTES = 1 << 17  # size of the sums in one block
ROUNDINGS = 40  # bound on the relative error of a kernel value, in eps times its exponent
LARGEST_LOG_SUM = 16.0  # bound on the logarithm of a sum relative to its scale
AGREEMENT = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-12}  # relative error of a sum


def certified_labels(model, Q):
    """``model.scores(Q).argmax(axis=1)`` for an expansion by class, without most of the sums.

    Sums within a tolerance decide a query if the lower bound of the best class's score, allowing for missing terms and
    rounding, exceeds the upper bounds of all other classes. Undecided queries are summed with a smaller tolerance. The
    remaining queries, near ties and those out of reach of all kernels, get full scores.

    Parameters
    ----------
    model : Expansion
    Q : ndarray of shape (m, d)

    Returns
    -------
    labels : ndarray of shape (m,)
    """
    labels, dtype = np.full(len(Q), UNCERTAIN, dtype=np.intp), np.result_type(Q, model.points.X)
    grid = [(gridded_sums, ON_GRID[d]) for d in ON_GRID if d == Q.shape[1]]
    for way, tolerance in [*grid, *((bounded_sums, tolerance) for tolerance in TOLERANCES)]:
        rows = np.flatnonzero(labels == UNCERTAIN)
        if len(rows) == 0 or (len(rows) < MANY and tolerance == TOLERANCES[0]):
            break
        found = model.points.bounded_sums(
            way, Q if len(rows) == len(Q) else Q[rows], model.columns, model.kernel, model.bandwidth, tolerance
        )
        if found is None:
            continue
        scale, sums, missing = found
        for part in blocks(len(rows), 8 * sums[:1].size, CACHED_BYTES):
            labels[rows[part]] = certain(model, scale[part], sums[part], missing, dtype)
    rows = np.flatnonzero(labels == UNCERTAIN)
    for part in blocks(len(rows), 1, BY_ALL_PAIRS):
        labels[rows[part]] = model.scores(Q[rows[part]]).argmax(axis=1)
    return labels


def certain(model, log_scale, sums, missing, dtype):
    """The best class of each query, (m,), or `UNCERTAIN`.

    The class sums are ``exp(log_scale) * sums``, of shapes (m, C) and (m, C, k). Each may be too small by a fraction
    `missing`, (C, k) or 0, of the sum over all classes. `dtype` is the precision of the sums.
    """
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        # Queries along the last axis, because NumPy reduces many short rows slowly.
        values = np.ascontiguousarray(np.moveaxis(sums, 0, 2), dtype=np.float64)
        scale = np.where(values.any(axis=1), np.ascontiguousarray(log_scale.T, dtype=np.float64), -np.inf)
        top = np.maximum(scale.max(axis=0), np.finfo(np.float64).min)
        gap = scale - top
        # Bound on the logarithm of the error of a sum: AGREEMENT, plus the rounding of distances, a fraction `step` of
        # the sum's log_scale. |log_scale| is at most |top| + |gap|.
        step = 2 * ROUNDINGS * np.finfo(dtype).eps
        slack = 2 * AGREEMENT[dtype] + step * (LARGEST_LOG_SUM + np.abs(top))
        high = values * np.exp((1 - step) * gap + slack)[:, None]
        most = high + np.asarray(missing)[..., None] * high.sum(axis=0) if np.any(missing) else high

        def low(high, gap):
            return high * np.maximum(1 + 2 * step * gap, 0.0) * np.exp(-2 * slack)

        by_distance = model.rule.decision == "distance"
        largest = -top if by_distance else np.max(model.log_scale)
        factor = np.broadcast_to(np.exp(model.log_scale[:, None] - largest), gap.shape)
        # Only the class with the largest upper bound can be certain.
        upper = most[:, 0] * factor
        if by_distance:
            if has_density := model.log_share is not None and sums.shape[2] > 1:
                least_density, most_density = (
                    np.log(np.exp(model.log_share) @ part) + top for part in (low(high[:, 1], gap), most[:, 1])
                )
                upper *= np.exp(-least_density / 2)
            upper = _less_offsets(upper, model.offsets[:, None], 1)
        best = upper.argmax(axis=0)
        of_best = best, np.arange(len(best))
        lower = low(high[:, 0][of_best], gap[of_best]) * factor[of_best]
        if by_distance:
            if has_density:
                lower *= np.exp(-most_density / 2)
            lower = _less_offsets(lower, model.offsets[best], -1)
        upper[of_best] = -np.inf
        return np.where(lower > upper.max(axis=0), best, UNCERTAIN)


def _less_offsets(inner, offsets, side):
    """Lower (`side` -1) or upper (1) bounds of scores by distance, including the rounding of the difference."""
    finite = np.where(np.isfinite(offsets), offsets, 0.0)
    return inner - offsets + side * 8 * np.finfo(np.float64).eps * (inner + np.abs(finite))
