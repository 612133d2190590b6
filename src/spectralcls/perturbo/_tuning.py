"""Bandwidth and alpha by cross-validation: one eigendecomposition per class, fold and bandwidth serves all alphas."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from ..kernels import kernel_matrix
from ._class_model import Regularization

_SMALLEST_SHARE = 1e-13  # closed-form shares below this are rounding: such a sample counts as misclassified


@dataclass(frozen=True)
class Tuning:
    """Cross-validated accuracy over the grid.

    Attributes
    ----------
    bandwidths : (b,)
    alphas : (a,)
    scores : (b, a) accuracies
    best : (i, j), position of the chosen pair
    n_samples : samples used
    """

    bandwidths: np.ndarray
    alphas: np.ndarray
    scores: np.ndarray
    n_samples: int

    @property
    def best(self):
        """Highest score; among ties the largest alpha, then the median bandwidth."""
        ties = self.scores == self.scores.max()
        j = np.flatnonzero(ties.any(axis=0))[-1]
        rows = np.flatnonzero(ties[:, j])
        return rows[len(rows) // 2], j


def tune(X, codes, n_classes, bandwidths, alphas, regularization, folds, n_jobs=None):
    """Accuracy for every bandwidth and alpha.

    Parameters
    ----------
    X : (n, d); codes : (n,) class numbers
    regularization : Regularization; its alpha is replaced by each of ``alphas``
    folds : list of (train, test) index arrays, or None for leave-one-out, which costs one pass over all samples:
        tau of sample i against the other samples of its own class is 1 / ((K + alpha I)^-1)_ii - alpha.
    """
    alphas = np.asarray(alphas, dtype=float)
    scores = np.zeros((len(bandwidths), len(alphas)))
    everything = np.arange(len(X))
    for b, h in enumerate(bandwidths):
        for train, test in [(everything, everything)] if folds is None else folds:
            best, winner = np.full((len(test), len(alphas)), -1.0), np.full((len(test), len(alphas)), -1)
            for c in range(n_classes):
                members = train[codes[train] == c]
                if not len(members):
                    continue
                explained = _explained(X[members], X[test], h, alphas, regularization, n_jobs,
                                       np.flatnonzero(codes[test] == c) if folds is None else None)
                better = explained > best
                np.copyto(best, explained, where=better)
                winner[better] = c
            winner[best <= (_SMALLEST_SHARE if folds is None else 0.0)] = -1
            scores[b] += np.sum(winner == codes[test, None], axis=0)
    tested = len(X) if folds is None else sum(len(test) for _, test in folds)
    return Tuning(np.asarray(bandwidths, dtype=float), alphas, scores / tested, len(X))


def _explained(members, Q, h, alphas, regularization, n_jobs, own):
    """1 - tau (m, a) for one class; rows ``own`` are the members themselves, each scored by the others."""
    K = kernel_matrix(members, bandwidth=h, n_jobs=n_jobs)
    values, vectors = eigh(K, driver="evd", overwrite_a=True, check_finite=False)
    values = np.maximum(values, regularization.singular(len(values)) * values[-1])
    filters = np.stack([_at(regularization, alpha).filter(values) / values for alpha in alphas], axis=1)
    projected = kernel_matrix(Q, members, bandwidth=h, n_jobs=n_jobs) @ vectors
    explained = np.square(projected, out=projected) @ filters
    if own is not None:
        inverse_diagonal = np.square(vectors) @ filters
        explained[own] = 1 + alphas - 1 / inverse_diagonal
    return explained


def _at(regularization, alpha):
    return Regularization(regularization.kind, alpha, regularization.truncation, regularization.retained)
