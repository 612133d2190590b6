"""Parzen's density estimate."""

import reprlib
from collections.abc import Sequence
from dataclasses import KW_ONLY
from numbers import Real
from typing import Any, Literal, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._estimator import Estimator, transactional, with_parameters
from .._inputs.completion import completed
from .._tuning import reference_bandwidth
from .._utils.bases import DensityMixin
from .._utils.from_sklearn import Hidden, Interval, StrOptions
from .._utils.typing import Array, ArrayLike, CrossValidation, Kernel, RandomState, SampleBandwidth, Scale
from ..kernels import KERNELS
from . import _marginals, _univariate
from ._density_form import DensityForm
from ._places import Places
from ._shares import tuned
from ._whitening import Space

ALIASES = {"tophat": "uniform", "exponential": "laplace"}  # scikit-learn's names


@with_parameters
class ParzenDensity(DensityMixin, Estimator):
    """Kernel density estimation with kernels that are chosen by least squares and by likelihood.

    The density is a mean of kernels at the samples, ``f(x) = sum_i w_i k((x - x_i) / h) / h^d``, with weights that add
    up to one. The class replaces :class:`sklearn.neighbors.KernelDensity` and has its methods and kernels. Sums run
    over all pairs and are computed as logarithms, so log densities are exact up to rounding in any dimension and at any
    distance from the data.

    Parameters
    ----------
    bandwidth : {"cv", "silverman", "scott"} or float, default="cv"
        Radius h of the kernels. ``"cv"`` uses least-squares cross-validation [3]_: among the bandwidths whose estimated
        integrated squared error is within 1.25 standard errors of the least, and whose held-out likelihood is not
        clearly below that of a narrower one, it chooses the one nearest to a rule of thumb. Then the kernel of each
        sample becomes a mixture of kernels with bandwidths ``2^k h``: four rounds of expectation and maximization [4]_
        determine its shares from the other samples. Most samples keep h; isolated samples get wide kernels.
        ``"silverman"`` and ``"scott"`` are the normal-reference rules; unlike scikit-learn's, they include the spread
        of the data.
    kernel : {"gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine", "quartic", "triweight"}, \
default="gaussian"
        Shape of the kernels. ``"uniform"`` and ``"laplace"`` are other names for "tophat" and "exponential". For a
        kernel other than the Gaussian, "cv" tunes the Gaussian of the same variance.
    scale : {"auto", None}, default="auto"
        With "auto", a bandwidth that is tuned or follows a rule is the same multiple of the spread of each feature, so
        that the units of the features do not matter; `bandwidth_` is the geometric mean over the features. A bandwidth
        given as a number is in the units of X. None means round kernels. Densities are always in the units of X.
    covariance_type : {"spherical", "diag", "full"} or array-like of shape (d,) or (d, d), default="spherical"
        Covariance of the kernels: round (see `scale`), proportional to the variances of the features ("diag"), or
        proportional to the covariance matrix of the samples ("full"). An array gives the variances of the features, or
        a covariance matrix: with ``bandwidth=1`` and ``[h_1**2, h_2**2]`` each feature has its own bandwidth, and a
        matrix is the H of other libraries. Except for "spherical", `bandwidth` is in units of standard deviations.
    cv : "loo", int, splitter or list of splits, default="loo"
        Samples that are held out together. If one copy of a row is left out, the others stay. A pair of equal samples
        counts if values are rounded, but not if rows were copied.
    bandwidth_grid : array-like, default=None
        Bandwidths to try, even if too narrow for rounded values. By default, there are sixteen around the rule of
        thumb, and more as long as the first or the last is chosen.
    max_tuning_samples : int or None, default=20000
        If there are more points, parameters are tuned on a random subsample of this size; `n_tuning_samples_` is the
        number used. A bandwidth tuned with m of n points is scaled to n points by the factor
        ``(m / n) ** (1 / (d + 4))``. Here m counts the points against which the subsample is validated: all others, but
        at most 200 000 if the data are in memory.
    tolerance : float or None, default=None
        Relative error allowed in kernel sums, in (0, 1). None means exact up to rounding. Approximate sums are used if
        they are predicted to be faster; tuning always uses exact sums.
    random_state : int, RandomState instance or None, default=0
        Seed of folds, subsamples, landmarks and starting vectors. With an int, a refit gives identical results.
    n_jobs : int or None, default=None
        Number of threads. None means all cores, unless joblib or threadpoolctl sets a lower limit.

    Attributes
    ----------
    bandwidth_ : float
        Bandwidth h.
    local_bandwidth_ : ndarray of shape (n_samples,)
        Geometric mean of the bandwidths in the kernel of each sample of positive weight. Only present if tuned.
    cv_results_ : dict of str to ndarray
        Scores of all candidates, in the layout of :class:`sklearn.model_selection.GridSearchCV`. A score estimates the
        integral of ``2 f p - f^2``, where f is the estimated density and p the true one, relative to the mean density
        of the samples. It is NaN if the bandwidth is less than half the step of rounded values. Only present if tuned.
    best_score_ : float
        Mean test score of the chosen candidate. Only present if something was tuned.
    scale_ : {"each", None}
        Whether the kernels are wider along features of greater spread.
    n_tuning_samples_ : int
        Number of distinct points validated. Only present if something was tuned.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features. Only present if X has string names.

    See Also
    --------
    ParzenOutlierDetector : Points of low density.
    spectralcls.ParzenClassifier : Classification by the densities of the classes.
    spectralcls.information : Entropies and divergences of such densities.

    Notes
    -----
    Cost: a fit takes O(n d) with a given bandwidth. With "cv", it takes one pass over the n^2 pairs for all bandwidths
    and four passes for the shares; more than `max_tuning_samples` samples get their shares from so many. A query takes
    O(n d) and, for the mixture of a tuned density, three to five times as long as with one bandwidth. Rows that occur
    several times count once in n.

    The integral of f^2 is a sum of kernels sqrt(2) times as wide. Along a column with few distinct values, kernels are
    summed over these values instead of integrated, so that no bandwidth gains by concentrating on them.

    A density does not end at a limit that the data cannot cross. Fit it to the logarithm of positive numbers, or to the
    samples and their mirror images, and double the density between the limits.

    Of scikit-learn's parameters, `algorithm`, `leaf_size` and `breadth_first` are not needed because there is no tree,
    and neither are `atol` and `rtol` because sums are exact (`tolerance` corresponds to `rtol`). The metric is
    Euclidean, in coordinates that `covariance_type` determines.

    References
    ----------
    .. [1] E. Parzen, "On estimation of a probability density function and mode", The Annals of Mathematical
       Statistics 33 (3), 1962, pp. 1065-1076.
    .. [2] B. W. Silverman, "Density Estimation for Statistics and Data Analysis", Chapman and Hall, 1986.
    .. [3] A. W. Bowman, "An alternative method of cross-validation for the smoothing of density estimates", Biometrika
       71 (2), 1984, pp. 353-360.
    .. [4] A. P. Dempster, N. M. Laird, D. B. Rubin, "Maximum likelihood from incomplete data via the EM algorithm",
       Journal of the Royal Statistical Society B 39 (1), 1977, pp. 1-38.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralcls import ParzenDensity
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> density = ParzenDensity().fit(X)
    >>> round(density.bandwidth_, 2)
    0.34
    >>> density.score_samples([[0.0, 0.0], [30.0, 0.0]]).round(2)
    array([  -1.94, -211.25])
    """

    bandwidth: SampleBandwidth = "cv"
    _: KW_ONLY
    kernel: Kernel | Literal["tophat", "exponential"] = "gaussian"
    scale: Scale = "auto"
    covariance_type: Literal["spherical", "diag", "full"] | Sequence[Sequence[float]] | Array = "spherical"
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
    }

    @property
    def scale_(self) -> str | None:
        """ "each" if kernels are scaled by the spreads of the features; None if they are round or of given shape."""
        spherical = isinstance(self.covariance_type, str) and self.covariance_type == "spherical"
        return "each" if spherical and self.scale is not None and isinstance(self.bandwidth, str) else None

    def _make_inputs(self):
        unitless = self.scale is not None
        return super()._make_inputs(scale=None, unitless=unitless, missing="integrate queries")

    def _learn(self, inputs, X, sample_weight, groups):
        """Set the fitted form and what `tuned` finds. Returns the samples, and the index of each one's center."""
        self._inputs = inputs
        data = inputs.fit_points(X, sample_weight, groups)
        if data.incomplete:
            data = data._replace(X=completed(data, self.n_jobs)[0])
        kernel, space = ALIASES.get(self.kernel, self.kernel), self._space(data)
        entered = data._replace(X=space.enter(data.X))
        places, widths, shares = Places.of(entered), np.ones(1), np.ones((len(data.X), 1))
        if self.bandwidth == "cv":
            bandwidth, widths, shares = tuned(self._search, self, entered, kernel, space.root is not None)
            self.local_bandwidth_: Array = bandwidth * np.exp(shares @ np.log(widths))
        elif isinstance(self.bandwidth, str):
            bandwidth = reference_bandwidth(self.bandwidth, entered.X, None, 1, data.weights, kernel=kernel)
        else:
            bandwidth = self.bandwidth
        self.bandwidth_: float = float(bandwidth)
        weights = places.data.weights / places.data.weights.sum()
        self._form = DensityForm(
            space,
            places.data.X,
            shares[places.first] * weights[:, None],
            self.bandwidth_ * widths,
            kernel,
            self.tolerance,
            self.n_jobs,
            places.data.groups,
        )
        return data, places.group

    def _space(self, data):
        if not isinstance(self.bandwidth, str | Real):
            raise ValueError(
                f"bandwidth must be one number, got {reprlib.repr(self.bandwidth)}. For one bandwidth per feature, set "
                "bandwidth=1 and covariance_type=[h_1**2, h_2**2, ...]; for kernels with a covariance matrix H, set "
                "covariance_type=H."
            )
        scales = None if self.scale_ is None else self._inputs.spreads(data.X, data.weights)
        return Space.of(self.covariance_type, data.X, data.weights, scales)

    @transactional
    def fit(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None, *, groups: ArrayLike | None = None
    ) -> Self:
        """Fit the density.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; float32 stays float32, everything else becomes float64.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights; only their ratios count. The bandwidth depends on the effective number of samples,
            ``(sum w)^2 / sum w^2``.
        groups : array-like of shape (n_samples,), default=None
            Group of each sample, such as a patient with several rows. Whatever leaves out samples, to choose
            parameters or to judge predictions, leaves out whole groups; what is promised then holds for new groups.

        Returns
        -------
        self : object
            Fitted density.

        Raises
        ------
        ValueError
            If the data are invalid, or the covariance is not positive definite. A fitted density stays unchanged.

        Warns
        -----
        UserWarning
            If the best bandwidth is the smallest or the largest of those tried.
        """
        self._learn(self._make_inputs(), X, sample_weight, groups)
        return self

    def score_samples(self, X: Any) -> Array:
        """Log density at each query.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Queries.

        Returns
        -------
        log_density : ndarray of shape (n_queries,), float64
            Log densities; -inf out of reach of a compact kernel. For a query with missing values, the result is the
            density of the known features, with the others integrated out; this needs the Gaussian kernel.

        Notes
        -----
        One pass over the n_queries x n_samples pairs, O(n_queries) memory.
        """
        X = self._queries(X)
        return self._form.log_density(X)

    def score(self, X: Any, y: Any = None) -> float:
        """Total log likelihood: the sum of the log densities of all queries.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Queries.
        y : None
            Ignored.

        Returns
        -------
        log_likelihood : float
            Log likelihood in nats; -inf if a query is out of reach of all kernels.
        """
        return float(self.score_samples(X).sum())

    def sample(self, n_samples: int = 1, random_state: RandomState = None) -> Array:
        """Draw points from the density, whatever its kernel.

        Parameters
        ----------
        n_samples : int, default=1
            Number of points.
        random_state : int, RandomState instance or None, default=None
            Seed of the random points.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features), float64
            Independent points.
        """
        check_is_fitted(self)
        return _marginals.drawn(self._form, n_samples, check_random_state(random_state))

    def marginal(self, features: ArrayLike) -> "ParzenDensity":
        """Marginal density of some of the features.

        Parameters
        ----------
        features : array-like of int
            Columns of X, in the order of the result. All other features are integrated out.

        Returns
        -------
        density : ParzenDensity
            Fitted density with the same kernels. Only for the Gaussian kernel: marginals of other radial kernels are of
            a different kind.
        """
        features = _marginals.check_features(self, features)
        return _marginals.like(self, _marginals.marginal(self._form, features), features)

    def conditional(self, features: ArrayLike, values: ArrayLike) -> "ParzenDensity":
        """Conditional density of the other features, given the values of some.

        Parameters
        ----------
        features : array-like of int
            Columns of X.
        values : array-like of float
            Values of these features.

        Returns
        -------
        density : ParzenDensity
            Fitted density of the remaining features, in their order. Only for the Gaussian kernel.

        Notes
        -----
        Kernels that are below e^-700 times the largest one at these values are left out.
        """
        given = _marginals.check_features(self, features)
        rest = np.setdiff1d(np.arange(self.n_features_in_), given)
        return _marginals.like(self, _marginals.conditional(self._form, given, rest, values), rest)

    def cdf(self, X: ArrayLike) -> Array:
        """Cumulative probability up to each query, for a density of one feature with Gaussian kernels.

        Parameters
        ----------
        X : array-like of shape (n_queries, 1)
            Queries.

        Returns
        -------
        p : ndarray of shape (n_queries,)
            Probabilities from 0 to 1 (NaN for a missing value), with an absolute accuracy of 1e-12; below the smallest
            sample, this is the relative accuracy.

        Notes
        -----
        Takes about as long as `score_samples`.
        """
        x = self._queries(X)[:, 0].astype(np.float64)
        form, known = _marginals.only_feature(self), ~np.isnan(x)
        x[known] = _univariate.cumulative(form, x[known])
        return x

    def quantile(self, p: ArrayLike) -> Array:
        """Quantiles, the inverse of :meth:`cdf`, for a density of one feature with Gaussian kernels.

        Parameters
        ----------
        p : array-like
            Probabilities from 0 to 1.

        Returns
        -------
        x : ndarray of the shape of p
            Smallest values with these cumulative probabilities.
        """
        check_is_fitted(self)
        return _univariate.quantiles(_marginals.only_feature(self), p)
