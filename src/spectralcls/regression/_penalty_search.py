"""Kernel, bandwidth and ridge of a penalized kernel expansion by leave-one-out."""

from typing import NamedTuple

import numpy as np

from .._tuning import Scored, Search, Splits, search


class Fitted(NamedTuple):
    """One candidate, fitted to all points."""

    coefficients: np.ndarray  # (n, k)
    held_out: np.ndarray | None = None  # (n, k) scores of each point by all others
    losses: np.ndarray | None = None  # (n,) of these
    temperature: float | None = None  # at which they are least
    n_iter: int = 1


class PenaltyChoice(NamedTuple):
    kernel: str
    bandwidth: float
    alpha: float
    fitted: Fitted
    loss: float
    found: Search | None  # None if there was one candidate only


def leave_one_out(weights, bandwidths, alphas, path, more_alphas=()):
    """The candidate of least leave-one-out loss.

    Parameters
    ----------
    weights : ndarray of shape (n,)
    bandwidths : dict of str to sequence of float
        Of each kernel.
    alphas : sequence of float
        Ascending.
    path : callable
        ``path(kernel, bandwidth, alphas)``, a list of `Fitted`, or None for an alpha that cannot be fitted.
    more_alphas : sequence of float
        Larger ones, each of which is tried, with the kernel and bandwidth of the best so far, if the last before it is
        the best: where there is little to learn.

    Returns
    -------
    PenaltyChoice
    """
    grid = {
        "kernel": np.array(list(bandwidths)),
        "bandwidth": np.unique(np.concatenate([np.asarray(each, dtype=np.float64) for each in bandwidths.values()])),
        "alpha": np.asarray([*alphas, *more_alphas], dtype=np.float64),
    }
    shape = [len(values) for values in grid.values()]
    found, (means, deviations) = {}, np.full((2, *shape), np.nan)

    def score(k, b, some):
        kernel, bandwidth, tried = str(grid["kernel"][k]), grid["bandwidth"][b], grid["alpha"][some]
        for a, fitted in enumerate(path(kernel, bandwidth, tried), some.start):
            if fitted is None:
                continue
            means[k, b, a] = -np.average(fitted.losses, weights=weights)
            deviations[k, b, a] = np.sqrt(np.average((fitted.losses + means[k, b, a]) ** 2, weights=weights))
            found[k, b, a] = fitted

    for k, kernel in enumerate(grid["kernel"]):
        for b in np.flatnonzero(np.isin(grid["bandwidth"], bandwidths[kernel])):
            score(k, b, slice(0, len(alphas)))
    n_alphas = len(alphas)
    while found and n_alphas < len(grid["alpha"]):
        k, b, a = np.unravel_index(np.nanargmax(means), means.shape)
        if a < n_alphas - 1:
            break
        score(k, b, slice(n_alphas, n_alphas + 1))
        n_alphas += 1
    means, deviations = means[..., :n_alphas], deviations[..., :n_alphas]
    grid["alpha"] = grid["alpha"][:n_alphas]
    if not found:
        raise np.linalg.LinAlgError(
            f"no alpha of {list(alphas)} makes the kernel matrix positive definite in float64: raise alpha_grid"
        )
    chosen, best = {name: values[0] for name, values in grid.items()}, None
    tuned = {name: values for name, values in grid.items() if len(values) > 1}
    if tuned:
        shape = [len(values) for values in tuned.values()]
        one_split = Splits(weights.sum(keepdims=True))
        scored = Scored(means.reshape(1, *shape), deviations.reshape(shape))
        best = search(one_split, tuned, lambda *_, **tried: scored)
        chosen |= best.params
    index = tuple(int(np.flatnonzero(values == chosen[name])[0]) for name, values in grid.items())
    kernel, bandwidth, alpha = chosen.values()
    return PenaltyChoice(str(kernel), float(bandwidth), float(alpha), found[index], -float(means[index]), best)
