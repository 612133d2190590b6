"""PerTurbo's accuracies on held-out points. One eigendecomposition per class, fold and bandwidth serves all alphas."""

from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np

from .._core.interrupt import eigh, interruptible_pool
from .._core.threads import effective_n_threads, serial_blas
from .._inputs.completion import Completion
from .._inputs.missing import is_incomplete
from .._tuning import Judge
from ._kernel import kernel_values, without_subnormals

_TOGETHER = 4  # bandwidths at a time: each may square the previous kernel matrix, which doubles its relative error
_BYTES = 1 << 28  # memory limit for the shares of several bandwidths; a single bandwidth may take more


def judged(sample, bandwidths, alphas, regularization, scoring="auto", n_jobs=None, *, kernel="gaussian"):
    """Judge every bandwidth and alpha (b, a); classes are processed in parallel.

    Parameters
    ----------
    sample : TuningSample
        Sample whose `validated` points are classified with the models of all other points, or of the other folds.
    bandwidths : (b,) or (b, C)
    alphas : (a,)
    regularization : Regularization; its alpha is replaced by each of ``alphas``

    A point whose kernel values underflow in all classes counts as misclassified.

    Notes
    -----
    Costs 9 n_l^3 + 2 m n_l (n_l + a) operations for each class, fold and bandwidth, where m points are validated.
    """
    bandwidths = np.asarray(bandwidths, dtype=float)
    class_wise = np.broadcast_to(bandwidths.reshape(len(bandwidths), -1), (len(bandwidths), sample.n_classes))
    levels = [replace(regularization, alpha=float(alpha)) for alpha in alphas]
    judge = Judge(sample, (len(bandwidths), len(levels)), scoring)
    together = min(max(_BYTES // (8 * sample.n_samples * len(levels) * sample.n_classes), 1), _TOGETHER)
    n_threads = min(effective_n_threads(n_jobs), sample.n_classes)
    with interruptible_pool(n_threads) as pool, serial_blas():
        for (X, seen, train, places), start in product(_parts(sample, n_jobs), range(0, len(bandwidths), together)):
            some = slice(start, start + together)
            test = sample.rows[places]
            shares = np.empty((sample.n_classes, len(bandwidths[some]), len(levels), len(test)))

            def one_class(c, X=X, seen=seen, train=train, test=test, some=some, shares=shares):
                members = train[sample.codes[train] == c]
                own, groups = None, ()
                if sample.folds is None:
                    rows = np.flatnonzero(sample.codes[test] == c)
                    own = rows, np.searchsorted(members, test[rows])
                elif len(train) == len(X):
                    groups = _groups(sample.folds[test], sample.folds[members])
                kernels = partial(_descending, kernel=kernel, bandwidths=class_wise[some, c])
                _explained(X[members], sample.weights[members], seen[c], kernels, levels, own, groups, shares[c])

            for _ in pool.map(one_class, range(sample.n_classes)):  # raises the exception of a class that failed
                pass
            right = (_best(shares) == sample.codes[test]).transpose(2, 0, 1)
            judge.add(places, shares.transpose(3, 1, 2, 0), right=right, at=(some,))
    return judge


def _best(shares):
    """``shares.argmax(axis=0)``, -1 if all are zero; NumPy would copy the array."""
    largest, best = np.zeros(shares.shape[1:]), np.full(shares.shape[1:], -1)
    for c, share in enumerate(shares):
        best[share > largest] = c
        np.maximum(largest, share, out=largest)
    return best


def _parts(sample, n_jobs):
    """Yield for each fold: points, queries completed by each class, training rows, positions among the validated rows.

    Leave-one-out, also of groups, has one part with all rows. Missing values are completed from rows outside the fold.
    """
    X, rows, folds = sample.X, sample.rows, sample.folds
    if folds is None or (sample.one_split and not is_incomplete(X)):
        yield X, [X[rows]] * sample.n_classes, np.arange(len(X)), np.arange(sample.n_samples)
        return
    filled = seen = None
    if is_incomplete(X):
        completion = Completion.learned(X, sample.codes, sample.weights, sample.features, folds)
        filled = completion.of_own_class(X, sample.codes, n_jobs)
        seen = [completion.of_class(X[rows], c, n_jobs) for c in range(sample.n_classes)]
    own_fold = folds[rows]
    for fold in np.unique(own_fold):
        train, places = np.flatnonzero(folds != fold), np.flatnonzero(own_fold == fold)
        if filled is None:
            yield X, [X[rows[places]]] * sample.n_classes, train, places
        else:
            yield filled[fold], [each[fold, places] for each in seen], train, places


def _groups(queries, members):
    """For each group with members, the positions of its queries and of its members, from the groups of both."""
    return [(np.flatnonzero(queries == group), np.flatnonzero(members == group)) for group in np.unique(members)]


def _explained(members, weights, Q, kernels, levels, own, groups, out):
    """Write 1 - tau for one class into `out` (b, a, m). ``kernels(Q, X)`` yields kernel matrices, the last bandwidth
    first. ``own`` holds the rows of Q that belong to the class and their positions among the members; each is scored by
    the other members. If there are `groups`, each holds rows of Q and the members that are left out for them.

    With r the roots of the weights, let N = (diag(r) K diag(r) + alpha I)^-1. To leave out member i, let k be diag(r)
    times column i of K, with k_i = 0. The block inverse of N gives q = k^T N k = s + N_ii w_i s^2 for the share s = 1 -
    tau of i in the others' span. This agrees with the closed form tau = (1 / N_ii - alpha) / w_i, but avoids its
    cancellation, which loses shares below 1e-16.

    To leave out a group g for queries k with k_g = 0, the share is ``k^T N k - (N k)_g^T (N_gg)^-1 (N k)_g``.
    """
    if not len(members):
        out[:] = 0.0
        return
    roots = np.sqrt(weights)
    for b, (K, k) in enumerate(zip(kernels(members, None), kernels(members, Q), strict=True), 1):
        values, vectors = eigh(roots[:, None] * K * roots)
        values = np.maximum(values, np.finfo(float).tiny)
        inverse = np.stack([level.filter(values) / values for level in levels])
        k = roots[:, None] * k
        if own is not None:
            rows, which = own
            k[which, rows] = 0.0
        for rows, mates in groups:
            k[np.ix_(mates, rows)] = 0.0
        projected = vectors.T @ k
        less = [_joint(vectors[mates], inverse, projected[:, rows]) for rows, mates in groups]
        explained = np.matmul(inverse, np.square(projected, out=projected), out=out[-b])
        if own is not None:
            q, N = explained[:, rows], inverse @ np.square(vectors[which]).T * weights[which]
            explained[:, rows] = 2 * q / (1 + np.sqrt(1 + 4 * N * q))
        for (rows, _), part in zip(groups, less, strict=True):
            explained[:, rows] = np.maximum(explained[:, rows] - part, 0.0)


def _joint(vectors, inverse, projected):
    """The part (a, m) of the shares that is lost without a group, from its rows (g, r) of the eigenvectors, filtered
    inverse eigenvalues (a, r) and rotated queries (r, m)."""
    scaled = vectors * inverse[:, None]
    u = scaled @ projected
    return np.einsum("agm,agm->am", u, np.linalg.solve(scaled @ vectors.T, u))


def _descending(Q, X, kernel, bandwidths):
    """Kernel matrices, the last bandwidth first. If h^2 (h for "laplace") halves, the next matrix is the square of the
    last.
    """
    K, last = None, np.inf
    for h in bandwidths[::-1]:
        if abs((last / h) ** (2 if kernel == "gaussian" else 1) - 2) < 1e-14:
            K = without_subnormals(np.square(K, out=K))
        else:
            K = kernel_values(Q, X, kernel=kernel, bandwidth=h, n_jobs=1)
        last = h
        yield K
