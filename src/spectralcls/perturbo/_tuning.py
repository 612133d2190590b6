"""Bandwidth and alpha by cross-validation: one eigendecomposition per class, fold and bandwidth serves all
alphas."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import eigh

from ._class_model import Regularization
from ._gaussian import gaussian

_ALWAYS_KEPT = 20  # samples of a class that a subsample never goes below


@dataclass(frozen=True)
class Tuning:
    """Cross-validated accuracies over a grid.

    Attributes
    ----------
    bandwidths : (b,) or, class-wise, (b, C)
    alphas : (a,)
    scores : (b, a) accuracies
    n_samples : how many samples were used
    """

    bandwidths: np.ndarray
    alphas: np.ndarray
    scores: np.ndarray
    n_samples: int

    @property
    def best(self):
        """Position of the highest score; among ties the middle bandwidth, then the largest alpha."""
        ties = self.scores == self.scores.max()
        rows = np.flatnonzero(ties.any(axis=1))
        row = rows[len(rows) // 2]
        return row, np.flatnonzero(ties[row])[-1]


def subsample(codes, max_per_class, rng):
    """Sorted positions of a stratified subsample in which no class has more than ``max_per_class``
    samples."""
    counts = np.bincount(codes)
    if max_per_class is None or counts.max() <= max_per_class:
        return np.arange(len(codes))
    sizes = np.ceil(counts * (max_per_class / counts.max())).astype(int)
    sizes = np.minimum(counts, np.maximum(sizes, _ALWAYS_KEPT))
    chosen = [rng.choice(np.flatnonzero(codes == c), size, replace=False) for c, size in enumerate(sizes)]
    return np.sort(np.concatenate(chosen))


def stratified_folds(codes, n_folds, rng):
    """(train, test) positions; the samples of each class, shuffled, are dealt to the folds in turn."""
    shuffled = rng.permutation(len(codes))
    fold = np.empty(len(codes), dtype=int)
    fold[shuffled[np.argsort(codes[shuffled], kind="stable")]] = np.arange(len(codes)) % n_folds
    return [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(min(n_folds, len(codes)))]


def tune(X, codes, bandwidths, alphas, regularization, folds, n_jobs=None):
    """Accuracy for every bandwidth and alpha.

    Parameters
    ----------
    X : (n, d)
    codes : (n,) class numbers, none of 0 ... C - 1 missing
    bandwidths : (b,) or (b, C)
    alphas : (a,)
    regularization : Regularization; its alpha is replaced by each of ``alphas``
    folds : list of (train, test) positions, or None for leave-one-out, which takes one pass over all samples

    A sample with no kernel mass in any class, to underflow, counts as misclassified.

    Notes
    -----
    Costs 9 n_l^3 + 2 n n_l^2 + 2 n n_l a operations for each class, fold and bandwidth.
    """
    bandwidths, alphas = np.asarray(bandwidths, dtype=float), np.asarray(alphas, dtype=float)
    scores = np.zeros((len(bandwidths), len(alphas)))
    leave_one_out = folds is None
    parts = [(np.arange(len(X)),) * 2] if leave_one_out else folds
    n_classes = codes.max() + 1
    levels = [replace(regularization, alpha=float(alpha)) for alpha in alphas]
    for b, row in enumerate(bandwidths):
        for train, test in parts:
            best = np.zeros((len(test), len(alphas)))
            winner = np.full(best.shape, -1)
            for c, h in enumerate(np.broadcast_to(row, n_classes)):
                members = X[train[codes[train] == c]]
                if not len(members):
                    continue
                own = np.flatnonzero(codes[test] == c) if leave_one_out else None
                explained = _explained(members, X[test], h, levels, own, n_jobs)
                better = explained > best
                np.copyto(best, explained, where=better)
                winner[better] = c
            scores[b] += np.sum(winner == codes[test, None], axis=0)
    return Tuning(bandwidths, alphas, scores / sum(len(test) for _, test in parts), len(X))


def _explained(members, Q, h, levels, own, n_jobs):
    """1 - tau (m, a) for one class; queries ``own`` are the members themselves, each scored by the others.

    Leaving out member i: let N = (K + alpha I)^-1 and k be column i of K with k_i = 0. The block inverse of N
    gives q = k^T N k = s + N_ii s^2 for the share s = 1 - tau of i in the others' span. Its root is the
    closed form tau = 1 / N_ii - alpha, but without the cancellation that would lose shares below 1e-16.
    """
    K = gaussian(members, bandwidth=h, n_jobs=n_jobs)
    values, vectors = eigh(K, driver="evd", overwrite_a=True, check_finite=False)
    values = np.maximum(values, np.finfo(float).tiny)
    inverse = np.stack([level.filter(values) / values for level in levels], axis=1)
    k = gaussian(Q, members, bandwidth=h, n_jobs=n_jobs)
    if own is not None:
        k[own, np.arange(len(own))] = 0.0
    projected = k @ vectors
    explained = np.square(projected, out=projected) @ inverse
    if own is not None:
        q, N = explained[own], np.square(vectors) @ inverse
        explained[own] = 2 * q / (1 + np.sqrt(1 + 4 * N * q))
    return explained


def choose(X, codes, bandwidth, alpha, regularization, cv, max_per_class, random_state, n_jobs):
    """The best of the candidates ``bandwidth`` (b,) or (b, C) and ``alpha`` (a,).

    Returns
    -------
    bandwidth, alpha : the best row and number; the bandwidth scaled from the size of the subsample to that of
    X
    tuning : Tuning
    """
    exact, tikhonov = regularization.kind != "truncate", regularization.kind == "tikhonov"
    if cv == "loo" and not exact:
        raise ValueError("cv='loo' has no closed form with regularization='truncate': use a number of folds.")
    subset = subsample(codes, max_per_class, random_state)
    X_used, codes_used = X[subset], codes[subset]
    if cv == "loo" or (cv is None and exact):
        folds = None
    elif hasattr(cv, "split"):
        folds = list(cv.split(X_used, codes_used))
    else:
        folds = stratified_folds(codes_used, 5 if cv is None else cv, random_state)
    if regularization.kind is None:  # what double precision can tell from no regularisation
        regularization = Regularization("tikhonov")
        alpha = [regularization.singular(len(X_used))]
    tuning = tune(X_used, codes_used, bandwidth, alpha, regularization, folds, n_jobs)
    i, j = tuning.best
    best_alpha = float(tuning.alphas[j])
    shrink = (len(X) / len(X_used)) ** (-1 / (X.shape[1] + 4)) if len(bandwidth) > 1 else 1.0
    return tuning.bandwidths[i] * shrink, best_alpha if tikhonov else 0.0, tuning
