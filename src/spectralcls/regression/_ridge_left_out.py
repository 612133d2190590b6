"""Kernel ridge regression by all points but one, and what a further point changes, from one inverse."""

import numpy as np

from .._core.interrupt import matmul
from .._expansion.leave_one_out import INVERSE_BYTES, LeaveOneOut, slack_of
from .._expansion.points import blocks, class_rows
from .._expansion.ridge import factor_in_place
from .._utils.cached import cached_property
from .._utils.validation import units_of
from ..kernels import kernel_matrix
from ..linalg import inverse_in_place


class RidgeLeftOut(LeaveOneOut):
    """Scores over the temperature. Targets are indicators less the shares of the classes among all points.

    With M = K + alpha W^-1, its inverse B and the coefficients A = B Y, the prediction of point i by the others is
    ``y_i - a_i / B_ii``. A further point x adds v v^T / s to B, where ``v = B
    k(x)``. Whatever its class c, the scores of point i are the same but for that of c: one product with B for a query,
    one exponential for a point and class.

    Parameters
    ----------
    X, codes, weights, n_classes
        Distinct training points.
    expansion : Expansion
    alpha, temperature : float
    by_class : bool
        Whether the weights contain those of classes.
    order : ndarray (n_samples,)
    held_out : ndarray (n, n_classes), optional
        Prediction of each point by the others, if it is known; then only what a further point changes takes B.
    """

    def __init__(self, X, codes, weights, n_classes, expansion, alpha, temperature, by_class, order, held_out=None):
        units = units_of(codes, weights, n_classes, by_class)
        by_code = np.argsort(codes, kind="stable")
        X, codes, weights, order = X[by_code], codes[by_code], weights[by_code], np.argsort(by_code)[order]
        vars(self).update(X=X, expansion=expansion, alpha=alpha, temperature=temperature, units=units)
        self.diagonal = alpha / weights
        Y = np.eye(n_classes)[codes]
        vars(self).update(Y=Y, total=weights @ Y)
        if held_out is None:
            scores = Y - (self.P - self.u[:, None] * (self.total / self.total.sum())) / self.divisor[:, None]
        else:
            scores = held_out[by_code]
        super().__init__(codes, weights / units[codes], scores / temperature, None, order)

    @cached_property
    def inverse(self):
        """B, (n, n)."""
        V = inverse_in_place(factor_in_place(self._kernel(self.X), self.diagonal, self.alpha))
        return matmul(V, V.T)

    @cached_property
    def P(self):
        """Coefficients of the indicators, (n, C)."""
        return self.inverse @ self.Y

    @cached_property
    def u(self):
        """Coefficients of ones, (n,)."""
        return self.inverse.sum(axis=1)

    @cached_property
    def divisor(self):
        """By which coefficients become residuals of the predictions by others, (n,)."""
        return self.inverse.diagonal()

    def _kernel(self, Q):
        options = dict(kernel=self.expansion.kernel, bandwidth=self.expansion.bandwidth)
        return kernel_matrix(self.X.astype(np.float64), Q.astype(np.float64), **options)

    def smoothing(self, Q):
        """Weights (m, n) of the points' targets in the predictions of queries, ``k(q) B``."""
        return matmul(self.inverse, self._kernel(Q)).T

    def _limits_of(self, g, h):
        """Log odds (C, m) of each class for queries, from their kernel values' products with P (C, m) and u (m,)."""
        out = np.empty(g.shape)
        for c, unit in enumerate(self.units):
            shares = (self.total + unit * (np.arange(len(g)) == c)) / (self.total.sum() + unit)
            scores = (g + shares[:, None] * (1 - h)) / self.temperature
            own, scores[c] = scores[c].copy(), self.background
            out[c] = own - np.logaddexp.reduce(scores, axis=0)
        return out + slack_of(self.alpha) * np.maximum(1.0, np.abs(out))

    def counts(self, Q, within, beyond=None):
        own, out = class_rows(self.codes, len(self.units)), np.zeros((len(Q), len(self.units)))
        for rows in blocks(len(Q), 8 * len(self.X), INVERSE_BYTES):
            k = self._kernel(Q[rows])
            v, g, h = matmul(self.inverse, k), self.P.T @ k, self.u @ k
            outside = np.maximum(1 - np.einsum("ij,ij->j", k, v), 0.0)
            limits = self._limits_of(g, h)
            for unit in np.unique(self.units):
                classes, s = np.flatnonzero(self.units == unit), outside + self.alpha / unit
                for label, points in enumerate(own):
                    asked = classes[classes == label] if within else classes
                    if len(asked):
                        at_least = self._sums_of_others(label, points, v[points], g, h - 1, s, unit, asked)
                        for c, sums in zip(asked, at_least, strict=True):
                            out[rows, c] += self.weights[points] @ (sums >= np.exp(-limits[c]))
        return out

    def _sums_of_others(self, label, points, v, g, h, s, unit, classes):
        """For each class c sum(exp(score of b - own score)) over all other classes b and the background, of these
        points (k, m) of one class, once (q, c) is among them and weighs `unit`."""
        each = np.multiply(v, 1 / s)  # B grows by v v^T / s
        inverse = 1 / (each * v + self.divisor[points, None])
        each *= inverse
        total = self.total.sum() + unit
        shares = self.total / total  # but for what (q, c) adds to that of c
        residuals = (self.P[points] - self.u[points, None] * shares) / self.temperature
        steps = (g - h * shares[:, None]) / self.temperature
        own = residuals[:, label, None] * inverse + each * steps[label]
        grows = each * (1 + h * unit / total)
        grows += inverse * (self.u[points, None] * unit / total)
        grows = np.exp(grows / self.temperature)  # of the score of c
        sums = np.exp(own + (self.background - 1 / self.temperature))
        terms = {}
        for b in np.delete(np.arange(len(g)), label):
            term = each * (steps[label] - steps[b])
            term += inverse * (residuals[:, label] - residuals[:, b])[:, None]
            term -= 1 / self.temperature
            terms[b] = np.exp(term, out=term)
            sums += term
        for c in classes:
            yield sums / grows if c == label else sums + terms[c] * (grows - 1)
