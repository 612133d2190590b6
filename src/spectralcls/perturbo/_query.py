"""Samples to label next: those closest to the border between the two classes that they perturb least."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .._estimator import coordinates
from .._inputs import Columns
from .._utils.from_sklearn import HasMethods, Interval, validated
from .._utils.typing import Array, ArrayLike, RandomState
from ..linalg import rpcholesky


def margin_of(tau):
    """tau_r(2) - tau_r(1), the gap between the two smallest values of each row."""
    if tau.shape[1] < 2:
        raise ValueError("A border between classes needs at least two classes; the estimator has one.")
    least = np.partition(tau, 1, axis=1)
    return least[:, 1] - least[:, 0]


@validated({"estimator": [HasMethods(["perturbation"])], "X": ["array-like"]})
def margin(estimator: Any, X: ArrayLike) -> Array:
    """The margin |tau_r(1)(x) - tau_r(2)(x)| between the two least perturbed classes: 0 on a border.

    Parameters
    ----------
    estimator : PerTurboClassifier
        Fitted classifier with at least two classes.
    X : array-like of shape (m, d)
        Queries.

    Returns
    -------
    ndarray of shape (m,)
        Equations 12 and 13 of [1]_. It is small near borders and also far from all samples, where every
        tau is 1.

    Raises
    ------
    ValueError
        If the estimator has a single class.

    References
    ----------
    .. [1] N. Courty, T. Burger, J. Laurent, "PerTurbo: a new classification algorithm based on the spectrum
       perturbations of the Laplace-Beltrami operator", ECML PKDD 2011, LNCS 6911, pp. 359-374.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from spectralcls import PerTurboClassifier
    >>> from spectralcls.perturbo import margin
    >>> margin(PerTurboClassifier(1.0, alpha=1e-2).fit(X, y), X).shape
    (150,)
    """
    return margin_of(estimator.perturbation(X))


@validated(
    {
        "estimator": [HasMethods(["perturbation"])],
        "X_pool": ["array-like"],
        "n": [Interval(Integral, 1, None, closed="left")],
        "fraction": [Interval(Real, 0, 1, closed="right")],
        "random_state": ["random_state"],
    }
)
def query_boundary(
    estimator: Any,
    X_pool: ArrayLike,
    n: int = 1,
    fraction: float = 0.10,
    *,
    random_state: RandomState = None,
) -> Array:
    """Choose samples to label next at random among the ``fraction`` nearest to a border (section 4.2 of [1]_).

    A batch avoids near-duplicates. The first sample is drawn uniformly, each further one with a probability
    proportional to its perturbation of the samples already drawn, which is 0 for a duplicate (randomly pivoted Cholesky
    on the candidates' kernel matrix).

    Parameters
    ----------
    estimator : PerTurboClassifier
        Fitted classifier with at least two classes.
    X_pool : array-like of shape (m, d)
        Samples to choose from.
    n : int, default=1
        Number of samples to choose.
    fraction : float in (0, 1], default=0.10
        Fraction of the pool that may be chosen; at least 2 n samples.
    random_state : int, RandomState instance or None, default=None
        Draws among the eligible samples.

    Returns
    -------
    ndarray of shape (n,)
        Distinct positions in ``X_pool``, in the order of the draw. If the candidates have fewer than n numerically
        different samples, the rest are the samples nearest the border.

    Raises
    ------
    ValueError
        For an empty pool, a pool smaller than n, or an estimator of one class.

    References
    ----------
    .. [1] N. Courty, T. Burger, J. Laurent, "PerTurbo: a new classification algorithm based on the spectrum
       perturbations of the Laplace-Beltrami operator", ECML PKDD 2011, LNCS 6911, pp. 359-374.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from spectralcls import PerTurboClassifier
    >>> from spectralcls.perturbo import query_boundary
    >>> model = PerTurboClassifier(1.0, alpha=1e-2).fit(X[::5], y[::5])
    >>> query_boundary(model, X, 3, random_state=0).shape
    (3,)
    """
    m = len(X_pool) if hasattr(X_pool, "__len__") else X_pool.shape[0]
    if m < n:
        raise ValueError(f"The pool has {m} samples, but {n} were asked for.")
    margins, points = margin_of(estimator.perturbation(X_pool)), complete_pool(estimator, X_pool)
    h = float(np.mean(estimator.bandwidth_))
    return draw(margins, points, n, fraction, estimator.kernel, h, random_state)


def complete_pool(estimator, X_pool):
    """Check samples (m, d) of a pool and return their coordinates; missing values raise an error."""
    points = coordinates(estimator, X_pool)
    refuse_missing(points)
    return points


def refuse_missing(samples):
    """Raise for the first sample, of an array or of `Columns`, with a missing value."""
    table = isinstance(samples, Columns)
    lacking = np.any([column.missing for column in samples], axis=0) if table else np.isnan(samples).any(axis=1)
    if lacking.any():
        raise ValueError(
            f"The pool contains NaN: row {np.argmax(lacking)}. Its samples are compared with each other, so they must "
            "be complete: impute missing values."
        )


def draw(margins, X_pool, n, fraction, kernel, bandwidth, random_state):
    """Positions of n samples by their margins; see `query_boundary`."""
    rng = check_random_state(random_state)
    m = len(margins)
    n_candidates = min(m, max(int(np.ceil(fraction * m)), 2 * n if n > 1 else 1))
    nearest = np.argpartition(margins, n_candidates - 1)
    candidates = np.sort(nearest[:n_candidates])
    if n == 1:
        return candidates[[rng.randint(n_candidates)]]
    low = rpcholesky(X_pool[candidates], n, kernel=kernel, bandwidth=bandwidth, random_state=rng)
    chosen = candidates[low.pivots]
    if len(chosen) < n:
        order = np.argsort(margins, kind="stable")
        order = order[~np.isin(order, chosen)]
        chosen = np.concatenate([chosen, order[: n - len(chosen)]])
    return chosen
