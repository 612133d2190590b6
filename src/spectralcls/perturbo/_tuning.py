"""Bandwidth and alpha by cross-validation: one eigendecomposition per class, fold and bandwidth serves all
alphas."""

from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from .._interrupt import leavable_pool
from .._parallel import effective_n_threads, serial_blas
from ._class_model import Regularization
from ._gaussian import gaussian, without_subnormals

_RUNGS = 4  # bandwidths done together; squaring a kernel matrix doubles its relative error
_MAX_SCORED = 2000  # samples that leave-one-out scores; the standard error is then below 1.1 per cent
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
    """Accuracy for every bandwidth and alpha; classes are worked on in parallel.

    Parameters
    ----------
    X : (n, d)
    codes : (n,) class numbers, none of 0 ... C - 1 missing
    bandwidths : (b,) or (b, C)
    alphas : (a,)
    regularization : Regularization; its alpha is replaced by each of ``alphas``
    folds : list of (train, test) positions, or an array of positions that are scored by leave-one-out

    A sample with no kernel mass in any class, to underflow, counts as misclassified.

    Notes
    -----
    Costs 9 n_l^3 + 2 m n_l (n_l + a) operations for each class, fold and bandwidth, m samples being scored.
    """
    bandwidths, alphas = np.asarray(bandwidths, dtype=float), np.asarray(alphas, dtype=float)
    scores = np.zeros((len(bandwidths), len(alphas)))
    leave_one_out = isinstance(folds, np.ndarray)
    parts = [(np.arange(len(X)), folds)] if leave_one_out else folds
    n_classes = codes.max() + 1
    class_wise = np.broadcast_to(bandwidths.reshape(len(bandwidths), -1), (len(bandwidths), n_classes))
    levels = [replace(regularization, alpha=float(alpha)) for alpha in alphas]
    n_threads = min(effective_n_threads(n_jobs), n_classes)
    with leavable_pool(n_threads) as pool, serial_blas() if n_threads > 1 else nullcontext():
        for (train, test), start in product(parts, range(0, len(bandwidths), _RUNGS)):
            rungs = slice(start, start + _RUNGS)

            def one_class(c, train=train, test=test, rungs=rungs):
                members = train[codes[train] == c]
                rows = np.flatnonzero(codes[test] == c)
                own = (rows, np.searchsorted(members, test[rows])) if leave_one_out else None
                return _explained(X[members], X[test], class_wise[rungs, c], levels, own)

            best = np.zeros((len(bandwidths[rungs]), len(alphas), len(test)))
            winner = np.full(best.shape, -1)
            for c, explained in enumerate(pool.map(one_class, range(n_classes))):
                better = explained > best
                np.copyto(best, explained, where=better)
                winner[better] = c
            scores[rungs] += np.sum(winner == codes[test], axis=2)
    return Tuning(bandwidths, alphas, scores / sum(len(test) for _, test in parts), len(X))


def _explained(members, Q, bandwidths, levels, own):
    """1 - tau (b, a, m) for one class; ``own`` are (rows of Q, the members that they are), scored by the
    others.

    Leaving out member i: let N = (K + alpha I)^-1 and k be column i of K with k_i = 0. The block inverse of N
    gives q = k^T N k = s + N_ii s^2 for the share s = 1 - tau of i in the others' span. Its root is the
    closed form tau = 1 / N_ii - alpha, but without the cancellation that would lose shares below 1e-16.
    """
    out = np.zeros((len(bandwidths), len(levels), len(Q)))
    if not len(members):
        return out
    kernels = zip(_ladder(members, None, bandwidths), _ladder(members, Q, bandwidths), strict=True)
    for b, (K, k) in enumerate(kernels, 1):
        values, vectors = np.linalg.eigh(K)
        values = np.maximum(values, np.finfo(float).tiny)
        inverse = np.stack([level.filter(values) / values for level in levels])
        if own is not None:
            rows, which = own
            k[which, rows] = 0.0
        projected = vectors.T @ k
        explained = np.matmul(inverse, np.square(projected, out=projected), out=out[-b])
        if own is not None:
            q, N = explained[:, rows], inverse @ np.square(vectors[which]).T
            explained[:, rows] = 2 * q / (1 + np.sqrt(1 + 4 * N * q))
    return out


def _ladder(Q, X, bandwidths):
    """Kernel matrices, the last bandwidth first; where h^2 halves, a matrix is the square of the one
    before."""
    K, last = None, np.inf
    for h in bandwidths[::-1]:
        if abs((last / h) ** 2 - 2) < 1e-14:
            K = without_subnormals(np.square(K, out=K))
        else:
            K = gaussian(Q, X, bandwidth=h, n_jobs=1)
        last = h
        yield K


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
        folds = np.sort(random_state.permutation(len(X_used))[:_MAX_SCORED])
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
