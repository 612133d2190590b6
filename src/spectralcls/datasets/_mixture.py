"""Synthetic classes that are mixtures of flat Gaussian pieces."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import Bunch, check_random_state

from .._utils.from_sklearn import Interval, validate_params
from .._utils.typing import Array, RandomState, Sizes
from ._sampling import SIZE, class_counts, labels_of, shuffled

_COUNT = [Interval(Integral, 1, None, closed="left")]
_LENGTH = [Interval(Real, 0, None, closed="left")]

_MIXTURE_PARAMETERS = {
    "n_classes": _COUNT,
    "n_features": _COUNT,
    "n_components": _COUNT,
    "intrinsic_dim": [Interval(Integral, 0, None, closed="left")],
    "separation": _LENGTH,
    "noise": _LENGTH,
}


@validate_params({**_MIXTURE_PARAMETERS, "random_state": ["random_state"]}, prefer_skip_nested_validation=True)
def gaussian_mixture(
    n_classes: int = 10,
    n_features: int = 19,
    n_components: int = 64,
    *,
    intrinsic_dim: int = 3,
    separation: float = 1.0,
    noise: float = 0.1,
    random_state: RandomState = None,
) -> Any:
    """Draw the parameters of a random mixture whose classes are chains of flat Gaussian pieces.

    Component k has the mean m_k ~ N(0, separation^2 I), the covariance A_k A_k^T + noise^2 I with A_k of
    ``intrinsic_dim`` orthonormal columns in a uniformly random direction, the class k mod ``n_classes``,
    and the weight 1 / ``n_components``. It has variance 1 + noise^2 along its piece and noise^2 across it.

    Parameters
    ----------
    n_classes : int, default=10
        Number of classes.
    n_features : int, default=19
        Dimension.
    n_components : int, default=64
        Number of Gaussian pieces, at least one for each class.
    intrinsic_dim : int, default=3
        Dimension of each piece, at most ``n_features``.
    separation : float, default=1.0
        Standard deviation of the means, per feature, in units of the pieces' own.
    noise : float, default=0.1
        Standard deviation across a piece.
    random_state : int, RandomState instance or None, default=None
        Seed of the mixture.

    Returns
    -------
    mixture : Bunch
        ``means`` (n_components, n_features), ``axes`` (n_components, n_features, intrinsic_dim), ``noise``
        and ``classes`` (n_components,), the class of each component.

    Raises
    ------
    ValueError
        For a parameter of the wrong kind or out of range.

    Examples
    --------
    >>> from spectralcls.datasets import gaussian_mixture
    >>> type(gaussian_mixture(n_features=5, n_components=12, random_state=0)).__name__
    'Bunch'
    """
    if n_components < n_classes:
        raise ValueError(f"n_components={n_components} leaves some of the {n_classes} classes without a component.")
    if intrinsic_dim > n_features:
        raise ValueError(f"intrinsic_dim={intrinsic_dim} is more than n_features={n_features}.")
    rng = check_random_state(random_state)
    means = separation * rng.standard_normal((n_components, n_features))
    axes = np.linalg.qr(rng.standard_normal((n_components, n_features, intrinsic_dim)))[0]
    return Bunch(means=means, axes=axes, noise=noise, classes=np.arange(n_components) % n_classes)


@validate_params(
    {
        "n_samples": [Interval(Integral, 1, None, closed="left")],
        **_MIXTURE_PARAMETERS,
        "mixture_state": ["random_state"],
        "random_state": ["random_state"],
    },
    prefer_skip_nested_validation=True,
)
def make_gaussian_mixture(
    n_samples: Sizes = 1000,
    *,
    n_classes: int = 10,
    n_features: int = 19,
    n_components: int = 64,
    intrinsic_dim: int = 3,
    separation: float = 1.0,
    noise: float = 0.1,
    mixture_state: int = 0,
    random_state: RandomState = None,
) -> tuple[Array, Array]:
    """Draw samples of :func:`gaussian_mixture`: classes that are mixtures of flat Gaussian pieces.

    Parameters
    ----------
    n_samples : int, default=1000
        All samples; every component gets the same number of them, to within one.
    n_classes : int, default=10
        Number of classes.
    n_features : int, default=19
        Dimension.
    n_components : int, default=64
        Number of Gaussian pieces, at least one for each class.
    intrinsic_dim : int, default=3
        Dimension of each piece, at most ``n_features``.
    separation : float, default=1.0
        Standard deviation of the pieces' means, per feature, in units of the pieces' own.
    noise : float, default=0.1
        Standard deviation across a piece.
    mixture_state : int, RandomState instance or None, default=0
        Seed of the mixture. With the same integer, other values of ``random_state`` draw from the same
        distribution.
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

    Examples
    --------
    >>> from spectralcls.datasets import make_gaussian_mixture
    >>> X, y = make_gaussian_mixture(100, n_features=5, n_components=12, random_state=0)
    >>> X.shape
    (100, 5)
    """
    mixture = gaussian_mixture(
        n_classes,
        n_features,
        n_components,
        intrinsic_dim=intrinsic_dim,
        separation=separation,
        noise=noise,
        random_state=mixture_state,
    )
    rng = check_random_state(random_state)
    component = labels_of(class_counts(n_samples, np.ones(n_components)))
    along = rng.standard_normal((len(component), intrinsic_dim))
    X = mixture.means[component] + mixture.noise * rng.standard_normal((len(component), n_features))
    for k in range(n_components):
        X[component == k] += along[component == k] @ mixture.axes[k].T
    return shuffled(X, mixture.classes[component], rng)


# Features, components, separation.
_SIMDATA = {1: (19, 64, 1.03), 2: (26, 64, 0.44), 3: (31, 75, 0.04)}
_SIMDATA_INTRINSIC_DIM = 12


@validate_params(
    {
        "version": [Interval(Integral, 1, 3, closed="both")],
        "n_samples": SIZE[:1],
        "random_state": ["random_state"],
    },
    prefer_skip_nested_validation=True,
)
def make_simdata(version: int, n_samples: Sizes = 1000, *, random_state: RandomState = None) -> tuple[Array, Array]:
    """The simulated sets SimData-1, -2 and -3 of PerTurbo, as far as the paper fixes them.

    The paper gives ten classes, 19, 26 and 31 features, 64, 64 and 75 Gaussian components and 200 training
    and 800 test samples, but no means or covariances. These are :func:`make_gaussian_mixture`'s with
    pieces of dimension 12, and separations chosen so that nearest neighbors trained on 200 samples are
    about as often right as in the paper (76, 41 and 17 %). The mixture of each version is always the same
    one.

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
    return make_gaussian_mixture(
        n_samples,
        n_features=n_features,
        n_components=n_components,
        intrinsic_dim=_SIMDATA_INTRINSIC_DIM,
        separation=separation,
        mixture_state=version,
        random_state=random_state,
    )
