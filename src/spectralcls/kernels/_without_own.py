"""Sums at training points without themselves, or without their groups."""

from typing import Any

import numpy as np

from .._utils.typing import Array


def own_positions(queries: Array, points: Array) -> Array:
    """Position of each query among the points, both numbers of training points; -1 if absent."""
    position = np.full(max(queries.max(initial=-1), points.max(initial=-1)) + 1, -1)
    position[points] = np.arange(len(points))
    return position[queries]


def without_own(queries: Array, groups: Array | None = None, points: Array | None = None) -> dict[str, Any]:
    """Arguments of `kernel_sums` that leave out of each query's sum the query itself, or its group.

    Parameters
    ----------
    queries : ndarray of shape (m,), numbers of the training points that are queries
    groups : ndarray of shape (n,), what is left out together; None: each point
    points : ndarray of shape (k,), numbers of the training points that are summed; None: all
    """
    if groups is not None:
        return {"exclude_groups": (groups[queries], groups if points is None else groups[points])}
    return {"exclude_self": queries if points is None else own_positions(queries, points)}
