"""The leave-one-out likelihood of the Parzen posterior, and its gradient with respect to a linear map.

With ``z = y A`` and ``k_ij = exp(-|z_i - z_j|^2 / 2)``, let S_i be the sum of k_ij over all references j except i
itself, and A_i the part of i's own class. The posterior of the own class is A_i / S_i: the likelihood of neighborhood
components analysis, with the log loss. Its gradient takes a weighted kernel sum with one column for each feature and
another with two columns; no matrix of pairs is formed.

A `sample` is `TrainingData` of distinct points, with X (n, q) in float32 and centered, and weights (n,) that count
copies.
"""

import numpy as np

from ..kernels import kernel_sums, own_positions, without_own

FLOOR = 0.02  # added to the posterior, so that a mislabeled point does not dominate the loss
_SMALLEST_SUM = 1e-30  # smaller sums give no usable gradient in float32
_BLOCK_BYTES = 1 << 26


def _further_copies(sample, queries, references):
    """Weight of a query's own point after one copy is removed; a group is removed with all copies."""
    if sample.groups is not None:
        return np.zeros(len(queries))
    own = own_positions(queries, references)
    return np.where(own >= 0, np.maximum(sample.weights[queries] - 1.0, 0.0), 0.0)


def loss(sample, A, queries, references, bandwidths=(1.0,), n_jobs=None):
    """Mean of ``-log(A_i / S_i + FLOOR)`` over the queries, for each bandwidth: (b,). Sums are kept as logarithms, so
    that they do not underflow for queries far from all references.
    """
    Z = sample.X @ A.astype(np.float32)
    with np.errstate(divide="ignore"):
        copies = np.log(_further_copies(sample, queries, references))
    # One pass over the pairs computes the sums at all bandwidths, which are in ascending order.
    log_sums = kernel_sums(
        Z[queries],
        Z[references],
        weights=_unless_ones(sample.weights[references]),
        labels=sample.codes[references],
        n_labels=sample.n_classes,
        bandwidth=np.asarray(bandwidths, dtype=np.float64),
        log=True,
        n_jobs=n_jobs,
        **without_own(queries, sample.groups, references),
    ).astype(np.float64)
    rows, codes = np.arange(len(queries)), sample.codes[queries]
    log_sums[rows, :, codes] = np.logaddexp(log_sums[rows, :, codes], copies[:, None])
    top = log_sums.max(axis=2)
    top[np.isneginf(top)] = 0.0  # no other point within reach: the posterior is zero
    sums = np.exp(log_sums - top[..., None])
    posterior = sums[rows, :, codes] / np.maximum(sums.sum(axis=2), np.finfo(np.float64).tiny)
    return np.average(-np.log(posterior + FLOOR), axis=0, weights=sample.weights[queries])


def loss_and_gradient(sample, A, queries, references, n_jobs=None):
    """The loss over the queries at bandwidth 1, and its derivative with respect to A.

    Parameters
    ----------
    sample : TrainingData
    A : ndarray of shape (q, p)
    queries, references : ndarray of int
        Rows of the sample; a query that is also a reference leaves itself out.

    Returns
    -------
    loss : float
    gradient : ndarray of shape (q, p), float64

    Notes
    -----
    With ``W_ij = u_i (a_i [c_i = c_j] - b_i) w_j k_ij``, where c are the classes, u is the share of the query in the
    loss, ``a_i = 1 / (A_i + FLOOR S_i)`` and ``b_i = a_i A_i / S_i``, the gradient is
    ``sum_ij W_ij (y_i - y_j)^T (z_i - z_j)``. Row sums and W Y come from the first call of
    :func:`~spectralcls.kernels.kernel_sums`, with columns [1, Y]; column sums come from the second, with columns [a, b]
    and the roles exchanged. Self terms are left out in both: adding and subtracting them would leave rounding errors.
    Cost O(m r (p + q)) for m queries and r references.
    """
    A = A.astype(np.float32)
    Y_q, Y_r = sample.X[queries], sample.X[references]
    Z_q, Z_r = Y_q @ A, Y_r @ A
    copies = _further_copies(sample, queries, references)
    columns = np.column_stack([np.ones(len(Y_r), np.float32), Y_r])
    if _unless_ones(sample.weights[references]) is not None:
        columns *= sample.weights[references, None].astype(np.float32)

    m, share = len(queries), sample.weights[queries] / sample.weights[queries].sum()
    posterior, a, b, outside = np.zeros((4, m))
    moved = np.empty_like(Y_q)  # W Y
    step = max(1, _BLOCK_BYTES // (4 * sample.n_classes * columns.shape[1]))
    for start in range(0, m, step):
        block = slice(start, min(start + step, m))
        by_class = kernel_sums(
            Z_q[block],
            Z_r,
            weights=columns,
            labels=sample.codes[references],
            n_labels=sample.n_classes,
            bandwidth=1.0,
            n_jobs=n_jobs,
            **without_own(queries[block], sample.groups, references),
        )
        of_own = by_class[np.arange(len(by_class)), sample.codes[queries[block]]].astype(np.float64)
        of_all = by_class.sum(axis=1, dtype=np.float64)
        A_i, S_i = of_own[:, 0] + copies[block], of_all[:, 0] + copies[block]
        seen = S_i > _SMALLEST_SUM
        S_i[~seen] = 1.0
        posterior[block] = np.where(seen, A_i / S_i, 0.0)
        a[block] = np.where(seen, share[block] / (A_i + FLOOR * S_i), 0.0)
        b[block] = a[block] * posterior[block]
        outside[block] = a[block] * of_own[:, 0] - b[block] * of_all[:, 0]
        moved[block] = a[block, None] * of_own[:, 1:] - b[block, None] * of_all[:, 1:]

    by_class = kernel_sums(
        Z_r,
        Z_q,
        weights=np.column_stack([a, b]).astype(np.float32),
        labels=sample.codes[queries],
        n_labels=sample.n_classes,
        bandwidth=1.0,
        n_jobs=n_jobs,
        **without_own(references, sample.groups, queries),
    ).astype(np.float64)
    inside = by_class[np.arange(len(by_class)), sample.codes[references], 0] - by_class[..., 1].sum(axis=1)
    inside *= sample.weights[references]
    gradient = Y_r.T @ (inside[:, None] * Z_r) + Y_q.T @ (outside[:, None] * Z_q) - Y_q.T @ (moved @ A) - moved.T @ Z_q
    return float(-share @ np.log(posterior + FLOOR)), gradient


def _unless_ones(weights):
    return None if np.all(weights == 1) else weights.astype(np.float32)
