"""The squared loss: kernel ridge regression of whatever targets, by a factor or by iteration."""

import numpy as np

from .._expansion.ridge import Smoother, solve
from .._tuning import ridge_grid
from . import _ridge_iterative as iterative
from ._penalized import PenalizedExpansion
from ._penalty_search import Fitted


class KernelRidge(PenalizedExpansion):
    """A penalized expansion that minimizes the squared error of its targets."""

    _BANDWIDTH_FACTORS = {"laplace": (0.7, 2.0, 6.0), "gaussian": (0.35, 0.7, 1.4, 2.8)}
    _TITLE, _METHOD = "ridge", "Conjugate gradients"

    def _alphas(self):
        if self.alpha_grid is not None:
            return self.alpha_grid
        return ridge_grid(-2, -1 if self._weighs_alike else 1)

    def _more_alphas(self):
        own = self.alpha == "cv" and self.alpha_grid is None and self._weighs_alike
        return ridge_grid(0, 1) if own else ()

    @property
    def _weighs_alike(self):
        """Whether no class has a weight, with which its samples are fitted as with a smaller ridge."""
        return getattr(self, "class_weight", None) is None

    def _path(self, targets, K, alphas, memory):
        found = []
        for alpha in alphas:
            try:
                solution = solve(K, targets.Y, alpha, targets.weights, memory=memory)
            except np.linalg.LinAlgError:
                found.append(None)
                continue
            found.append(Fitted(solution.coefficients, *targets.judged(solution.held_out)))
        return found

    def _exact(self, K, targets, alpha):
        return Fitted(solve(K, targets.Y, alpha, targets.weights, held_out=False).coefficients)

    def _iterative(self, operator, targets, alpha, step_done):
        options = {"tol": self.tol, "max_iter": self.max_iter, "step_done": step_done}
        return iterative.solve(operator, targets.Y, alpha, targets.weights, **options)

    def _held_out(self, K, targets):
        return targets.judged(solve(K, targets.Y, self.alpha_, targets.weights).held_out).scores

    @property
    def _smoother(self):
        """The weights of the targets in predictions; kept."""
        if "_kept_smoother" not in vars(self):
            self._kept_smoother = Smoother(self.points_, self.kernel_, self.bandwidth_, self.alpha_, self._weights)
        return self._kept_smoother


def smoother_of(estimator):
    """The `Smoother` of a fitted kernel ridge regression that has a factor of its system, else None."""
    if not isinstance(estimator, KernelRidge) or not estimator._has_factor:
        return None
    return estimator._smoother
