"""What the spans of the classes explain of each other's samples, and what one more sample changes."""

import numpy as np

from .._expansion.leave_one_out import LeaveOneOut
from .._utils.validation import units_of
from ..linalg import cholesky_in_place, inverse_in_place
from ._class_model import together
from ._gaussian import gaussian


class PerTurboLeftOut(LeaveOneOut):
    """Scores log(1 - tau) of samples, each without itself in the span of its class; copies by weight leave together.

    With N the inverse of K + alpha I of a class, and z the kernel values of a point at its samples, the share that the
    span explains is ``q = z^T N z``. One more sample x adds ``(k(y, x) - z^T N k_x)^2 / s`` to q, where
    ``s = 1 + alpha - k_x^T N k_x``. Of a sample i of the class z is without its own value, and its share is
    ``2 q / (1 + sqrt(1 + 4 N_ii q))``.
    """

    def __init__(self, models, by_class, order):
        X, codes, weights = together(models)
        weights = np.ones(len(X)) if weights is None else weights
        units = units_of(codes, weights, len(models), by_class)
        vars(self).update(X=X, models=models, units=units, roots=np.sqrt(weights), inverses=[], seen=[])
        scores = np.empty((len(X), len(models)))
        vars(self).update(q=np.empty_like(scores), diagonal=np.zeros(len(X)))
        for c, model in enumerate(models):
            own = np.flatnonzero(codes == c)
            Z = model.kernel(X)
            M = Z[:, own] * self.roots[own]
            M.flat[:: len(own) + 1] += model.regularization.alpha
            V = inverse_in_place(cholesky_in_place(M))
            Z[np.arange(len(own)), own] = 0.0
            G = V @ (V.T @ Z)
            self.inverses.append(V)
            self.seen.append(G)
            self.q[:, c] = np.einsum("ij,ij->j", Z, G)
            self.diagonal[own] = np.einsum("ij,ij->i", V, V)
            scores[:, c] = self._log_share(c, codes == c, self.q[:, c], self.diagonal)
        super().__init__(codes, weights / units[codes], scores, self._of_queries, order)

    def _log_share(self, c, own, q, diagonal):
        """log(1 - tau) by class c; of those of its `own` samples by the others."""
        without = 2 * q / (1 + np.sqrt(1 + 4 * diagonal * self.roots**2 * q))
        with np.errstate(divide="ignore"):
            return np.log(np.where(own, without, q))

    def _of_queries(self, Q):
        with np.errstate(divide="ignore"):
            return np.log(
                [np.square(V.T @ m.kernel(Q)).sum(axis=0) for m, V in zip(self.models, self.inverses, strict=True)]
            ).T

    def added(self, Q):
        for c, (model, V, G, unit) in enumerate(zip(self.models, self.inverses, self.seen, self.units, strict=True)):
            k = model.kernel(Q)
            v = V @ (V.T @ k)
            outside = np.maximum(1 - np.einsum("ij,ij->j", k, v), 0.0)
            s = (outside + model.regularization.alpha / unit)[:, None]
            change = gaussian(Q, self.X, bandwidth=model.bandwidth) - k.T @ G
            diagonal = np.broadcast_to(self.diagonal, change.shape).copy()
            own = self.codes == c
            diagonal[:, own] += np.square(v.T) / s
            yield self.replaced(c, self._log_share(c, own, self.q[:, c] + np.square(change) / s, diagonal))
