"""Kernel logistic regression: a quasi-Newton method in the kernel's space, and leave-one-out scores from the
Hessian."""

from collections import deque
from typing import NamedTuple

import numpy as np
from scipy.special import log_softmax

# smaller curvatures are raised to this, because leave-one-out scores that use them would be rounding errors
_LEAST_CURVATURE = 1e-8
# The Hessian is estimated from this many recent steps and changes of the gradient; with 4 or 16, the number of steps
# changes by 3 %.
_PAIRS = 8
# The preconditioner is renewed once, when the norm of the gradient is this fraction of its first value. On mixtures of
# five classes, covertype and letter, fits with a fraction of .1 took 1.1 times as long, with .3 1.25 times, with two
# renewals 1.15 times, and without renewal 1.2 times.
_STALE = 0.03
# A step ends if the slope along it is at most this fraction of the slope at its start. .01 and .1 take as many steps,
# .5 takes 9 % more.
_SLOPE = 0.1
_SHORTEST = 1e-9  # a step also ends if its bracket is shorter than this
_ROUNDING = 1e-15  # rounding error of K D, relative to D


class LogisticSolution(NamedTuple):
    coefficients: np.ndarray  # (n, C)
    scores: np.ndarray  # (n, C) scores of the training points
    residuals: np.ndarray  # (C,) norm of each column's gradient, relative to the norm at zero coefficients
    n_iter: int  # number of steps


class _Pair(NamedTuple):
    """A step S, its image K S, and the change of the gradient."""

    step: np.ndarray
    image: np.ndarray
    change: np.ndarray
    curvature: float  # inner product of step and change in the kernel's space


def solve(kernel, Y, offsets, ridge, weights, *, start=None, tol=1e-6, max_iter=100, step_done=lambda what: None):
    """Minimize ``sum_i w_i log(1 / p_i(y_i)) + ridge / 2 |f|^2``, where p is the softmax of ``f + offsets`` and f = K
    A.

    The method is L-BFGS with the inner products of the kernel's space, in which the gradient has the coefficients
    ``ridge A + W (P - Y)``. A step takes one product with K. The Hessian is ``ridge + B K``; the initial estimate of
    its inverse is a preconditioner in which `class_curvatures` replace B.

    Parameters
    ----------
    kernel : DenseKernel or SummedKernel
    Y : ndarray of shape (n, C)
        Class indicators.
    offsets : ndarray of shape (C,)
    ridge : float
    weights : ndarray of shape (n,)
    start : ndarray of shape (n, C), default=None
        Coefficients to start from, with rows that add up to zero.
    tol : float
        Norm of the gradient, relative to the norm at zero coefficients, at which the iteration stops.

    Returns
    -------
    LogisticSolution

    References
    ----------
    J. Nocedal, S. J. Wright, "Numerical Optimization", Springer, 2006, algorithm 7.4.
    """
    w = weights[:, None]

    def gradient(A, F):
        P = np.exp(log_softmax(F + offsets, axis=1))
        return P, ridge * A + w * (P - Y)

    zero = np.linalg.norm(w * (Y - np.exp(log_softmax(offsets))), axis=0)
    A = np.zeros_like(Y) if start is None else start
    F = np.zeros_like(Y) if start is None else kernel.accurate_product(A)
    P, G = gradient(A, F)
    pairs, built, n_iter, accurate = deque(maxlen=_PAIRS), [], 0, True
    while True:
        residuals = np.linalg.norm(G, axis=0) / zero
        step_done(f"gradient {residuals.max():.1e}")
        if (residuals <= tol).all() or n_iter == max_iter:
            if accurate:
                break
            F, accurate = kernel.accurate_product(A), True
            P, G = gradient(A, F)
            continue
        size = np.linalg.norm(G)
        if not built or (len(built) == 1 and size <= _STALE * built[0]):
            built.append(size)
            precondition = kernel.preconditioner(ridge, class_curvatures(P, weights))
        D, KD = _direction(kernel, precondition, pairs, G)
        length, P, after = _line_search(gradient, A, F, D, KD, G, w, ridge)
        A, F, change = A + length * D, F + length * KD, after - G
        pair = _Pair(length * D, length * KD, change, length * np.vdot(change, KD))
        if pair.curvature > _ROUNDING * np.linalg.norm(pair.step) * np.linalg.norm(change):
            pairs.append(pair)
        G, n_iter, accurate = after, n_iter + 1, False
    return LogisticSolution(A, F + offsets, residuals, n_iter)


def _direction(kernel, precondition, pairs, G):
    """The direction of descent D of L-BFGS, and K D."""
    R, shares = -G, []
    for pair in reversed(pairs):
        shares.append(np.vdot(pair.image, R) / pair.curvature)
        R = R - shares[-1] * pair.change
    D = precondition(R)
    D -= D.mean(axis=1, keepdims=True)
    KD = kernel.product(D)
    for pair, share in zip(pairs, reversed(shares), strict=True):
        more = share - np.vdot(pair.change, KD) / pair.curvature
        D, KD = D + more * pair.step, KD + more * pair.image
    return D, KD


def _line_search(gradient, A, F, D, KD, G, w, ridge):
    """The length of the step, at most 1, and the probabilities and the gradient at its end.

    The objective is convex, so Newton's method, with bisection outside the bracket, finds a length at which its slope
    is small. A step of length t multiplies the gradient's part in the null space of K by 1 - t; beyond t = 2, the
    iteration diverges.
    """
    slope, low, high, length = np.vdot(G, KD), 0.0, 1.0, 1.0
    while True:
        P, after = gradient(A + length * D, F + length * KD)
        reached = np.vdot(after, KD)
        if abs(reached) <= _SLOPE * abs(slope) or (length == 1 and reached <= 0) or high - low < _SHORTEST:
            return length, P, after
        low, high = (low, length) if reached > 0 else (length, high)
        means = (P * KD).sum(axis=1, keepdims=True)
        curvature = ridge * np.vdot(D, KD) + np.sum(w * P * (KD - means) ** 2)
        length -= reached / curvature
        if not low < length < high:
            length = (low + high) / 2


def curvatures(P, weights):
    """Mean eigenvalue of each point's Hessian ``w (diag(p) - p p^T)`` over the directions of sum zero."""
    spread = (P * (1 - P)).sum(axis=1) / (P.shape[1] - 1)
    return weights * np.maximum(spread, _LEAST_CURVATURE)


def class_curvatures(P, weights):
    """The diagonals of the Hessians ``w (diag(p) - p p^T)``, (n, C), on the scale of directions of sum zero.

    They are exact for equal probabilities and for two classes, whose single column serves both.
    """
    n_classes = P.shape[1]
    diagonal = weights[:, None] * P * (1 - P) * (n_classes / (n_classes - 1))
    return diagonal[:, :1] if n_classes == 2 else diagonal


def held_out(kernel, solution, Y, ridge, weights):
    """Scores of each point by all others, to first order, from one Newton step.

    A point is left out with all its weight. For two classes the step uses the whole Hessian; for more, a multiple of
    the identity replaces the Hessian of each other point.
    """
    P = np.exp(log_softmax(solution.scores, axis=1))
    s = curvatures(P, weights)
    h = (1 - ridge * kernel.inverse_diagonal(ridge, s)) / s
    return solution.scores - (h / (1 - h * s) * weights)[:, None] * (Y - P)
