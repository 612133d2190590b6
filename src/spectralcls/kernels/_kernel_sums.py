"""Kernel sums and kernel matrices."""

from typing import Any, Literal

import numpy as np

from .._core import compiled
from .._core.threads import effective_n_threads
from .._utils.typing import Array, ArrayLike, Bandwidth, Kernel
from ._checks import check_excluded, check_groups, check_matrix, check_queries, check_weights, check_widths
from ._normalizer import is_representable, log_normalizer
from ._packed_points import GivenPoints, PackedPoints
from ._profiles import PROFILES
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
    return checked_sums(
        Q,
        X,
        weights,
        labels=labels,
        n_labels=n_labels,
        kernel=kernel,
        bandwidth=bandwidth,
        log=log,
        exclude_self=exclude_self,
        exclude_groups=exclude_groups,
        normalize=normalize,
        rtol=rtol,
        atol=atol,
        n_jobs=n_jobs,
    )


def checked_sums(
    Q: Any,
    X: Any,
    weights: Any = None,
    *,
    labels: Any = None,
    n_labels: Any = None,
    kernel: str = "gaussian",
    bandwidth: Any,
    log: Any = False,
    exclude_self: Any = False,
    exclude_groups: Any = None,
    normalize: bool = False,
    rtol: float = 0.0,
    atol: float = 0.0,
    all_pairs: bool = False,
    n_jobs: int | None = None,
) -> Any:
    """`kernel_sums`, which uses no grid if `all_pairs`."""
    points: PackedPoints
    if not isinstance(X, PackedPoints):
        points = GivenPoints(X, labels=labels, n_labels=n_labels)
    elif labels is None and n_labels is None:
        points = X
    else:
        raise ValueError("PackedPoints have their own labels: give labels and n_labels to PackedPoints instead.")
    Q, points = check_queries(points.X if Q is X else Q, points, Q is X or Q is points.X)
    widths, dtype, output = check_widths(bandwidth), points.dtype, _output(log)
    log_factor: Any = 0.0
    if normalize:
        log_factor = -log_normalizer(kernel, points.shape[1], widths)
        if output == "plain" and not is_representable(log_factor, dtype):
            # The constant may over- or underflow although the product does not: use a scale, in float64.
            if isinstance(atol, float) and atol > 0:
                raise ValueError(f"normalize=True, with a constant that {dtype} cannot hold, takes no atol.")
            output, Q, points = "scaled", Q.astype(np.float64), points.astype(np.float64)
    own, one_label = weights is None, points.labels is None
    if own:
        weights = points.weights
    elif output == "plain":
        weights = check_weights(weights, dtype)
    else:  # with a scale, weights may exceed the range of float32
        weights = check_weights(weights, points.dtype, np.float64)
    if output != "plain" and not (points.weights_fit_dtype() if own else weights_fit_dtype(weights, points.dtype)):
        weights, codes, shift = rescale_weights(weights, points.labels, points.dtype)
        points = GivenPoints(points.X.astype(weights.dtype, copy=False), labels=codes, n_labels=points.n_labels)
        Q, own = Q.astype(weights.dtype, copy=False), False
        log_factor = log_factor + shift
    found = compiled.kernel_sums(
        Q,
        points.core(),
        None if own or weights is None else weights.astype(points.dtype, copy=False),
        kernel,
        widths,
        check_excluded(exclude_self, Q, len(points)),
        *check_groups(exclude_groups),
        rtol,
        atol,
        output,
        all_pairs,
        effective_n_threads(n_jobs, len(Q) * len(points) * (points.shape[1] + 12)),
    )
    if one_label and points.labels is not None:  # those of rescaled weights
        axis = 1 + np.ndim(widths)
        found = found.take(0, axis) if output != "scaled" else tuple(part.take(0, axis) for part in found)
    if output == "scaled":
        scale, sums = found
        scale += _expanded(log_factor, scale.ndim)
        if log == "pair":
            return scale.astype(dtype, copy=False), sums.astype(dtype, copy=False)
        with np.errstate(divide="ignore", over="ignore"):
            sums = np.sign(sums) * np.exp(_expanded(scale, sums.ndim, 0) + np.log(np.abs(sums)))
    elif output == "logs":
        sums = found
        sums += _expanded(log_factor, sums.ndim)
    else:
        sums = found
        if normalize:
            sums *= _expanded(np.exp(log_factor), sums.ndim).astype(sums.dtype)
    return sums.astype(dtype, copy=False)


def _output(log: Any) -> str:
    """The name of the output in the core."""
    if not (isinstance(log, (bool, np.bool_)) or (isinstance(log, str) and log == "pair")):
        raise ValueError(f'log must be False, True or "pair", got {log!r}.')
    return {False: "plain", True: "logs", "pair": "scaled"}[log]


def _expanded(values: Any, ndim: int, first: int = 1) -> Array:
    """An array of the axes from `first` on, with further axes at the end."""
    values = np.asarray(values)
    return values.reshape(values.shape + (1,) * (ndim - first - values.ndim))


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
        Q, X = check_queries(X.X if Q is X else Q, X.X, Q is X or Q is X.X)
    else:
        X = check_matrix(Q if symmetric else X, "X")
        Q, X = check_queries(X if symmetric else Q, X, symmetric or Q is X)
    width = check_widths(bandwidth)
    if not isinstance(width, float):
        raise ValueError("kernel_matrix takes one bandwidth.")
    if out is None:
        out = np.empty((len(Q), len(X)), dtype=X.dtype)
    elif np.may_share_memory(out, Q) or np.may_share_memory(out, X):
        raise ValueError("out must not share memory with Q or X: it is written while they are read.")
    log_factor = -log_normalizer(kernel, X.shape[1], width) if normalize else 0.0
    if not is_representable(log_factor, X.dtype):
        labels = np.arange(len(X))  # each point has a separate label
        options: Any = {"kernel": kernel, "bandwidth": width, "log": True, "normalize": True, "n_jobs": n_jobs}
        logs = checked_sums(Q.astype(np.float64), X.astype(np.float64), labels=labels, **options)
        with np.errstate(over="ignore"):
            out[...] = np.exp(logs)
        return out
    n_threads = effective_n_threads(n_jobs, len(Q) * len(X) * (X.shape[1] + 12))
    compiled.kernel_matrix(
        Q, None if symmetric else X, kernel, width, float(np.exp(log_factor)), np.asarray(out), n_threads
    )
    return out
