"""Synthetic data with two classes, as in the papers."""

from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_random_state

from .._utils.from_sklearn import Interval, validated
from .._utils.typing import Array, ArrayLike, RandomState, Sizes

_LENGTH = [Interval(Real, 0, None, closed="left")]
_POSITIVE = [Interval(Real, 0, None, closed="neither")]
_CONSTRAINTS = {
    "n_samples": [Interval(Integral, 1, None, closed="left"), "array-like"],
    **dict.fromkeys(("means", "radii", "centers"), ["array-like"]),
    **dict.fromkeys(("width", "noise"), _LENGTH),
    **dict.fromkeys(("radius", "turns"), _POSITIVE),
    "random_state": ["random_state"],
}
_checked = validated(_CONSTRAINTS)


def _class_counts(n_samples, priors):
    """Samples per class: as given for each class, or a total divided in proportion to the priors.

    A total is divided by the method of largest remainders, so that counts are within one of ``n_samples * priors`` and
    the same in every draw.
    """
    if not isinstance(n_samples, Integral):
        counts = np.asarray(n_samples)
        if counts.shape != (len(priors),) or not np.issubdtype(counts.dtype, np.integer) or (counts < 0).any():
            raise ValueError(
                f"n_samples has to be one number, or {len(priors)} non-negative integers; got {n_samples!r}."
            )
        return counts
    shares = n_samples * np.asarray(priors, dtype=np.float64) / np.sum(priors)
    counts = np.floor(shares).astype(int)
    largest = np.argsort(counts - shares, kind="stable")[: n_samples - counts.sum()]
    counts[largest] += 1
    return counts


def _labels_of(counts):
    """Labels 0, 1, ..., with label c repeated ``counts[c]`` times."""
    return np.repeat(np.arange(len(counts)), counts)


def _shuffled(X, y, rng):
    """Shuffle the rows, so that no split, fold or subsample is ordered by class."""
    order = rng.permutation(len(y))
    return X[order], y[order]


@_checked
def make_two_gaussians(
    n_samples: Sizes = (100, 5),
    *,
    means: ArrayLike = ((2.0, 2.0), (0.6, 0.6)),
    random_state: RandomState = None,
) -> tuple[Array, Array]:
    """Draw two spherical Gaussians with unequal priors, as in experiment 1 of the Laplacian spectral classifier.

    Class c is N(means[c], I). The paper trains on 100 and 5 samples and tests on 200 and 10. With equal priors the
    Bayes error is Phi(-|means[0] - means[1]| / 2), where Phi is the standard normal distribution function.

    Parameters
    ----------
    n_samples : int or (int, int), default=(100, 5)
        Samples per class; a single number is divided in the ratio 100 : 5.
    means : array-like of shape (2, n_features)
        Centers of the two classes; the defaults are those of the paper.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), float64
        Samples, in random order.
    y : ndarray of shape (n_samples,), int64
        Labels 0 or 1.

    Raises
    ------
    ValueError
        For a parameter of the wrong kind or out of range.

    References
    ----------
    R. Jenssen, D. Erdogmus, J. C. Principe, T. Eltoft: The Laplacian spectral classifier. ICASSP 2005.

    Examples
    --------
    >>> from spectralcls.datasets import make_two_gaussians
    >>> X, y = make_two_gaussians(random_state=0)
    >>> X.shape
    (105, 2)
    """
    rng = check_random_state(random_state)
    means = np.asarray(means, dtype=np.float64)
    if means.ndim != 2 or len(means) != 2:
        raise ValueError(f"means has to have the shape (2, n_features); got {means.shape}.")
    y = _labels_of(_class_counts(n_samples, (100, 5)))
    return _shuffled(means[y] + rng.standard_normal((len(y), means.shape[1])), y, rng)


def _annulus(rng, n_samples, radius, width):
    """Uniform on radius - width/2 <= |x| <= radius + width/2: the squared radius is uniform."""
    inner, outer = radius - width / 2, radius + width / 2
    if inner < 0:
        raise ValueError(
            f"A ring of radius {radius:g} cannot be {width:g} wide: the width is at most twice the radius."
        )
    if not np.isfinite(outer * outer):
        raise ValueError(f"A ring of radius {radius:g} and width {width:g} is too large: squared radii overflow.")
    angle = rng.uniform(0, 2 * np.pi, n_samples)
    distance = np.sqrt(rng.uniform(inner**2, outer**2, n_samples))
    return distance[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])


@_checked
def make_two_rings(
    n_samples: Sizes = 100,
    *,
    radii: ArrayLike = (1.0, 2.0),
    width: float = 0.4,
    centers: ArrayLike = ((0.0, 0.0), (0.0, 0.0)),
    random_state: RandomState = None,
) -> tuple[Array, Array]:
    """Draw two ring-shaped classes, as in experiment 2 of the Laplacian spectral classifier.

    Class c is uniform on the ring of points whose distance from ``centers[c]`` is within ``width / 2`` of ``radii[c]``.
    The paper trains on 100 samples and tests on 844, and gives no details of the rings; with the defaults they are
    concentric and 0.6 apart.

    Parameters
    ----------
    n_samples : int or (int, int), default=100
        Number of samples, divided evenly, or the number for each class.
    radii : (float, float), default=(1.0, 2.0)
        Radius of each ring, measured to the middle of its width.
    width : float, default=0.4
        Width of the rings, at most twice the smaller radius.
    centers : array-like of shape (2, 2), default=((0, 0), (0, 0))
        Centers of the rings; move one to make them interlock.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw.

    Returns
    -------
    X : ndarray of shape (n_samples, 2), float64
        Points in the plane, in random order.
    y : ndarray of shape (n_samples,), int64
        Labels 0 or 1.

    Raises
    ------
    ValueError
        For a parameter of the wrong kind or out of range.

    References
    ----------
    R. Jenssen, D. Erdogmus, J. C. Principe, T. Eltoft: The Laplacian spectral classifier. ICASSP 2005.

    Examples
    --------
    >>> from spectralcls.datasets import make_two_rings
    >>> X, y = make_two_rings(random_state=0)
    >>> X.shape
    (100, 2)
    """
    rng = check_random_state(random_state)
    radii, centers = np.asarray(radii, dtype=np.float64), np.asarray(centers, dtype=np.float64)
    if radii.shape != (2,) or centers.shape != (2, 2):
        raise ValueError(f"radii has to have the shape (2,) and centers (2, 2); got {radii.shape}, {centers.shape}.")
    counts = _class_counts(n_samples, (1, 1))
    rings = [_annulus(rng, n, radius, width) + center for n, radius, center in zip(counts, radii, centers, strict=True)]
    return _shuffled(np.concatenate(rings), _labels_of(counts), rng)


@_checked
def make_two_spirals(
    n_samples: Sizes = 300,
    *,
    turns: float = 1.75,
    radius: float = 3.0,
    noise: float = 0.1,
    random_state: RandomState = None,
) -> tuple[Array, Array]:
    """Draw two interleaved spirals, as in the figures of the PerTurbo paper, which states no parameters.

    A sample of class 0 is radius * t * (cos, sin)(2 pi turns t) + e with e ~ N(0, noise^2 I). Here t is the square root
    of a uniform variable, so that the spiral is about equally dense along its length. Class 1 is the same spiral,
    rotated by half a turn. Neighboring arms are ``radius / (2 turns)`` apart.

    Parameters
    ----------
    n_samples : int or (int, int), default=300
        Number of samples, divided evenly, or the number for each class.
    turns : float, default=1.75
        Turns of each spiral about the center.
    radius : float, default=3.0
        Distance of the outer end from the center.
    noise : float, default=0.1
        Standard deviation of the noise in each feature.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw.

    Returns
    -------
    X : ndarray of shape (n_samples, 2), float64
        Points in the plane, in random order.
    y : ndarray of shape (n_samples,), int64
        Labels 0 or 1.

    Raises
    ------
    ValueError
        For a parameter of the wrong kind or out of range.

    Examples
    --------
    >>> from spectralcls.datasets import make_two_spirals
    >>> X, y = make_two_spirals(random_state=0)
    >>> X.shape
    (300, 2)
    """
    rng = check_random_state(random_state)
    y = _labels_of(_class_counts(n_samples, (1, 1)))
    t = np.sqrt(rng.uniform(size=len(y)))
    angle = 2 * np.pi * turns * t + np.pi * y
    spiral = radius * t[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return _shuffled(spiral + noise * rng.standard_normal((len(y), 2)), y, rng)
