"""Regularized least squares on the leading features, for all numbers of features and all ridge penalties."""

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from .._tuning import ridge_grid

ALPHAS = ridge_grid(-2, 0.5, step=0.5)  # ridge penalties, relative to the mean squared length of a row


class LeastSquares(NamedTuple):
    """The fitted classifier of one binary problem; positive decisions mean True."""

    coef_: np.ndarray  # (k,)
    intercept_: float
    alpha: float
    classes_: np.ndarray = np.array([False, True])

    def decision_function(self, features):
        return features @ self.coef_ + self.intercept_


class RidgePath:
    """The minimizers of ``sum_i w_i (t_i - b - f(x_i))^2 + alpha s |f|^2`` for any alpha and all targets.

    The targets t are -1 and 1, b is their weighted mean, f is linear with coefficients of length ``|f|``, and s is the
    weighted mean of ``|x_i|^2``. One eigendecomposition of the weighted Gram matrix of the features suffices.

    Rows are added in blocks.
    """

    def __init__(self):
        self._sums = 0.0, 0.0, 0.0, 0.0, 0.0

    def add(self, features, targets, weights):
        """Add rows: features (m, k), targets (m, p) of type bool, and weights (m,). Returns the path."""
        Z, T = features.astype(np.float64), np.where(targets, 1.0, -1.0)
        W = Z.T * weights
        terms = W @ Z, W @ T, W.sum(axis=1), weights @ T, weights.sum()
        self._sums = tuple(sum_ + term for sum_, term in zip(self._sums, terms, strict=True))
        return self

    def solved(self):
        """The path, after all rows were added."""
        gram, products, sums, signs, total = self._sums
        self.intercepts = signs / total
        values, self.axes = eigh(gram, check_finite=False)
        self.products = self.axes.T @ (products - np.outer(sums, self.intercepts))
        self.values = np.maximum(values, 0.0)
        self.unit = values.sum() / total or 1.0
        return self

    def held_out(self, features, targets, weights, groups=None):
        """For each of `ALPHAS`, the leave-one-out decisions (n, p) of each problem for each row, from the residual
        divided by one minus leverage, where the path was computed from these rows. With groups (n,), the residuals of
        a group are multiplied by the inverse of the identity minus its block of the hat matrix.
        """
        rotated = features.astype(np.float64) @ self.axes
        squares, centered = np.square(rotated), np.where(targets, 1.0, -1.0) - self.intercepts
        for alpha in ALPHAS:
            ridge = self.values + alpha * self.unit
            residuals = centered - rotated @ (self.products / ridge[:, None])
            if groups is not None:
                for group in np.unique(groups):
                    own = groups == group
                    Z, T = rotated[own], rotated[own].T * weights[own]
                    if len(Z) <= len(ridge):
                        residuals[own] = np.linalg.solve(np.eye(len(Z)) - Z / ridge @ T, residuals[own])
                    else:
                        residuals[own] += Z @ np.linalg.solve(np.diag(ridge) - T @ Z, T @ residuals[own])
                yield self.intercepts + centered - residuals
                continue
            leverage = weights * (squares @ (1 / ridge))
            yield self.intercepts + centered - residuals / (1 - np.minimum(leverage, 1 - 1e-9))[:, None]

    def machine(self, problem, alpha):
        """The fitted classifier of one problem."""
        coef = self.axes @ (self.products[:, problem] / (self.values + alpha * self.unit))
        return LeastSquares(coef, float(self.intercepts[problem]), alpha)


def scores(Y, targets, weights, candidates, features, score, groups=None):
    """Leave-one-out score of every problem, (p, number of components, number of ridges).

    Parameters
    ----------
    Y : ndarray of shape (n, r)
    targets : ndarray of shape (n, p), bool
    weights : ndarray of shape (n,)
    candidates : sequence of int
        Numbers of components; the score is NaN for more than r.
    features : callable
        ``features(Y, k)`` returns the features computed from the k leading columns.
    score : callable
        ``score(decisions, targets, weights)`` returns the scores (p,).
    groups : ndarray of shape (n,), optional
        What is left out together; by default, each row alone.
    """
    out = np.full((targets.shape[1], len(candidates), len(ALPHAS)), np.nan)
    for i, k in enumerate(candidates):
        if k <= Y.shape[1]:
            rows = features(Y, k), targets, weights
            for j, decisions in enumerate(RidgePath().add(*rows).solved().held_out(*rows, groups)):
                out[:, i, j] = score(decisions, targets, weights)
    return out


def explained(decisions, targets, weights):
    """Fraction of each target's weighted variance that decisions explain, (p,)."""
    signs = np.where(targets, 1.0, -1.0)
    total = weights @ (signs - np.average(signs, axis=0, weights=weights)) ** 2
    return 1 - (weights @ (signs - decisions) ** 2) / np.where(total > 0, total, 1.0)


def accuracy(decisions, targets, weights):
    """Weighted accuracy of each problem, (p,)."""
    return weights @ ((decisions > 0) == targets) / weights.sum()


def f1(decisions, targets, weights):
    """F1 = 2 TP / (2 TP + FP + FN) of each problem, (p,)."""
    found = decisions > 0
    return 2 * (weights @ (found & targets)) / np.maximum(weights @ found + weights @ targets, weights.min())
