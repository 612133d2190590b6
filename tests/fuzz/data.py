"""What random calls are made of: points, labels and layouts that real tables have, or that break things."""

import numpy as np
import reference


class Refused(Exception):
    """The call was refused; the cause is the error."""


def points(rng, n, d, dtype, joint_scale=True):
    """Samples of one of the kinds that real tables are made of, or that break things."""
    X = rng.standard_normal((n, d))
    kind = rng.integers(6)
    if kind == 1:
        X = np.round(X)  # ties and duplicates
    elif kind == 2:
        X = X[rng.integers(0, max(1, n // 3), n)]  # many copies of few
    elif kind == 3:
        X += 10.0 ** rng.integers(0, 7)  # far from the origin
    elif kind == 4:
        X[:, rng.integers(d)] = 3.0  # a constant feature
    elif kind == 5:
        X *= 10.0 ** rng.uniform(-3, 3, d)  # features in different units
    return X.astype(dtype)


def shape(rng):
    """(m, n, d): mostly small, sometimes many features or more points than a block of the core."""
    kind = rng.integers(200)
    if kind == 0:
        return int(rng.integers(1, 5)), int(rng.integers(1, 8)), int(rng.integers(300, 1500))
    if kind == 1:
        return int(rng.integers(1, 40)), int(rng.integers(500, 2500)), int(rng.integers(1, 9))
    if kind < 120:
        return int(rng.integers(1, 8)), int(rng.integers(1, 20)), int(rng.integers(1, 6))
    return int(rng.integers(1, 40)), int(rng.integers(1, 60)), int(rng.integers(1, 20))


def laid_out(rng, A):
    """The same numbers another way in memory."""
    kind = rng.integers(8)
    if kind == 1:
        return np.asfortranarray(A)
    if kind == 2:
        return np.repeat(A, 2, axis=0)[::2]
    if kind == 3:
        return np.ascontiguousarray(A[::-1])[::-1]
    if kind == 4:
        A = A.copy()
        A.setflags(write=False)
    if kind == 5:
        shifted = np.zeros(A.nbytes + 1, np.uint8)[1:].view(A.dtype).reshape(A.shape)
        shifted[...] = A
        return shifted
    if kind == 6 and A.dtype == np.float64:  # of other numbers scikit-learn makes float64
        return A.astype(A.dtype.newbyteorder())
    return A


def spread(Q, X):
    """A length that distances between these points are of."""
    D = reference.distances(Q[:30], X[:30])
    return float(np.median(D[D > 0])) if (D > 0).any() else 1.0


def codes(rng, n, n_labels):
    """Labels of one of the integer types, some points with none."""
    kind = rng.choice(["i1", "i4", "i8", "u1", "u2", "u8"])
    labels = rng.integers(0, n_labels, n)
    if kind[0] == "i" and rng.random() < 0.3:
        labels[rng.random(n) < 0.2] = -1
    return labels.astype(kind)
