"""What the spans of the classes explain of each other's samples, and what one more sample changes."""

import numpy as np

from .._core.interrupt import matmul
from .._expansion.leave_one_out import INVERSE_BYTES, PLAIN, LeaveOneOut, complete, counter, slack_of
from .._expansion.points import blocks, class_rows
from .._utils.cached import cached_property
from .._utils.validation import units_of
from ..linalg import cholesky_in_place, inverse_in_place
from ._class_model import together
from ._gaussian import gaussian

ALIKE = 64  # queries of similar log odds that meet undecided samples together


class PerTurboLeftOut(LeaveOneOut):
    """Scores log(1 - tau) of samples, each without itself in the span of its class; copies by weight leave together.

    With N the inverse of K + alpha I of a class, and z the kernel values of a point at its samples, the share that the
    span explains is ``q = z^T N z``. One more sample x adds ``change^2 / s`` to q, where ``change = k(y, x) - z^T N
    k_x`` and ``s = 1 + alpha - k_x^T N k_x``. Of a sample i of the class z is without its own value, its share is ``2 q
    / (1 + sqrt(1 + 4 N_ii q))``, and its change a multiple of ``(N k_x)_i``.
    """

    def __init__(self, models, by_class, order):
        X, codes, weights = together(models)
        weights = np.ones(len(X)) if weights is None else weights
        units, each = units_of(codes, weights, len(models), by_class), np.arange(len(X))
        vars(self).update(
            X=X, models=models, units=units, roots=np.sqrt(weights), inverses=[], diagonal=np.ones(len(X))
        )
        vars(self).update(members=class_rows(codes, len(models)), shares=np.empty((len(X), len(models))))
        for c, (model, own) in enumerate(zip(models, self.members, strict=True)):
            M = model.kernel(X[own]) * self.roots[own]
            M.flat[:: len(own) + 1] += model.regularization.alpha
            V = inverse_in_place(cholesky_in_place(M))
            self.inverses.append(matmul(V, V.T))
            self.diagonal[own] = self.inverses[c].diagonal()
            for rows in blocks(len(X), 8 * len(own), INVERSE_BYTES):
                Z = model.kernel(X[rows])
                Z[own[:, None] == each[rows]] = 0.0
                self.shares[rows, c] = np.einsum("ij,ij->j", Z, matmul(self.inverses[c], Z))
        vars(self).update(q=self.shares[each, codes])
        self.shares[each, codes] = _by_others(self.q, self.diagonal, self.roots)
        with np.errstate(divide="ignore"):
            super().__init__(codes, weights / units[codes], np.log(self.shares), None, order)

    @cached_property
    def rivals(self):
        return [_Rivals(self, c) for c in range(len(self.models))]

    def counts(self, Q, within, beyond=None):
        out = np.empty((len(complete(Q)), len(self.models)))
        beyond = np.broadcast_to(np.nan if beyond is None else beyond, out.shape[1])
        slack = slack_of(min(model.regularization.alpha for model in self.models))
        for rows in blocks(len(Q), 8 * len(self.X), INVERSE_BYTES):
            k = [model.kernel(Q[rows]) for model in self.models]
            v = [matmul(N, each) for N, each in zip(self.inverses, k, strict=True)]
            q = np.stack([np.einsum("ij,ij->j", *both) for both in zip(k, v, strict=True)])
            with np.errstate(divide="ignore"):
                limits = np.exp(np.minimum(self._limits_at(np.log(q.T), Q.dtype, slack), PLAIN))
            for c, model in enumerate(self.models):
                s = np.maximum(1 - q[c], 0.0) + model.regularization.alpha / self.units[c]
                out[rows, c] = self._own(c, v[c], s, limits[:, c])
                if not within:
                    out[rows, c] += self.rivals[c].counts(Q[rows], v[c], s, limits[:, c], beyond[c] - out[rows, c])
        return out

    def _own(self, c, v, s, limits):
        """Number of samples of the class that conform no better than queries with ``v = N k``, once these join it."""
        own, alpha = self.members[c], self.models[c].regularization.alpha
        roots, change = self.roots[own, None], np.square(v) / s
        q = self.q[own, None] + change * np.square(alpha / roots + roots)
        shares = _by_others(q, self.diagonal[own, None] + change, roots)
        return self.weights[own] @ (shares <= limits * np.exp(self.others[own, None]))


class _Rivals:
    """Samples of all classes but one: what its span explains of them grows once a query joins it, to at most all that
    the query leaves, ``(1 - q) (s - alpha) / s``, which decides most of them."""

    def __init__(self, points, c):
        rows = np.flatnonzero(points.codes != c)
        shares, own = points.shares[rows], (np.arange(len(rows)), points.codes[rows])
        self.model, self.X, self.weights = points.models[c], points.X[rows], points.weights[rows]
        self.alpha = self.model.regularization.alpha / points.units[c]
        self.own, self.q = shares[own], shares[:, c].copy()
        shares[:, c] = shares[own] = 0.0
        self.rest = shares.sum(axis=1) + np.exp(points.background)
        with np.errstate(invalid="ignore"):
            self.most = np.nan_to_num(self.own / (self.rest + self.q))
            self.least = np.nan_to_num(self.own / (self.rest + np.maximum(self.q, 1.0)))
        self.certain, self.possible = counter(self.most, self.weights), counter(self.least, self.weights)

    def counts(self, Q, v, s, limits, beyond):
        """How many have odds of at most `limits` (m,); if `beyond` (m,) is no NaN, whether more than that."""
        certain, possible = self.certain(limits), self.possible(limits)
        asked = np.flatnonzero((certain < possible) & ~(certain > beyond) & ~(possible <= beyond))
        asked = asked[np.argsort(limits[asked])]
        for start in range(0, len(asked), ALIKE):
            some = asked[start : start + ALIKE]
            certain[some] = self._counted(Q[some], v[:, some], s[some], limits[some])
        return certain

    def _counted(self, Q, v, s, limits):
        below = self.most <= limits[0]
        q = self.q + np.maximum(1 - self.q, 0.0) * np.max(1 - self.alpha / s)
        rows = np.flatnonzero(~below & (self.own <= limits[-1] * (self.rest + q) * (1 + 1e-12)))
        if not len(rows):
            return self.weights[below].sum()
        change = gaussian(self.X[rows], Q, bandwidth=self.model.bandwidth) - self.model.kernel(self.X[rows]).T @ v
        grown = self.q[rows, None] + np.square(change) / s
        conforms_less = self.own[rows, None] <= limits * (self.rest[rows, None] + grown)
        return self.weights[below].sum() + self.weights[rows] @ conforms_less


def _by_others(q, diagonal, roots):
    """Share of samples that the others of their class explain."""
    return 2 * q / (1 + np.sqrt(1 + 4 * diagonal * np.square(roots) * q))
