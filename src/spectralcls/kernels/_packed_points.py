"""Points that are checked and packed once for many calls of kernel sums."""

from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike

from .._core import compiled
from .._utils.typing import Array, ArrayLike
from ._checks import check_integers, check_matrix, check_weights
from ._weight_range import weights_fit_dtype


class PackedPoints:
    """Points for the argument X of kernel sums, kernel matrices and neighbor searches, checked and packed once.

    :func:`kernel_sums`, :func:`kernel_matrix`, :func:`~spectralcls.neighbors.knn` and
    :func:`~spectralcls.neighbors.reverse_knn` accept them. A call with an array first checks every number in it, sorts
    the points by label, scales them and arranges them for vector instructions, or builds a k-d tree. For a single query
    this takes many times as long as the sums. `PackedPoints` are checked when created and packed at the first call.
    Neighbors are searched among all points, regardless of labels.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Points, float32 or float64; not copied if C-contiguous. Do not write to the array afterwards.
    weights : array-like of shape (n,) or (n, c), default=None
        Weights used by calls without weights.
    labels : array-like of int of shape (n,), default=None
        Labels 0 ... n_labels - 1; points with a negative label are left out.
    n_labels : int, default=None
        Number of labels; None means the largest label + 1.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        The points.
    weights : ndarray of shape (n,) or (n, c), or None
        Their weights, in the dtype of the points.
    labels : ndarray of shape (n,), or None
        Their labels.
    n_labels : int
        Number of labels.

    Raises
    ------
    ValueError
        If an array has the wrong shape or contains NaN or infinity, or if a label is not less than `n_labels`.

    Notes
    -----
    Packing takes O(n (d + c)) time; the object keeps the packed arrays, O(n (d + c)) memory. There are two layouts,
    each packed at the first call that needs it: for all pairs, one or two copies of X; for pruning, two or three copies
    and up to 36 float32 numbers per point. Both hold a copy of the weights. A k-d tree holds another copy of X and a
    quarter of its size in boxes. None of this is pickled: an unpickled object packs again at its first call. Several
    threads may use one object at the same time.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralcls.kernels import PackedPoints, kernel_sums
    >>> points = PackedPoints([[0.0], [1.0], [3.0]], labels=[0, 0, 1])
    >>> kernel_sums([[0.0]], points, bandwidth=1.0).round(4)
    array([[1.6065, 0.0111]])
    """

    _keep = True  # whether the core keeps packed points for further calls

    def __init__(
        self,
        X: ArrayLike,
        *,
        weights: Any = None,
        labels: ArrayLike | None = None,
        n_labels: Any = None,
    ) -> None:
        self.X = check_matrix(X, "X")
        self.labels = None if labels is None else check_integers(labels, "labels")
        self.weights: Array | None = None if weights is None else check_weights(weights, self.X.dtype)
        self._forget()
        core = compiled.points(self.X, self.weights, self.labels, n_labels, self._keep)
        self._made["core"], self.n_labels = core, core.n_labels

    def _forget(self) -> None:
        # Filled on demand without a lock, because a fork could inherit a locked one. If several threads compute a
        # value, one result is kept.
        self._made: dict[Any, Any] = {}

    def core(self) -> Any:
        """The points in the form of the compiled core, which checks them.

        Returns
        -------
        points : object
            Points, weights and labels; the first call that needs a layout packs it.
        """
        if "core" not in self._made:
            n_labels = None if self.labels is None else self.n_labels
            self._made.setdefault("core", compiled.points(self.X, self.weights, self.labels, n_labels, self._keep))
        return self._made["core"]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of points and of features, (n, d)."""
        return self.X.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Precision of the points, float32 or float64."""
        return self.X.dtype

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        labels = "" if self.labels is None else f", n_labels={self.n_labels}"
        return f"PackedPoints({len(self)} points, {self.shape[1]} features, {self.dtype}{labels})"

    def astype(self, dtype: DTypeLike, copy: bool = False) -> Self:
        """The same points in another dtype, as needed for float64 queries of float32 points.

        Parameters
        ----------
        dtype : dtype
            Either float32 or float64.
        copy : bool, default=False
            Ignored; accepted because scikit-learn's validation passes it.

        Returns
        -------
        points : PackedPoints
            The object itself if it has this dtype already; otherwise a converted object, created once and kept.
        """
        dtype = np.dtype(dtype)
        if dtype == self.dtype:
            return self
        if dtype not in self._made:
            other = type(self)(
                self.X.astype(dtype),
                weights=None if self.weights is None else self.weights.astype(dtype),
                labels=self.labels,
                n_labels=None if self.labels is None else self.n_labels,
            )
            self._made.setdefault(dtype, other)
        return self._made[dtype]

    def indexed(self) -> Any:
        """The points for the core's neighbor search. The first search that is faster with a tree builds it.

        Returns
        -------
        indexed : object
            The points in the form of the compiled core.
        """
        if "indexed" not in self._made:
            self._made.setdefault("indexed", compiled.index_points(self.X))
        return self._made["indexed"]

    def weights_fit_dtype(self) -> bool:
        """Whether sums with a scale can use the weights unchanged.

        Returns
        -------
        unchanged : bool
            False if a weight is zero, or if the magnitude or range of the weights requires another precision. Then
            every call packs the points again.
        """
        if "in range" not in self._made:
            self._made["in range"] = self.weights is None or weights_fit_dtype(self.weights, self.dtype)
        return self._made["in range"]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_made"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()


class GivenPoints(PackedPoints):
    """Points for a single call."""

    _keep = False
