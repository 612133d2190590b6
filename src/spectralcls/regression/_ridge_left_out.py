"""Kernel ridge regression by all points but one, and what a further point changes, from one inverse factor."""

import numpy as np

from .._expansion.leave_one_out import LeaveOneOut
from .._expansion.ridge import factor_in_place
from .._utils.validation import units_of
from ..kernels import kernel_matrix
from ..linalg import inverse_in_place

SLACK = 1e-9  # of log odds: ties to the rounding of an inverse are ties


class RidgeLeftOut(LeaveOneOut):
    """Scores over the temperature. Targets are indicators less the shares of the classes among all points.

    With M = K + alpha W^-1, its inverse B and the coefficients A = B Y, the prediction of point i by the others is
    ``y_i - a_i / B_ii``, of copies see `_expansion.ridge.solve`. A further point adds a rank-one matrix to B.

    Parameters
    ----------
    X, codes, weights, n_classes
        Distinct training points.
    expansion : Expansion
    alpha, temperature : float
    by_class : bool
        Whether the weights contain those of classes.
    order : ndarray (n_samples,)
    """

    def __init__(self, X, codes, weights, n_classes, expansion, alpha, temperature, by_class, order):
        units = units_of(codes, weights, n_classes, by_class)
        vars(self).update(X=X, expansion=expansion, alpha=alpha, temperature=temperature, units=units)
        K = self._kernel(X)
        V = inverse_in_place(factor_in_place(K, alpha / weights, alpha))
        Y = np.eye(n_classes)[codes]
        copies, unit = np.maximum(weights, units[codes]), units[codes]
        vars(self).update(V=V, Y=Y, P=V @ (V.T @ Y), u=V @ V.sum(axis=0), diagonal=np.einsum("ij,ij->i", V, V))
        vars(self).update(total=weights @ Y, beyond=(copies - unit) / alpha, share=unit / copies)
        scores = self._held_out(self.P, self.u[:, None], self.total / self.total.sum(), self.diagonal[:, None])
        super().__init__(codes, weights / unit, scores / temperature, None, order)

    def _kernel(self, Q):
        options = dict(kernel=self.expansion.kernel, bandwidth=self.expansion.bandwidth)
        return kernel_matrix(self.X.astype(np.float64), Q.astype(np.float64), **options)

    def _held_out(self, P, u, shares, diagonal):
        """``y_i + shares - a_i / ...`` with the coefficients ``a = P - u shares`` of the targets."""
        return self.Y - (P - u * shares) / (self.beyond[:, None] + self.share[:, None] * diagonal)

    def _shares(self, c):
        """Shares of the classes with one more point of class c."""
        total = self.total.copy()
        total[c] += self.units[c]
        return total / total.sum()

    def limits(self, Q):
        k = self._kernel(Q)
        g, h = k.T @ self.P, (k.T @ self.u)[:, None]
        out = np.empty(g.shape)
        for c in range(len(self.units)):
            scores = (g + (1 - h) * self._shares(c)) / self.temperature
            own, scores[:, c] = scores[:, c].copy(), self.background
            out[:, c] = own - np.logaddexp.reduce(scores, axis=1)
        return out + SLACK * np.maximum(1.0, np.abs(out))

    def added(self, Q):
        k = self._kernel(Q)
        v = self.V @ (self.V.T @ k)
        outside, (g, h) = np.maximum(1 - np.einsum("ij,ij->j", k, v), 0.0), (k.T @ self.P, k.T @ self.u)
        for c, unit in enumerate(self.units):
            indicator = np.eye(len(self.units))[c]
            v_over_s = v / (outside + self.alpha / unit)
            found = np.empty(v.T.shape)
            for q in range(len(Q)):
                P = self.P + np.outer(v_over_s[:, q], g[q] - indicator)
                u = self.u + v_over_s[:, q] * (h[q] - 1)
                diagonal = self.diagonal + v_over_s[:, q] * v[:, q]
                scores = self._held_out(P, u[:, None], self._shares(c), diagonal[:, None]) / self.temperature
                found[q] = self.log_odds(scores)
            yield found
