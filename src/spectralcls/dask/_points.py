"""Kernel sums over points on the workers, and what else the fitted forms do with them, for Dask arrays."""

from dataclasses import replace
from functools import partial
from itertools import combinations

import dask
import dask.array as da
import numpy as np

from .._expansion.points import nearest_if_lost, over_points, potentials
from .._inputs.training_data import stack
from .._utils.blocks import as_blocks, by_rows, in_blocks, kept
from ..kernels.neighbor_search import knn
from ..perturbo import of_classes
from ..regression import nearest_if_nan
from ._rows import as_column, blocks, column_blocks, from_blocks
from ._sums import add, over_blocks, total, tree
from ._workers import keep


@by_rows.register(da.Array)
def _(array, function, *others, shape=None, dtype=None):
    task, function = dask.delayed(_call), dask.delayed(function)  # the function is sent to a worker once
    columns = [column_blocks(other, array) for other in others]
    shape = array.shape[1:] if shape is None else shape
    parts = zip(blocks(array), *columns, strict=True)
    return from_blocks(
        [task(function, *part) for part in parts], array.chunks[0], shape, array.dtype if dtype is None else dtype
    )


@kept.register(da.Array)
def _(X, *arrays, large=False):
    return keep(*arrays) if large else dask.persist(*[as_column(array, X, "A") for array in arrays])


@over_points.register(da.Array)
def _(X, points, columns, Q, sums, finish, width, n_sums=0):
    if not in_blocks(Q):
        return over_points(X, points, columns, as_blocks(Q), sums, finish, width).compute()
    tile = partial(_tile, sums, _without_arrays(points))
    found = over_blocks([(q,) for q in blocks(Q)], _blocks(points, columns), tile, add, finish)
    return from_blocks(found, Q.chunks[0], (width,) if width else (), np.float64)


@potentials.register(da.Array)
def _(X, points, weights, between):
    tile, parts = dask.delayed(partial(_pair_tile, between, _without_arrays(points))), _blocks(points, weights)
    tiles = [tile(*part) for part in parts]
    tiles += [tile(*one, *other) * 2 for one, other in combinations(parts, 2)]
    return tree(total, tiles).compute()


@nearest_if_lost.register(da.Array)
def _(X, points, scores, Q, candidates, compact):
    if not compact:
        return scores
    if not in_blocks(Q):
        return nearest_if_lost(X, points, as_blocks(scores), as_blocks(Q), candidates, compact).compute()
    nearest = _nearest(Q, da.isneginf(scores.max(axis=1)), X, points.codes, candidates)
    return by_rows(scores, _settled, nearest)


@nearest_if_nan.register(da.Array)
def _(X, form, predicted, Q):
    if form.kernel == "gaussian":
        return predicted
    if not in_blocks(Q):
        return nearest_if_nan(X, form, as_blocks(predicted), as_blocks(Q)).compute()
    lost = da.isnan(predicted[:, :1])
    places = da.where(lost, _nearest(Q, lost[:, 0], X, X), Q)
    return da.where(lost, form.in_reach(places), predicted)


@of_classes.register(da.Array)
def _(X, codes, weights, fits, n_jobs):
    take, fit = dask.delayed(_rows_of_class), dask.delayed(_fit_class)
    parts = list(zip(blocks(X), blocks(codes), column_blocks(weights, X), strict=True))
    models = [fit(function, n_jobs or 1, *[take(*part, c) for part in parts]) for c, function in enumerate(fits)]
    return list(dask.persist(*models))


def _call(function, *arguments):
    return function(*arguments)


def _without_arrays(points):
    return replace(points, X=None, codes=None, weights=None, given=None, n_jobs=points.n_jobs or 1)


def _blocks(points, columns):
    """The blocks of points, their codes and weights, and of columns."""
    arrays = points.codes, points.weights, columns
    return list(zip(blocks(points.X), *(column_blocks(array, points.X) for array in arrays), strict=True))


def _block(points, X, codes, weights):
    return replace(points, X=np.ascontiguousarray(X), codes=codes, weights=weights)


def _tile(sums, points, Q, X, codes, weights, columns):
    return sums(_block(points, X, codes, weights), np.ascontiguousarray(Q), columns)


def _pair_tile(between, points, *arrays):
    (*one, weights), (*other, their_weights) = arrays[:4], arrays[-4:]
    block = _block(points, *one)
    return between(block, weights, block if len(arrays) == 4 else _block(points, *other), their_weights)


def _nearest(Q, lost, X, answers, candidates=None):
    """Entries of `answers` (n, ...) at the point nearest to each lost query, -1 for the others; the first of equally
    near points. Only points whose answers are in the mask `candidates` (C,) count.
    """
    queries, points = (list(zip(*map(blocks, pair), strict=True)) for pair in ((Q, lost), (X, answers)))
    found = over_blocks(queries, points, partial(_nearest_tile, candidates), _nearer, lambda found, *_: found[1])
    return from_blocks(found, Q.chunks[0], answers.shape[1:], answers.dtype)


def _nearest_tile(candidates, Q, lost, X, answers):
    distances, nearest = np.full(len(Q), np.inf), np.full((len(Q), *answers.shape[1:]), -1, dtype=answers.dtype)
    rows = np.flatnonzero(lost)
    own = np.arange(len(X)) if candidates is None else np.flatnonzero(candidates[answers])
    if len(rows) and len(own):
        found, index = knn(Q[rows], X[own], 1, n_jobs=1)
        distances[rows], nearest[rows] = found[:, 0], answers[own[index[:, 0]]]
    return distances, nearest


def _nearer(*found):
    distances, nearest = (np.stack(parts) for parts in zip(*found, strict=True))
    first, each = distances.argmin(axis=0), np.arange(distances.shape[1])
    return distances[first, each], nearest[first, each]


def _settled(scores, nearest):
    """Set the score of the nearest point's class to 0 for queries that no kernel reaches."""
    rows = np.flatnonzero(nearest >= 0)
    scores = scores.copy()
    scores[rows, nearest[rows]] = 0.0
    return scores


def _rows_of_class(X, codes, weights, c):
    own = codes == c
    return X[own], None if weights is None else weights[own]


def _fit_class(fit, n_jobs, *parts):
    X, weights = stack(*parts)
    return fit(X, weights=weights, n_jobs=n_jobs)
