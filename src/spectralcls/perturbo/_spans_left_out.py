"""Leave-one-out shares of each sample's image that the spans of the classes explain, and how one more sample changes
them.
"""

import numpy as np

from .._conformal.left_out import LeftOut, odds
from .._conformal.sums_left_out import complete
from .._core.interrupt import matmul
from .._expansion.points import blocks, class_rows
from .._utils.validation import units_of, within_groups
from ..linalg import cholesky_in_place, inverse_in_place
from ._class_model import together
from ._explained import log_explained

JOINT_BYTES = 1 << 23  # memory for a block of queries
TOGETHER = 128  # queries with similar limits that share bounds
PLAIN = 300.0  # odds with a logarithm of at most this, and their products, are finite


class SpansLeftOut(LeftOut):
    """Leave-one-out scores log(1 - tau) of samples; a sample is left out with all its weight.

    With N the inverse of K + alpha I of a class, and z the kernel values of a point at its samples, the share that the
    span explains is ``q = z^T N z``. One more sample x adds ``change^2 / s`` to q, where ``change = k(y, x) - z^T N
    k_x`` and ``s = 1 + alpha - k_x^T N k_x``. For a sample i of the class, z omits its own value, its share is ``2 q
    / (1 + sqrt(1 + 4 N_ii q))``, and its change is a multiple of ``(N k_x)_i``. No share exceeds one, and none grows by
    more than ``(1 - q) (s - alpha) / s``; these bounds decide most samples.
    """

    def __init__(self, models, by_class, order):
        self.X, codes, weights = together(models)
        weights = np.ones(len(self.X)) if weights is None else weights
        self.models, self.units = models, units_of(codes, weights, len(models), by_class)
        self.roots, self.members, each = np.sqrt(weights), class_rows(codes, len(models)), np.arange(len(self.X))
        self.inverses, self.diagonal, self.shares = [], np.ones(len(self.X)), np.empty((len(self.X), len(models)))
        for c, (model, own) in enumerate(zip(models, self.members, strict=True)):
            M = model.kernel(self.X[own]) * self.roots[own]
            M.flat[:: len(own) + 1] += model.regularization.alpha
            V = inverse_in_place(cholesky_in_place(M))
            self.inverses.append(matmul(V, V.T))
            self.diagonal[own] = self.inverses[c].diagonal()
            for rows in blocks(len(self.X), 8 * len(own), JOINT_BYTES):
                Z = model.kernel(self.X[rows])
                Z[own[:, None] == each[rows]] = 0.0
                self.shares[rows, c] = np.einsum("ij,ij->j", Z, matmul(self.inverses[c], Z))
        self.q = self.shares[each, codes]
        self.shares[each, codes] = _by_others(self.q, self.diagonal, self.roots)
        with np.errstate(divide="ignore"):
            super().__init__(codes, weights / self.units[codes], np.log(self.shares), order=order)

    def counts(self, Q, within, beyond=None):
        beyond = np.broadcast_to(np.nan if beyond is None else beyond, len(self.models))
        parts = [Q[rows] for rows in blocks(len(Q), 8 * len(self.X), JOINT_BYTES)]
        return np.concatenate([self._joined(part, within, beyond) for part in parts])

    def _joined(self, Q, within, beyond):
        """The `counts` of a block of queries."""
        k = [model.kernel(complete(Q)) for model in self.models]
        v = [matmul(N, each) for N, each in zip(self.inverses, k, strict=True)]
        q = np.stack([np.einsum("ij,ij->j", *both) for both in zip(k, v, strict=True)])
        alphas = np.array([model.regularization.alpha for model in self.models])
        with np.errstate(divide="ignore"):
            limits = self.limits(np.log(q.T), Q.dtype, slack_of(alphas.min()))
        s = np.maximum(1 - q, 0.0) + (alphas / self.units)[:, None]
        growth = np.maximum(1 - self.shares, 0.0) * (1 - (alphas / self.units)[:, None] / s).max(axis=1)
        with np.errstate(divide="ignore"):
            least = odds(self.own[:, None], np.log(np.exp(self.others)[:, None] + growth))  # in any other class
        counts = self.ranks(-self.others, limits, within)  # no share exceeds one
        possible = self.ranks(self.odds if within else least.min(axis=1), limits, within)
        asked = (counts < possible) & ~(counts > beyond) & ~(possible <= beyond)
        for c in np.flatnonzero(asked.any(axis=0)):
            same, model = self.codes == c, self.models[c]
            lowest, highest = np.where(same, self.odds, least[:, c]), np.where(same, -self.others, self.odds)
            rows = np.flatnonzero(asked[:, c])
            rows = rows[np.argsort(limits[rows, c])]
            for part in np.array_split(rows, -(-len(rows) // TOGETHER)):
                limit = np.exp(np.minimum(limits[part, c, None], PLAIN))
                certain, possible = (bound <= limits[part[end], c] for bound, end in ((highest, 0), (lowest, -1)))
                mates, rivals = (np.flatnonzero(kind & possible & ~certain) for kind in (same, ~same))
                place, roots = np.searchsorted(self.members[c], mates), self.roots[mates]
                grows = np.square(v[c][np.ix_(place, part)].T) / s[c, part, None]
                share = self.q[mates] + grows * np.square(alphas[c] / roots + roots)
                share = _by_others(share, self.diagonal[mates] + grows, roots)
                counts[part, c] = self.weights[certain & same if within else certain].sum()
                counts[part, c] += (share <= limit * np.exp(self.others[mates])) @ self.weights[mates]
                if not within and len(rivals):
                    X = self.X[rivals]
                    changes = model.values(Q[part], X) - v[c][:, part].T @ model.kernel(X)
                    others = np.exp(self.others[rivals]) + np.square(changes) / s[c, part, None]
                    counts[part, c] += (np.exp(self.own[rivals]) <= limit * others) @ self.weights[rivals]
        return counts


def groups_left_out(models, by_class, order, groups, n_jobs=None):
    """The `LeftOut` of the samples of all classes, each scored without its group, (n,). A query changes no score.

    Leaving out the group g of z, whose own values are omitted, leaves the share ``q - (N z)_g^T N_gg^-1 (N z)_g``.
    """
    X, codes, weights = together(models)
    weights = np.ones(len(X)) if weights is None else weights
    weights = weights / units_of(codes, weights, len(models), by_class)[codes]
    members, shares = class_rows(codes, len(models)), np.empty((len(X), len(models)))
    for c, (model, own) in enumerate(zip(models, members, strict=True)):
        M = model.kernel(X[own]) * np.sqrt(1.0 if model.weights is None else model.weights)
        M.flat[:: len(own) + 1] += model.regularization.alpha
        V = inverse_in_place(cholesky_in_place(M))
        for rows in class_rows(groups, groups.max() + 1):
            Z, mates = model.kernel(X[rows]), np.flatnonzero(np.isin(own, rows))
            Z[mates] = 0.0
            U = V.T @ Z
            u = V[mates] @ U
            shares[rows, c] = np.square(U).sum(axis=0) - (u * np.linalg.solve(V[mates] @ V[mates].T, u)).sum(axis=0)
    with np.errstate(divide="ignore"):
        scores = np.log(np.maximum(shares, 0.0))

    def queries(Q):
        return log_explained(models, [complete(Q)] * len(models), n_jobs, False)

    return LeftOut(codes, within_groups(weights, groups), scores, queries, order)


def slack_of(alpha):
    """Relative error of log odds due to the inverse of a kernel matrix plus alpha; closer values tie."""
    return max(1e-9, 64 * np.finfo(np.float64).eps / alpha)


def _by_others(q, diagonal, roots):
    """Share of each sample that the other samples of its class explain."""
    return 2 * q / (1 + np.sqrt(1 + 4 * diagonal * np.square(roots) * q))
