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

    Parameters
    ----------
    features : ndarray of shape (n, k)
    targets : ndarray of shape (n, p), bool
    weights : ndarray of shape (n,)
    """

    def __init__(self, features, targets, weights):
        Z = features.astype(np.float64)
        self.weights = weights
        signs = np.where(targets, 1.0, -1.0)
        self.intercepts = np.average(signs, axis=0, weights=weights)
        self.centered = signs - self.intercepts
        values, self.axes = eigh((Z.T * weights) @ Z, check_finite=False)
        self.rotated = Z @ self.axes
        self.products = (self.rotated.T * weights) @ self.centered
        self.values = np.maximum(values, 0.0)
        self.unit = values.sum() / weights.sum() or 1.0

    def held_out(self, alpha):
        """Leave-one-out decisions (n, p) of each problem for each row, from the residual divided by one minus
        leverage."""
        ridge = self.values + alpha * self.unit
        residuals = self.centered - self.rotated @ (self.products / ridge[:, None])
        leverage = self.weights * np.einsum("ij,ij,j->i", self.rotated, self.rotated, 1 / ridge)
        return self.intercepts + self.centered - residuals / (1 - np.minimum(leverage, 1 - 1e-9))[:, None]

    def machine(self, problem, alpha):
        """The fitted classifier of one problem."""
        coef = self.axes @ (self.products[:, problem] / (self.values + alpha * self.unit))
        return LeastSquares(coef, float(self.intercepts[problem]), alpha)


def scores(Y, targets, weights, candidates, features, score):
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
    """
    out = np.full((targets.shape[1], len(candidates), len(ALPHAS)), np.nan)
    for i, k in enumerate(candidates):
        if k <= Y.shape[1]:
            family = RidgePath(features(Y, k), targets, weights)
            for j, alpha in enumerate(ALPHAS):
                out[:, i, j] = score(family.held_out(alpha), targets, weights)
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
