"""Synthetic classes of irregular shape in the plane."""

from numbers import Real

import numpy as np
from sklearn.utils import check_random_state

from .._utils.from_sklearn import Interval, validate_params
from .._utils.typing import Array, ArrayLike, RandomState, Sizes
from ._sampling import SIZE, class_counts, labels_of, shuffled

_LENGTH = [Interval(Real, 0, None, closed="left")]
_POSITIVE = [Interval(Real, 0, None, closed="neither")]


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


@validate_params(
    {
        "n_samples": SIZE,
        "radii": ["array-like"],
        "width": _LENGTH,
        "centers": ["array-like"],
        "random_state": ["random_state"],
    },
    prefer_skip_nested_validation=True,
)
def make_two_rings(
    n_samples: Sizes = 100,
    *,
    radii: ArrayLike = (1.0, 2.0),
    width: float = 0.4,
    centers: ArrayLike = ((0.0, 0.0), (0.0, 0.0)),
    random_state: RandomState = None,
) -> tuple[Array, Array]:
    """Two ring-shaped classes: experiment 2 of the Laplacian spectral classifier.

    Class c is uniform on the ring of points whose distance from ``centers[c]`` is within ``width / 2`` of
    ``radii[c]``. The paper trains on 100 samples and tests on 844, and says no more than that the classes
    are rings; with the defaults they are concentric and 0.6 apart.

    Parameters
    ----------
    n_samples : int or (int, int), default=100
        All samples, shared out evenly, or the samples of each class.
    radii : (float, float), default=(1.0, 2.0)
        Radius of each ring, to the middle of its width.
    width : float, default=0.4
        At most twice the smaller radius.
    centers : array-like of shape (2, 2), default=((0, 0), (0, 0))
        Centers of the rings; move one to make them interlock.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw.

    Returns
    -------
    X : ndarray of shape (n_samples, 2), float64
        Points in the plane.
    y : ndarray of shape (n_samples,), int64
        The rows are in random order.

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
    counts = class_counts(n_samples, (1, 1))
    rings = [_annulus(rng, n, radius, width) + center for n, radius, center in zip(counts, radii, centers, strict=True)]
    return shuffled(np.concatenate(rings), labels_of(counts), rng)


@validate_params(
    {
        "n_samples": SIZE,
        "scale": _POSITIVE,
        "radius": _POSITIVE,
        "width": _LENGTH,
        "random_state": ["random_state"],
    },
    prefer_skip_nested_validation=True,
)
def make_gaussian_in_ring(
    n_samples: Sizes = 300,
    *,
    scale: float = 0.5,
    radius: float = 3.0,
    width: float = 1.0,
    random_state: RandomState = None,
) -> tuple[Array, Array]:
    """A dense Gaussian inside a sparse ring: a picture of the weights 1/f, figure 6.1 of [1]_.

    Class 0 is N(0, scale^2 I); class 1 is uniform on the ring of points whose distance from the origin is
    within ``width / 2`` of ``radius``. There 150 samples of each are drawn, and no other number is given.

    Parameters
    ----------
    n_samples : int or (int, int), default=300
        All samples, shared out evenly, or the samples of each class.
    scale : float, default=0.5
        Standard deviation of the Gaussian, per feature.
    radius, width : float, default=3.0, 1.0
        The ring; the width is at most twice the radius.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw.

    Returns
    -------
    X : ndarray of shape (n_samples, 2), float64
        Points in the plane.
    y : ndarray of shape (n_samples,), int64
        The rows are in random order.

    Raises
    ------
    ValueError
        For a parameter of the wrong kind or out of range.

    References
    ----------
    .. [1] O. K. Storås, "Information Theoretic Learning for Pattern Classification", Master's thesis, University of
       Tromsø, 2007.

    Examples
    --------
    >>> from spectralcls.datasets import make_gaussian_in_ring
    >>> X, y = make_gaussian_in_ring()
    >>> X.shape
    (300, 2)
    """
    rng = check_random_state(random_state)
    counts = class_counts(n_samples, (1, 1))
    X = np.concatenate([scale * rng.standard_normal((counts[0], 2)), _annulus(rng, counts[1], radius, width)])
    return shuffled(X, labels_of(counts), rng)


@validate_params(
    {
        "n_samples": SIZE,
        "turns": _POSITIVE,
        "radius": _POSITIVE,
        "noise": _LENGTH,
        "random_state": ["random_state"],
    },
    prefer_skip_nested_validation=True,
)
def make_two_spirals(
    n_samples: Sizes = 300,
    *,
    turns: float = 1.75,
    radius: float = 3.0,
    noise: float = 0.1,
    random_state: RandomState = None,
) -> tuple[Array, Array]:
    """Two interleaved spirals, as in the figures of PerTurbo, which give no parameters.

    A sample of class 0 is radius * t * (cos, sin)(2 pi turns t) + e, t the square root of a uniform
    variable, so that the spiral is about equally dense along its length, and e ~ N(0, noise^2 I). Class 1
    is the same turned by half a turn. Neighboring arms are ``radius / (2 turns)`` apart.

    Parameters
    ----------
    n_samples : int or (int, int), default=300
        All samples, shared out evenly, or the samples of each class.
    turns : float, default=1.75
        Turns of each spiral about the center.
    radius : float, default=3.0
        Distance of the outer end from the center.
    noise : float, default=0.1
        Standard deviation of the noise, per feature.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw.

    Returns
    -------
    X : ndarray of shape (n_samples, 2), float64
        Points in the plane.
    y : ndarray of shape (n_samples,), int64
        The rows are in random order.

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
    y = labels_of(class_counts(n_samples, (1, 1)))
    t = np.sqrt(rng.uniform(size=len(y)))
    angle = 2 * np.pi * turns * t + np.pi * y
    spiral = radius * t[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return shuffled(spiral + noise * rng.standard_normal((len(y), 2)), y, rng)
