"""Gaussian sums on a grid in one to three features, completed by exact sums if the grid is not accurate enough.

With a tolerance, a query is settled if the errors of all its labels add up to at most the tolerance. Without one, a
label's sum is settled if its error is of the order of rounding. Sums that are not settled are computed exactly.
"""

from typing import Any

import numpy as np

from .._core import compiled
from .._utils.typing import Array
from ._exact import exact_sums
from ._request import SumsRequest

GRID_FEATURES = 3
# Relative error at which a label's sum on the grid replaces the exact sum. Together with the rounding of the grid's
# arithmetic it is less than half of the error stated in the guide. Labels far from the query are summed exactly: for
# 1e5 points in eight clusters with four labels, the grid replaces 99 % of the sums with one feature (h = .1) and 69 %
# with two (h = .15); with three features, it is not predicted to be faster (h = .265).
AS_EXACT = {np.dtype(np.float32): 4e-6, np.dtype(np.float64): 4e-13}
# The grid replaces exact sums only for at least this many queries. If the best labels of a query nearly tie, its sums
# are computed over all pairs; such queries are passed in batches below this limit.
GRID_QUERIES = 1024
# For each number of features: with fewer pairs than this, exact sums are at least as fast as the grid together with the
# decision to use it (measured on 2000 to 32 000 normal points, h = .2). The grid is faster from 2900 points on with
# one feature and from 4100 with two (with labels, 4100 and 5800); with three it gains nothing below 1e5 points.
GRID_PAIRS = {1: 2**23, 2: 2**24, 3: 2**27}


def approximate_sums(request: SumsRequest) -> Any:
    """Answer a request with gridded sums; None if exact sums should be used.

    Parameters
    ----------
    request : SumsRequest

    Returns
    -------
    answer : ndarray of shape (m, b, n_labels, c), a pair, or None
    """
    r = request
    within = r.rtol > 0 or r.atol > 0
    negative = r.weights is not None and r.weights.min(initial=0) < 0
    if (r.atol or (r.rtol and r.X.shape[1] <= GRID_FEATURES)) and r.output != "plain" and (r.atol or negative):
        asked_for_logarithms = r.output == "log" or r.is_pair
        what = "log" if asked_for_logarithms else f"normalize=True, with a constant that {r.dtype} cannot hold,"
        raise ValueError(f"{what} takes only rtol, not atol, and only non-negative weights.")
    if negative and not within:
        return None
    found = grid_sums(r)
    return None if found is None else _completed(r, *found, each_label=not within)


def grid_sums(request: SumsRequest) -> tuple[Array, Array, Array] | None:
    """Plain sums on the grid and a mask of the settled ones; None if the grid is not used.

    Parameters
    ----------
    request : SumsRequest
        A request for any output. Without a tolerance, its weights must not be negative, and the sums are as accurate as
        exact ones.

    Returns
    -------
    sums : float64 ndarray of shape (m, b, n_labels, c)
    settled : bool ndarray of shape (m, b, n_labels)
        With a tolerance, the errors of a query's sums over all labels add up to at most ``atol + rtol * s``, where s is
        the sum of ``abs(weights[j, c]) * k_b(q_i, x_j)`` over the points of *all* labels.
    order : int ndarray of shape (m,)
        The queries in an order in which successive ones lie close together.

    Notes
    -----
    About O((m + n) w^d) operations for each bandwidth, in float64, where w is 8 to 48 depending on the tolerance;
    memory O((m + n) (d + c)).
    """
    r = request
    # Requests with groups are summed over all pairs, where one pass computes the distances for all folds and
    # bandwidths: for 20 000 points, five folds and 16 bandwidths, the grid took 4 times as long with one feature
    # and equally long with two.
    three_axes = r.weights is not None and r.weights.ndim > 2
    each_label = not (r.rtol or r.atol)
    if r.kernel != "gaussian" or r.X.shape[1] > GRID_FEATURES or r.groups[0] is not None or three_axes:
        return None
    if each_label and (len(r.Q) < GRID_QUERIES or len(r.Q) * len(r.X) < GRID_PAIRS[r.X.shape[1]]):
        return None
    if r.bandwidths.ndim == 2:
        return _label_by_label(r)
    Q, X = (np.ascontiguousarray(points, dtype=np.float64) for points in (r.Q, r.X))
    weights = None if r.weights is None else np.ascontiguousarray(r.weights, dtype=np.float64)
    # Exact sums at all bandwidths share distances, so another bandwidth costs a fraction of a pass.
    n_passes = (1 + 0.3 * (len(r.bandwidths) - 1)) / len(r.bandwidths)
    share = 1.0 if r.labels is None else np.mean(r.labels >= 0)
    parts = [
        compiled.approximate_sums(
            Q,
            X,
            weights,
            r.labels,
            r.n_labels,
            float(h),
            r.excluded,
            AS_EXACT[r.X.dtype] if each_label else r.rtol,
            r.atol,
            each_label,
            r.X.dtype == np.float32,
            float(max(n_passes * share, 1e-9)),
            r.n_threads,
        )
        for h in r.bandwidths
    ]
    shape = len(Q), r.n_labels, 1 if weights is None else weights.shape[1]
    if all(part is None for part in parts):
        return None
    nothing = np.zeros(shape), np.zeros(shape[:2], dtype=np.uint8), np.arange(len(Q))
    sums, settled, orders = zip(*(nothing if part is None else part for part in parts), strict=True)
    return np.stack(sums, axis=1), np.stack(settled, axis=1).view(bool), orders[-1]


def _label_by_label(request: SumsRequest) -> tuple[Array, Array, Array] | None:
    """Sums for bandwidths (b, l), one label at a time, each with an equal share of `atol`."""
    parts, atol = [], request.atol / request.bandwidths.shape[1]
    for label, own in enumerate(request.bandwidths.T):
        labels = np.where(request.labels == label, 0, -1)
        part = grid_sums(request._replace(labels=labels, n_labels=1, bandwidths=own, atol=atol))
        if part is None:
            n_columns = 1 if request.weights is None else request.weights.shape[1]
            shape = len(request.Q), len(own), 1
            part = np.zeros((*shape, n_columns)), np.zeros(shape, dtype=bool), np.arange(len(request.Q))
        parts.append(part)
    all_sums, all_settled, orders = zip(*parts, strict=True)
    settled = np.concatenate(all_settled, axis=2)
    return (np.concatenate(all_sums, axis=2), settled, orders[-1]) if settled.any() else None


def _completed(request: SumsRequest, sums: Array, settled: Array, order: Array, each_label: bool) -> Any:
    """The gridded sums in the requested form, with exact sums in place of those that are not settled."""
    r, scale = request, np.zeros(settled.shape)
    if r.output != "plain":
        np.maximum(sums, 0.0, out=sums)  # subtracting an excluded point leaves a rounding error of either sign
    if r.output == "log":
        with np.errstate(divide="ignore"):
            np.log(sums, out=sums)
    elif r.output == "scaled":  # each label has its own scale, so that float32 does not underflow
        top = sums.max(axis=-1)
        top[top == 0] = 1.0
        np.log(top, out=scale)
        sums /= top[..., None]
    for b in range(settled.shape[1]):
        part = r._replace(bandwidths=r.bandwidths[b : b + 1], rtol=0.0, in_order=True)
        if each_label and r.n_labels > 1:
            for label in range(r.n_labels):
                rows = order[~settled[order, b, label]]
                if len(rows):
                    found = exact_sums(part.of_label(label), rows)
                    _fill(scale[:, b, label : label + 1], sums[:, b, label : label + 1], rows, found)
        else:
            rows = order[~settled[order, b].all(axis=1)]
            if len(rows):
                _fill(scale[:, b], sums[:, b], rows, exact_sums(part, rows))
    return (scale, sums) if r.output == "scaled" else sums


def _fill(scale: Array, sums: Array, rows: Array, found: Any) -> None:
    """Write the exact sums of some rows at one bandwidth."""
    if isinstance(found, tuple):
        scale[rows], sums[rows] = (array[:, 0] for array in found)
    else:
        sums[rows] = found[:, 0]
