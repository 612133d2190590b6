"""Reference rules for the bandwidth of a kernel density estimate, and grids of candidate bandwidths."""

from numbers import Integral, Real
from typing import Any, Literal

import numpy as np

from .._utils.conversion import converted
from .._utils.from_sklearn import Interval, StrOptions, validated
from .._utils.typing import Array, ArrayLike, Kernel
from .._utils.validation import check_sample_weight
from ._checks import check_dimension
from ._kernel_sums import KERNELS
from ._profiles import PROFILES

__all__ = ["bandwidth_grid", "kernel_variance", "silverman_bandwidth"]

_BLOCK_ROWS = 4096
_NO_SPREAD = "All samples are equal: the data have no spread from which to derive a bandwidth."
_RULES = {"silverman": lambda d: 2 * d + 1, "amise": lambda d: d + 2, "scott": lambda d: 4}
_CONSTRAINTS = {
    "X": ["array-like"],
    "sample_weight": ["array-like", None],
    "rule": [StrOptions(set(_RULES))],
    "kernel": [StrOptions(set(KERNELS))],
    "n_bandwidths": [Interval(Integral, 1, 10_000, closed="both")],
    "ratio": [Interval(Real, 1, None, closed="neither")],
}


def kernel_variance(kernel: Kernel, n_features: int) -> float:
    """Variance per coordinate of the radial kernel in R^d, at bandwidth 1.

    Two kernels smooth by the same amount if their bandwidths are inversely proportional to the square roots of their
    variances. Bandwidth rules for the Gaussian are transferred to other kernels in this way.

    Parameters
    ----------
    kernel : {"gaussian", "epanechnikov", "uniform", "quartic", "triweight", "cosine", "linear", "laplace"}
        Profile of the kernel.
    n_features : int
        Dimension d.

    Returns
    -------
    variance : float
        1 for the Gaussian, d + 1 for "laplace", at most 1 / (d + 2) for the others, whose support is the unit ball.

    Raises
    ------
    ValueError
        If the kernel is unknown or has no density, or the dimension is below 1.

    Examples
    --------
    >>> from spectralcls.kernels import kernel_variance
    >>> round(kernel_variance("epanechnikov", 1), 3)
    0.2
    """
    if not isinstance(kernel, str) or kernel not in KERNELS:
        raise ValueError(f"kernel must be one of {', '.join(KERNELS)}, got {kernel!r}.")
    check_dimension(n_features, "n_features")
    variance: Any = PROFILES[kernel].variance  # each of KERNELS has one
    return variance(n_features)


def _read(X: Any, sample_weight: ArrayLike | None) -> tuple[Array, Array | None]:
    """The checked rows of positive weight and their weights (None if not given)."""
    X = converted(X, "X", dtype=[np.float64, np.float32], ensure_min_samples=2)
    if sample_weight is None:
        return X, None
    weights = check_sample_weight(sample_weight, len(X))
    return (X, weights) if weights.all() else (X[weights > 0], weights[weights > 0])


def check_repetitions(n: float) -> None:
    """Raise if the weights, which are repetition counts with sum n, represent at most one sample."""
    if n <= 1 + 1e-9:  # the sum of normalized weights may exceed one by rounding
        raise ValueError(
            f"The sum of sample_weight is {n:g}, but it has to be greater than 1: weights count "
            "repetitions of a sample. Scale them so that they add up to the number of samples."
        )


def _spread_and_size(X: Any, sample_weight: ArrayLike | None) -> tuple[float, float]:
    """Root of the mean variance of the features, and n; weights count repetitions of a row."""
    X, weights = _read(X, sample_weight)
    n = len(X)
    if weights is not None:
        n = weights.sum()
        check_repetitions(n)
    scale = np.ptp(X, axis=0).max()
    if scale == 0:
        raise ValueError(_NO_SPREAD)
    # Dividing by the range of the widest feature keeps squares from over- or underflowing.
    center = X.mean(axis=0, dtype=np.float64) if weights is None else weights @ X / n
    total = 0.0
    for start in range(0, len(X), _BLOCK_ROWS):
        rows = slice(start, start + _BLOCK_ROWS)
        offset = (X[rows] - center) / scale
        total += np.vdot(offset, offset) if weights is None else np.einsum("ij,ij,i", offset, offset, weights[rows])
    return scale * np.sqrt(total / (n - 1) / X.shape[1]), n


@validated(_CONSTRAINTS)
def silverman_bandwidth(
    X: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    rule: Literal["silverman", "amise", "scott"] = "silverman",
    kernel: Kernel = "gaussian",
) -> float:
    """Normal-reference bandwidth by Silverman's rule for a multivariate sample.

    The bandwidth is ``h = s (4 / ((2 d + 1) n))^(1 / (d + 4))`` as printed in [1]_, where ``s^2`` is the mean of the
    diagonal of the sample covariance matrix (divisor n - 1).

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        At least two samples that are not all equal.
    sample_weight : array-like of shape (n_samples,), default=None
        Repetition counts: a sample of weight 2 counts as two equal rows, so n is the sum of the weights.
    rule : {"silverman", "amise", "scott"}, default="silverman"
        The factor of n in the denominator: ``2 d + 1`` (equation 3.13 of [1]_); ``d + 2``, which minimizes the
        asymptotic mean integrated squared error; or 4, Scott's ``h = s n^(-1 / (d + 4))``. The first two agree in one
        dimension.
    kernel : str, default="gaussian"
        Other kernels get the bandwidth at which their variance equals the Gaussian's (see `kernel_variance`).

    Returns
    -------
    bandwidth : float
        Bandwidth, positive, in the units of the features.

    Raises
    ------
    ValueError
        If all samples are equal, or the weights add up to at most one.

    Notes
    -----
    Cost O(n d) time and O(n) memory beyond the data.

    References
    ----------
    .. [1] O. K. Storås, "Information Theoretic Learning for Pattern Classification", Master's thesis, University of
       Tromsø, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> from spectralcls.kernels import silverman_bandwidth
    >>> round(silverman_bandwidth(X), 3)
    0.334
    """
    spread, n = _spread_and_size(X, sample_weight)
    return reference_rule(spread, n, np.shape(X)[1], rule, kernel)


def reference_rule(spread: float, n: float, d: int, rule: str, kernel: Kernel) -> float:
    """Normal-reference bandwidth for n samples in R^d whose features have the mean variance ``spread^2``."""
    h = spread * (4 / (_RULES[rule](d) * n)) ** (1 / (d + 4))
    return float(h / np.sqrt(kernel_variance(kernel, d)))


@validated(_CONSTRAINTS)
def bandwidth_grid(
    X: ArrayLike,
    n_bandwidths: int = 16,
    ratio: float = 2.0,
    *,
    sample_weight: ArrayLike | None = None,
    kernel: Kernel = "gaussian",
) -> Array:
    """Geometric grid of bandwidths around Silverman's rule, in ascending order.

    Half of the grid lies below Silverman's bandwidth. Little changes beyond its ends: as h vanishes, density-based
    classifiers approach the nearest-neighbor rule, and as h grows, distance-based classifiers approach the nearest-mean
    rule.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        At least two samples that are not all equal.
    n_bandwidths : int, default=16
        Number of bandwidths, at most 10 000.
    ratio : float, default=2.0
        Ratio of consecutive h^2. With 2, each Gaussian kernel is the square of the next one, and the convolution of a
        kernel with itself is the next kernel, up to a factor.
    sample_weight : array-like of shape (n_samples,), default=None
        Repetition counts.
    kernel : str, default="gaussian"
        As in `silverman_bandwidth`.

    Returns
    -------
    bandwidths : ndarray of shape (n_bandwidths,)
        Ascending, in the units of the features.

    Raises
    ------
    ValueError
        If there are fewer than two samples, all samples are equal, or `n_bandwidths` or `ratio` is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> from spectralcls.kernels import bandwidth_grid
    >>> bandwidth_grid(X, 3).round(3)
    array([0.236, 0.334, 0.472])
    """
    reference = silverman_bandwidth(X, sample_weight, kernel=kernel)
    return geometric_grid(reference, n_bandwidths, ratio)


def geometric_grid(reference: float, n_bandwidths: int = 16, ratio: float = 2.0) -> Array:
    """Ascending bandwidths around a reference, with the given `ratio` of consecutive h^2."""
    return reference * np.sqrt(float(ratio)) ** (np.arange(n_bandwidths) - n_bandwidths // 2)
