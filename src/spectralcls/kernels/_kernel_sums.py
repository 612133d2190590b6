"""Kernel sums and kernel matrices."""

from typing import Any, Literal

import numpy as np

from .._core import compiled
from .._core.threads import effective_n_threads
from .._utils.typing import Array, ArrayLike, Bandwidth, Kernel
from ._approximate import GRID_FEATURES, approximate_sums
from ._checks import (
    check_bandwidths,
    check_excluded,
    check_groups,
    check_kernel,
    check_labels,
    check_log,
    check_points,
    check_queries,
    check_tolerances,
    check_weights,
)
from ._exact import exact_sums
from ._normalizer import is_representable, log_normalizer
from ._packed_points import PackedPoints
from ._profiles import PROFILES
from ._request import SumsRequest
from ._weight_range import rescale_weights, weights_fit_dtype

__all__ = ["KERNELS", "PackedPoints", "kernel_matrix", "kernel_sums", "log_normalizer"]

# Kernels that have a density, as the estimators require.
KERNELS = tuple(name for name, profile in PROFILES.items() if profile.variance)


def kernel_sums(
    Q: ArrayLike,
    X: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    n_labels: int | None = None,
    kernel: Kernel = "gaussian",
    bandwidth: Bandwidth,
    log: bool | Literal["pair"] = False,
    exclude_self: bool | ArrayLike = False,
    exclude_groups: tuple[ArrayLike, ArrayLike] | None = None,
    normalize: bool = False,
    rtol: float = 0.0,
    atol: float = 0.0,
    n_jobs: int | None = None,
) -> Any:
    """Sum kernel values: ``out[i, b, l, c] = sum_j W[j, c] k_b(q_i, x_j)`` over the points j of label l.

    Distances, kernel values and sums stay in registers. No (m, n) array is formed, and all bandwidths, labels and
    columns share the distances.

    Parameters
    ----------
    Q : array-like of shape (m, d)
        Queries.
    X : array-like of shape (n, d) or PackedPoints
        Points. Sums are float32 if both Q and X are, otherwise float64. :class:`PackedPoints` are checked and packed
        once for many calls; they provide the labels, and the weights unless others are given here.
    weights : array-like of shape (n,), (n, c) or (n, b, c), default=None
        Weights of the points, of any sign; None means 1. Two dimensions add the axis c to the result; three dimensions
        also give each bandwidth separate weights. With `log` they may have any magnitude, in float64 even if Q and X
        are float32.
    labels : array-like of int of shape (n,), default=None
        Labels 0 ... n_labels - 1, each summed separately (axis l); points with a negative label are left out.
    n_labels : int, default=None
        Length of the axis l; None means the largest label + 1.
    kernel : str, default="gaussian"
        One of ``KERNELS``, or "laplace_derivative".
    bandwidth : float or array-like of shape (b,) or (b, n_labels)
        Bandwidth(s) h > 0, in the units of X. An array adds the axis b; two dimensions give each label a separate
        bandwidth, at the same cost. Geometric grids are cheapest: each further bandwidth, larger by sqrt(2) with the
        Gaussian or by 2 with "laplace", costs one multiplication per pair instead of an exponential.
    log : bool or "pair", default=False
        True: natural logarithms of the sums, -inf for an empty sum; weights must not be negative. "pair": a tuple
        (log_scale (m, b, l), sums) with ``sum = exp(log_scale) * sums``. Neither underflows with a kernel that is
        positive everywhere. All columns share the scale of the nearest point with nonzero weight in any of them: a
        column whose sum is less than 1e-38 (float32) or 1e-308 times the kernel value at this point is empty.
    exclude_self : bool or array-like of int of shape (m,), default=False
        True: Q and X are the same points, and query i leaves out point i. An array: the point that each query leaves
        out, -1 for none.
    exclude_groups : tuple of two int arrays of shape (m,) and (n,), default=None
        Groups 0, 1, ... of the queries and of the points; a query leaves out the points of its own group. With the
        folds of a cross-validation as groups, one call sums every held-out point over the training part of its fold.
    normalize : bool, default=False
        Multiply by the constant that makes k(|x| / h) a density on R^d.
    rtol, atol : float, default=0
        Tolerated error: for each query and column the errors of all labels add up to at most ``atol + rtol * s``, where
        s is the sum of ``|W[j, c]| k_b(q_i, x_j)`` over the points of all labels. With 0 (the default), sums are exact
        up to rounding. In up to three dimensions, sums of the Gaussian use a fast Gauss transform with this error bound
        (guaranteed, not probabilistic) if it is predicted to be faster than all pairs, even if both tolerances are 0.
        In more dimensions, tiles of points too far away to matter are left out. With `log`, weights must not be
        negative and `atol` must be 0; a label whose sum is below rtol times the total may appear empty.
    n_jobs : int, default=None
        Number of threads. None means all cores, unless joblib, threadpoolctl or OMP_NUM_THREADS set a lower limit. The
        result is bitwise identical for any number of threads.

    Returns
    -------
    sums : ndarray of shape (m[, b][, l][, c]), or a tuple (log_scale, sums) with ``log="pair"``
        The sums, with an axis b for an array of bandwidths, l for labels, and c for weights of more than one dimension.

    Raises
    ------
    ValueError
        If an array has the wrong shape or contains NaN or infinity, a bandwidth is not positive and finite, the kernel
        is unknown, weights are negative with ``log=True``, or a tolerance is combined with groups or with weights for
        each bandwidth.

    Notes
    -----
    Cost O(m n (d + b + c)) time, O((m + n) (d + c)) memory. The guide's page "Numerics and reproducibility" states how
    accurate the sums are and which method each call uses. If a sample of the queries predicts a gain, pairs too small
    to change the rounded result are pruned: for a query and a label, they add up to at most a quarter ulp of the sum of
    absolute terms. On clustered data, at the bandwidth of a classifier, most pairs are pruned.

    Examples
    --------
    >>> from spectralcls import kernel_sums
    >>> kernel_sums([[0.0]], [[0.0], [1.0], [2.0]], bandwidth=[1.0, 2.0]).round(3)
    array([[1.742, 2.489]])
    >>> kernel_sums([[0.0]], [[0.0], [1.0], [2.0]], labels=[0, 0, 1], bandwidth=1.0).round(3)
    array([[1.607, 0.135]])
    """
    check_kernel(kernel)
    output = check_log(log)
    points: Any = X if isinstance(X, PackedPoints) else None
    if points is None:
        Q, X = check_points(Q, X)
        labels, n_labels, has_labels = check_labels(labels, n_labels, len(X))
    elif labels is not None or n_labels is not None:
        raise ValueError("PackedPoints have their own labels: give labels and n_labels to PackedPoints instead.")
    else:
        Q, points = check_queries(Q, points, Q is points.X)
        X, labels, n_labels, has_labels = points.X, points.labels, points.n_labels, points.labels is not None
    bandwidths, has_bandwidths = check_bandwidths(bandwidth, n_labels if has_labels else None)
    dtype, log_shift = X.dtype, 0.0
    if output == "plain" and normalize and not is_representable(kernel, X, bandwidths):
        # The constant may over- or underflow although the product does not: use a scale, in float64.
        output, Q, X = "scaled", Q.astype(np.float64), X.astype(np.float64)
        points = points if points is None else points.astype(np.float64)
    own = points is not None and weights is None
    if own:
        weights = points.weights
        W = None if weights is None else weights.reshape(len(X), -1)
    else:  # with a scale, weights may exceed the range of float32
        others = () if output == "plain" else (np.float64,)
        W = check_weights(weights, len(X), len(bandwidths), X.dtype, *others)
    if output == "log" and W is not None and W.min(initial=0) < 0:
        raise ValueError('Negative weights may have a negative sum, which has no logarithm: use log="pair".')
    if output == "plain" or W is None or (points.weights_fit_dtype() if own else weights_fit_dtype(W, X.dtype)):
        W = None if W is None else W.astype(X.dtype, copy=False)
    else:
        W, labels, log_shift = rescale_weights(W, labels, X.dtype)
        Q, X, points = Q.astype(W.dtype, copy=False), X.astype(W.dtype, copy=False), None
    excluded = check_excluded(exclude_self, Q, X)
    groups = check_groups(exclude_groups, len(Q), len(X))
    check_tolerances(rtol, atol)
    weight_axes = 0 if weights is None else np.ndim(weights)
    if (rtol or atol) and (exclude_groups is not None or weight_axes == 3):
        raise ValueError("rtol and atol cannot be combined with groups or with weights for each bandwidth.")
    request = SumsRequest(
        Q=Q,
        X=X,
        points=points if exclude_groups is None else None,
        weights=W,
        own_weights=own,
        labels=labels,
        n_labels=n_labels,
        kernel=kernel,
        bandwidths=bandwidths,
        output=output,
        excluded=excluded,
        groups=groups,
        rtol=float(rtol),
        atol=float(atol),
        n_threads=effective_n_threads(n_jobs),
        dtype=dtype,
        log_shift=log_shift,
        axes=(has_bandwidths, has_labels, weight_axes > 1),
        normalize=normalize,
        is_pair=isinstance(log, str),
    )
    sums = approximate_sums(request)
    if sums is None:  # in few features, the grid uses the tolerance, and exact sums skip no distant tiles
        sums = exact_sums(request, **({"rtol": 0.0} if rtol and X.shape[1] <= GRID_FEATURES else {}))
    return request.answer(sums)


def kernel_matrix(
    Q: ArrayLike,
    X: ArrayLike | None = None,
    *,
    kernel: Kernel = "gaussian",
    bandwidth: float,
    normalize: bool = False,
    out: Array | None = None,
    n_jobs: int | None = None,
) -> Array:
    """The matrix of kernel values ``k(q_i, x_j)``.

    Parameters
    ----------
    Q : array-like of shape (m, d)
        Queries.
    X : array-like of shape (n, d) or PackedPoints, default=None
        Points. None means Q itself: the matrix is symmetric, each pair is computed once, and the diagonal is exactly
        k(0).
    kernel : str, default="gaussian"
        One of ``KERNELS``, or "laplace_derivative".
    bandwidth : float
        Bandwidth h > 0, in the units of X.
    normalize : bool, default=False
        Multiply by the constant that makes k(|x| / h) a density on R^d.
    out : ndarray of shape (m, n), default=None
        C-contiguous, writeable array for the result, of its dtype. It must not share memory with Q or X.
    n_jobs : int, default=None
        Number of threads, as in :func:`kernel_sums`.

    Returns
    -------
    K : ndarray of shape (m, n)
        The kernel values, float32 if both Q and X are, otherwise float64; `out` if given.

    Raises
    ------
    ValueError
        As for :func:`kernel_sums`, and if `out` has another shape, dtype or order, or overlaps Q or X.

    Notes
    -----
    Cost O(m n d) time (half of it if symmetric), and no memory beyond the result and a packed copy of X.

    Examples
    --------
    >>> from spectralcls import kernel_matrix
    >>> kernel_matrix([[0.0], [1.0], [2.0]], bandwidth=1.0).round(3)
    array([[1.   , 0.607, 0.135],
           [0.607, 1.   , 0.607],
           [0.135, 0.607, 1.   ]])
    """
    symmetric = X is None
    if isinstance(X, PackedPoints):
        Q, X = check_queries(Q, X.X, Q is X.X)
    else:
        Q, X = check_points(Q, Q if symmetric else X)
    check_kernel(kernel)
    bandwidths, several = check_bandwidths(bandwidth)
    if several:
        raise ValueError("kernel_matrix takes one bandwidth.")
    if out is None:
        out = np.empty((len(Q), len(X)), dtype=X.dtype)
    elif not (
        isinstance(out, np.ndarray)
        and out.shape == (len(Q), len(X))
        and out.dtype == X.dtype
        and out.flags.c_contiguous
        and out.flags.writeable
    ):
        raise ValueError(f"out must be a writeable C-contiguous array of shape {(len(Q), len(X))} and dtype {X.dtype}.")
    elif np.may_share_memory(out, Q) or np.may_share_memory(out, X):
        raise ValueError("out must not share memory with Q or X: it is written while they are read.")
    if normalize and not is_representable(kernel, X, bandwidths):
        labels = np.arange(len(X))  # each point has a separate label
        logs = kernel_sums(
            Q.astype(np.float64),
            X.astype(np.float64),
            labels=labels,
            kernel=kernel,
            bandwidth=float(bandwidths[0]),
            log=True,
            normalize=True,
            n_jobs=n_jobs,
        )
        with np.errstate(over="ignore"):
            out[...] = np.exp(logs)
        return out
    factor = float(np.exp(-log_normalizer(kernel, X.shape[1], bandwidths[0]))) if normalize else 1.0
    compiled.kernel_matrix(
        Q, None if symmetric else X, kernel, float(bandwidths[0]), factor, np.asarray(out), effective_n_threads(n_jobs)
    )
    return out
