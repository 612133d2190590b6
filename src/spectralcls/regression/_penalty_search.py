"""Choice of kernel, bandwidth and ridge by leave-one-out."""

from itertools import product
from typing import NamedTuple

import numpy as np

from .._tuning import Scored, Search, Splits, search


class Fitted(NamedTuple):
    """One candidate, fitted to all points."""

    coefficients: np.ndarray | None  # (n, k)
    held_out: np.ndarray  # (n, k) scores of each point when it is left out
    losses: np.ndarray  # (n,) losses of these scores
    temperature: float | None  # minimizes the mean loss


class Candidates(NamedTuple):
    """Values tried in all combinations, and further values tried only next to the best so far."""

    bandwidths: dict  # kernel (str): sequence of float
    alphas: np.ndarray
    more_bandwidths: dict
    more_alphas: np.ndarray


class PenaltyChoice(NamedTuple):
    kernel: str
    bandwidth: float
    alpha: float
    fitted: Fitted
    loss: float
    found: Search | None  # None if there was only one candidate


def leave_one_out(weights, candidates, path):
    """Choose the candidate with the least leave-one-out loss.

    For each kernel, further values next to the best so far are tried until none improves it.

    Parameters
    ----------
    weights : ndarray of shape (n,)
    candidates : Candidates
    path : callable
        ``path(kernel, bandwidth, alphas)`` returns a list with a `Fitted` for each alpha, or None in its place if the
        fit fails.

    Returns
    -------
    PenaltyChoice
    """
    tried = {}  # (kernel, bandwidth, alpha): Fitted or None

    def fit(kernel, bandwidth, alphas):
        own = path(kernel, bandwidth, np.asarray(alphas))
        tried.update({(kernel, float(bandwidth), float(a)): fitted for a, fitted in zip(alphas, own, strict=True)})

    def loss(at):
        return np.inf if tried[at] is None else float(np.average(tried[at].losses, weights=weights))

    for kernel, bandwidths in candidates.bandwidths.items():
        for bandwidth in bandwidths:
            fit(kernel, bandwidth, candidates.alphas)
    if not any(tried.values()):
        raise np.linalg.LinAlgError(
            f"no alpha of {list(candidates.alphas)} makes the kernel matrix positive definite in float64: "
            "use larger values in alpha_grid"
        )
    for kernel in candidates.bandwidths:
        while further := _beside(min((at for at in tried if at[0] == kernel), key=loss), candidates) - tried.keys():
            for _, bandwidth, alpha in sorted(further):
                fit(kernel, bandwidth, [alpha])
    grid = {
        "kernel": np.array(list(candidates.bandwidths)),
        "bandwidth": np.unique([bandwidth for _, bandwidth, _ in tried]),
        "alpha": np.unique([alpha for *_, alpha in tried]),
    }
    means, deviations = np.full((2, *map(len, grid.values())), np.nan)
    for at, fitted in tried.items():
        if fitted is not None:
            index = tuple(int(np.flatnonzero(v == own)[0]) for v, own in zip(grid.values(), at, strict=True))
            means[index] = -loss(at)
            deviations[index] = np.sqrt(np.average((fitted.losses - loss(at)) ** 2, weights=weights))
    chosen, best = {name: values[0] for name, values in grid.items()}, None
    several = {name: values for name, values in grid.items() if len(values) > 1}
    if several:
        shape = [len(values) for values in several.values()]
        one_split = Splits(weights.sum(keepdims=True))
        scored = Scored(means.reshape(1, *shape), deviations.reshape(shape))
        best = search(one_split, several, lambda *_, **tried: scored)
        chosen |= best.params
    at = str(chosen["kernel"]), float(chosen["bandwidth"]), float(chosen["alpha"])
    return PenaltyChoice(*at, tried[at], loss(at), best)


def _beside(at, candidates):
    """The candidates one step away: a further bandwidth or alpha, or both a wider bandwidth and a smaller alpha.

    A wider bandwidth alone penalizes the same functions more, so that the loss may increase before it decreases.
    """
    kernel, bandwidth, alpha = at
    narrower, wider = _steps(bandwidth, candidates.bandwidths[kernel], candidates.more_bandwidths.get(kernel, ()))
    less, more = _steps(alpha, candidates.alphas, candidates.more_alphas)
    found = [(h, alpha) for h in narrower + wider] + [(bandwidth, a) for a in less + more]
    return {(kernel, *each) for each in found + list(product(wider, less))}


def _steps(value, values, more):
    """The next smaller and the next larger value, each as a list, which is empty if there is no such value or if it is
    not one of `more`.
    """
    values = np.union1d(values, more)
    place = int(np.searchsorted(values, value))
    return [[v for v in side.tolist() if v in more] for side in (values[:place][-1:], values[place + 1 :][:1])]
