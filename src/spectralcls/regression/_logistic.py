"""Kernel logistic regression: Newton steps by conjugate gradients, and leave-one-out scores from the Hessian."""

from typing import NamedTuple

import numpy as np
from scipy.special import log_softmax

# smaller curvatures, with which leave-one-out scores would be rounding errors, are raised to this
_LEAST_CURVATURE = 1e-8
_MOST_STEPS = 100  # limit on the steps of conjugate gradients per Newton step
_ROUNDING = 1e-15  # rounding error of K R, relative to R
_FORCING = 0.1  # largest residual of a Newton step, relative to the gradient


class LogisticSolution(NamedTuple):
    coefficients: np.ndarray  # (n, C)
    scores: np.ndarray  # (n, C) scores of the training points
    residuals: np.ndarray  # (C,) norm of each column's gradient, relative to the norm at zero coefficients
    n_iter: int  # number of Newton steps


def solve(kernel, Y, offsets, ridge, weights, *, start=None, tol=1e-6, max_iter=100, step_done=lambda what: None):
    """Minimize ``sum_i w_i log(1 / p_i(y_i)) + ridge / 2 |f|^2``, where p is the softmax of ``f + offsets`` and f = K
    A.

    Each step of Newton's method solves ``(ridge + B K) D = -G``, where B is the Hessian of the losses and G the
    gradient, by conjugate gradients in the inner product of K. In the preconditioner, a multiple of the identity
    replaces each point's block of B, which is exact for two classes. The preconditioner is reused until a step takes
    more iterations than a new one would cost.

    Parameters
    ----------
    kernel : DenseKernel, LowRankKernel or SummedKernel
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
    """
    w = weights[:, None]
    zero = np.linalg.norm(w * (Y - np.exp(log_softmax(offsets))), axis=0)
    A = np.zeros_like(Y) if start is None else start
    F = np.zeros_like(Y) if start is None else kernel.accurate_product(A)
    precondition, n_inner = None, np.inf
    for n_iter in range(max_iter + 1):
        log_p = log_softmax(F + offsets, axis=1)
        P = np.exp(log_p)
        G = ridge * A + w * (P - Y)
        residuals = np.linalg.norm(G, axis=0) / zero
        step_done(f"gradient {residuals.max():.1e}")
        residual = np.linalg.norm(G) / np.linalg.norm(zero)
        if (residuals <= tol).all() or n_iter == max_iter:
            break
        value = _objective(log_p, Y, weights, ridge, A, F)
        if n_inner > kernel.n_iterations:
            precondition = kernel.preconditioner(ridge, curvatures(P, weights))
        target = max(min(_FORCING, residual) * np.linalg.norm(G), tol * zero.min() / 2)
        D, KD, n_inner = _newton_step(kernel, precondition, G, P, w, ridge, target)
        slope, length = np.vdot(G, KD), 1.0
        while length > 1e-6:
            trial = log_softmax(F + length * KD + offsets, axis=1)
            reached = _objective(trial, Y, weights, ridge, A + length * D, F + length * KD)
            if reached <= value + 1e-4 * length * slope + 1e-12 * abs(value):
                break
            length /= 2
        A, F = A + length * D, F + length * KD
    return LogisticSolution(A, F + offsets, residuals, n_iter)


def _objective(log_p, Y, weights, ridge, A, F):
    return -weights @ np.einsum("ij,ij->i", Y, log_p) + ridge / 2 * np.vdot(A, F)


def curvatures(P, weights):
    """Mean eigenvalue of each point's Hessian ``w (diag(p) - p p^T)`` over the vectors whose entries add up to zero."""
    spread = (P * (1 - P)).sum(axis=1) / (P.shape[1] - 1)
    return weights * np.maximum(spread, _LEAST_CURVATURE)


def _newton_step(kernel, precondition, G, P, w, ridge, target):
    """D and K D with ``(ridge + B K) D = -G`` up to a residual of norm `target`, and the number of iterations."""
    D, KD, R = np.zeros_like(G), np.zeros_like(G), -G
    direction, image, rho, n_iter = None, None, None, 0
    while n_iter < _MOST_STEPS:
        n_iter += 1
        Z = precondition(R)
        KZ = kernel.product(Z)
        new = np.vdot(R, KZ)
        if not new > _ROUNDING * np.linalg.norm(R) * np.linalg.norm(Z):  # K R is zero, as for coincident points
            D += R / ridge
            break
        direction = Z if rho is None else Z + new / rho * direction
        image = KZ if rho is None else KZ + new / rho * image
        rho = new
        q = ridge * direction + w * P * (image - (P * image).sum(axis=1, keepdims=True))
        length = rho / np.vdot(q, image)
        D += length * direction
        KD += length * image
        R -= length * q
        if np.linalg.norm(R) <= target:
            break
    return D, KD, n_iter


def held_out(kernel, solution, Y, ridge, weights):
    """First-order approximation of each point's scores when it is left out, by one Newton step from the solution.

    A point is left out with all its weight. For two classes the step uses the whole Hessian; for more, a multiple of
    the identity replaces the Hessian of every remaining point.
    """
    P = np.exp(log_softmax(solution.scores, axis=1))
    s = curvatures(P, weights)
    h = (1 - ridge * kernel.inverse_diagonal(ridge, s)) / s
    return solution.scores - (h / (1 - h * s) * weights)[:, None] * (Y - P)
