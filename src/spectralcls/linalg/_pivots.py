"""Choice of pivots of a partial Cholesky factor, a block at a time."""

import numpy as np

from .._utils.typing import Array


def random_rows(residual: Array, size: int, rng: np.random.RandomState) -> Array:
    """Draw rows with replacement, with probability proportional to the residual diagonal."""
    cumulative = np.cumsum(residual)
    draws = np.searchsorted(cumulative, rng.uniform(size=size) * cumulative[-1], side="right")
    return np.minimum(draws, np.flatnonzero(residual)[-1])


def largest_rows(residual: Array, size: int) -> Array:
    """The rows with the largest residuals, in ascending order."""
    size = min(size, len(residual))
    return np.sort(np.argpartition(residual, -size)[-size:])


def eliminate(H: Array, levels: Array, floor: float, greedy: bool) -> tuple[list[int], Array]:
    """Indices of the accepted candidates in order, and the Cholesky factor of their submatrix of the residual block H.

    A candidate can be accepted as long as its residual, which only decreases, is at least its level. The first such
    candidate is accepted next, or with ``greedy`` the one with the largest residual. This reproduces sequential pivoted
    Cholesky if the levels are

    - for random pivots, a uniform random fraction of the residual with which the candidate was drawn
      (rejection sampling, arXiv:2410.03969, algorithm 2.2);
    - for greedy pivots, the largest residual of all rows outside the block.
    """
    diagonal, L = H.diagonal().copy(), np.zeros_like(H)
    order: list[int] = []
    while True:
        eligible = np.flatnonzero((diagonal > floor) & (diagonal >= levels))
        if not len(eligible):
            return order, L[order, : len(order)]
        i = eligible[diagonal[eligible].argmax() if greedy else 0]
        k = len(order)
        # einsum, because BLAS would wake its threads for each small product
        L[:, k] = (H[:, i] - np.einsum("ij,j->i", L[:, :k], L[i, :k])) / np.sqrt(diagonal[i])
        diagonal -= L[:, k] ** 2
        diagonal[i] = -np.inf
        order.append(int(i))
