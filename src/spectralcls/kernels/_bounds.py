"""Labels found without exact sums, from the sums of each label and bounds on their missing parts."""

from typing import Any, NamedTuple

import numpy as np

from .._core import compiled
from .._core.threads import effective_n_threads
from .._utils.typing import Array
from ._approximate import GRID_PAIRS, grid_sums
from ._checks import check_bandwidths, check_queries
from ._packed_points import PackedPoints
from ._request import SumsRequest


class BoundedSums(NamedTuple):
    """Lower bounds on sums, up to rounding, and bounds on their missing parts."""

    log_scale: Array  # (m, b, l)
    sums: Array  # (m, b, l, c), to be multiplied by exp(log_scale)
    missing: Any  # (l, c) or 0: bound on a label's missing sum, relative to the column's sum over all labels


class LabelRule(NamedTuple):
    """How class sums s become scores: ``exp(factors) s - offsets``, and how far two computations of a sum may differ.

    If `log_share` is given, ``exp(factors) s`` is divided by the square root of the query's density, which is the sum
    over labels of ``exp(log_share)`` times the label's sum in the second column.
    """

    factors: Array  # (l,) logarithms
    offsets: Array | None  # (l,)
    log_share: Array | None  # (l,)
    rounding: float  # relative difference of two computations of a sum
    step: float  # additional relative difference per unit of the exponents


def certain_labels(found: BoundedSums, rule: LabelRule) -> Array:
    """The labels (m,) that certainly win, given bounded sums at one bandwidth; -1 if the bounds do not decide."""
    log_scale, sums = found.log_scale[:, 0], found.sums[:, 0]
    missing = np.zeros(sums.shape[1:])
    missing += found.missing
    return compiled.certain_labels(log_scale.astype(sums.dtype, copy=False), sums, missing, *rule)


def grid_labels(
    Q: Array, points: PackedPoints, kernel: str, bandwidth: float, rtol: float, n_jobs: int | None, rule: LabelRule
) -> Array | None:
    """The labels (m,) that certainly win, from Gaussian sums on a grid in few features; -1 if undecided.

    Returns None if exact sums are predicted to be as fast. `rtol` sets the accuracy of the grid. If the grid's error
    bounds do not decide a query, the sums of the labels that can win are computed from the points near the query.
    """
    if kernel != "gaussian" or not _worth_a_grid(Q, points):
        return None
    Q, points, bandwidths, n_threads = _checked(Q, points, bandwidth, n_jobs)
    columns = None if points.weights is None else points.weights.reshape(len(points), -1).astype(np.float64)
    return compiled.grid_labels(
        np.ascontiguousarray(Q, dtype=np.float64),
        np.ascontiguousarray(points.X, dtype=np.float64),
        columns,
        points.labels,
        points.n_labels,
        float(bandwidths[0]),
        rtol,
        bool(points.dtype == np.float32),
        *rule,
        n_threads,
    )


def bounded_sums(
    Q: Array, points: PackedPoints, kernel: str, bandwidths: Array, rtol: float, n_jobs: int | None
) -> BoundedSums:
    """Sums over checked points without far tiles: all labels together miss at most ``rtol`` of a column's sum.

    The missing part of a label is at most its share of the total weight times that bound.
    """
    Q, points, bandwidths, n_threads = _checked(Q, points, bandwidths, n_jobs)
    scale, sums, used = compiled.packed_kernel_sums(
        Q, points.packed(n_threads), None, kernel, bandwidths, None, rtol, "bounded", n_threads
    )
    if not used:
        return BoundedSums(scale, sums, 0.0)
    weights = points.weights_by_label()
    return BoundedSums(scale, sums, rtol * weights / weights.sum(axis=0))


def gridded_sums(
    Q: Array, points: PackedPoints, kernel: str, bandwidths: Array, rtol: float, n_jobs: int | None
) -> BoundedSums | None:
    """Gaussian sums on a grid, in few features; None if exact sums are predicted to be as fast.

    Errors of gridded sums have either sign, so the error bound is subtracted: the result is a lower bound that misses
    at most twice the error bound. A query whose error exceeds the bound gets NaN.

    The scale of a label is the logarithm of its mean kernel value. By Jensen's inequality the mean exponent, weighted
    by the terms of the sum, is at most the negative of this scale, which bounds the rounding of the exponents.
    """
    error = rtol / (1 - rtol)  # relative to the computed sums
    of_labels = error * points.n_labels
    if of_labels > 0.5 or not _worth_a_grid(Q, points):
        return None
    Q, points, bandwidths, n_threads = _checked(Q, points, bandwidths, n_jobs)
    columns = None if points.weights is None else points.weights.reshape(len(points), -1)
    found = grid_sums(
        SumsRequest(
            Q=Q,
            X=points.X,
            bandwidths=bandwidths,
            weights=columns,
            labels=points.labels,
            n_labels=points.n_labels,
            kernel=kernel,
            rtol=rtol,
            n_threads=n_threads,
        )
    )
    if found is None:
        return None
    sums, settled, _ = found
    sums -= error * sums.sum(axis=2, keepdims=True)
    np.maximum(sums, 0.0, out=sums)
    sums[~settled.all(axis=2)] = np.nan
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = sums / points.weights_by_label()
        scale = np.log(np.where(mean > 0, mean, np.inf).min(axis=-1))
    scale[np.isposinf(scale)] = 0.0
    sums *= np.exp(-scale)[..., None]
    return BoundedSums(scale, sums, 2 * error / (1 - of_labels))


def _worth_a_grid(Q: Array, points: PackedPoints) -> bool:
    return len(Q) * len(points) >= 2 * GRID_PAIRS.get(Q.shape[1], np.inf)


def _checked(Q: Array, points: PackedPoints, bandwidths: Any, n_jobs: int | None) -> Any:
    Q, points = check_queries(Q, points, Q is points.X)
    return Q, points, check_bandwidths(bandwidths, points.n_labels)[0], effective_n_threads(n_jobs)
