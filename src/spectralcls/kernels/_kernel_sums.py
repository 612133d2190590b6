"""Kernel sums and kernel matrices."""

from typing import Any

import numpy as np

from .._core import compiled
from .._core.threads import effective_n_threads
from .._utils.typing import Array, ArrayLike, Bandwidth
from ._checks import (
    check_bandwidths,
    check_confidence,
    check_dimension,
    check_excluded,
    check_groups,
    check_kernel,
    check_labels,
    check_log,
    check_points,
    check_queries,
    check_tolerances,
    check_weights,
    check_widths,
)
from ._outputs import completed
from ._points import KernelPoints
from ._profiles import PROFILES
from ._sampled import sampled_sums
from ._tolerance import sums_within_tolerance
from ._weight_range import brought_into_range, in_range

__all__ = ["KERNELS", "KernelPoints", "kernel_matrix", "kernel_sums", "log_normalizer"]

TREE_FEATURES = 3  # up to which a tolerance has methods of its own; beyond, tiles out of sight are left out

# Those of which a density can be made, which is what the estimators take.
KERNELS = tuple(name for name, profile in PROFILES.items() if profile.variance)


def kernel_sums(
    Q: ArrayLike,
    X: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    n_labels: int | None = None,
    kernel: str = "gaussian",
    bandwidth: Bandwidth,
    log: bool | str = False,
    exclude_self: bool | ArrayLike = False,
    exclude_groups: tuple[ArrayLike, ArrayLike] | None = None,
    normalize: bool = False,
    rtol: float = 0.0,
    atol: float = 0.0,
    confidence: float = 1.0,
    n_jobs: int | None = None,
) -> Any:
    """Sum kernel values: ``out[i, b, l, c] = sum_j W[j, c] k_b(q_i, x_j)`` over the points j of label l.

    Distances, kernel values and sums stay in registers: no (m, n) array exists, and a further bandwidth, label
    or column does not compute a distance again.

    Parameters
    ----------
    Q : array-like of shape (m, d)
        Queries.
    X : array-like of shape (n, d) or KernelPoints
        Points. float32 when both Q and X are float32, float64 otherwise. :class:`KernelPoints` are checked and packed
        once for many calls; they have the labels, and the weights unless others are given here.
    weights : array-like of shape (n,), (n, c) or (n, b, c), default=None
        Weights of the points, of any sign; None means 1. More than one dimension adds the axis c to the result; three
        give each bandwidth weights of its own. With `log` they may be of any size, in float64 even if Q and X are
        float32.
    labels : array-like of int of shape (n,), default=None
        Sums are kept apart by label 0 ... n_labels - 1 (axis l); points with a negative label are left out.
    n_labels : int, default=None
        Length of the axis l; None: the largest label + 1.
    kernel : str, default="gaussian"
        One of ``KERNELS``, or "laplace_derivative".
    bandwidth : float or array-like of shape (b,) or (b, n_labels)
        Bandwidth(s) h > 0, in the units of X. An array adds the axis b; two dimensions give each label its own, at the
        same cost. A geometric grid is cheapest: one more step of sqrt(2) with the Gaussian, or of 2 with "laplace",
        costs one multiplication a pair instead of an exponential.
    log : bool or "pair", default=False
        True: natural logarithms of the sums, -inf for an empty sum; weights must not be negative. "pair": a tuple
        (log_scale (m, b, l), sums) with ``sum = exp(log_scale) * sums``. Neither underflows with a kernel that is
        positive everywhere. All columns have the scale of the nearest point that weighs something in any of them: a
        column that is less than 1e-38 (float32) or 1e-308 times the kernel value there is empty.
    exclude_self : bool or array-like of int of shape (m,), default=False
        True: Q is X, and query i leaves out point i. An array: the point that each query leaves out, -1 for none.
    exclude_groups : tuple of two int arrays of shape (m,) and (n,), default=None
        Groups of the queries and of the points, 0, 1, ...; a query leaves out the points of its own group. With the
        folds of a cross-validation every held-out point is summed over the training part of its fold, in one call.
    normalize : bool, default=False
        Multiply by the constant that makes k(|x| / h) a density on R^d.
    rtol, atol : float, default=0
        Allowed error of the sums: for each query and column the errors of all labels add up to at most
        ``atol + rtol * s``, s the sum of ``|W[j, c]| k_b(q_i, x_j)`` over the points of all labels. With 0 (the
        default) sums are exact to rounding; otherwise a sub-quadratic method with this guarantee (a certificate, not
        a probability) is used if it is predicted to be faster than all pairs: a fast Gauss transform in up to three
        dimensions; beyond, tiles of points too far away to matter are left out. With `log`,
        weights must not be negative and atol is 0; a label whose sum is below rtol times the total may come out as
        empty.
    confidence : float, default=1
        Probability in (0, 1] with which the sums of a query are within `rtol`. At 1 they are for certain. Below, points
        are drawn at random, of each label apart and in proportion to their weights, until an empirical Bernstein bound
        is below `rtol`: for many points (32 768 at least), more than three features and the kernels "gaussian" and
        "laplace", if a few queries show that a fraction of the points is enough, as with wide bandwidths in many
        dimensions. The others are within `rtol` for certain. The draws are the same in every call: the probability is
        over them, not over data that somebody chose to suit them.
    n_jobs : int, default=None
        Threads; None: all cores, unless joblib, threadpoolctl or OMP_NUM_THREADS say otherwise. The result has the
        same bits for any number.

    Returns
    -------
    sums : ndarray of shape (m[, b][, l][, c]), or a tuple (log_scale, sums) with ``log="pair"``
        The sums in the dtype of the points: an axis b where several bandwidths are given, l with labels, c with
        weights of more than one dimension.

    Raises
    ------
    ValueError
        For arrays of the wrong shape or with NaN or infinity, a bandwidth that is not positive and finite, an
        unknown kernel, negative weights with ``log=True``, a `confidence` without `rtol`.

    Notes
    -----
    Cost O(m n (d + b + c)) time, O((m + n) (d + c)) memory. The guide's page "Numerics and reproducibility" states how
    exact the sums are. Where a sample of the queries shows that it pays, pairs that the rounded result cannot see are
    left out unseen: all those of a query and a label together add at most a quarter of a rounding of its sum of
    absolute terms. On clustered data at the bandwidth of a classifier this is most of them.

    Examples
    --------
    >>> from spectralcls import kernel_sums
    >>> kernel_sums([[0.0]], [[0.0], [1.0], [2.0]], bandwidth=[1.0, 2.0]).round(3)
    array([[1.742, 2.489]])
    >>> kernel_sums([[0.0]], [[0.0], [1.0], [2.0]], labels=[0, 0, 1], bandwidth=1.0).round(3)
    array([[1.607, 0.135]])
    """
    points = X if isinstance(X, KernelPoints) else None
    if points is None:
        Q, X = check_points(Q, X)
        labels, n_labels, has_labels = check_labels(labels, n_labels, len(X))
    else:
        if labels is not None or n_labels is not None:
            raise ValueError("KernelPoints have their own labels: give labels and n_labels to KernelPoints instead.")
        Q, points = check_queries(Q, points, Q is points.X)
        X, labels, n_labels, has_labels = points.X, points.labels, points.n_labels, points.labels is not None
    bandwidths, has_bandwidths = check_bandwidths(bandwidth, n_labels if has_labels else None)
    output = check_log(log)
    if points is not None and weights is None:
        weights = points.weights
        W = weights if weights is None else weights.reshape(len(X), -1)
        as_they_are = output == "plain" or points.weights_in_range()
    else:
        # With a scale, weights may be beyond what float32 holds.
        W = check_weights(weights, len(X), len(bandwidths), X.dtype, *(() if output == "plain" else (np.float64,)))
        as_they_are = output == "plain" or W is None or in_range(W, X.dtype)
    check_kernel(kernel)
    if output == "log" and W is not None and W.min(initial=0) < 0:
        raise ValueError('Negative weights have no logarithm of a sum: use log="pair".')
    dtype, log_unit = X.dtype, 0.0
    if not as_they_are:
        W, labels, log_unit = brought_into_range(W, labels, dtype)
        Q, X, points = Q.astype(W.dtype, copy=False), X.astype(W.dtype, copy=False), None
    elif W is not None:
        W = W.astype(dtype, copy=False)
    excluded = check_excluded(exclude_self, Q, X)
    query_groups, point_groups, n_groups = check_groups(exclude_groups, len(Q), len(X))
    weight_axes = 0 if weights is None else np.ndim(weights)
    check_tolerances(rtol, atol)
    if (rtol or atol) and (exclude_groups is not None or weight_axes == 3):
        raise ValueError("rtol and atol go without groups, and with one set of weights, only.")
    check_confidence(confidence, rtol, atol)

    def similar(rows: Any, output: str, bandwidths: Array, W: Array | None, rtol: float) -> Any:
        without = None if excluded is None else excluded[rows]
        n_threads = effective_n_threads(n_jobs)
        if points is not None and query_groups is None:
            own = None if weights is points.weights else W
            return compiled.packed_kernel_sums(
                Q[rows], points.packed(n_threads), own, kernel, bandwidths, without, rtol, output, n_threads
            )
        return compiled.kernel_sums(
            Q[rows],
            X,
            W,
            labels,
            n_labels,
            kernel,
            bandwidths,
            without,
            None if query_groups is None else query_groups[rows],
            point_groups,
            n_groups,
            rtol,
            output,
            n_threads,
        )

    def pairs(rows: Any, output: str, rtol: float = 0.0) -> Any:
        parts = _similar_bandwidths(bandwidths) if len(bandwidths) > 1 else ()
        if len(parts) < 2:
            return similar(rows, output, bandwidths, W, rtol)
        own = [W if W is None or W.ndim < 3 else np.ascontiguousarray(W[:, part]) for part in parts]
        results = [similar(rows, output, bandwidths[part], w, rtol) for part, w in zip(parts, own, strict=True)]
        order = np.argsort(np.concatenate(parts))
        if output == "scaled":
            return tuple(np.concatenate(arrays, axis=1)[:, order] for arrays in zip(*results, strict=True))
        return np.concatenate(results, axis=1)[:, order]

    if normalize and not log and not _representable(kernel, X, bandwidths):
        # The constant overflows or vanishes, the product need not: so in logarithms, of float64.
        log_scale, scaled = kernel_sums(
            Q.astype(np.float64),
            X.astype(np.float64),
            weights=weights,
            labels=labels,
            n_labels=n_labels if has_labels else None,
            kernel=kernel,
            bandwidth=bandwidth,
            log="pair",
            exclude_self=False if excluded is None else excluded,
            exclude_groups=exclude_groups,
            normalize=True,
            n_jobs=n_jobs,
        )
        with np.errstate(divide="ignore", over="ignore"):
            size = np.exp((log_scale[..., None] if weight_axes > 1 else log_scale) + np.log(np.abs(scaled)))
            return (np.sign(scaled) * size).astype(X.dtype)
    result: Any = None
    if confidence < 1 and X.shape[1] > TREE_FEATURES:
        sampled = sampled_sums(
            Q,
            X,
            weights=W,
            labels=labels,
            n_labels=n_labels,
            kernel=kernel,
            bandwidths=bandwidths,
            rtol=float(rtol),
            confidence=float(confidence),
            excluded=excluded,
            n_jobs=n_jobs,
        )
        if sampled is not None:
            sums, certain = sampled
            result = completed(sums, certain, X.dtype, output, lambda rows: pairs(rows, output, float(rtol)))
    elif (rtol and X.shape[1] <= TREE_FEATURES) or atol:
        options = dict(
            weights=W,
            labels=labels,
            n_labels=n_labels,
            kernel=kernel,
            bandwidth=bandwidths,
            rtol=rtol,
            exclude_self=excluded,
            n_jobs=n_jobs,
        )
        result = sums_within_tolerance(Q, X, output, atol, lambda rows: pairs(rows, "scaled"), options)
    if result is None:
        result = pairs(slice(None), output, float(rtol))
    scale: Any
    scale, sums = result if log == "pair" else (None, result)
    if log_unit:
        with_unit = scale if log == "pair" else sums
        with_unit += log_unit
    if normalize:
        constant = -log_normalizer(kernel, X.shape[1], bandwidths).reshape(len(bandwidths), -1)  # (b, l) or (b, 1)
        if log == "pair":
            scale += constant.astype(scale.dtype)
        elif log:
            sums += constant[..., None].astype(sums.dtype)
        else:
            sums *= np.exp(constant)[..., None].astype(sums.dtype)
    index = (slice(None), *(slice(None) if kept else 0 for kept in (has_bandwidths, has_labels)))
    sums = sums[index if weight_axes > 1 else (*index, 0)].astype(dtype, copy=False)
    return (scale[index].astype(dtype, copy=False), sums) if log == "pair" else sums


def bounded_sums(
    Q: Array,
    points: KernelPoints,
    kernel: str,
    bandwidths: Array,
    rtol: float,
    n_jobs: int | None,
) -> Any:
    """``log="pair"`` by label over checked points, (m, b, l) and (m, b, l, c), and whether it uses the tolerance.

    Those of a query that do miss, in each column and label, no more than ``rtol`` times the label's share of the
    weights times the column's sum over all labels.
    """
    Q, points = check_queries(Q, points, Q is points.X)
    n_threads = effective_n_threads(n_jobs)
    bandwidths, _ = check_bandwidths(bandwidths, points.n_labels)
    return compiled.packed_kernel_sums(
        Q, points.packed(n_threads), None, kernel, bandwidths, None, rtol, "bounded", n_threads
    )


def _similar_bandwidths(bandwidths: Array) -> list[Array]:
    """Places of the bandwidths, in parts that differ by less than 2^30: a packing of points serves no wider range."""
    exponents = np.frexp(bandwidths.reshape(len(bandwidths), -1).max(axis=1))[1]
    part = (exponents - exponents.min()) // 30
    return [np.flatnonzero(part == p) for p in np.unique(part)]


def kernel_matrix(
    Q: ArrayLike,
    X: ArrayLike | None = None,
    *,
    kernel: str = "gaussian",
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
    X : array-like of shape (n, d) or KernelPoints, default=None
        None: the symmetric matrix of Q with itself, each pair computed once, its diagonal exactly k(0).
    kernel : str, default="gaussian"
        One of ``KERNELS``, or "laplace_derivative".
    bandwidth : float
        Bandwidth h > 0, in the units of X.
    normalize : bool, default=False
        Multiply by the constant that makes k(|x| / h) a density on R^d.
    out : ndarray of shape (m, n), default=None
        C-contiguous, writeable array of the result's dtype to fill. It must not share memory with Q or X.
    n_jobs : int, default=None
        Threads, as in :func:`kernel_sums`.

    Returns
    -------
    K : ndarray of shape (m, n)
        The kernel values, float32 when both Q and X are, else float64; `out` if that was given.

    Raises
    ------
    ValueError
        As :func:`kernel_sums`, and for an ``out`` of another shape, dtype or order, or one that overlaps Q or X.

    Notes
    -----
    Cost O(m n d) time (half of it if symmetric), no memory beyond the result and a packed copy of X.

    Examples
    --------
    >>> from spectralcls import kernel_matrix
    >>> kernel_matrix([[0.0], [1.0], [2.0]], bandwidth=1.0).round(3)
    array([[1.   , 0.607, 0.135],
           [0.607, 1.   , 0.607],
           [0.135, 0.607, 1.   ]])
    """
    symmetric = X is None
    if isinstance(X, KernelPoints):
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
    if normalize and not _representable(kernel, X, bandwidths):
        labels = np.arange(len(X))  # each point's share of the sums by itself, in logarithms
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


def _representable(kernel: str, X: Array, bandwidths: Array) -> bool:
    """Whether the constants of `normalize` are normal numbers of X's dtype."""
    limits = np.finfo(X.dtype)
    logs = log_normalizer(kernel, X.shape[1], bandwidths)
    return bool(np.abs(logs).max() < -np.log(limits.smallest_normal))


def log_normalizer(kernel: str, d: int, bandwidth: Bandwidth) -> Any:
    """Logarithm of the integral of ``k(|x| / h)`` over R^d, for each bandwidth h.

    Parameters
    ----------
    kernel : str
        One of ``KERNELS``.
    d : int
        Dimension.
    bandwidth : float or array-like
        Bandwidth(s) h > 0.

    Returns
    -------
    log_normalizer : float64 scalar or array of the shape of ``bandwidth``
        The logarithm of the kernel's integral over R^d.

    Raises
    ------
    ValueError
        For an unknown kernel, a dimension below 1, or bandwidths that are not positive.

    Notes
    -----
    ``(2 pi h^2)^(d/2)`` for the Gaussian; otherwise the surface of the unit sphere times the radial integral of
    k(u) u^(d-1): ``Gamma(d) h^d`` for "laplace", a Beta function for compact kernels, for the cosine a quadrature.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralcls.kernels import log_normalizer
    >>> print(round(np.exp(log_normalizer("gaussian", 1, 1.0)), 4))
    2.5066
    """
    check_kernel(kernel)
    check_dimension(d, "d")
    return PROFILES[kernel].log_integral(d) + d * np.log(check_widths(bandwidth))
