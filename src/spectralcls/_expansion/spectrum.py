"""Leading eigenpairs of a kernel operator, the coordinates of training points, and their extension to new points."""

from dataclasses import dataclass, replace
from functools import singledispatch

import numpy as np
import scipy.linalg

from .._utils.blocks import kept
from ..linalg import KernelOperator, fix_signs, top_eigenpairs
from .expansion import Expansion
from .points import plain_points
from .rule import Rule

_ROUNDING = 10  # eigenvalues up to this many ulps of the first count as zero
DISTANCE = Rule("distance")
# If the gap between two eigenvalues, relative to the first one, is below this, the eigenvectors on both sides are
# undetermined. Hardly any of the first twelve gaps of standardized iris, wine and breast cancer lie between 1e-7 and
# 4e-6: gaps are smaller at bandwidths that isolate points, and larger at wider bandwidths.
_GAP = 1e-6


class Eigenpairs:
    """What `Spectrum` and `LowRankSpectrum` share: maps in terms of `values`, `vectors` and the `operator`."""

    @property
    def training_map(self):
        """Coordinates E L^1/2 of the training points, (n, r), from eigenvectors E and eigenvalues L."""
        return self.vectors * np.sqrt(self.values).astype(self.vectors.dtype)

    def weighted_vectors(self):
        """W E, (n, r), whose sums over rows are those of E over samples repeated by their weights."""
        weights = self.operator.sample_weight
        return self.vectors if weights is None else weights[:, None] * self.vectors

    def shares(self):
        """Contribution ``value (1^T e)^2`` of each eigenpair to the sum of all entries of the matrix, with samples
        repeated by their weights.
        """
        return self.values * np.square(self.weighted_vectors().sum(axis=0, dtype=np.float64))

    def expansion(self, columns=None, offsets=None):
        """The Nystrom extension ``phi(y) @ columns`` as an `Expansion`; by default phi(y) itself, (m, r)."""
        columns = np.eye(len(self.values)) if columns is None else columns
        offsets = np.zeros(columns.shape[1]) if offsets is None else offsets
        A, density = self.coefficients(columns), self.density_weights
        A = A if density is None else np.column_stack([A, density])
        points = plain_points(self.anchors, self.operator.n_jobs)
        (A,) = kept(points.X, A)
        return Expansion(DISTANCE, points, self.operator.kernel, self.operator.bandwidth, A, offsets)


@dataclass(frozen=True)
class Spectrum(Eigenpairs):
    """Leading eigenpairs of ``S K S`` with positive eigenvalues, where S is a diagonal matrix (see `KernelOperator`).

    Attributes
    ----------
    operator : KernelOperator
    values : (r,) float64, descending unless `taken` in another order
    vectors : (n, r) eigenvectors e of the matrix in which points are repeated by their weights w: e = u / sqrt(w) for
        the eigenvectors u of the weighted operator
    dropped : (q,) requested eigenvalues that are not positive
    converged : whether the solver reached its tolerance
    """

    operator: KernelOperator
    values: np.ndarray
    vectors: np.ndarray
    dropped: np.ndarray
    converged: bool = True

    trace_residual = 0.0  # K is exact

    def taken(self, pairs):
        """The spectrum with only the given pairs, in the given order."""
        return replace(self, values=self.values[pairs], vectors=self.vectors[:, pairs])

    def coefficients(self, columns):
        """The matrix A with ``phi(y) @ columns = g(y) k(y) A``; `columns` is (r, c)."""
        vectors = self.weighted_vectors().astype(np.float64)
        A = vectors @ (columns / np.sqrt(self.values)[:, None])
        degrees = self.operator.degrees
        return A if degrees is None else A / np.sqrt(degrees)[:, None]

    @property
    def anchors(self):
        """The points to which `coefficients` and `density_weights` refer."""
        return self.operator.X

    @property
    def density_weights(self):
        """Weights v for which f(y) = k(y) v, if the operator is normalized by its row means; otherwise None."""
        return density_weights(self.operator)

    def determined(self, candidates, tol=None):
        """For each r among the candidates, whether the data determine the span of the first r eigenvectors.

        They do not if the eigenvalues r and r + 1 are equal, as for isolated points at a small bandwidth: any basis of
        the common eigenspace is then valid. Nothing is determined if the solver did not converge.
        """
        eps = np.finfo(self.vectors.dtype).eps
        smallest = max(_GAP, 10 * (eps ** (2 / 3) if tol is None else tol)) * self.values[0]
        following = np.append(self.values[1:], 0)
        r = np.minimum(candidates, len(self.values))
        return self.converged & ((self.values - following)[r - 1] > smallest)


@singledispatch
def kernel_operator(X, **options):
    """The kernel matrix of points, in memory or on workers, as an operator."""
    return KernelOperator(X, **options)


def density_weights(operator):
    """Weights v for which f(y) = k(y) v, if the operator is normalized by its row means; otherwise None."""
    if operator.degrees is None:
        return None
    weights = operator.sample_weight
    weights = np.ones(len(operator.X)) if weights is None else weights.astype(np.float64)
    return weights / weights.sum()


def kernel_spectrum(estimator, X, weights, bandwidth, weighting, n_components, *, kernel=None, max_block_products=None):
    """The `leading_spectrum` of the kernel matrix K or, if there is a `weighting`, of K normalized by its row means."""
    kernel = estimator.kernel if kernel is None else kernel
    options = {"kernel": kernel, "bandwidth": bandwidth, "sample_weight": weights, "n_jobs": estimator.n_jobs}
    operator = kernel_operator(X, weighting=None if weighting is None else "mean", **options)
    return leading_spectrum(operator, n_components, estimator, max_block_products)


def leading_spectrum(operator, n_components, estimator, max_block_products=None):
    """The positive leading eigenpairs, computed with the solver parameters of an estimator."""
    n = len(operator.X)
    converged = True
    if n_components >= n:
        if not hasattr(operator, "toarray"):
            raise ValueError(
                "On Dask collections n_components must be a number below n_samples: the kernel matrix is never formed."
            )
        values, vectors = scipy.linalg.eigh(operator.toarray().astype(np.float64))
        values, vectors = values[::-1], fix_signs(vectors[:, ::-1])
    else:
        result = top_eigenpairs(
            operator,
            n_components,
            solver=estimator.solver,
            tol=estimator.tol,
            max_block_products=max_block_products,
            random_state=estimator.random_state,
            n_jobs=operator.n_jobs,
        )
        values, vectors, converged = result.values, result.vectors, result.converged
    floor = _ROUNDING * np.finfo(operator.dtype).eps * max(values[0], 0)
    kept = values > floor
    if not kept.any():
        raise ValueError("The kernel matrix has no positive eigenvalue.")
    vectors = vectors[:, kept]
    if operator.sample_weight is not None:
        vectors = vectors / np.sqrt(operator.sample_weight)[:, None]
    return Spectrum(operator, values[kept], vectors.astype(operator.dtype), values[~kept], converged)
