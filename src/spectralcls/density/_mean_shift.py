"""Clusters as the basins of a density's modes."""

import warnings
from dataclasses import KW_ONLY
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.exceptions import ConvergenceWarning

from .._estimator import Estimator, transactional, with_parameters
from .._expansion import Rule, TrainingPoints, class_means
from .._tuning import has_spread
from .._utils.from_sklearn import Interval, StrOptions
from .._utils.typing import Array, ArrayLike
from .._utils.validation import with_left_out
from ..kernels import log_normalizer, silverman_bandwidth
from ._ascent import SHADOWS, absorbed_by, climb, distinct_modes


@with_parameters
class KernelMeanShift(ClusterMixin, Estimator):
    """Mean shift clustering: a cluster is what climbs to the same mode of the Parzen density.

    All samples climb the density together, exact and vectorized; where climbers meet they go on as one. The number of
    clusters is that of the modes, which the bandwidth sets.

    Parameters
    ----------
    bandwidth : {"silverman"} or float, default="silverman"
        Radius h of the density's kernel. "silverman" is the normal-reference rule for a density's gradient [3]_,
        ``s (4 / ((d + 4) n))^(1 / (d + 6))``; s is the spread of all samples, so that close clusters may need less.
    kernel : {"gaussian", "epanechnikov", "quartic", "triweight"}, default="gaussian"
        Of the density. With "epanechnikov" a step leads to the plain mean of the samples within h, as in
        :class:`sklearn.cluster.MeanShift`.
    min_cluster_size : int, default=1
        A mode to which fewer samples climb is no cluster; its samples go to the nearest cluster, or are labeled -1 if
        `cluster_all` is False.
    cluster_all : bool, default=True
        Whether samples that climb to no cluster get the label of the nearest one; otherwise -1.
    tol : float, default=1e-3
        A climber has arrived when a step is shorter than this many bandwidths.
    max_iter : int, default=1000
        Steps at most.
    n_jobs : int or None, default=None
        Threads; None means all cores unless joblib or threadpoolctl says otherwise.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Modes, the highest first.
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample.
    mode_log_density_ : ndarray of shape (n_clusters,)
        Log density at the modes.
    bandwidth_ : float
        Bandwidth in use.
    n_iter_ : int
        Steps of the slowest climber.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features. Only present if X has string names.

    See Also
    --------
    sklearn.cluster.MeanShift : One seed at a time; a flat kernel; labels by the nearest center.
    ParzenDensity : The density.

    Notes
    -----
    A step is one pass over the pairs of climbers and samples, with d + 1 columns. Modes closer than a bandwidth to a
    higher one are of its cluster.

    References
    ----------
    .. [1] K. Fukunaga, L. D. Hostetler, "The estimation of the gradient of a density function, with applications in
       pattern recognition", IEEE Transactions on Information Theory 21 (1), 1975, pp. 32-40.
    .. [2] D. Comaniciu, P. Meer, "Mean shift: a robust approach toward feature space analysis", IEEE Transactions on
       Pattern Analysis and Machine Intelligence 24 (5), 2002, pp. 603-619.
    .. [3] J. E. Chacon, T. Duong, "Data-driven density derivative estimation, with applications to nonparametric
       clustering and bump hunting", Electronic Journal of Statistics 7, 2013, pp. 499-532.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralcls import KernelMeanShift
    >>> X = np.array([[1.0, 1.0], [2.0, 1.0], [1.0, 0.0], [4.0, 7.0], [3.0, 5.0], [3.0, 6.0]])
    >>> KernelMeanShift(bandwidth=2.0, kernel="epanechnikov").fit_predict(X)
    array([0, 0, 0, 1, 1, 1])
    """

    bandwidth: str | float = "silverman"
    _: KW_ONLY
    kernel: str = "gaussian"
    min_cluster_size: int = 1
    cluster_all: bool = True
    tol: float = 1e-3
    max_iter: int = 1000
    n_jobs: int | None = None

    _parameter_constraints = {
        "bandwidth": [Interval(Real, 0, None, closed="neither"), StrOptions({"silverman"})],
        "kernel": [StrOptions(set(SHADOWS))],
        "min_cluster_size": [Interval(Integral, 1, None, closed="left")],
        "cluster_all": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    @transactional
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find the modes, and the cluster of each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; float32 stays float32, everything else becomes float64.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the samples in the density. One of weight 0 gets a label, but makes no mode. They
            count relative to each other; for the bandwidth "silverman" weight k equals giving the sample k times.

        Returns
        -------
        self : object
            The fitted clustering.

        Raises
        ------
        ValueError
            For invalid data, or if no mode has `min_cluster_size` samples.

        Warns
        -----
        ConvergenceWarning
            If a climber is still on its way after `max_iter` steps.
        """
        self._inputs = self._make_inputs()
        data = self._inputs.fit_points(X, sample_weight)
        self.bandwidth_ = float(self.bandwidth) if self.bandwidth != "silverman" else _reference(data, self.kernel)
        self._points = TrainingPoints.of(data, n_jobs=self.n_jobs)
        modes, self.n_iter_ = self._climb(data.X)
        model = class_means(Rule("density"), self._points, self.kernel, self.bandwidth_)[0]
        log_density = model.log_total(modes.astype(data.X.dtype))
        every = distinct_modes(modes, log_density, self.bandwidth_)
        sizes = np.bincount(absorbed_by(modes, modes[every], self.bandwidth_), minlength=len(every))
        large = np.flatnonzero(sizes >= self.min_cluster_size)
        if not len(large):
            raise ValueError(
                f"No mode has min_cluster_size={self.min_cluster_size} samples; the largest has {sizes.max()}: "
                "take a larger bandwidth."
            )
        self.cluster_centers_ = modes[every[large]]
        self.mode_log_density_ = log_density[every[large]] - log_normalizer(
            self.kernel, data.X.shape[1], self.bandwidth_
        )
        self.labels_ = with_left_out(data, self._labels(modes), lambda left: self._labels_of(self._inputs(X)[left]))
        return self

    def _climb(self, Q):
        modes, n_iter, arrived = climb(Q, self._points, self.kernel, self.bandwidth_, self.tol, self.max_iter)
        if not arrived:
            warnings.warn(
                f"Some points still climb after max_iter={self.max_iter} steps: raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=4,
            )
        out_of_reach = np.isnan(modes[:, 0])
        modes[out_of_reach] = Q[out_of_reach]
        return modes, n_iter

    def _labels_of(self, Q):
        return self._labels(self._climb(Q)[0])

    def _labels(self, modes):
        centers = self.cluster_centers_
        labels = absorbed_by(modes, centers, self.bandwidth_)
        if not self.cluster_all:
            labels[np.linalg.norm(modes - centers[labels], axis=1) > self.bandwidth_] = -1
        return labels

    def predict(self, X: Any) -> Array:
        """The cluster whose mode each query climbs to.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Queries.

        Returns
        -------
        labels : ndarray of shape (n_queries,)
            Where no kernel reaches, the nearest cluster, or -1 if `cluster_all` is False.
        """
        X = self._queries(X)
        return self._labels_of(X)


def _reference(data, kernel):
    """The normal-reference bandwidth for the gradient, from the one for the density."""
    if not has_spread(data.X):
        return 1.0
    n, d = len(data.X) if data.weights is None else data.weights.sum(), data.X.shape[1]
    density = silverman_bandwidth(data.X, data.weights, rule="amise", kernel=kernel)
    return float(density / (4 / ((d + 2) * n)) ** (1 / (d + 4)) * (4 / ((d + 4) * n)) ** (1 / (d + 6)))
