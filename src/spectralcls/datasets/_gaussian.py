"""Synthetic classes that are Gaussians, or blends of waves under Gaussian noise."""

from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_random_state

from .._utils.from_sklearn import Interval, validate_params
from .._utils.typing import Array, ArrayLike, RandomState, Sizes
from ._sampling import SIZE, class_counts, labels_of, shuffled

_COUNT = [Interval(Integral, 1, None, closed="left")]
_LENGTH = [Interval(Real, 0, None, closed="left")]


@validate_params(
    {"n_samples": SIZE, "means": ["array-like"], "random_state": ["random_state"]},
    prefer_skip_nested_validation=True,
)
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
    y = labels_of(class_counts(n_samples, (100, 5)))
    return shuffled(means[y] + rng.standard_normal((len(y), means.shape[1])), y, rng)


@validate_params(
    {"n_samples": SIZE, "n_features": _COUNT, "shift": [*_LENGTH, None], "random_state": ["random_state"]},
    prefer_skip_nested_validation=True,
)
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
    y = labels_of(class_counts(n_samples, (1, 1)))
    X = rng.standard_normal((len(y), n_features)) + np.where(y == 0, a, -a)[:, None]
    return shuffled(X, y, rng)


@validate_params(
    {"n_samples": SIZE, "n_features": _COUNT, "shift": [*_LENGTH, None], "random_state": ["random_state"]},
    prefer_skip_nested_validation=True,
)
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
    y = labels_of(class_counts(n_samples, (1, 1)))
    noise = rng.standard_normal((len(y), n_features))
    return shuffled(np.where(y == 0, 2.0, 1.0)[:, None] * noise + np.where(y == 0, 0.0, a)[:, None], y, rng)


_POSITIONS = np.arange(1, 22)
_WAVES = np.array([np.maximum(6 - np.abs(_POSITIONS - peak), 0) for peak in (11, 15, 7)], dtype=np.float64)
_WAVE_PAIRS = np.array([(0, 1), (0, 2), (1, 2)])


@validate_params(
    {
        "n_samples": SIZE,
        "n_noise_features": [Interval(Integral, 0, None, closed="left")],
        "random_state": ["random_state"],
    },
    prefer_skip_nested_validation=True,
)
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
    y = labels_of(class_counts(n_samples, (1, 1, 1)))
    blend = rng.uniform(size=(len(y), 1))
    first, second = _WAVE_PAIRS[y].T
    X = rng.standard_normal((len(y), _WAVES.shape[1] + n_noise_features))
    X[:, : _WAVES.shape[1]] += blend * _WAVES[first] + (1 - blend) * _WAVES[second]
    return shuffled(X, y, rng)
