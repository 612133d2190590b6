"""The base class of the density estimators: parameters, the choice of a bandwidth, and log densities of queries."""

import reprlib
from collections.abc import Sequence
from dataclasses import KW_ONLY
from numbers import Real
from typing import Any, Literal

import numpy as np

from .._estimator import Estimator, with_parameters
from .._tuning import reference_bandwidth
from .._utils.from_sklearn import Hidden, Interval, StrOptions
from .._utils.typing import Array, ArrayLike, CrossValidation, Kernel, RandomState, SampleBandwidth, Scale
from ..kernels import KERNELS
from ._density_model import DensityForm, bandwidth_classes
from ._least_squares_cv import choose
from ._places import Places
from ._whitening import Space, check_bounds

ALIASES = {"tophat": "uniform", "exponential": "laplace"}  # scikit-learn's names


@with_parameters
class Density(Estimator):
    """An estimator that learns a density, in ``_learn(data)``."""

    bandwidth: SampleBandwidth = "cv"
    _: KW_ONLY
    kernel: Kernel | Literal["tophat", "exponential"] = "gaussian"
    scale: Scale = "auto"
    covariance_type: Literal["spherical", "diag", "full"] | Sequence[Sequence[float]] | Array = "spherical"
    adaptive: float | bool = False
    bounds: ArrayLike | None = None
    cv: CrossValidation = "loo"
    bandwidth_grid: ArrayLike | None = None
    max_tuning_samples: int | None = 20_000
    tolerance: float | None = None
    random_state: RandomState = 0
    n_jobs: int | None = None

    _parameter_constraints = {
        "bandwidth": [
            Interval(Real, 0, None, closed="neither"),
            StrOptions({"cv", "silverman", "scott"}),
            Hidden("array-like"),  # refused with a hint
        ],
        "kernel": [StrOptions({*KERNELS, *ALIASES})],
        "covariance_type": [StrOptions({"spherical", "diag", "full"}), "array-like"],
        "adaptive": ["boolean", Interval(Real, 0, 1, closed="right")],
        "bounds": ["array-like", None],
    }

    def _learn(self, data):
        """Set the fitted form, `bandwidth_` and the results of tuning, from checked data of one class.

        Returns the index of each sample's point in the form.
        """
        X = data.X
        kernel, bounds = ALIASES.get(self.kernel, self.kernel), check_bounds(self.bounds, X.shape[1])
        space = self._space(data, bounds)
        data = data._replace(X=space.enter(X))
        places, factors = Places.of(data), np.ones(1)

        def fitted(h):
            return DensityForm.of(space, places.data, factors, kernel, h, bounds, self.tolerance, self.n_jobs)

        h = self._choose(data, space, factors, kernel, bounds)
        self._form = fitted(h)
        if self.adaptive:
            alpha = 0.5 if self.adaptive is True else float(self.adaptive)
            log_density = self._form.log_density(X[places.first])
            codes, factors = bandwidth_classes(log_density, places.data.weights, alpha)
            classes = np.arange(len(factors))
            data = data._replace(codes=codes[places.group], classes=classes)
            places = places._replace(data=places.data._replace(codes=codes, classes=classes))
            h = self._choose(data, space, factors, kernel, bounds)
            self._form = fitted(h)
            self.local_bandwidth_ = self._form.widths[places.group]
        self._form.mirrors  # noqa: B018  # raises here, in `fit`, if there are too many
        self.bandwidth_: float = h
        return places.group

    def _space(self, data, bounds):
        X = data.X
        if not isinstance(self.bandwidth, str | Real):
            raise ValueError(
                f"bandwidth must be one number, got {reprlib.repr(self.bandwidth)}. For one bandwidth per feature, set "
                "bandwidth=1 and covariance_type=[h_1**2, h_2**2, ...]; for kernels with a covariance matrix H, set "
                "covariance_type=H."
            )
        if not isinstance(self.covariance_type, str):
            space = Space.of_kernel(self.covariance_type, X)
        elif self.scale_ is not None:
            space = Space.of_scales(self._inputs.spreads(X, data.weights), X)
        else:
            space = Space.of(self.covariance_type, X, data.weights)
        if bounds is None:
            return space
        if np.ndim(space.root) == 2:
            raise ValueError("bounds need kernels whose axes are the features, without a full covariance matrix.")
        if ((bounds[:, 0] > X) | (bounds[:, 1] < X)).any():
            raise ValueError(f"X has samples beyond the bounds {self.bounds!r}.")
        return space

    def _choose(self, data, space, factors, kernel, bounds):
        """The bandwidth in the coordinates of `space`."""
        if not isinstance(self.bandwidth, str):
            return float(self.bandwidth)
        if self.bandwidth == "cv":
            return choose(self._search, self, data, space, factors, bounds, kernel)
        return reference_bandwidth(self.bandwidth, data.X, None, 1, data.weights, kernel=kernel)

    @property
    def scale_(self) -> str | None:
        """ "each" if kernels are scaled by the spreads of the features; None if they are round or of given shape."""
        spherical = isinstance(self.covariance_type, str) and self.covariance_type == "spherical"
        return "each" if spherical and self.scale is not None and isinstance(self.bandwidth, str) else None

    def _make_inputs(self, **options):
        return super()._make_inputs(**{"scale": None, "unitless": self.scale is not None} | options)

    def _fit_density(self, X, sample_weight):
        self._inputs = self._make_inputs()
        data = self._inputs.fit_points(X, sample_weight)
        return data, self._learn(data)

    def score_samples(self, X: Any) -> Array:
        """Log density at each query.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Queries.

        Returns
        -------
        log_density : ndarray of shape (n_queries,), float64
            Log densities; -inf out of reach of a compact kernel and beyond `bounds`. For a query with missing values,
            the result is the density of the known features, with the others integrated out; this needs the Gaussian
            kernel.

        Notes
        -----
        One pass over the n_queries x n_samples pairs, O(n_queries) memory; with `bounds`, one pass for each mirror
        image.
        """
        X = self._queries(X)
        return self._form.log_density(X)
