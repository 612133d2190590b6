"""PerTurbo on Dask collections: the classes are independent tasks."""

import dask
import numpy as np
from sklearn.utils import check_random_state

from .. import perturbo
from .._estimator import transactional
from .._inputs.completion import Completion
from .._utils.training_data import stack
from ..perturbo import fit_class, log_explained, perturbation, seen_by_classes
from ._estimator import DaskClassifier
from ._incomplete import without_gaps
from ._inputs import MAX_GATHERED
from ._rows import blocks, column_blocks
from ._tuning import gather


class PerTurboClassifier(DaskClassifier, perturbo.PerTurboClassifier):
    """:class:`spectralcls.PerTurboClassifier` on Dask collections.

    Each class is gathered on one worker and factored there; with n_l points that takes O(n_l^2) memory, or O(n_l r)
    with ``rank=r``. Scales and levels of columns are learned from all rows. Up to 2^22 numbers are gathered in this
    process, and all else that is not a sum is learned there as in memory; of more data from samples: distances of
    levels from 5000 rows, missing values from 1000, bandwidth and alpha from 20 000.

    Parameters
    ----------
    bandwidth : {"cv", "silverman", "silverman_per_class"}, float or array-like of shape (n_classes,), default="cv"
        Radius h of the kernel. ``"cv"`` takes the best bandwidth by cross-validation, ``"silverman"`` is
        the normal-reference rule for all samples, ``"silverman_per_class"`` for each class; an array has one value
        per class. Data without spread get 1.
        Class-wise values need no normalization, since k(x, x) = 1 at every bandwidth.
    regularization : {"tikhonov", "truncate", None}, default="tikhonov"
        What is done for K_l^-1, which may not exist.

        - "tikhonov" ("reg" in [1]_): (K_l + alpha I)^-1, equation 11.
        - "truncate" ("gle"): only the largest eigenvalues of K_l, see ``retained``.
        - None ("full"): K_l^-1 itself. Where K_l is numerically singular a pivoted factorization leaves out
          samples in the span of the others, which equals the pseudo-inverse, with a `LinAlgWarning`.
    alpha : float or "cv", default="cv"
        Tikhonov's constant. "cv": the most accurate of ``alpha_grid``.
    retained : float in (0, 1], default=0.95
        Share of the trace of K_l that a truncated spectrum keeps.
    metric : {"whiten", "diagonal", "full"}, transformer or None, default=None
        Map that is learned in `fit` and applied to the coordinates first: a
        :class:`~spectralcls.metric.KernelMetric` of that kind, or any transformer. A transformer that is fitted already
        is used as it is (cloning undoes the fit, unless it is in a :class:`sklearn.frozen.FrozenEstimator`).
        Bandwidths are in units of the mapped points. None: no map.
    categorical_features : "from_dtype", array-like of bool, int or str, or None, default="from_dtype"
        Columns that hold categories: a mask, positions, or names. ``"from_dtype"`` takes the columns of a data frame
        that hold no numbers. Any two levels are equally far apart, those of an ordered category by their ranks. How
        far is chosen for each column together with the bandwidth; a category that says nothing gets distance 0.
    scale : "auto" or None, default="auto"
        ``"auto"`` brings each column of numbers to mean 0 and standard deviation 1, estimated robustly if there are
        outliers or rare values; columns of standard deviation 1 stay as they are. With labels, and a bandwidth to
        tune, all columns are divided by one number instead if held-out labels are clearly more likely so: `scale_` is
        then "shared", not "each". Scales are learned once, in `fit` or the first `partial_fit`, and bandwidths are in
        these units. None: the numbers as they are.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply the sample weights: ``{label: weight}``, or ``"balanced"`` for weights
        inversely proportional to the classes' frequencies. None: all are one.
    cv : None, int, "loo", splitter or list of splits, default=None
        Folds that score "cv" values. None: leave-one-out, exact and in closed form, for "tikhonov" and None; 5 for
        "truncate", which has no closed form, and for incomplete points, which are filled from outside of a fold. An int
        makes random stratified folds; copies of a row (of one class) are one point of greater weight.
    scoring : {"auto", "accuracy", "balanced_accuracy", "neg_log_loss"}, default="auto"
        What tuning maximizes on held-out points. ``"auto"`` is the accuracy; of candidates within half a
        standard error of the best it takes the one of the least log loss.
    bandwidth_grid : array-like, default=None
        Bandwidths to try; by default :func:`~spectralcls.kernels.bandwidth_grid` of the training data.
    alpha_grid : array-like of positive numbers, default=None
        Candidates. None: 1e-6, 1e-5, ..., 1.
    max_tuning_samples : int or None, default=2000
        With more points than this in total, parameters are tuned on a random subsample of this size, stratified by
        class; `n_tuning_samples_` says how many points were used. A bandwidth that was tuned within m of n points is
        scaled to all of them by ``(m / n) ** (1 / (d + 4))``.
    rank : int or None, default=None
        A class of more samples than this is represented by a partial Cholesky factor of so many columns: O(n rank)
        memory, O(n rank^2) time. ``trace_residuals_`` says what is left out. None: exact.
    random_state : int, RandomState instance or None, default=0
        Draws whatever is random: folds, subsamples, landmarks, starts. With an int a refit gives the same bits.
    n_jobs : int or None, default=None
        Threads; None means all cores unless joblib or threadpoolctl says otherwise.
        Factors of the classes use the threads of BLAS; tuning has one for each class.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    class_counts_ : ndarray of shape (n_classes,)
        Number of samples in each class.
    metric_ : transformer or None
        The fitted map in use.
    bandwidth_ : float or ndarray of shape (n_classes,)
        Bandwidth in use.
    alpha_ : float
        0 without Tikhonov.
    ranks_ : ndarray of shape (n_classes,)
        Dimensions of the spans that represent the classes.
    trace_residuals_ : ndarray of shape (n_classes,)
        Trace of K_l less that of its partial factor; 0 for exact classes. It bounds the error of K_l in every norm.
    cv_results_ : dict of str to ndarray
        What was tried, in the layout of :class:`sklearn.model_selection.GridSearchCV`: `params`, a column
        ``param_<name>`` for each of them, `mean_test_score` (accuracy weighted by `sample_weight`), `std_test_score`,
        `rank_test_score`, and ``split<k>_test_score`` for each fold. Only present if something was tuned. Of tied
        candidates the lower middle one is chosen.
    best_score_ : float
        Mean test score of what was chosen. Only present if something was tuned.
    temperature_ : float
        `predict_proba` is the softmax of 1 - tau over it, which has the least log loss on the points that tuning held
        out. Only present if something was tuned.
    n_tuning_samples_ : int
        Number of (distinct) points validated. Only present if something was tuned.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features. Only present if X has string names.

    References
    ----------
    .. [1] N. Courty, T. Burger, J. Laurent, "PerTurbo: a new classification algorithm based on the spectrum
       perturbations of the Laplace-Beltrami operator", ECML PKDD 2011, LNCS 6911, pp. 359-374.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls.dask import PerTurboClassifier
    >>> X, y = (da.from_array(array, chunks=50) for array in load_iris(return_X_y=True))
    >>> X = X.rechunk((50, -1))
    >>> PerTurboClassifier(bandwidth=1.0, alpha=1e-2).fit(X, y).predict(X).compute().shape
    (150,)
    """

    _local_class = perturbo.PerTurboClassifier
    _evidence = perturbo.PerTurboClassifier._evidence

    @transactional
    def fit(self, X, y, sample_weight=None):
        """Choose bandwidth and alpha where they are "cv", and factor every class.

        Parameters
        ----------
        X : Dask array or data frame of shape (n_samples, n_features)
            Training points, of known chunk sizes.
        y : Dask array, series or array-like of shape (n_samples,)
            Class labels.
        sample_weight : Dask array or array-like of shape (n_samples,), default=None
            Non-negative weights. Weight k equals giving the sample k times, weight 0 leaving it out.

        Returns
        -------
        self : object
            The fitted classifier; the factors stay on the workers.

        Raises
        ------
        ValueError
            As :meth:`spectralcls.PerTurboClassifier.fit`.
        """
        self._inputs = self._make_inputs()
        self._learn(self._inputs.fit(X, y, sample_weight))
        return self

    def _learn(self, data):
        n_classes = data.n_classes
        sample = gather(data, MAX_GATHERED, check_random_state(self.random_state))
        self._choose(sample._replace(X=sample.X.astype(np.float64)))
        self._regularization = self._regularize(self.alpha_)
        self._features = data.features
        X, self._given = data.X, None
        if data.incomplete:
            (X, self._completion), self._given = without_gaps(data), data
        else:
            self._completion = Completion.learned(sample.X, sample.codes, sample.weights, sample.features)
        options = dict(rank=self.rank, random_state=self.random_state, n_jobs=self.n_jobs or 1)
        take, make = dask.delayed(_rows_of_class), dask.delayed(_fit_class)
        parts = list(zip(blocks(X), blocks(data.codes), column_blocks(data.weights_as_given, X), strict=True))
        models = [
            make(float(h), self._regularization, data.classes[c], options, *[take(*part, c) for part in parts])
            for c, h in enumerate(np.broadcast_to(self.bandwidth_, n_classes))
        ]
        models = dask.persist(*models)
        summary = dask.delayed(_summary)
        codes, *summaries = dask.compute(data.codes, *[summary(model) for model in models])
        counts, ranks, residuals = zip(*summaries, strict=True)
        self.classes_, self._models, self._labels = data.classes, models, data.classes[codes]
        self.class_counts_, self.ranks_ = np.array(counts), np.array(ranks)
        self.trace_residuals_ = np.array(residuals)

    def _log_explained(self, X, relative=True):
        return self._by_models(X, log_explained, self.n_jobs or 1, relative)

    def perturbation(self, X):
        """Perturbation tau_l(x) of every class by every query.

        Parameters
        ----------
        X : Dask array or data frame of shape (n_queries, n_features)
            Queries.

        Returns
        -------
        tau : Dask array of shape (n_queries, n_classes)
            In [0, 1]. Not computed yet, in the chunks of X.
        """
        return self._by_models(X, perturbation, self.n_jobs or 1)

    def _by_models(self, X, function, *options):
        return self._map_queries(self._queries(X), _of_models, function, self._completion, options, *self._models)

    def decision_function(self, X):
        """Logarithm of 1 - tau_l(x): the larger, the less x perturbs the class.

        Parameters
        ----------
        X : Dask array or data frame of shape (n_queries, n_features)
            Queries.

        Returns
        -------
        scores : Dask array of shape (n_queries,) or (n_queries, n_classes)
            Not computed yet, in the chunks of X. With two classes the difference second minus first.
        """
        scores = self._log_explained(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def _class_scores(self, X):
        return self._log_explained(X)

    def score_samples(self, X):
        """How well the nearest class explains a query: log(1 - min_l tau_l(x)).

        Parameters
        ----------
        X : Dask array or data frame of shape (n_queries, n_features)
            Queries.

        Returns
        -------
        scores : Dask array of shape (n_queries,)
            At most 0. Not computed yet, in the chunks of X.
        """
        best = self._log_explained(X, relative=False).max(axis=1)
        return np.minimum(best, 0.0)

    def _local_state(self):
        given = None
        if self._given is not None:
            given = gather(self._given, None, None)
            given = given._replace(X=given.X.astype(np.float64))
        return {"_models": list(dask.compute(*self._models)), "_given": given}


def _rows_of_class(X, codes, weights, c):
    own = codes == c
    return X[own], None if weights is None else weights[own]


def _fit_class(bandwidth, regularization, name, options, *parts):
    X, weights = stack(*parts)
    return fit_class(X.astype(np.float64), bandwidth, regularization, weights, name=name, **options)


def _summary(model):
    return len(model.samples), model.rank, model.trace_residual


def _of_models(X, function, completion, options, *models):
    return function(models, seen_by_classes(X.astype(np.float64), models, completion), *options)
