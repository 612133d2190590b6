"""A linear map learned from the gradients of kernel ridge regression: recursive feature machines."""

from dataclasses import KW_ONLY
from numbers import Integral, Real
from typing import Literal, Self

import numpy as np
from scipy.linalg import eigh, qr
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from .._estimator import fit_steps, transactional, with_parameters
from .._expansion.ridge_targets import targets_of
from .._expansion.tree_cells import MANY, TreeCells
from .._tuning import median_distance, thin, within_reach
from .._utils.advice import advise
from .._utils.bases import CallbackSupport
from .._utils.from_sklearn import Interval, StrOptions
from .._utils.typing import ArrayLike, RandomState, Scale
from ..kernels import kernel_matrix, kernel_sums
from ..linalg.ridge import solve
from ._linear_map import LinearMap, center

# Ridge penalties tried in each round. With up to six penalties from 1e-4 to 10, the accuracy of ridge regression after
# the metric changes by at most .6 percentage points on six tables of classes, and its error by at most .4 % on three
# tables of numbers.
_ALPHAS = 0.01, 0.1
_FLOOR = 1e-6  # least eigenvalue of M, relative to the mean
_MOST_OUTPUTS = 32  # limit on the outputs with gradients; more outputs are replaced by random combinations of them
# Number of cells, and points per cell. From `MANY` points on, the map is learned in cells of neighbors, where points
# are as dense as in the whole table, instead of on random points. On 100 000 rows of covertype in one scale, the
# leave-one-out log loss of ridge regression in cells is .213 without a map. After a map learned on 2000 random points
# (in 2 s) it is .185, on 4000 (12 s) .168, in 8 cells of 1000 points (1 s) .178, in 32 cells of 500 (1 s) .21, in 64
# cells of 400 (1 s) .19, in 200 cells of 150 (1 s) .197, and in 200 cells of 250 (2 s) .182. On 500 000 rows, it is
# .081 without a map, .090 with 8 cells of 1000 points, .077 with 64 cells of 400, and .073 with 200 cells of 250.
# Another random choice of cells changes the loss by .01.
_CELLS, _CELL = 200, 250
_COLUMNS = 512  # columns of a kernel sum: several classes share its distances


@with_parameters
class GradientMetric(CallbackSupport, LinearMap):
    """Linear map from the average gradient outer product of kernel ridge regression.

    Each round has two steps: fit kernel ridge regression with the Laplace kernel to class indicators or regression
    targets; then set the metric M to the average of ``grad f grad f^T`` over the points, summed over classes or
    outputs. Directions along which the prediction does not change lose their weight. The round with the least
    leave-one-out loss (log loss, or squared error) is kept; the start (M = I) counts as round 0.

    Parameters
    ----------
    kind : {"diagonal", "full"}, default="diagonal"
        "diagonal" learns a weight for each feature, the diagonal of M; "full" learns M itself.
    task : {"classification", "regression"}, default="classification"
        Whether y holds class labels or numbers.
    max_iter : int, default=3
        Number of rounds.
    bandwidth : float, default=2.0
        Bandwidth of the Laplace kernel, relative to the median distance under the metric of the round.
    scale : "auto" or None, default="auto"
        ``"auto"`` scales each column of numbers to mean 0 and spread 1, estimated robustly; columns of spread 1 stay
        unchanged. None uses the numbers unchanged.
    max_samples : int, default=3000
        With more distinct points than this, the map is learned on a stratified random subsample, or in cells from 20
        000 points on; see Notes.
    random_state : int, RandomState instance or None, default=0
        Seed of folds, subsamples, landmarks and starting vectors. With an int, a refit gives identical results.
    verbose : bool, default=False
        Report progress on stderr.
    n_jobs : int or None, default=None
        Number of threads. None means all cores, unless joblib or threadpoolctl sets a lower limit.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        Map L of the scaled features, with ``L^T L = M`` and the trace of M equal to the number of features. With
        ``kind="full"`` the rows are the eigenvectors of M times the square roots of their eigenvalues, the largest
        first.
    mean_ : ndarray of shape (n_features,)
        Mean of the scaled points on which the map was learned.
    n_iter_ : int
        Number of rounds.
    loss_curve_ : list of float
        Leave-one-out loss before the first round and after each; for regression, relative to the variance of the
        targets.
    best_iter_ : int
        The round that was kept.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features. Only present if X has string names.

    See Also
    --------
    KernelMetric : Learns a map by the leave-one-out likelihood instead.
    spectralcls.KernelRegressor : Its parameter `metric` learns a map of this kind.

    Notes
    -----
    The start is M = I for the scaled features. A round costs 4 m^3 multiply-adds and one kernel sum
    with d + 1 columns for each of C classes or outputs, O(m^2 C d), for m <= `max_samples` points; memory O(m^2). From
    20 000 distinct points on, if `max_samples` is less, a random tree divides all points into cells of at most 250, and
    the map is learned on 200 of them, each with a separate regression on points as close together as in a prediction.
    This takes as long as 1500 points at once. More than 32 classes or outputs are replaced by 32 combinations with
    random signs, for which the sum of outer products of gradients has the same expectation.

    References
    ----------
    A. Radhakrishnan, D. Beaglehole, P. Pandit, M. Belkin, "Mechanism for feature learning in neural networks and
    backpropagation-free machine learning models", Science 383, 2024.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from spectralcls.metric import GradientMetric
    >>> X, y = load_wine(return_X_y=True)
    >>> GradientMetric().fit(X, y).components_.shape
    (13, 13)
    """

    kind: Literal["diagonal", "full"] = "diagonal"
    _: KW_ONLY
    task: Literal["classification", "regression"] = "classification"
    max_iter: int = 3
    bandwidth: float = 2.0
    scale: Scale = "auto"
    max_samples: int = 3000
    random_state: RandomState = 0
    verbose: bool = False
    n_jobs: int | None = None

    _parameter_constraints = {
        "kind": [StrOptions({"diagonal", "full"})],
        "task": [StrOptions({"classification", "regression"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "bandwidth": [Interval(Real, 0, None, closed="neither")],
        "max_samples": [Interval(Integral, 2, None, closed="left")],
    }

    @transactional
    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, *, groups: ArrayLike | None = None
    ) -> Self:
        """Learn the map.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training points; the map is learned in float64.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Class labels of at least two classes, or regression targets of one or more outputs.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights. Weight k is equivalent to k copies of the sample, weight 0 to leaving it out.
        groups : array-like of shape (n_samples,), default=None
            Group of each sample, such as a patient with several rows. Whatever leaves out samples, to choose
            parameters or to judge predictions, leaves out whole groups; what is promised then holds for new groups.

        Returns
        -------
        self : object
            The fitted transformer.

        Raises
        ------
        ValueError
            For invalid data or one class only.

        Warns
        -----
        ConvergenceWarning
            If no round improved on the original features, which are then kept.
        """
        rng = check_random_state(self.random_state)
        points, targets, parts, groups = self._read(X, y, sample_weight, groups, rng)
        weights = targets.weights
        self.mean_ = center(points, weights)
        points = points - self.mean_
        d, matrices = points.shape[1], np.empty((2, max(map(len, parts)) ** 2))
        L = np.ones(d) if self.kind == "diagonal" else np.eye(d)
        self.loss_curve_: list[float] = []
        with fit_steps(self, "metric", self.max_iter) as step_done:
            for step in range(self.max_iter + 1):
                Z = _mapped(points, L)
                bandwidth = self.bandwidth * median_distance(Z, rng)
                loss, coefficients = self._ridge(Z, targets, parts, groups, bandwidth, matrices)
                if not self.loss_curve_ or loss < min(self.loss_curve_):
                    self._map, self.best_iter_ = L, step
                self.loss_curve_.append(loss)
                if step < self.max_iter:
                    step_done(f"loss {loss:.4f}")
                    columns = _combined(coefficients, targets.Y, rng)
                    gradients = (
                        (gradient, weights[part])
                        for part in parts
                        for gradient in _gradients(Z[part], columns[part], bandwidth, self.n_jobs)
                    )
                    L = _root(gradients, L)
        self.n_iter_ = self.max_iter
        if not self.best_iter_:
            advise("No round improved on the original features, which are kept.", ConvergenceWarning)
        return self

    @property
    def components_(self):
        """The map L, (n_features, n_features)."""
        return np.diag(self._map) if self._map.ndim == 1 else self._map

    def _mapped(self, Z):
        return _mapped(Z, self._map)

    @property
    def _n_features_out(self):
        return len(self._map)

    def _read(self, X, y, sample_weight, groups, rng):
        """Distinct points (n, d) in float64, their targets, the subsets for separate regressions, and groups."""
        self._inputs = self._make_inputs(bandwidth=None)  # the metric's bandwidth is relative
        learn = self._inputs.fit_targets if self.task == "regression" else self._inputs.fit
        data = learn(X, y, sample_weight, groups).distinct(relative=True)
        if len(data.X) <= max(self.max_samples, MANY - 1):
            data = thin(data, self.max_samples, rng)
            points, parts = data.X, [np.arange(len(data.X))]
        else:
            n_outputs = data.n_classes if data.targets is None else data.targets.shape[1]
            wanted = _CELLS * min(1.0, _MOST_OUTPUTS / n_outputs)  # limits the memory for targets
            parts = TreeCells.of(within_reach(data.X, data.weights), _CELL, rng).spread(max(1, round(wanted)))
            data, stops = data.take(np.concatenate(parts)), np.cumsum([len(part) for part in parts])
            points, parts = data.X, np.split(np.arange(stops[-1]), stops[:-1])
        return within_reach(points.astype(np.float64), data.weights), targets_of(data), parts, data.groups

    def _ridge(self, Z, targets, parts, groups, bandwidth, matrices):
        """Leave-one-out loss and coefficients at the best alpha; the matrices are overwritten."""
        held_out, coefficients = np.empty((2, len(_ALPHAS), *targets.Y.shape))
        for part in parts:
            K, memory = matrices[:, : len(part) ** 2].reshape(2, len(part), len(part))
            kernel_matrix(Z[part], kernel="laplace", bandwidth=bandwidth, out=K, n_jobs=self.n_jobs)
            for a, alpha in enumerate(_ALPHAS):
                weights, units = targets.weights[part], None if groups is None else groups[part]
                solution = solve(K, targets.Y[part], alpha, weights, memory=memory, units=units)
                held_out[a, part], coefficients[a, part] = solution.held_out, solution.coefficients
        losses = [float(np.average(targets.judged(own).losses, weights=targets.weights)) for own in held_out]
        best = int(np.argmin(losses))
        return losses[best], coefficients[best]


def _combined(coefficients, targets, rng):
    """At most `_MOST_OUTPUTS` columns. In expectation, the outer products of their gradients have the same sum as those
    of all columns.

    Classes are numbered in the order of their points, so that their names do not matter.
    """
    if coefficients.shape[1] <= _MOST_OUTPUTS:
        return coefficients
    signs = rng.choice([-1.0, 1.0], (coefficients.shape[1], _MOST_OUTPUTS)) / np.sqrt(_MOST_OUTPUTS)
    return coefficients[:, np.argsort(targets.argmax(axis=0), kind="stable")] @ signs


def _gradients(Z, coefficients, h, n_jobs):
    """Gradient of each class's prediction at the points, with respect to their coordinates: (n, d) for each class.

    ``grad exp(-r / h) = -(z - z_j) exp(-u) / (u h^2)`` with u = r / h, so a kernel sum with columns a_j and a_j z_j
    suffices. The point itself, where the kernel has no gradient, is left out.
    """
    d, options = Z.shape[1], {"kernel": "laplace_derivative", "bandwidth": h, "exclude_self": True, "n_jobs": n_jobs}
    together = max(1, _COLUMNS // (d + 1))
    for start in range(0, coefficients.shape[1], together):
        some = coefficients[:, start : start + together]
        weights = np.concatenate([some[:, :, None], some[:, :, None] * Z[:, None]], axis=2)
        sums = kernel_sums(Z, Z, weights=weights.reshape(len(Z), -1), **options).reshape(weights.shape)
        yield from np.moveaxis((sums[:, :, 1:] - sums[:, :, :1] * Z[:, None]) / h / h, 1, 0)


def _mapped(Z, L):
    """L z for each row of Z; a diagonal L is given by its diagonal."""
    return Z * L if L.ndim == 1 else Z @ L.T


def _root(gradients, L):
    """L of the new metric, from weighted gradients with respect to z = L x; L^T turns them into gradients with respect
    to x. M is scaled to trace d, and no eigenvalue vanishes, so that every feature can regain weight.
    """
    d = len(L)
    if L.ndim == 1:
        values = L**2 * sum(weights @ G**2 for G, weights in gradients)
        if not values.any():
            return L
        values = np.maximum(values / values.mean(), _FLOOR)
        return np.sqrt(values / values.mean())
    values, axes = eigh(L.T @ sum((G.T * weights) @ G for G, weights in gradients) @ L)
    if not values[-1] > 0:
        return L
    values = np.maximum(values * (d / values.sum()), _FLOOR)
    axes = np.hstack([_complement(axes[:, values > _FLOOR]), axes[:, values > _FLOOR]])
    axes *= np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(d)])
    return (axes * np.sqrt(values * (d / values.sum()))).T[::-1]


def _complement(axes):
    """Orthonormal basis (d, d - k) of the complement of axes (d, k), a continuous function of their span."""
    d, k = axes.shape
    return qr(np.eye(d) - axes @ axes.T, pivoting=True)[0][:, : d - k]
