"""Thesis chapter 8: over which bandwidths do five classifiers get every test point right, for three
kernels?
"""

import numpy as np
from scipy.spatial.distance import cdist

from spectralcls.datasets import make_gaussian_in_ring
from spectralcls.kernel_mean import ISEClassifier, LaplacianISEClassifier, ParzenClassifier
from spectralcls.kernels import kernel_sums

from .thesis import SPECTRAL, nearest_centres, paper_map, spread

BANDWIDTHS = tuple(round(0.01 * step, 2) for step in range(1, 251))
IMPLICIT = {"Standard ISE": ISEClassifier, "Laplacian ISE": LaplacianISEClassifier, "Bayes": ParzenClassifier}
SPECTRAL_NAMES = {
    "Spectral ISE means": "spectral_ise",
    "Spectral Laplacian ISE means": "spectral_laplacian_ise",
}
N_TRAIN, N_TEST = 50, 20  # of each class
SIZE = {"scale": 0.25, "radius": 1.5, "width": 0.5}  # of the unspecified distribution; see `registry_001`


def gaussian_in_ring(n, seed):
    """n points of each of the thesis's two classes: a Gaussian, and a ring around it."""
    return make_gaussian_in_ring((n, n), random_state=seed, **SIZE)


def ranges(source, kernel, draws):
    """{classifier: {"from": [mean, deviation], "to": ..., "drawn": share of draws with any such
    bandwidth}}.
    """
    ends = {name: [] for name in (*IMPLICIT, *SPECTRAL_NAMES)}
    reached = []
    for draw in range(draws):
        X, y = gaussian_in_ring(N_TRAIN, 2 * draw)
        Q, truth = gaussian_in_ring(N_TEST, 2 * draw + 1)
        reached.append(cdist(Q, X).min(axis=1).max())
        right = {name: [] for name in ends}
        for h in BANDWIDTHS:
            for name, correct in _right(X, y, Q, truth, kernel, h).items():
                right[name].append(bool(correct))
        for name, flags in right.items():
            ends[name].append(longest_run(flags))
    out = {}
    for name, runs in ends.items():
        found = np.array([(BANDWIDTHS[a], BANDWIDTHS[b]) for a, b in filter(None, runs)])
        out[name] = (
            None
            if not len(found)
            else {
                "from": spread(found[:, 0]),
                "to": spread(found[:, 1]),
                "drawn": len(found) / draws,
                "reached": spread(reached),
                "extremes": [found.min(axis=0).tolist(), found.max(axis=0).tolist()],
            }
        )
    return out


def _right(X, y, Q, truth, kernel, h):
    """{classifier: whether it gets all of Q right}."""
    right = {}
    reached = kernel_sums(Q, X, kernel=kernel, bandwidth=h, n_jobs=1) > 0
    for name, kind in IMPLICIT.items():
        labels = kind(h, kernel=kernel, n_jobs=1).fit(X, y).predict(Q)
        if name == "Bayes":  # of two densities of zero the thesis's choice can only have been the ring's
            labels = np.where(reached, labels, 1)
        right[name] = (labels == truth).all()
    for name, classifier in SPECTRAL_NAMES.items():
        Z, Zq = paper_map(X, Q, 2, h, SPECTRAL[classifier], kernel)
        right[name] = (nearest_centres(Z, y, Zq, 2)["mean"] == truth).all()
    return right


def longest_run(flags):
    """(first, last) position of the longest run of True, or None."""
    best, start = None, None
    for i, flag in enumerate([*flags, False]):
        if flag and start is None:
            start = i
        elif not flag and start is not None:
            if best is None or i - start > best[1] - best[0] + 1:
                best = (start, i - 1)
            start = None
    return best
