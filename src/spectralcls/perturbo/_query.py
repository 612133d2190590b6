"""Samples to label next: those closest to the border between the two classes that they perturb least."""

import numpy as np
from sklearn.utils import check_random_state

from .._estimator import coordinates
from .._inputs import Columns
from ..linalg import rpcholesky


def margin_of(tau):
    """tau_r(2) - tau_r(1), the gap between the two smallest values of each row: equations 12 and 13 of the paper."""
    if tau.shape[1] < 2:
        raise ValueError("A border between classes needs at least two classes; the estimator has one.")
    least = np.partition(tau, 1, axis=1)
    return least[:, 1] - least[:, 0]


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
    """Positions of n samples, at random among the `fraction` of the smallest margins.

    Of several, the first is drawn uniformly, each further one with a probability proportional to its perturbation of
    those already drawn, which is 0 for a duplicate (randomly pivoted Cholesky on the candidates' kernel matrix). If the
    candidates have fewer than n numerically different samples, the rest are those of the smallest margins.
    """
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
