"""Symmetric operators that are never formed: the (normalized) kernel matrix, and X X^T of a sparse X."""

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from .._core.threads import effective_n_threads
from .._utils.conversion import as_array, converted
from .._utils.typing import Array, ArrayLike, Kernel
from .._utils.validation import check_bandwidth
from ..kernels import KERNELS, PackedPoints, kernel_matrix, kernel_sums, log_normalizer

__all__ = ["GramOperator", "KernelOperator"]

_ISOLATED = 1e-3  # a point is isolated if its kernel values with the others add up to at most this fraction of its own


class _Operator(LinearOperator):
    """A symmetric operator whose pickles every SciPy version can read; SciPy 1.18 and later would store more."""

    def _adjoint(self) -> Self:
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_xp"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        LinearOperator.__init__(self, state["dtype"], state["shape"])
        self.__dict__.update(state)


class GramOperator(_Operator):
    """``X X^T`` of a sparse X; the n x n matrix is never formed.

    Parameters
    ----------
    X : sparse array or matrix of shape (n, p)
        Data, float32 or float64; other dtypes become float64.

    Attributes
    ----------
    rows : csr_array of shape (n, p)
        X.
    columns : csr_array of shape (p, n)
        The transpose of X.

    Notes
    -----
    A product with c vectors costs O(nnz(X) c); memory is two copies of X. The eigenvectors are the left singular
    vectors of X, and the eigenvalues are its squared singular values. For ``D^-1/2 X X^T D^-1/2`` scale the rows of X.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from spectralcls.linalg import GramOperator
    >>> GramOperator(csr_array(np.array([[1.0, 0.0], [1.0, 2.0]]))) @ np.ones(2)
    array([2., 6.])
    """

    def __init__(self, X: Any) -> None:
        X = sp.csr_array(converted(X, "X", accept_sparse="csr", dtype=[np.float64, np.float32]))
        self.rows, self.columns = X, sp.csr_array(X.T)
        super().__init__(X.dtype, (X.shape[0], X.shape[0]))

    def _matmat(self, V: Array) -> Array:
        return self.rows @ (self.columns @ V)

    _matvec = _matmat

    def toarray(self) -> Array:
        """Form the n x n matrix in O(n^2) memory.

        Returns
        -------
        K : ndarray of shape (n, n)
            The matrix in the dtype of X.
        """
        return (self.rows @ self.columns).toarray()


class ScaledKernel(_Operator):
    """``S K S`` with a diagonal S. Subclasses define the product ``_sums(V)`` with a kernel matrix K."""

    labels: Any = None

    def _weigh(self, weighting: str | None, sample_weight: Array | None, degrees: Array | None = None) -> None:
        """Set S to ``W^1/2 D^-1/2``, where D is given or holds the weighted row sums or means of K."""
        if weighting not in (None, "mean", "sum"):
            raise ValueError(f'weighting must be None, "mean" or "sum", got {weighting!r}.')
        if degrees is not None and weighting is not None:
            raise ValueError("Give either degrees or weighting.")
        self.weighting, self.n_isolated = weighting, 0
        self.sample_weight = None if sample_weight is None else self._check_diagonal(sample_weight, "sample_weight")
        if weighting is not None:
            degrees = self._row_sums(weighting)
        self.degrees: Any = None if degrees is None else self._check_diagonal(degrees, "degrees")
        self._scale = self._diagonal_scale()

    def _row_sums(self, weighting: str | None) -> Array:
        ones = np.ones(self.shape[0], self.dtype)
        weights = ones if self.sample_weight is None else self.sample_weight
        sums = self._sums(weights[:, None])[:, 0]
        if self.labels is None:
            self.n_isolated = int(np.count_nonzero(sums - weights <= _ISOLATED * weights))
        return sums / weights.sum() if weighting == "mean" else sums

    def _diagonal_scale(self) -> Array | None:
        """The diagonal of S as a column; None if all are one."""
        if self.degrees is None and self.sample_weight is None:
            return None
        squared = 1 if self.sample_weight is None else self.sample_weight
        squared = squared if self.degrees is None else squared / self.degrees
        return np.sqrt(squared)[:, None]

    def _check_diagonal(self, diagonal: ArrayLike, name: str) -> Array:
        diagonal = as_array(diagonal, name, self.dtype)
        if diagonal.shape != self.shape[:1] or not np.all(diagonal > 0) or not np.all(np.isfinite(diagonal)):
            raise ValueError(f"{name} must be one positive finite number for each row of X.")
        return diagonal

    def _sums(self, weights: Array) -> Array:
        raise NotImplementedError

    def _matmat(self, V: Array) -> Array:
        V = np.asarray(V, dtype=self.dtype)
        if self._scale is None:
            return self._sums(V)
        return self._scale * self._sums(self._scale * V)

    def _matvec(self, v: Array) -> Array:
        return self._matmat(np.reshape(v, (-1, 1)))[:, 0]


class KernelOperator(ScaledKernel):
    """The kernel matrix K, or ``D^-1/2 K D^-1/2``, of a set of points; the matrix is never formed.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Points, float32 or float64; other dtypes become float64.
    kernel : str, default="gaussian"
        One of ``spectralcls.kernels.KERNELS``.
    bandwidth : float or dict of int to float
        Bandwidth, positive, in the units of the features; with ``labels`` a dict {label: bandwidth}.
    weighting : {None, "mean", "sum"}, default=None
        None: K. "mean": D holds the row means of K, the Parzen densities up to a constant (the "Laplacian data
        matrix" of Jenssen et al., with first eigenvalue n). "sum": D holds the row sums (first eigenvalue 1).
    degrees : array-like of shape (n,), default=None
        The diagonal of D if it is not computed from K; cannot be combined with ``weighting``.
    labels : array-like of int of shape (n,), default=None
        Labels 0 ... n_labels - 1. The kernel between points of labels t and s is the normalized Gaussian of variance
        ``bandwidth[t]**2 + bandwidth[s]**2`` (the class-wise bandwidths of the Laplacian spectral classifier).
    sample_weight : array-like of shape (n,), default=None
        Positive weights w. The operator becomes ``W^1/2 K W^1/2``, or ``W^1/2 D^-1/2 K D^-1/2 W^1/2`` with D
        the weighted row means or sums. Its nonzero eigenvalues are those of the matrix in which each point is repeated
        w times.
    n_jobs : int, default=None
        Number of threads, as in :func:`~spectralcls.kernels.kernel_sums`.

    Attributes
    ----------
    degrees : ndarray of shape (n,) or None
        The diagonal of D.
    n_isolated : int
        Number of points whose kernel values with all others add up to at most 0.1 % of the value with themselves. In a
        normalized operator each such point has the same eigenvalue as a whole cluster, and the leading eigenvectors mix
        these points and clusters.

    Notes
    -----
    A product with a block of c vectors is one call of :func:`~spectralcls.kernels.kernel_sums` with the block as
    columns of weights: O(n^2 (d + c)) time, O(n (d + c)) memory. The whole block shares the exponentials, so 16 vectors
    cost about as much as two.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralcls.linalg import KernelOperator
    >>> (KernelOperator(np.array([[0.0], [1.0]]), bandwidth=1.0) @ np.ones(2)).round(3)
    array([1.607, 1.607])
    """

    def __init__(
        self,
        X: Any,
        *,
        kernel: Kernel = "gaussian",
        bandwidth: Any,
        weighting: str | None = None,
        degrees: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        n_jobs: int | None = None,
    ) -> None:
        X = converted(X, "X", dtype=[np.float64, np.float32], order="C")
        if kernel not in KERNELS:
            raise ValueError(f"kernel must be one of {KERNELS}, got {kernel!r}.")
        self.X, self.kernel, self.n_jobs = X, kernel, n_jobs
        self.labels = None if labels is None else as_array(labels, "labels")
        self.bandwidth = self._check_bandwidth(bandwidth)
        self._points = self._packed_points()
        super().__init__(X.dtype, (len(X), len(X)))
        self._weigh(weighting, sample_weight, degrees)

    def _check_bandwidth(self, bandwidth: Any) -> Any:
        by_label = isinstance(bandwidth, dict)
        if by_label != (self.labels is not None) or not by_label and np.ndim(bandwidth):
            raise ValueError(
                f"bandwidth must be a number, or with labels a dict {{label: number}}, got {bandwidth!r}"
                + (" and labels." if self.labels is not None else " without labels.")
            )
        values = check_bandwidth(bandwidth, range(len(bandwidth)) if by_label else ())
        if not by_label:
            return values
        if self.labels.shape != (len(self.X),) or self.labels.dtype.kind not in "iu":
            raise ValueError(
                f"labels must be {len(self.X)} integers, got shape {self.labels.shape} and dtype {self.labels.dtype}."
            )
        if not np.isin(self.labels, np.arange(len(values))).all():
            raise ValueError("labels must be one of 0 ... len(bandwidth) - 1 for each row of X.")
        if self.kernel != "gaussian":
            raise ValueError('Bandwidths by label are defined for kernel="gaussian" only.')
        return values

    def _packed_points(self, rows: Array | None = None) -> PackedPoints:
        """Some or all of the points, packed for any number of products."""
        X, labels = (A if A is None or rows is None else A[rows] for A in (self.X, self.labels))
        return PackedPoints(X, labels=labels, n_labels=None if labels is None else len(self.bandwidth))

    def _sums(self, weights: Array, points: Any = None) -> Array:
        """K @ weights, or the product of the columns of K for the given points with their weights."""
        points = self._points if points is None else points
        options: dict[str, Any] = dict(weights=weights, kernel=self.kernel, n_jobs=self.n_jobs)
        if self.labels is None:
            return kernel_sums(self.X, points, bandwidth=self.bandwidth, **options)
        out = np.empty((len(self.X), weights.shape[1]), self.dtype)
        for label in np.unique(self.labels):
            rows = np.flatnonzero(self.labels == label)
            widths, constants = label_widths(self.bandwidth, label, self.X.shape[1])
            sums = kernel_sums(self.X[rows], points, bandwidth=widths[None], **options)[:, 0]
            out[rows] = np.einsum("ilc,l->ic", sums, constants.astype(self.dtype))
        return out

    def _core_arguments(self) -> tuple[Any, ...]:
        """Arguments of ``compiled.eigen_kernel``, which multiplies without calling Python."""
        widths: Any
        constants: Any
        if self.labels is None:
            widths, constants = self.bandwidth, 1.0
        else:
            labels = range(len(self.bandwidth))
            widths, constants = zip(*(label_widths(self.bandwidth, t, self.X.shape[1]) for t in labels), strict=True)
        n_threads = effective_n_threads(self.n_jobs)
        return (
            self._points.core(),
            self.kernel,
            np.atleast_2d(widths),
            np.atleast_2d(constants).astype(self.dtype),
            None if self._scale is None else self._scale[:, 0],
            n_threads,
        )

    def toarray(self) -> Array:
        """Form the n x n matrix in O(n^2) memory and O(n^2 d) time.

        Returns
        -------
        K : ndarray of shape (n, n)
            The scaled matrix in the dtype of X.
        """
        if self.labels is None:
            K = kernel_matrix(self.X, kernel=self.kernel, bandwidth=self.bandwidth, n_jobs=self.n_jobs)
        else:
            K = label_matrix(self.X, self.labels, self.X, self.labels, self.bandwidth, self.n_jobs)
            K = (K + K.T) / 2
        if self._scale is not None:
            K *= self._scale
            K *= self._scale.T
        return K

    def known_pair(self) -> tuple[float, Array] | None:
        """The first eigenpair, if it is known in advance.

        If d are the row sums of K, ``D^-1/2 K D^-1/2`` maps ``sqrt(d)`` to itself.

        Returns
        -------
        pair : tuple (float, ndarray of shape (n,)) or None
            Eigenvalue and unit eigenvector. None without normalization or with given degrees.
        """
        if self.weighting is None:
            return None
        weights = np.ones(len(self.X)) if self.sample_weight is None else self.sample_weight
        vector = np.sqrt(weights * self.degrees)
        value = 1.0 if self.weighting == "sum" else float(weights.sum())
        return value, vector / np.linalg.norm(vector)

    def restricted(self, rows: Array) -> "KernelOperator":
        """The rows and columns of the operator for a subset of the points, with the same D.

        Parameters
        ----------
        rows : ndarray of int of shape (r,)
            Positions of the points of the subset.

        Returns
        -------
        part : KernelOperator
            The operator of shape (r, r).
        """
        part = object.__new__(KernelOperator)
        part.__dict__.update(self.__dict__)
        LinearOperator.__init__(part, self.dtype, (len(rows), len(rows)))
        for name in ("X", "labels", "sample_weight", "degrees", "_scale"):
            whole = getattr(self, name)
            setattr(part, name, None if whole is None else whole[rows])
        part.weighting, part.n_isolated, part._points = None, 0, part._packed_points()
        return part

    def extended(self, rows: Array, vectors: Array) -> Array:
        """Extend functions from a subset of the points to all points: ``A[:, rows] @ vectors`` for this operator A.

        Parameters
        ----------
        rows : ndarray of int of shape (r,)
            Positions of the points of the subset.
        vectors : ndarray of shape (r, c)
            Values of c functions on the subset.

        Returns
        -------
        extended : ndarray of shape (n, c)
            Values of the functions on all points, in O(n r (d + c)) operations.
        """
        if self._scale is None:
            return self._sums(vectors, self._packed_points(rows))
        return self._scale * self._sums(self._scale[rows] * vectors, self._packed_points(rows))


def label_widths(bandwidth: Array, label: int, n_features: int) -> tuple[Array, Array]:
    """Bandwidths (n_labels,) between points of one label and those of each label, and the constants of the normalized
    Gaussians relative to the largest constant of any pair of labels."""
    widths = np.hypot(bandwidth[label], bandwidth)
    reference = log_normalizer("gaussian", n_features, np.sqrt(2) * bandwidth.min())
    return widths, np.exp(reference - log_normalizer("gaussian", n_features, widths))


def label_matrix(
    A: Array, labels: Array, B: Array, other_labels: Array, bandwidth: Array, n_jobs: int | None = None
) -> Array:
    """The normalized Gaussians of variance ``bandwidth[t]**2 + bandwidth[s]**2`` between points of labels t and s, (m,
    n), scaled as in `label_widths`."""
    out = np.empty((len(A), len(B)), dtype=A.dtype)
    columns = [(s, np.flatnonzero(other_labels == s)) for s in np.unique(other_labels)]
    for t in np.unique(labels):
        rows = np.flatnonzero(labels == t)
        widths, constants = label_widths(bandwidth, t, A.shape[1])
        for s, some in columns:
            block = kernel_matrix(A[rows], B[some], bandwidth=widths[s], n_jobs=n_jobs)
            out[np.ix_(rows, some)] = constants[s] * block
    return out
