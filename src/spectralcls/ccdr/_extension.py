"""Out-of-sample embedding (eq. 20): weights from queries to training points, and weighted means."""

import numpy as np
from scipy.sparse import csr_array, vstack

from .._expansion import TrainingPoints
from .._inputs.training_data import TrainingData
from ..kernels.neighbor_search import csr, knn, reverse_knn, row_starts
from ._graph import row_maximum

EXTENSIONS = ("symmetric", "nearest", "full")


def neighbor_rows(Q, X, n_neighbors, radii, n_jobs=None):
    """Distances from queries to the training points that the extension uses.

    Parameters
    ----------
    X : PackedPoints
        The n training points.
    radii : ndarray of shape (n,) or None
        Distance of each training point to its last neighbor. A query nearer than this gets an edge to the point
        ("symmetric"); None means no such edges ("nearest").

    Returns
    -------
    distances : csr_array of shape (m, n)
        Distances to the query's n_neighbors nearest training points, and to the points that would have the query among
        their neighbors.
    duplicates : ndarray of shape (m,)
        First training point that equals the query, or -1. A query is not a neighbor of its duplicate (w_ii = 0).
    """
    m, n = len(Q), len(X)
    distances, indices = knn(Q, X, min(n_neighbors + 1, n), n_jobs=n_jobs)
    duplicates = np.where(distances[:, 0] == 0, indices[:, 0], -1)
    shifted = (duplicates >= 0)[:, None]
    distances = np.where(shifted, distances[:, 1:], distances[:, :-1])
    indices = np.where(shifted, indices[:, 1:], indices[:, :-1])
    k = indices.shape[1]
    rows = csr(distances.ravel(), indices.ravel(), np.arange(0, m * k + 1, k), (m, n))
    if radii is not None:
        rows = _union(rows, reverse_knn(Q, X, radii, n_jobs=n_jobs), duplicates)
    return rows, duplicates


def _union(nearest, reverse, duplicates):
    """Edges found from either end, without repetitions and without edges to the duplicate of a query."""
    n = nearest.shape[1]
    keys, values = [], []
    for graph in (nearest, reverse):
        row = np.repeat(np.arange(graph.shape[0], dtype=np.int64), np.diff(graph.indptr))
        proper = graph.indices != duplicates[row]
        keys.append((row * n + graph.indices)[proper])
        values.append(graph.data[proper])
    edges, first = np.unique(np.concatenate(keys), return_index=True)
    starts = row_starts(edges // n, nearest.shape[0])
    return csr(np.concatenate(values)[first], edges % n, starts, nearest.shape)


def replace_rows(rows, positions, replacements):
    """`rows` with those at `positions` replaced by the rows of another CSR array; stored zeros are kept."""
    if not len(positions):
        return rows
    order = np.arange(rows.shape[0])
    order[positions] = rows.shape[0] + np.arange(len(positions))
    return csr_array(vstack([rows, replacements], format="csr")[order])


def sparse_sums(log_rows, embedding, labeled):
    """Numerators sum_j K y_j and denominators sum_j K of eq. 20.

    For unlabeled queries, both are divided by the row's largest weight. It cancels in the quotient, which thus stays
    finite if all weights underflow: the limit is the image of the nearest neighbor.
    """
    least = np.finfo(log_rows.dtype).min  # if squares overflow, treat all distances of a query as equal
    shift = np.where(labeled, 0.0, np.maximum(row_maximum(log_rows), least))
    weights = np.exp(np.maximum(log_rows.data, least) - np.repeat(shift, np.diff(log_rows.indptr)))
    K = csr_array((weights, log_rows.indices, log_rows.indptr), shape=log_rows.shape)
    return K @ embedding.astype(np.float64), np.asarray(K.sum(axis=1)).ravel()


def sums_over_all(Q, X, epsilon, embedding, counts, labeled, n_jobs=None):
    """`sparse_sums` for the heat kernel of all training points, weighted by their `counts`."""
    columns = np.column_stack([embedding, np.ones(len(X))]).astype(np.float64) * counts
    log_scale, sums = TrainingPoints.of(TrainingData.points(X), n_jobs=n_jobs).pairs(
        Q, columns, "gaussian", np.sqrt(epsilon / 2), 0.0
    )
    sums = sums * np.where(labeled[:, None], np.exp(log_scale), 1.0)
    return sums[:, :-1], sums[:, -1]


def extend(numerator, denominator, codes, centers, beta, eigenvalues):
    """Eq. 20. A query with neither label nor neighbors is mapped to the origin, the embedding's weighted mean."""
    labeled = codes >= 0
    share = np.where(labeled, beta, 1.0)  # beta cancels for unlabeled points
    numerator = share[:, None] * numerator
    numerator[labeled] += centers[codes[labeled]]
    denominator = share * denominator + labeled
    empty = denominator == 0
    return numerator / np.where(empty, 1.0, denominator)[:, None] / (1 - eigenvalues)
