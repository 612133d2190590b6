"""Sums over all pairs, or over the pairs that can change the rounded result."""

from typing import Any

import numpy as np

from .._core import compiled
from .._utils.typing import Array
from ._request import SumsRequest


def exact_sums(request: SumsRequest, rows: Any = slice(None), **changes: Any) -> Any:
    """Sums of a request for some of its queries; with `rtol`, distant tiles of points are left out."""
    request = request._replace(**changes) if changes else request
    parts = _similar_bandwidths(request.bandwidths) if len(request.bandwidths) > 1 else ()
    if len(parts) < 2:
        return _similar_sums(request, rows, request.bandwidths, request.weights)
    results = [
        _similar_sums(request, rows, request.bandwidths[part], _of_bandwidths(request.weights, part)) for part in parts
    ]
    order = np.argsort(np.concatenate(parts))
    if request.output == "scaled":
        return tuple(np.concatenate(arrays, axis=1)[:, order] for arrays in zip(*results, strict=True))
    return np.concatenate(results, axis=1)[:, order]


def _similar_sums(request: SumsRequest, rows: Any, bandwidths: Array, weights: Array | None) -> Any:
    """Sums at bandwidths close enough to pack the points only once."""
    r, excluded = request, None if request.excluded is None else request.excluded[rows]
    if r.points is not None:
        packed, weights = r.points.packed(r.n_threads), None if r.own_weights else weights
        return compiled.packed_kernel_sums(
            r.Q[rows], packed, weights, r.kernel, bandwidths, excluded, r.rtol, r.output, r.n_threads, r.in_order
        )
    query_groups, point_groups, n_groups = r.groups
    return compiled.kernel_sums(
        r.Q[rows],
        r.X,
        weights,
        r.labels,
        r.n_labels,
        r.kernel,
        bandwidths,
        excluded,
        None if query_groups is None else query_groups[rows],
        point_groups,
        n_groups,
        r.rtol,
        r.output,
        r.n_threads,
        r.in_order,
    )


def _of_bandwidths(weights: Array | None, part: Array) -> Array | None:
    return weights if weights is None or weights.ndim < 3 else np.ascontiguousarray(weights[:, part])


def _similar_bandwidths(bandwidths: Array) -> list[Array]:
    """Indices of the bandwidths, in parts that each span at most a factor of 2^30, the range of points packed once."""
    exponents = np.frexp(bandwidths.reshape(len(bandwidths), -1).max(axis=1))[1]
    part = (exponents - exponents.min()) // 30
    return [np.flatnonzero(part == p) for p in np.unique(part)]
