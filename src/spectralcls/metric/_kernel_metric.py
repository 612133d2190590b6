"""A linear map learned by the leave-one-out likelihood of the Parzen posterior."""

from dataclasses import KW_ONLY
from numbers import Integral
from typing import Literal, Self

import numpy as np
from scipy.linalg import eigh
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from .._estimator import fit_steps, transactional, with_parameters
from .._tuning import within_reach
from .._utils.advice import advise
from .._utils.bases import CallbackSupport
from .._utils.copies import column_order
from .._utils.from_sklearn import Interval, StrOptions
from .._utils.typing import ArrayLike, RandomState
from ._descent import descend
from ._initial_map import absorb_bandwidth, best_start, leading_directions
from ._linear_map import LinearMap, center


@with_parameters
class KernelMetric(CallbackSupport, LinearMap):
    """Linear map that maximizes the leave-one-out likelihood of the Parzen posterior.

    Learns ``z = L (x - mean)`` by gradient descent on the mean of ``-log p(y_i | x_i)``, where p is the posterior under
    Gaussian kernels on all *other* points: neighborhood components analysis with the log loss. Distances between mapped
    points can then be used by any method with a bandwidth, by k-NN, or in a plot.

    Every gradient takes two calls of :func:`~spectralcls.kernels.kernel_sums`; no array of n x n or n x d x d entries
    is formed.

    Parameters
    ----------
    kind : {"full", "diagonal", "whiten"}, default="full"
        "full" learns any linear map, "diagonal" a weight for each feature. "whiten" takes the best initial map without
        a descent: the standardized features, or the inverse root of the within-class covariance at one of four
        shrinkages.
    n_components : int or "all", default="all"
        Number of rows of the map. A full map with fewer rows than features has low rank; a diagonal one keeps the
        features with the largest weights.
    max_iter : int, default=80
        Maximum number of steps. The descent stops earlier if the loss of held-out points (15 %, at most 2000) has not
        improved in six evaluations. They are evaluated against all others every fourth step (every twelfth with more
        than 50 000 points), and the best map is kept.
    random_state : int, RandomState instance or None, default=0
        Seed of folds, subsamples, landmarks and starting vectors. With an int, a refit gives identical results.
    verbose : bool, default=False
        Report progress on stderr.
    n_jobs : int or None, default=None
        Number of threads. None means all cores, unless joblib or threadpoolctl sets a lower limit.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Map L, scaled so that a Gaussian kernel of bandwidth 1 has the best leave-one-out loss. Unless
        ``kind="diagonal"``, it is rotated to the principal axes of the mapped points, in order of decreasing variance.
    mean_ : ndarray of shape (n_features,)
        Mean of the training points.
    n_iter_ : int
        Steps taken; 1 for ``kind="whiten"``.
    loss_curve_ : list of float
        Loss of the batch at each step, with the penalty.
    validation_curve_ : list of float
        Loss of the held-out points, at the start and after every fourth or twelfth step. Empty for ``kind="whiten"``.
    start_ : str
        Name of the initial map.
    start_loss_, loss_ : float
        Leave-one-out losses of up to 2000 points, which are compared with up to 50 000 points under the initial map,
        and with all points under the result.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features. Only present if X has string names.

    See Also
    --------
    sklearn.neighbors.NeighborhoodComponentsAnalysis : The same model with another loss; it stores an n x n matrix.

    Notes
    -----
    A step costs O(m r d + (m + r) d^2) for m queries, 1000 to 2500, and r <= 50 000 references, and O((m + r) d) memory
    beyond the data. On small sets a step compares a random half of the points with itself. Equal rows of a class are
    one point of greater weight, so that a weight of two equals a row given twice. The order of rows and columns does
    not matter.

    References
    ----------
    J. Goldberger, S. Roweis, G. Hinton, R. Salakhutdinov, "Neighbourhood components analysis", NIPS 2004.
    H.-J. Ye, H.-H. Yin, D.-C. Zhan, W.-L. Chao, "Revisiting nearest neighbor for tabular data: a deep tabular baseline
    two decades later", ICLR 2025, arXiv:2407.03257.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from spectralcls.metric import KernelMetric
    >>> X, y = load_wine(return_X_y=True)
    >>> KernelMetric(kind="whiten", n_components=2).fit_transform(X, y).shape
    (178, 2)
    """

    kind: Literal["full", "diagonal", "whiten"] = "full"
    _: KW_ONLY
    n_components: Literal["all"] | int = "all"
    max_iter: int = 80
    random_state: RandomState = 0
    verbose: bool = False
    n_jobs: int | None = None

    _parameter_constraints = {
        "kind": [StrOptions({"full", "diagonal", "whiten"})],
        "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"all"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
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
        y : array-like of shape (n_samples,)
            Class labels of at least two classes.
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
            For invalid data, a single class, or more components than features.

        Warns
        -----
        ConvergenceWarning
            If no step improved on the initial map, which is then the result.
        """
        self._inputs = self._make_inputs()
        data = self._inputs.fit(X, y, sample_weight, groups)
        n_components, n_features = self.n_components, data.X.shape[1]
        if n_components == "all":
            n_components = n_features
        elif n_components > n_features:
            raise ValueError(f"n_components={n_components} is more than the {n_features} features.")
        rng = check_random_state(self.random_state)
        seed = rng.randint(np.iinfo(np.int32).max)
        mean, W, sample, order = _standardized(data, rotate=self.kind != "diagonal")
        start = best_start(sample, self.kind, seed, self.n_jobs)
        W = W @ start.W
        sample = sample._replace(X=sample.X @ start.W.astype(np.float32))
        q = sample.X.shape[1]
        A, start_loss = np.eye(q), start.loss
        if n_components < q and self.kind != "diagonal":
            A = leading_directions(sample, n_components)
            A, start_loss = absorb_bandwidth(sample, A, np.random.RandomState(seed), self.n_jobs)
        n_steps, training, validation = 1, [], []
        learns = self.kind != "whiten"
        with fit_steps(self, "metric", self.max_iter if learns else 0) as step_done:
            learned = descend(self, sample, A, rng, step_done) if learns else None
        if learned is not None:
            if not learned.best_step:
                advise(
                    f"No step improved the loss of held-out points over that of the start ({start.name}), so the start "
                    "is the result. Few points or well separated classes leave nothing to learn; kind='diagonal' has "
                    "fewer parameters.",
                    ConvergenceWarning,
                )
            A, n_steps, _, training, validation = learned
        if self.kind == "diagonal":
            strength = np.abs(np.diag(A)) * sample.X.std(axis=0)
            most = np.argsort(-strength, kind="stable")[:n_components]
            A = A[:, most]
        A, self.loss_ = absorb_bandwidth(sample, A, np.random.RandomState(seed), self.n_jobs)
        if self.kind == "diagonal":
            A = A[:, np.argsort(order[most])]
        else:
            A = A @ _principal_axes(sample.X @ A, sample.weights)
        self.mean_ = mean
        self.components_ = (W @ A)[np.argsort(order)].T
        self.n_iter_, self.loss_curve_, self.validation_curve_ = n_steps, training, validation
        self.start_, self.start_loss_ = start.name, start_loss
        return self


def _standardized(data, rotate):
    """Mean, map (d, q) and the distinct points in standardized features or, if `rotate` and there are more features
    than points, in coordinates of the span of the points, which contains all gradients of a metric. The last result is
    the feature (d,) of each row of the map and of each coordinate before a rotation.

    Features are sorted by their values, because sums in another order round differently, and the steps of the descent
    amplify the difference. So are the rows of the map: BLAS rounds rows by their place, too.
    """
    data = data.distinct(relative=True)
    weights = data.weights
    X = within_reach(data.X.astype(np.float64), weights)
    mean = center(X, weights)
    X = X - mean
    exponents = np.frexp(np.abs(X).max(axis=0))[1]  # squares may over- or underflow
    X = np.ldexp(X, -exponents)
    scale = np.sqrt(np.average(X**2, axis=0, weights=weights))
    constant = np.maximum(1e-12 * np.abs(mean), np.finfo(np.float64).tiny)  # up to the rounding of the mean
    scale[np.ldexp(scale, exponents) <= constant] = 0.0
    inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
    X *= inverse
    inverse = np.ldexp(inverse, -exponents)
    order = column_order(X)
    X = X[:, order]
    if rotate and X.shape[1] > len(X):
        _, singular, axes = np.linalg.svd(X, full_matrices=False)
        axes = axes[: max(1, int(np.sum(singular > 1e-7 * singular[0])))]
        W, X = inverse[order, None] * axes.T, X @ axes.T
    else:
        W = np.diag(inverse[order])
    return mean, W, data.moved(X.astype(np.float32)), order


def _principal_axes(Z, weights):
    """Orthonormal (p, p): principal axes of the points, by decreasing variance; the largest entry of each is
    positive."""
    Z = Z - np.average(Z, axis=0, weights=weights)
    axes = eigh((Z.T * weights) @ Z)[1][:, ::-1]
    return axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
