"""What the estimators of densities share: parameters, the choice of a bandwidth, log densities of queries."""

from dataclasses import KW_ONLY
from numbers import Real
from typing import Any

import numpy as np

from .._estimator import Estimator, with_parameters
from .._tuning import Scored, candidate_bandwidths, has_spread, reference_bandwidth, tuning_sample
from .._utils.from_sklearn import Interval, StrOptions
from .._utils.typing import Array, ArrayLike, RandomState
from ..kernels import KERNELS
from ._density_model import DensityForm, bandwidth_classes, held_out_log_density
from ._whitening import Space, check_bounds

ALIASES = {"tophat": "uniform", "exponential": "laplace"}  # scikit-learn's names


@with_parameters
class Density(Estimator):
    """An estimator that learns a density, in ``_learn(data)``."""

    bandwidth: str | float | ArrayLike = "cv"
    _: KW_ONLY
    kernel: str = "gaussian"
    covariance_type: str = "spherical"
    adaptive: float | bool = False
    bounds: ArrayLike | None = None
    cv: Any = "loo"
    bandwidth_grid: ArrayLike | None = None
    max_tuning_samples: int | None = 20_000
    tolerance: float | None = None
    random_state: RandomState = 0
    n_jobs: int | None = None

    _parameter_constraints = {
        "bandwidth": [
            Interval(Real, 0, None, closed="neither"),
            StrOptions({"cv", "silverman", "scott"}),
            "array-like",
        ],
        "kernel": [StrOptions({*KERNELS, *ALIASES})],
        "covariance_type": [StrOptions({"spherical", "diag", "full"})],
        "adaptive": ["boolean", Interval(Real, 0, 1, closed="right")],
        "bounds": ["array-like", None],
    }

    def _learn(self, data):
        """Set the fitted form, `bandwidth_` and what tuning leaves; `data` are checked, of one class."""
        X, d = data.X, data.X.shape[1]
        kernel, bounds = ALIASES.get(self.kernel, self.kernel), check_bounds(self.bounds, d)
        space = self._space(X, data.weights, bounds)
        data = data._replace(X=space.enter(X))
        factors = np.ones(1)

        def fitted(h):
            return DensityForm.of(space, data, factors, kernel, h, bounds, self.tolerance, self.n_jobs)

        h = self._choose(data, space, factors, kernel, bounds)
        self._form = fitted(h)
        if self.adaptive:
            alpha = 0.5 if self.adaptive is True else float(self.adaptive)
            codes, factors = bandwidth_classes(self._form.log_density(X), data.weights, alpha)
            data = data._replace(codes=codes, classes=np.arange(len(factors)))
            h = self._choose(data, space, factors, kernel, bounds)
            self._form = fitted(h)
            self.local_bandwidth_ = self._form.widths.copy()
        self._form.mirrors  # noqa: B018  # refuses here what would be too many of them
        self.bandwidth_ = h if np.ndim(self.bandwidth) == 0 else np.asarray(self.bandwidth, dtype=np.float64)

    def _space(self, X, weights, bounds):
        if np.ndim(self.bandwidth) == 0:
            space = Space.of(self.covariance_type, X, weights)
        elif self.covariance_type != "spherical":
            raise ValueError('bandwidth gives the shape of the kernels: it needs covariance_type="spherical".')
        else:
            space = Space.of_bandwidths(np.asarray(self.bandwidth, dtype=np.float64), X)
        if bounds is None:
            return space
        if np.ndim(space.root) == 2:
            raise ValueError("bounds need kernels along the features, not a full matrix of bandwidths.")
        if ((bounds[:, 0] > X) | (bounds[:, 1] < X)).any():
            raise ValueError(f"X has samples beyond the bounds {self.bounds!r}.")
        return space

    def _choose(self, data, space, factors, kernel, bounds):
        """The bandwidth in the coordinates of `space`."""
        if not isinstance(self.bandwidth, str):
            return float(self.bandwidth) if np.ndim(self.bandwidth) == 0 else 1.0
        if not has_spread(data.X):
            return 1.0
        if self.bandwidth != "cv":
            return reference_bandwidth(self.bandwidth, data.X, None, 1, data.weights, kernel=kernel)
        sample = tuning_sample(self, data, against_all=True)

        def score(sample, bandwidth):
            logs = held_out_log_density(sample, space, factors, kernel, bandwidth, bounds, self.n_jobs)
            logs[:, np.isneginf(logs).any(axis=0)] = np.nan  # no statement on a kernel that does not reach a point
            return Scored.of(sample, logs)

        grid = candidate_bandwidths(self.bandwidth_grid, data._replace(codes=np.zeros_like(data.codes)), kernel)
        found = self._search(sample, {"bandwidth": _within(grid, space, bounds)}, score).checked()
        return float(found.params["bandwidth"])

    def _fit_density(self, X, sample_weight):
        self._inputs = self._make_inputs()
        data = self._inputs.fit_points(X, sample_weight)
        self._learn(data)
        return data

    def score_samples(self, X: Any) -> Array:
        """Log density at each query.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Queries.

        Returns
        -------
        log_density : ndarray of shape (n_queries,), float64
            -inf where a kernel of compact support does not reach, and beyond `bounds`.

        Notes
        -----
        One pass over the n_queries x n_samples pairs, O(n_queries) memory; with `bounds` one for each mirror image.
        """
        X = self._queries(X)
        return self._form.log_density(X)


def _within(grid, space, bounds):
    """The candidates that are narrow relative to the distance of two ends; the smallest if none is."""
    if bounds is None:
        return grid
    scales = np.ones(len(bounds)) if space.root is None else space.root
    narrow = grid[grid <= ((bounds[:, 1] - bounds[:, 0]) / scales).min() / 4]
    return narrow if len(narrow) else grid[:1]
