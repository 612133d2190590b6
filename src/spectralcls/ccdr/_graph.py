"""The weights of CCDR's graph, as logarithms so that the weights of far neighbors do not underflow."""

import numpy as np
from scipy.sparse import csr_array

from ..kernels.neighbor_search import csr, mean_squared_length, row_starts, undirected


def log_heat(distances, epsilon):
    """log w of the heat kernel, in float64; `distances` is a sparse array whose zeros are stored."""
    with np.errstate(over="ignore"):  # if the square overflows, the weight is zero
        data = -np.square(distances.data, dtype=np.float64) / epsilon
    return csr_array((data, distances.indices, distances.indptr), shape=distances.shape)


def log_weights(distances, weights, epsilon):
    """Logarithms of binary or heat kernel weights, and the epsilon used (None for binary weights)."""
    if weights == "binary":
        return log_heat(distances, np.inf), None
    epsilon = mean_squared_length(distances.data) if epsilon is None else float(epsilon)
    return log_heat(distances, epsilon), epsilon


def exponential(log_graph):
    """The weights from their logarithms."""
    return csr_array((np.exp(log_graph.data), log_graph.indices, log_graph.indptr), shape=log_graph.shape)


def symmetric_distances(graph):
    """The undirected version of a given neighbors graph of distances, which may be asymmetric."""
    graph = _square(graph)
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    return undirected(rows, graph.indices, graph.data, graph.shape[0])[0]


def symmetric_log_weights(graph):
    """Logarithms of given weights, without the diagonal."""
    graph = _square(graph)
    difference = abs(graph - graph.T)
    if difference.nnz and difference.max() > 1e-6 * graph.max():
        raise ValueError(
            "the precomputed graph of weights is not symmetric; symmetrize it first, e.g. W.maximum(W.T), or "
            "pass distances with affinity='precomputed_nearest_neighbors', which are symmetrized here."
        )
    graph = graph.tocoo()
    off_diagonal = graph.row != graph.col
    entries = graph.data[off_diagonal], (graph.row[off_diagonal], graph.col[off_diagonal])
    return positive_logarithms(csr_array(entries, shape=graph.shape))


def positive_logarithms(weights):
    """Logarithms of the positive entries of given weights."""
    weights = _given(weights)
    weights.eliminate_zeros()
    weights.data = np.log(weights.data.astype(np.float64))
    return weights


def _given(graph):
    graph = csr_array(graph, copy=True)
    if graph.data.size and not graph.data.min() >= 0:
        raise ValueError(f"a precomputed graph must not have negative entries; the least is {graph.data.min()!r}.")
    return graph


def _square(graph):
    graph = _given(graph)
    if graph.shape[0] != graph.shape[1]:
        raise ValueError(f"a precomputed graph must be square, got shape {graph.shape}.")
    return graph


def row_maximum(log_graph):
    """Largest entry of every row of a CSR array, 0 for an empty row."""
    filled = np.flatnonzero(np.diff(log_graph.indptr))
    largest = np.zeros(log_graph.shape[0])
    if len(filled):
        largest[filled] = np.maximum.reduceat(log_graph.data, log_graph.indptr[filled])
    return largest


def given_rows(graph):
    """Distances from queries to training points, and the duplicate of each query: its first point at distance 0, or -1.

    The duplicate is left out of the query's row, because w_ii = 0.
    """
    graph = _given(graph)
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    duplicates = np.full(graph.shape[0], graph.shape[1])
    zero = graph.data == 0
    np.minimum.at(duplicates, rows[zero], graph.indices[zero])
    duplicates[duplicates == graph.shape[1]] = -1
    kept = graph.indices != duplicates[rows]
    starts = row_starts(rows[kept], graph.shape[0])
    return csr(graph.data[kept], graph.indices[kept], starts, graph.shape), duplicates
