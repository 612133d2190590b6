"""Scores for all numbers of components at once: the map to r components is the first r columns of any larger map."""

import numpy as np

# Limit on the block products of a trial eigendecomposition. Eigenvectors that need more are poorly determined by the
# data.
PATIENCE = 60
_MARGIN = 1e-9  # least gap between scores, relative to the point's largest score, which may be 1e10 for a far point


def clearly_right(scores, codes):
    """Mask (m, q) of the points whose own class clearly wins: the best two scores differ by more than rounding."""
    scale = np.abs(np.where(np.isfinite(scores), scores, 0)).max(axis=(1, 2))[:, None]
    ordered = np.sort(scores, axis=-1)
    with np.errstate(invalid="ignore"):  # -inf minus -inf: no class is in reach
        clear = ordered[..., -1] - ordered[..., -2] > _MARGIN * scale
    return clear & (scores.argmax(axis=-1) == codes[:, None])


def nested_distances(Z, centers, candidates):
    """Negative squared distances (m, q, C) in the first r components, for each r of the candidates."""
    return _nested(Z, centers, candidates, lambda center: -np.cumsum((Z - center) ** 2, axis=1))


def nested_cosines(Z, centers, candidates):
    """Inner products (m, q, C) with the normalized centers in the first r components, for each r of the candidates."""

    def cosines(center):
        norm = np.sqrt(np.cumsum(center**2))
        return np.cumsum(Z * center, axis=1) / np.where(norm > 0, norm, 1)

    return _nested(Z, centers, candidates, cosines)


def _nested(Z, centers, candidates, scores):
    last = np.minimum(candidates, Z.shape[1]) - 1
    found = np.stack([scores(center)[:, last] for center in centers], axis=-1)
    return np.where(np.isnan(found), -np.inf, found)
