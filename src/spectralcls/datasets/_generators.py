"""Synthetic classes: those of the papers, and the classics that they are compared on."""

from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_random_state

from .._utils.from_sklearn import Interval, validated
from .._utils.typing import Array, ArrayLike, RandomState, Sizes

_COUNT = [Interval(Integral, 1, None, closed="left")]
_LENGTH = [Interval(Real, 0, None, closed="left")]
_POSITIVE = [Interval(Real, 0, None, closed="neither")]
_CONSTRAINTS = {
    "n_samples": [*_COUNT, "array-like"],
    "n_features": _COUNT,
    "n_noise_features": [Interval(Integral, 0, None, closed="left")],
    "version": [Interval(Integral, 1, 3, closed="both")],
    "shift": [*_LENGTH, None],
    **dict.fromkeys(("means", "radii", "centers"), ["array-like"]),
    **dict.fromkeys(("width", "noise"), _LENGTH),
    **dict.fromkeys(("scale", "radius", "turns"), _POSITIVE),
    "random_state": ["random_state"],
}
_checked = validated(_CONSTRAINTS)


def _class_counts(n_samples, priors):
    """Samples per class: given one by one, or a total shared out by the priors.

    A total is shared out by largest remainders, so that the counts are within one of ``n_samples * priors``
    and do not vary from draw to draw.
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
    """Labels 0, 1, ... repeated as often as ``counts`` says."""
    return np.repeat(np.arange(len(counts)), counts)


def _shuffled(X, y, rng):
    """The rows in random order: no split, fold or subsample sees the classes one after the other."""
    order = rng.permutation(len(y))
    return X[order], y[order]


@_checked
def make_two_gaussians(
    n_samples: Sizes = (100, 5),
    *,
    means: ArrayLike = ((2.0, 2.0), (0.6, 0.6)),
    random_state: RandomState = None,
) -> tuple[Array, Array]:
    """Two spherical Gaussians with unequal priors: experiment 1 of the Laplacian spectral classifier.

    Class c is N(means[c], I). The paper trains on 100 and 5 samples and tests on 200 and 10. With equal
    priors the least possible error rate is Phi(-|means[0] - means[1]| / 2), Phi the standard normal
    distribution function.

    Parameters
    ----------
    n_samples : int or (int, int), default=(100, 5)
        Samples per class; one number is shared out as 100 : 5.
    means : array-like of shape (2, n_features)
        The two centers; the defaults are the paper's.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), float64
        Samples, the rows in random order.
    y : ndarray of shape (n_samples,), int64
        0 or 1; the rows are in random order.

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


@_checked
def make_twonorm(
    n_samples: Sizes = 7400,
    *,
    n_features: int = 20,
    shift: float | None = None,
    random_state: RandomState = None,
) -> tuple[Array, Array]:
    """Twonorm: two Gaussians that differ in their mean only.

    Class 0 is N(a 1, I) and class 1 is N(-a 1, I), 1 the vector of ones and a = 2 / sqrt(d). The classes
    are equally likely; the least possible error rate is Phi(-2) = 2.3 %, reached by the sign of the sum of
    the features.

    Parameters
    ----------
    n_samples : int or (int, int), default=7400
        All samples, shared out evenly, or the samples of each class.
    n_features : int, default=20
        Dimension d.
    shift : float, default=None
        Coordinate a of the means; None is 2 / sqrt(n_features).
    random_state : int, RandomState instance or None, default=None
        Seed of the draw.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), float64
        Samples, the rows in random order.
    y : ndarray of shape (n_samples,), int64
        Their classes, 0, 1, ...

    Raises
    ------
    ValueError
        For a parameter of the wrong kind or out of range.

    References
    ----------
    L. Breiman: Bias, variance, and arcing classifiers. Technical report 460, University of California, 1996.

    Examples
    --------
    >>> from spectralcls.datasets import make_twonorm
    >>> X, y = make_twonorm(100, random_state=0)
    >>> X.shape
    (100, 20)
    """
    rng = check_random_state(random_state)
    a = 2 / np.sqrt(n_features) if shift is None else shift
    y = _labels_of(_class_counts(n_samples, (1, 1)))
    X = rng.standard_normal((len(y), n_features)) + np.where(y == 0, a, -a)[:, None]
    return _shuffled(X, y, rng)


@_checked
def make_ringnorm(
    n_samples: Sizes = 7400,
    *,
    n_features: int = 20,
    shift: float | None = None,
    random_state: RandomState = None,
) -> tuple[Array, Array]:
    """Ringnorm: a narrow Gaussian inside a wide one.

    Class 0 is N(0, 4 I) and class 1 is N(a 1, I), 1 the vector of ones; the classes are equally likely. The
    collection of Raetsch has a = 2 / sqrt(d); Breiman's text has 1 / sqrt(d).

    Parameters
    ----------
    n_samples : int or (int, int), default=7400
        All samples, shared out evenly, or the samples of each class.
    n_features : int, default=20
        Dimension d.
    shift : float, default=None
        Coordinate a of the means; None is 2 / sqrt(n_features).
    random_state : int, RandomState instance or None, default=None
        Seed of the draw.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), float64
        Samples, the rows in random order.
    y : ndarray of shape (n_samples,), int64
        Their classes, 0, 1, ...

    Raises
    ------
    ValueError
        For a parameter of the wrong kind or out of range.

    References
    ----------
    L. Breiman: Bias, variance, and arcing classifiers. Technical report 460, University of California, 1996.

    Examples
    --------
    >>> from spectralcls.datasets import make_ringnorm
    >>> X, y = make_ringnorm(100, random_state=0)
    >>> X.shape
    (100, 20)
    """
    rng = check_random_state(random_state)
    a = 2 / np.sqrt(n_features) if shift is None else shift
    y = _labels_of(_class_counts(n_samples, (1, 1)))
    noise = rng.standard_normal((len(y), n_features))
    return _shuffled(np.where(y == 0, 2.0, 1.0)[:, None] * noise + np.where(y == 0, 0.0, a)[:, None], y, rng)


_POSITIONS = np.arange(1, 22)
_WAVES = np.array([np.maximum(6 - np.abs(_POSITIONS - peak), 0) for peak in (11, 15, 7)], dtype=np.float64)
_WAVE_PAIRS = np.array([(0, 1), (0, 2), (1, 2)])


@_checked
def make_waveform(
    n_samples: Sizes = 5000,
    *,
    n_noise_features: int = 0,
    random_state: RandomState = None,
) -> tuple[Array, Array]:
    """Waveform: three classes, each a random blend of two of three triangular waves, plus noise.

    With h_1(i) = max(6 - |i - 11|, 0), h_2(i) = h_1(i - 4) and h_3(i) = h_1(i + 4), i = 1, ..., 21, a
    sample is u h_s + (1 - u) h_t + e, u uniform on (0, 1) and e ~ N(0, I); (s, t) is (1, 2), (1, 3), (2, 3)
    in class 0, 1, 2. So class means are (h_s + h_t) / 2 and class covariances I + (h_s - h_t)(h_s - h_t)^T
    / 12. The least possible error rate is about 14 %.

    Parameters
    ----------
    n_samples : int or (int, int, int), default=5000
        All samples, shared out evenly, or the samples of each class.
    n_noise_features : int, default=0
        Further features that are N(0, 1) in every class (19 in the 40-feature version of the set).
    random_state : int, RandomState instance or None, default=None
        Seed of the draw.

    Returns
    -------
    X : ndarray of shape (n_samples, 21 + n_noise_features), float64
        Samples, the rows in random order.
    y : ndarray of shape (n_samples,), int64
        Their classes, 0, 1, ...

    Raises
    ------
    ValueError
        For a parameter of the wrong kind or out of range.

    References
    ----------
    L. Breiman, J. Friedman, R. Olshen, C. Stone: Classification and regression trees. Wadsworth, 1984.

    Examples
    --------
    >>> from spectralcls.datasets import make_waveform
    >>> X, y = make_waveform(100, random_state=0)
    >>> X.shape
    (100, 21)
    """
    rng = check_random_state(random_state)
    y = _labels_of(_class_counts(n_samples, (1, 1, 1)))
    blend = rng.uniform(size=(len(y), 1))
    first, second = _WAVE_PAIRS[y].T
    X = rng.standard_normal((len(y), _WAVES.shape[1] + n_noise_features))
    X[:, : _WAVES.shape[1]] += blend * _WAVES[first] + (1 - blend) * _WAVES[second]
    return _shuffled(X, y, rng)


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
    counts = _class_counts(n_samples, (1, 1))
    rings = [_annulus(rng, n, radius, width) + center for n, radius, center in zip(counts, radii, centers, strict=True)]
    return _shuffled(np.concatenate(rings), _labels_of(counts), rng)


@_checked
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
    counts = _class_counts(n_samples, (1, 1))
    X = np.concatenate([scale * rng.standard_normal((counts[0], 2)), _annulus(rng, counts[1], radius, width)])
    return _shuffled(X, _labels_of(counts), rng)


@_checked
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
    y = _labels_of(_class_counts(n_samples, (1, 1)))
    t = np.sqrt(rng.uniform(size=len(y)))
    angle = 2 * np.pi * turns * t + np.pi * y
    spiral = radius * t[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return _shuffled(spiral + noise * rng.standard_normal((len(y), 2)), y, rng)


# Features, components, separation.
_SIMDATA = {1: (19, 64, 1.03), 2: (26, 64, 0.44), 3: (31, 75, 0.04)}
_SIMDATA_DIMENSION, _SIMDATA_NOISE = 12, 0.1  # of a piece, and its standard deviation in all other directions


@_checked
def make_simdata(version: int, n_samples: Sizes = 1000, *, random_state: RandomState = None) -> tuple[Array, Array]:
    """The simulated sets SimData-1, -2 and -3 of PerTurbo, as far as the paper fixes them.

    The paper gives ten classes, 19, 26 and 31 features, 64, 64 and 75 Gaussian components and 200 training
    and 800 test samples, but no means or covariances. Here component k of class k mod 10 has a mean from
    N(0, s^2 I) and the covariance A A^T + 0.01 I, A with 12 orthonormal columns in a random direction; the
    separation s is chosen so that nearest neighbors trained on 200 samples are about as often right as in the
    paper (76, 41 and 17 %). The mixture of each version is always the same one.

    Parameters
    ----------
    version : {1, 2, 3}
        Which of the three sets.
    n_samples : int, default=1000
        Number of samples.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), float64
        Samples of 19, 26 or 31 features, the rows in random order.
    y : ndarray of shape (n_samples,), int64
        Their classes, 0, 1, ...

    Raises
    ------
    ValueError
        For a parameter of the wrong kind or out of range.

    References
    ----------
    N. Courty, T. Burger, J. Laurent: PerTurbo: a new classification algorithm based on the spectrum perturbations of
    the Laplace-Beltrami operator. ECML PKDD 2011.

    Examples
    --------
    >>> from spectralcls.datasets import make_simdata
    >>> X, y = make_simdata(1, 200, random_state=0)
    >>> X.shape
    (200, 19)
    """
    n_features, n_components, separation = _SIMDATA[version]
    rng = check_random_state(version)
    means = separation * rng.standard_normal((n_components, n_features))
    axes = np.linalg.qr(rng.standard_normal((n_components, n_features, _SIMDATA_DIMENSION)))[0]
    rng = check_random_state(random_state)
    component = _labels_of(_class_counts(n_samples, np.ones(n_components)))
    along = rng.standard_normal((len(component), _SIMDATA_DIMENSION))
    X = means[component] + _SIMDATA_NOISE * rng.standard_normal((len(component), n_features))
    for k in range(n_components):
        X[component == k] += along[component == k] @ axes[k].T
    return _shuffled(X, component % 10, rng)
