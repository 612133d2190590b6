"""Parzen's density estimate."""

from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._estimator import transactional
from .._utils.bases import DensityMixin
from .._utils.typing import Array, ArrayLike, RandomState
from . import _marginals, _univariate
from ._density_estimator import Density


class ParzenDensity(DensityMixin, Density):
    """Kernel density estimation with a bandwidth chosen by least-squares cross-validation.

    The density is a mean of kernels at the samples, ``f(x) = sum_i w_i k((x - x_i) / h_i) / h_i^d``, with weights that
    add up to one. The class replaces :class:`sklearn.neighbors.KernelDensity` and has its methods and kernels. Sums run
    over all pairs and are computed as logarithms, so log densities are exact up to rounding in any dimension and at any
    distance from the data.

    Parameters
    ----------
    bandwidth : {"cv", "silverman", "scott"} or float, default="cv"
        Radius h of the kernels. ``"cv"`` uses least-squares cross-validation [4]_: among the bandwidths whose estimated
        integrated squared error is within 1.25 standard errors of the least, it chooses the one nearest to a rule of
        thumb with a robust spread. ``"silverman"`` and ``"scott"`` are the normal-reference rules; unlike
        scikit-learn's, they include the spread of the data.
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
    adaptive : bool or float, default=False
        Whether each sample gets a separate bandwidth, ``h (f(x_i) / g)^-alpha``, where f is the estimate with a common
        bandwidth and g its geometric mean over the samples: kernels are wide where samples are rare. True means
        Abramson's alpha = 1/2; a number is alpha. These bandwidths lie on a geometric grid of step 2^(1/32). ``"cv"``
        chooses h once more, with these bandwidths.
    bounds : array-like of shape (n_features, 2), default=None
        Lower and upper bound of each feature; None for no bound. The density is reflected at the bounds, integrates to
        one between them and is zero beyond.
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
        Bandwidth in use.
    local_bandwidth_ : ndarray of shape (n_samples,)
        Bandwidth of each sample of positive weight. Only present if `adaptive`.
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
    Cost: a fit takes O(n d) with a given bandwidth, and with "cv" one pass over the n^2 pairs for all candidates. A
    query takes O(n d). Rows that occur several times count once in n.

    Least-squares cross-validation favors the middle of the data: samples in heavy tails remain isolated, and
    ``adaptive=True`` smooths them more. The integral of f^2 is a sum of kernels sqrt(2) times as wide. Along a column
    with few distinct values, kernels are summed over these values instead of integrated, so that no bandwidth gains by
    concentrating on them.

    Of scikit-learn's parameters, `algorithm`, `leaf_size` and `breadth_first` are not needed because there is no tree,
    and neither are `atol` and `rtol` because sums are exact (`tolerance` corresponds to `rtol`). The metric is
    Euclidean, in coordinates that `covariance_type` determines.

    References
    ----------
    .. [1] E. Parzen, "On estimation of a probability density function and mode", The Annals of Mathematical
       Statistics 33 (3), 1962, pp. 1065-1076.
    .. [2] I. S. Abramson, "On bandwidth variation in kernel estimates: a square root law", The Annals of Statistics
       10 (4), 1982, pp. 1217-1223.
    .. [3] B. W. Silverman, "Density Estimation for Statistics and Data Analysis", Chapman and Hall, 1986.
    .. [4] A. W. Bowman, "An alternative method of cross-validation for the smoothing of density estimates", Biometrika
       71 (2), 1984, pp. 353-360.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralcls import ParzenDensity
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> density = ParzenDensity().fit(X)
    >>> round(density.bandwidth_, 2)
    0.34
    >>> density.score_samples([[0.0, 0.0], [30.0, 0.0]]).round(2)
    array([-1.94000e+00, -3.21839e+03])
    """

    def _make_inputs(self):
        return super()._make_inputs(missing="integrate queries")

    @transactional
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
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

        Returns
        -------
        self : object
            Fitted density.

        Raises
        ------
        ValueError
            If the data are invalid, samples lie beyond `bounds`, or the covariance is not positive definite. A fitted
            density stays unchanged.

        Warns
        -----
        UserWarning
            If the best bandwidth is the smallest or the largest of those tried.
        """
        self._fit_density(X, sample_weight)
        return self

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
        """Cumulative probability up to each query, for a density of one feature.

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
        """Quantiles, the inverse of :meth:`cdf`, for a density of one feature.

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
