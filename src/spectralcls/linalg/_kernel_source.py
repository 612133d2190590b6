"""A kernel matrix evaluated on demand, from a named kernel, a callable or a matrix."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from .._utils.typing import Array
from ..kernels import KERNELS, kernel_matrix


class KernelSource:
    """Evaluates the diagonal and rows of the kernel matrix of X, from a named kernel, a callable or the matrix
    itself."""

    def __init__(self, X: Any, kernel: Any, bandwidth: float | None, n_jobs: int | None) -> None:
        self.X, self.precomputed, self.named = X, isinstance(kernel, str) and kernel == "precomputed", False
        if self.precomputed:
            if X.shape[0] != X.shape[1]:
                raise ValueError(f"kernel='precomputed' needs a square matrix, got shape {X.shape}")
        elif callable(kernel):
            self.between = kernel
        else:
            if kernel not in KERNELS:
                raise ValueError(f"kernel must be {', '.join(KERNELS)}, precomputed or a callable, got {kernel!r}.")
            if bandwidth is None:
                raise ValueError(f"kernel={kernel!r} needs a bandwidth")
            self.named = True
            self.between = partial(kernel_matrix, kernel=kernel, bandwidth=bandwidth, n_jobs=n_jobs)

    def diagonal(self) -> Array:
        X, step = self.X, 64
        if self.precomputed:
            return X.diagonal().astype(np.float64)
        if self.named:
            return np.ones(len(X))  # each of KERNELS is 1 at distance 0
        blocks = [np.diagonal(self.between(X[i : i + step], X[i : i + step])) for i in range(0, len(X), step)]
        return np.concatenate(blocks).astype(np.float64)

    def rows(self, pivots: Array, out: Array) -> None:
        """Write k(X[pivots], X) into `out`, a C-contiguous buffer of shape (len(pivots), n)."""
        if self.precomputed:
            np.take(self.X, pivots, axis=0, out=out, mode="clip")
        elif self.named:
            self.between(self.X[pivots], self.X, out=out)
        else:
            out[...] = self.between(self.X[pivots], self.X)

    def square(self, candidates: Array) -> Array:
        """k(X[candidates], X[candidates]) in float64, used to choose pivots."""
        if self.precomputed:
            return self.X[np.ix_(candidates, candidates)].astype(np.float64)
        points = self.X[candidates].astype(np.float64)
        return np.asarray(self.between(points, points), dtype=np.float64)

    def extension(self, pivots: Array) -> "Extension":
        """The function Q -> k(X[pivots], Q)."""
        if self.precomputed:
            return Extension(None, pivots, self.X.shape[1])
        return Extension(self.between, self.X[pivots], self.X.shape[1])


@dataclass(frozen=True)
class Extension:
    """Kernel values between the pivots and new points; for a precomputed kernel, columns of k(Q, X)."""

    between: Any
    pivots: np.ndarray
    n_features: int

    def __call__(self, Q: Any) -> Array:
        if self.between is None:
            return Q[:, self.pivots].T
        return self.between(self.pivots, np.asarray(Q, dtype=self.pivots.dtype))
