"""Leading eigenpairs of a kernel operator, and what they make of points: the training map and its
extension."""

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from ..eigen import KernelOperator, top_eigenpairs
from ..kernels import kernel_sums

_ROUNDING = 10  # eigenvalues below this many units of the first one's rounding are taken for zero
_GAP = 1e-6  # relative gap below which the eigenvectors on its two sides cannot be told apart


@dataclass(frozen=True)
class Spectrum:
    """Positive leading eigenpairs of ``S K S``, S the diagonal of an operator (see `KernelOperator`).

    Attributes
    ----------
    operator : KernelOperator
    values : (r,) descending, float64
    vectors : (n, r) eigenvectors of a repeated point's rows: u / sqrt(w) for the weighted operator
    dropped : (q,) eigenvalues among those asked for that were not positive
    converged : whether the solver reached its tolerance
    """

    operator: KernelOperator
    values: np.ndarray
    vectors: np.ndarray
    dropped: np.ndarray
    converged: bool = True

    @property
    def anchors(self):
        """The points that `coefficients` and `density_weights` go with."""
        return self.operator.X

    @property
    def density_weights(self):
        return density_weights(self.operator)

    @property
    def training_map(self):
        """E L^1/2, (n, r)."""
        return self.vectors * np.sqrt(self.values).astype(self.vectors.dtype)

    def weighted_vectors(self):
        """W E, (n, r): sums over samples become sums over repeated samples."""
        weights = self.operator.sample_weight
        return self.vectors if weights is None else weights[:, None] * self.vectors

    def coefficients(self, columns, projection="consistent"):
        """A with ``phi(y) @ columns = g(y) k(y) A``; `columns` is (r, c)."""
        vectors = self.weighted_vectors().astype(np.float64)
        A = vectors @ (columns / np.sqrt(self.values)[:, None])
        degrees = self.operator.degrees
        if projection == "consistent":
            return A if degrees is None else A / np.sqrt(degrees)[:, None]
        return A * paper_factor(self.operator)

    def determined(self, candidates, tol=None):
        """Whether the span of the first r vectors is determined by the data, for each r of the candidates.

        It is not where the eigenvalues r and r + 1 agree, as those of isolated points do at a small
        bandwidth; any basis of their common space is as good as another.
        """
        eps = np.finfo(self.vectors.dtype).eps
        smallest = max(_GAP, 10 * (eps ** (2 / 3) if tol is None else tol)) * self.values[0]
        following = np.append(self.values[1:], 0)
        r = np.minimum(candidates, len(self.values))
        return self.converged & ((self.values - following)[r - 1] > smallest)

    def extend(self, Q, projection="consistent"):
        """phi(y) for the rows y of Q: the Nystrom extension, (m, r) float64."""
        operator = self.operator
        return project(
            Q,
            self.anchors,
            self.coefficients(np.eye(len(self.values)), projection),
            kernel=operator.kernel,
            bandwidth=operator.bandwidth,
            density_weights=self.density_weights if projection == "consistent" else None,
            n_jobs=operator.n_jobs,
        )


def paper_factor(operator):
    """Of ``projection="paper"``: sqrt(n), beside plain profiles (thesis section 9.1 drops the kernel's constant)."""
    return np.sqrt(len(operator.X) if operator.sample_weight is None else operator.sample_weight.sum())


def density_weights(operator):
    """v with f(y) = k(y) v for an operator normalised by the mean of its rows; None for a plain one."""
    if operator.degrees is None:
        return None
    weights = operator.sample_weight
    weights = np.ones(len(operator.X)) if weights is None else weights.astype(np.float64)
    return weights / weights.sum()


def leading_spectrum(
    operator, n_components, *, solver="auto", tol=None, random_state=None, max_applications=None
):
    """The positive ones of the leading eigenpairs; all n are computed where `n_components` is n or more."""
    n = len(operator.X)
    converged = True
    if n_components >= n:
        values, vectors = scipy.linalg.eigh(operator.toarray().astype(np.float64))
        values, vectors = values[::-1], vectors[:, ::-1]
    else:
        result = top_eigenpairs(
            operator, n_components, solver=solver, tol=tol, max_applications=max_applications,
            random_state=random_state, n_jobs=operator.n_jobs,
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


def project(Q, X, A, *, kernel, bandwidth, density_weights=None, n_jobs=None):
    """``g(y) k(y) A`` for the rows y of Q, with ``g = f(y)^-1/2`` where `density_weights` are given, else 1.

    Of several columns of `density_weights` f is the largest sum. Where no kernel reaches, the limit is 0: k(y)
    vanishes faster than f(y)^1/2.
    """
    columns = A if density_weights is None else np.column_stack([A, density_weights])
    log_scale, sums = kernel_sums(
        Q, X, weights=columns, kernel=kernel, bandwidth=bandwidth, log="pair", n_jobs=n_jobs
    )
    log_scale, sums = log_scale.astype(np.float64)[:, None], sums.astype(np.float64)
    if density_weights is None:
        return np.exp(log_scale) * sums
    n_columns = A.shape[1]
    density = sums[:, n_columns:].max(axis=1, keepdims=True)
    reached = density > 0
    root = np.sqrt(np.where(reached, density, 1))
    return np.where(reached, np.exp(log_scale / 2) * sums[:, :n_columns] / root, 0.0)
