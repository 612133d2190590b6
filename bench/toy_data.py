"""Two classes in the plane, as in the papers: Gaussians, rings and spirals, with rows in random order."""

import numpy as np
from sklearn.utils import check_random_state


def _shuffled(X, y, rng):
    order = rng.permutation(len(y))
    return X[order], y[order]


def two_gaussians(counts, random_state, means=((2.0, 2.0), (0.6, 0.6))):
    """Experiment 1 of the Laplacian spectral classifier (Jenssen et al., ICASSP 2005): N(means[c], I)."""
    rng = check_random_state(random_state)
    y = np.repeat([0, 1], counts)
    return _shuffled(np.asarray(means)[y] + rng.standard_normal((len(y), 2)), y, rng)


def two_rings(n, random_state, width=0.4):
    """Experiment 2 of the same paper, which gives no details: uniform on rings of the radii 1 and 2."""
    rng = check_random_state(random_state)
    y = np.repeat([0, 1], [n - n // 2, n // 2])
    rings = []
    for radius, count in zip((1.0, 2.0), np.bincount(y), strict=True):
        angle = rng.uniform(0, 2 * np.pi, count)
        distance = np.sqrt(rng.uniform((radius - width / 2) ** 2, (radius + width / 2) ** 2, count))
        rings.append(distance[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]))
    return _shuffled(np.concatenate(rings), y, rng)


def two_spirals(n, random_state, noise=0.1):
    """The figures of the PerTurbo paper, which states no parameters: 1.75 turns to a radius of 3, about equally dense
    along the length.
    """
    rng = check_random_state(random_state)
    y = np.repeat([0, 1], [n - n // 2, n // 2])
    t = np.sqrt(rng.uniform(size=n))
    angle = 3.5 * np.pi * t + np.pi * y
    spiral = 3 * t[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return _shuffled(spiral + noise * rng.standard_normal((n, 2)), y, rng)
