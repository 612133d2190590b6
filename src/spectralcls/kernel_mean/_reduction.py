"""Reduced training sets: fewer training points, with weights."""

from numbers import Integral, Real
from typing import Literal

import numpy as np
from scipy.optimize import minimize
from sklearn.utils import check_random_state

from .._tuning import reference_bandwidth
from .._utils.conversion import converted
from .._utils.from_sklearn import Interval, RealNotInt, StrOptions, validated
from .._utils.typing import Array, ArrayLike, RandomState
from .._utils.validation import check_column, check_sample_weight
from ..kernels import kernel_matrix, kernel_sums
from ..kernels.neighbor_search import knn
from ..linalg import rpcholesky

__all__ = ["reduce_training_set"]

NO_NEWS = 1e-10  # a smaller tau is a rounding error: the point lies in the span of those chosen


@validated(
    {
        "X": ["array-like"],
        "y": ["array-like"],
        "size": [Interval(Integral, 1, None, closed="left"), Interval(RealNotInt, 0, 1, closed="neither")],
        "method": [StrOptions({"representative", "perturbation", "weight"})],
        "bandwidth": [Interval(Real, 0, None, closed="neither"), StrOptions({"silverman"})],
        "sample_weight": ["array-like", None],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    }
)
def reduce_training_set(
    X: ArrayLike,
    y: ArrayLike,
    size: int | float,
    *,
    method: Literal["representative", "perturbation", "weight"] = "representative",
    bandwidth: float | Literal["silverman"] = "silverman",
    sample_weight: ArrayLike | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> tuple[Array, Array]:
    """Choose training points of each class, with weights for ``fit(X[indices], y[indices], sample_weight)``.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Training points, float32 or float64.
    y : array-like of shape (n,)
        Class labels.
    size : int or float
        Number of points to keep, or their fraction of n. Class proportions are preserved; each class keeps at least one
        point.
    method : {"representative", "perturbation", "weight"}, default="representative"
        "representative": points chosen by randomly pivoted Cholesky of the Gaussian kernel matrix of the class, with
        the weights >= 0 that bring their kernel mean nearest to that of the whole class. Suited to classifiers by
        density or distance.

        "perturbation": the densest point, then one by one the point with the largest tau [2]_ relative to the span of
        the points chosen before. The weight of a chosen point is the total weight of the points nearest to it. The
        points cover the class evenly, including outliers. Suited to :class:`~spectralcls.PerTurboClassifier`.

        "weight": the points with the largest weight 1 / f, where f is the Parzen density of all training points, as
        proposed in [1]_, section 10.1. They form the border of the data. In each class, their weights are proportional
        to `sample_weight`, by default equal. This is good if classes do not overlap, and poor otherwise.
    bandwidth : "silverman" or float, default="silverman"
        Bandwidth of the Gaussian kernel; 1 if the data have no spread.
    sample_weight : array-like of shape (n,), default=None
        Weights of the training points.
    random_state : int, RandomState instance or None, default=None
        Seed of the random pivots.
    n_jobs : int, default=None
        Number of threads for kernel values.

    Returns
    -------
    indices : ndarray of int
        Rows to keep, ascending. Fewer than ``size`` if a class has too few distinct points of positive weight, or if
        "representative" finds a weight of zero for some of its points.
    weights : ndarray of float64, of the shape of ``indices``
        Positive weights. In each class they add up to the total weight of the class, which preserves the priors.

    Raises
    ------
    ValueError
        If the data are invalid, all weights of a class are zero, `size` is smaller than the number of classes, or
        `method` is unknown.

    Notes
    -----
    For r of the n_c points of a class, "representative" and "perturbation" take n_c r kernel evaluations, n_c r^2
    operations and n_c r numbers of memory; "perturbation" also takes a pass over the n_c^2 pairs. "weight" takes n^2
    kernel evaluations and no further memory.

    References
    ----------
    .. [1] O. K. Storås, "Information Theoretic Learning for Pattern Classification", Master's thesis, University of
       Tromsø, 2007.
    .. [2] N. Courty, T. Burger, J. Laurent, "PerTurbo: a new classification algorithm based on the spectrum
       perturbations of the Laplace-Beltrami operator", ECML PKDD 2011, LNCS 6911, pp. 359-374.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls import ParzenClassifier
    >>> from spectralcls.kernel_mean import reduce_training_set
    >>> X, y = load_iris(return_X_y=True)
    >>> rows, weights = reduce_training_set(X, y, 30, random_state=0)
    >>> bool(ParzenClassifier(0.5).fit(X[rows], y[rows], sample_weight=weights).score(X, y) > 0.9)
    True
    """
    X = converted(X, "X", dtype=[np.float64, np.float32])
    y = check_column(y, len(X))
    mass = check_sample_weight(sample_weight, len(X), y)
    classes, codes = np.unique(y, return_inverse=True)
    members = [np.flatnonzero((codes == c) & (mass > 0)) for c in range(len(classes))]
    empty = [classes[c] for c, rows in enumerate(members) if not len(rows)]
    if empty:
        raise ValueError(f"All samples of class {empty[0]!r} have weight zero.")
    total = size if isinstance(size, Integral) else max(1, round(size * len(X)))
    if total < len(classes):
        raise ValueError(f"size={size!r} keeps {total} points, fewer than the {len(classes)} classes.")
    h = reference_bandwidth("silverman", X, None, 1) if bandwidth == "silverman" else float(bandwidth)

    sizes = _class_sizes(total, np.array([len(rows) for rows in members]))
    if method == "weight":
        used = np.sort(np.concatenate(members))
        density = np.full(len(X), np.inf)
        density[used] = kernel_sums(X[used], X[used], weights=mass[used], bandwidth=h, n_jobs=n_jobs)
        chosen = [_sparsest(rows, density, r, mass) for rows, r in zip(members, sizes, strict=True)]
    elif method == "perturbation":
        chosen = [_most_perturbing(X, rows, r, mass, h, n_jobs) for rows, r in zip(members, sizes, strict=True)]
    else:
        rng = check_random_state(random_state)
        chosen = [_representatives(X, rows, r, mass, h, rng, n_jobs) for rows, r in zip(members, sizes, strict=True)]
    indices, weights = (np.concatenate(parts) for parts in zip(*chosen, strict=True))
    order = np.argsort(indices)
    return indices[order], weights[order]


def _class_sizes(total, counts):
    """Split the total in proportion to the counts, by largest remainders; each class gets at least 1 and at most its
    count."""
    if total >= counts.sum():
        return counts
    exact = total * counts / counts.sum()
    sizes = np.maximum(1, np.floor(exact).astype(int))
    while sizes.sum() != total:
        step = 1 if sizes.sum() < total else -1
        movable = sizes < counts if step > 0 else sizes > 1
        gap = np.where(movable, step * (exact - sizes), -np.inf)
        sizes[np.argmax(gap)] += step
    return sizes


def _sparsest(rows, density, size, mass):
    class_mass = mass[rows].sum()
    rows = rows[np.argsort(density[rows], kind="stable")[:size]]
    return rows, mass[rows] * (class_mass / mass[rows].sum())


def _most_perturbing(X, rows, size, mass, bandwidth, n_jobs):
    """Pivots of a Cholesky factor of the class: the densest point, then repeatedly the point with the largest tau."""
    points, kept = X[rows].astype(np.float64), []
    factor, tau = np.zeros((len(rows), size)), np.ones(len(rows))
    pivot = kernel_sums(points, points, weights=mass[rows], bandwidth=bandwidth, n_jobs=n_jobs).argmax()
    while len(kept) < size and tau[pivot] > NO_NEWS:
        column = kernel_matrix(points, points[[pivot]], bandwidth=bandwidth, n_jobs=n_jobs)[:, 0]
        column -= factor[:, : len(kept)] @ factor[pivot, : len(kept)]
        factor[:, len(kept)] = column / np.sqrt(tau[pivot])
        tau -= factor[:, len(kept)] ** 2
        kept.append(pivot)
        tau[pivot], pivot = 0.0, tau.argmax()
    nearest = knn(points, points[kept], 1, n_jobs=n_jobs)[1][:, 0]
    return rows[kept], np.bincount(nearest, mass[rows], len(kept))


def _representatives(X, rows, size, mass, bandwidth, rng, n_jobs):
    """Pivots of the class, with the weights w >= 0 that bring their kernel mean nearest to that of the class.

    Up to a constant, half the squared distance is w^T K w / 2 - b^T w, where K is the kernel matrix of the pivots and b
    the mean kernel value between the class and each pivot. This function is convex.
    """
    factor = rpcholesky(X[rows], size, bandwidth=bandwidth, random_state=rng, n_jobs=n_jobs)
    pivots = rows[factor.pivots]
    points = X[pivots].astype(np.float64)
    K = kernel_matrix(points, bandwidth=bandwidth, n_jobs=n_jobs)
    sums = kernel_sums(points, X[rows], weights=mass[rows], bandwidth=bandwidth, n_jobs=n_jobs)
    mean = sums.astype(np.float64) / mass[rows].sum()

    def objective(w):
        product = K @ w
        return w @ product / 2 - mean @ w, product - mean

    start = np.full(len(pivots), 1 / len(pivots))
    bounds = [(0, None)] * len(pivots)
    options = {"maxiter": 1000, "maxfun": 2000, "ftol": 1e-14, "gtol": 1e-10}
    weights = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
    kept = weights > 0
    return pivots[kept], weights[kept] * (mass[rows].sum() / weights[kept].sum())
