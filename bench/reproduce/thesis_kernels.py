"""Thesis, chapter 8: the bandwidths at which five classifiers make no error on the test points, for three kernels."""

import numpy as np
from scipy.spatial.distance import cdist

from spectralcls.kernels import kernel_sums

from .data import spread
from .thesis import model

BANDWIDTHS = tuple(round(0.01 * step, 2) for step in range(1, 251))
CLASSIFIERS = {
    "Standard ISE": ("ise", None),
    "Laplacian ISE": ("laplacian_ise", None),
    "Bayes": ("bayes", None),
    "Spectral ISE means": ("spectral_ise", "mean"),
    "Spectral Laplacian ISE means": ("spectral_laplacian_ise", "mean"),
}
N_TRAIN, N_TEST = 50, 20  # of each class
SIZES = {  # of the unspecified distribution: the first gives our numbers, the others explain; see `registry_001`
    "dense": {"scale": 0.1, "radius": 1.5, "width": 0.5},
    "even": {"scale": 0.25, "radius": 1.5, "width": 0.5},
    "denser": {"scale": 0.05, "radius": 1.3, "width": 0.1},
}


def gaussian_in_ring(n, seed, size="dense"):
    """n points of each of the thesis's two classes: a Gaussian, and a ring around it."""
    rng, scale, radius, width = np.random.RandomState(seed), *SIZES[size].values()
    inside = scale * rng.standard_normal((n, 2))
    angle = rng.uniform(0, 2 * np.pi, n)
    distance = np.sqrt(rng.uniform((radius - width / 2) ** 2, (radius + width / 2) ** 2, n))
    X = np.concatenate([inside, distance[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])])
    order = rng.permutation(2 * n)
    return X[order], np.repeat([0, 1], n)[order]


def ranges(source, kernel, draws, size="dense"):
    """{classifier: {"from": [mean, deviation], "to": ..., "drawn": share of draws with any such
    bandwidth}}.
    """
    ends = {name: [] for name in CLASSIFIERS}
    reached = []
    for draw in range(draws):
        X, y = gaussian_in_ring(N_TRAIN, 2 * draw, size)
        Q, truth = gaussian_in_ring(N_TEST, 2 * draw + 1, size)
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
    """{classifier: whether it classifies all of Q correctly}."""
    right = {}
    reached = kernel_sums(Q, X, kernel=kernel, bandwidth=h, n_jobs=1) > 0
    for name, (classifier, center) in CLASSIFIERS.items():
        labels = model(classifier, center, bandwidth=h, kernel=kernel).fit(X, y).predict(Q)
        if name == "Bayes":  # if both densities are zero, the thesis must have chosen the ring
            labels = np.where(reached, labels, 1)
        right[name] = (labels == truth).all()
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
