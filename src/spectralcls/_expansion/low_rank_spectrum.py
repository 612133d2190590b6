"""Spectra of low-rank kernel matrices K ~= F F^T, by randomly pivoted Cholesky in O(n r) memory."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..linalg import label_matrix, rpcholesky, sign_factors
from .spectrum import Spectrum


@dataclass(frozen=True)
class LowRankOperator:
    """The attributes of the operator ``S F F^T S`` that `Spectrum` reads, with S as in `KernelOperator`; F is not kept.

    Attributes
    ----------
    X : (n, d) points
    degrees : (n,) diagonal of D, or None. Each entry is at least the point's own contribution to its density.
    sample_weight : (n,) or None
    """

    X: np.ndarray
    kernel: str
    bandwidth: float | np.ndarray
    degrees: np.ndarray | None
    sample_weight: np.ndarray | None
    n_jobs: int | None


@dataclass(frozen=True)
class LowRankSpectrum(Spectrum):
    """Eigenpairs of ``S F F^T S``, extended to new points through kernel values at the landmarks only.

    ``k(y, X) A ~= k(y, landmarks) L^-T F^T A``, where L holds the landmarks' rows of F: every expansion over the n
    points becomes one over the r landmarks. At the training points, this approximation equals F F^T A.

    Attributes
    ----------
    landmarks : (r, d)
    map : (r, k) coefficients of the landmarks in the extension of each eigenvector
    density : (r, 2) or None. For the first column v, f(y) ~= k(y, landmarks) v. The second column gives the landmarks'
        contribution to f(y), a lower bound, which exceeds the estimate if the factor is too poor.
    trace_residual : trace(K - F F^T) / trace(K)
    """

    landmarks: np.ndarray | None = None
    map: np.ndarray | None = None
    density: np.ndarray | None = None
    trace_residual: float = 0.0

    @property
    def anchors(self):
        return self.landmarks

    @property
    def density_weights(self):
        return self.density

    def taken(self, pairs):
        return replace(super().taken(pairs), map=self.map[:, pairs])

    def coefficients(self, columns):
        return self.map @ columns


def low_rank_spectrum(
    X, n_components, *, rank, bandwidth, weighting=None, sample_weight=None, random_state=None, n_jobs=None
):
    """Leading eigenpairs of ``W^1/2 D^-1/2 F F^T D^-1/2 W^1/2`` with the Gaussian kernel, as a `Spectrum`.

    D holds the (weighted) row means of F F^T or, if larger, the landmarks' contribution to those of K. Without
    `weighting`, D is the identity. With r = `rank`, this takes n r kernel values, O(n r^2) operations and O(n r)
    memory.
    """
    if n_components is not None and n_components > rank:
        raise ValueError(f"n_components={n_components} exceeds rank={rank}: a factor of rank r has r eigenvectors.")
    factor = rpcholesky(
        X, rank, bandwidth=bandwidth, random_state=0 if random_state is None else random_state, n_jobs=n_jobs
    )
    w = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    degrees = density = None
    if weighting is not None:
        degrees, density = factor.row_sums(w / w.sum())
    squares = w if degrees is None else w / degrees
    values, U = factor.spectrum(squares, n_components)
    # E = D^-1/2 F U values^-1/2 holds the eigenvectors if points are repeated by their weights. The coefficients
    # L^-T U map a query to its coordinates; those of the training points are E values^1/2.
    vectors = factor.factor @ (U / np.sqrt(values)).astype(X.dtype)
    if degrees is not None:
        vectors /= np.sqrt(degrees)[:, None]
    flip = sign_factors(vectors)
    vectors *= flip
    U = U * flip
    shown = None if degrees is None else np.maximum(degrees, w / w.sum())
    operator = LowRankOperator(X, "gaussian", bandwidth, shown, sample_weight, n_jobs)
    return LowRankSpectrum(
        operator,
        values,
        vectors,
        np.empty(0),
        True,
        X[factor.pivots],
        factor.compress(U),
        density,
        factor.relative_trace_residual,
    )


def classwise_spectrum(
    X, codes, widths, degrees, n_components, *, rank, sample_weight=None, random_state=None, n_jobs=None
):
    """Like `low_rank_spectrum`, but for class-wise bandwidths and given degrees.

    The kernel between classes t and s is the normalized Gaussian of variance ``widths[t]^2 + widths[s]^2``. The
    extension to new points sums over all n points.

    Returns
    -------
    spectrum : Spectrum
    trace_residual : float
    """
    if n_components > rank:
        raise ValueError(f"n_components={n_components} exceeds rank={rank}: a factor of rank r has r eigenvectors.")
    points = np.column_stack([X, codes.astype(X.dtype)])
    kernel = partial(_between_labeled, widths=widths, n_jobs=n_jobs)
    factor = rpcholesky(points, rank, kernel=kernel, random_state=0 if random_state is None else random_state)
    degrees = np.asarray(degrees, dtype=X.dtype)
    w = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    values, U = factor.spectrum(w / degrees, n_components)
    vectors = factor.factor @ (U / np.sqrt(values)).astype(X.dtype) / np.sqrt(degrees)[:, None]
    operator = LowRankOperator(X, "gaussian", widths, degrees, sample_weight, n_jobs)
    return Spectrum(operator, values, vectors, np.empty(0)), factor.relative_trace_residual


def _between_labeled(A, B, widths, n_jobs):
    """`label_matrix` of points whose last coordinate is their label."""
    labels, others = (points[:, -1].astype(np.intp) for points in (A, B))
    return label_matrix(A[:, :-1], labels, B[:, :-1], others, widths, n_jobs)
