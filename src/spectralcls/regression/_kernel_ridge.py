"""The squared loss: kernel ridge regression of any targets, by a Cholesky factor, by iteration, or in cells."""

from dataclasses import replace

import numpy as np

from .._expansion.local_ridge import LocalRidge, held_out_in_cells
from .._expansion.ridge_targets import targets_of
from .._expansion.tree_cells import MANY, TreeCells
from .._inputs.given import numbers_of
from .._tuning import ridge_grid
from .._utils.progress import progress
from ..linalg.ridge import Smoother, solve
from . import _ridge_iterative as iterative
from ._cell_kernel import CellKernel
from ._given_kernel import GivenSmoother
from ._penalized import PenalizedExpansion
from ._penalty_search import Fitted, leave_one_out

# Largest number of points in a cell, and number of trees. On 100 000 rows of covertype, the leave-one-out accuracy is
# 94.0 % for 4 trees with cells of 1000 points (a fit takes 5 s), 94.0 % for 2 trees with cells of 2000 (7 s), 94.1 %
# for 8 trees with cells of 1000 (10 s), and 94.2 % for 4 trees with cells of 2000 (13 s). On 500 000 rows, it is
# 97.51 % for 2 trees with cells of 1000 (14 s), 97.57 % for 2 trees with cells of 1500 (23 s), and 97.64 % for 4 trees
# with cells of 1000 (27 s).
CELL, TREES = 1500, 4
TUNED = 8  # fewest cells used to choose bandwidth and ridge; two would cover only a part of the space


class KernelRidge(PenalizedExpansion):
    """A penalized expansion that minimizes the squared error of its targets."""

    _BANDWIDTH_FACTORS = {"laplace": (0.7, 2.0, 6.0), "gaussian": (0.35, 0.7, 1.4, 2.8)}
    _TITLE, _METHOD = "ridge", "Conjugate gradients"

    def _alphas(self):
        return ridge_grid(-2, -1 if self._weighs_alike else 1)

    def _more_alphas(self, dtype, n):
        return ridge_grid(0, 1) if self._weighs_alike else ()

    @property
    def _weighs_alike(self):
        """Whether there are no class weights; a larger class weight would act like a smaller ridge."""
        return getattr(self, "class_weight", None) is None

    def _fitted(self, data, rng):
        if len(data.X) <= max(self.max_exact_samples, MANY - 1):
            return super()._fitted(data, rng)
        X, targets = data.X, targets_of(data)
        forest = [TreeCells.of(X, CELL, rng) for _ in range(TREES)]
        wanted = len(X) if self.max_tuning_samples is None else self.max_tuning_samples
        parts = forest[0].spread(max(TUNED, -(-wanted * len(forest[0]) // len(X))))
        judged = np.concatenate(parts)
        some = targets.take(judged)
        choice = leave_one_out(some.weights, self._candidates(X, rng, len(X)), self._path_in_cells(X, targets, parts))
        self.points_, self.n_iter_ = X, 1
        form = {"kernel": choice.kernel, "bandwidth": choice.bandwidth}
        self._local, held_out = self._in_cells(targets, forest, choice.alpha, judged, **form)
        fitted = Fitted(None, *some.judged(held_out))
        self._by_others, loss = None, float(np.average(fitted.losses, weights=some.weights))
        return choice._replace(fitted=fitted, loss=loss), targets, len(judged)

    def _sample_path(self, sample, targets, is_all):
        if is_all or self._is_given:
            return super()._sample_path(sample, targets, is_all)
        return self._path_in_cells(sample.X, targets, [np.arange(len(sample.X))])

    def _path_in_cells(self, X, targets, parts):
        """The `path` for `leave_one_out` that predicts each point of `parts` by the others of its part."""
        some = targets.take(np.concatenate(parts))

        def path(kernel, bandwidth, alphas):
            form = {"kernel": kernel, "bandwidth": bandwidth, "n_jobs": self.n_jobs}
            found = held_out_in_cells(X, targets.Y, targets.weights, parts, alphas, **form)
            return [None if held_out is None else Fitted(None, *some.judged(held_out)) for held_out in found]

        return path

    def _in_cells(self, targets, forest, alpha, judged=None, **form):
        """The `LocalRidge` of all points, and its leave-one-out predictions of the `judged` points (None: all)."""
        with progress(self._TITLE, len(forest), silent=not self.verbose) as step_done:
            arguments = self.points_, targets.Y, targets.weights, alpha, forest, judged
            return LocalRidge.of(*arguments, **form, n_jobs=self.n_jobs, step_done=step_done)

    def _predictions_by_others(self, targets):
        local = vars(self).get("_local")
        if local is None:
            return super()._predictions_by_others(targets)
        form = {"kernel": local.kernel, "bandwidth": local.bandwidth}
        return targets.judged(self._in_cells(targets, local.forest, self.alpha_, **form)[1]).scores

    def _expansion(self):
        local = vars(self).get("_local")
        return super()._expansion() if local is None else replace(local, offsets=self._offsets())

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

    def _exact(self, K, targets, alpha, start):
        return Fitted(solve(K, targets.Y, alpha, targets.weights, held_out=False).coefficients)

    def _iterative(self, operator, targets, alpha, start, step_done):
        options = {"tol": self.tol, "max_iter": self.max_iter, "step_done": step_done}
        operator = replace(operator, approximate=_approximate(operator))
        return iterative.solve(operator, targets.Y, alpha, targets.weights, **options)

    def _held_out(self, K, targets):
        return targets.judged(solve(K, targets.Y, self.alpha_, targets.weights).held_out).scores

    @property
    def _smoother(self):
        """The `Smoother`, which gives the weights of the targets in predictions; cached."""
        if "_kept_smoother" not in vars(self):
            if self._is_given:
                self._kept_smoother = GivenSmoother(
                    self._inputs.K, numbers_of(self.points_), self.alpha_, self._weights
                )
            else:
                self._kept_smoother = Smoother(self.points_, self.kernel_, self.bandwidth_, self.alpha_, self._weights)
        return self._kept_smoother


def _approximate(operator):
    """The approximation of K that preconditions conjugate gradients: the low-rank factor alone for the Gaussian kernel,
    whose eigenvalues decrease fast.

    If the rest of the diagonal is added, the Gaussian kernel takes 1.2 to 2.3 times as many iterations (8000 points in
    2 and 8 dimensions).
    """
    if operator.kernel == "laplace":
        return CellKernel.of(operator)
    return replace(operator.approximate, remainder=np.zeros(len(operator.X)))


def smoother_of(estimator):
    """The `Smoother` of a fitted kernel ridge regression that was solved as one exact system; otherwise None."""
    if not isinstance(estimator, KernelRidge) or not estimator._has_factor:
        return None
    return estimator._smoother
