"""The Bayes rule with Parzen density estimates of the classes."""

import numpy as np
from scipy.special import logsumexp

from .._validation import check_priors
from ..kernels import log_normalizer
from .base import KernelMeanClassifier
from .engine import blocks
from .rule import Rule


class ParzenClassifier(KernelMeanClassifier):
    """Bayes classifier with a Parzen (kernel) density estimate for each class.

    A query goes to the class with the largest ``P_c p_c(y)``, p_c the mean of kernels centred at the training
    points of the class. Everything is computed in the logarithm: a query a thousand bandwidths from all data
    has a finite log density (with the Gaussian kernel) and the correct posterior.

    Parameters
    ----------
    bandwidth : {"cv", "silverman", "silverman_per_class"}, float or array-like, default="cv"
        Radius h of the kernel. ``"cv"`` takes the bandwidth of the best cross-validated accuracy, at the cost
        of one pass over all pairs for the whole grid; ``"silverman"`` is the normal-reference rule for all
        samples, ``"silverman_per_class"`` for each class; an array has one value per class.
    kernel : {"gaussian", "epanechnikov", "uniform", "quartic", "triweight", "cosine"}, default="gaussian"
        All but the Gaussian vanish beyond the bandwidth.
    priors : array-like of shape (n_classes,), default=None
        Prior probabilities of the classes; by default their shares in the training data.
    cv : int, "loo", splitter or iterable of splits, default=5
        Folds of the cross-validation. An int makes random stratified folds, ``"loo"`` leaves out one point at
        a time; both treat copies of a row (of one class) as one point of greater weight, which is never
        validated against itself. The test sets of a splitter have to partition the samples.
    bandwidth_grid : array-like, default=None
        Bandwidths to try; by default :func:`~spectralcls.bandwidth.bandwidth_grid` of the training data.
    tie_break : {"middle", "smallest"}, default="middle"
        Which of several bandwidths with the best accuracy wins. Where classes are well separated a whole
        range ties; its middle is the safest choice. ``"smallest"`` is the usual reading of the thesis.
    max_tuning_samples : int or None, default=20000
        With more points than this, only a stratified random subsample of this size is validated, each point
        of it against all points of the other folds; `n_tuning_samples_` says how many points were validated.
    tolerance : float or None, default=None
        Allowed error of the kernel sums, in (0, 1); None: exact to rounding. With it the joint densities
        ``P_c p_c(y)`` of a query are off by at most ``tolerance`` times their sum all together, and its
        posterior probabilities by ``tolerance / (1 - tolerance)``: classes below that may come out as 0, and
        labels differ from the exact ones only where the best two posteriors are that close. This holds for
        any data. Sub-quadratic sums are used where they are predicted to be faster, in low dimension and with
        compact kernels; tuning the bandwidth stays exact.
    random_state : int, RandomState instance or None, default=0
        Draws the folds and the subsample.
    n_jobs : int, default=None
        Threads; None means all cores unless joblib or threadpoolctl says otherwise.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    class_prior_ : ndarray of shape (n_classes,)
        Prior probabilities.
    bandwidth_ : float or ndarray of shape (n_classes,)
        Bandwidth in use.
    bandwidth_grid_ : ndarray of shape (n_bandwidths,)
        Bandwidths tried, ascending. Only with ``bandwidth="cv"``, as the next two.
    cv_scores_ : ndarray of shape (n_bandwidths,)
        Cross-validated accuracy (weighted by `sample_weight`) of each.
    n_tuning_samples_ : int
        Number of (distinct) points validated.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, where X has string names.

    See Also
    --------
    ISEClassifier : Compares distances to the classes' means instead of densities.

    Notes
    -----
    Fitting with a given bandwidth costs O(n d); tuning one pass over the pairs of at most `max_tuning_samples`
    points with all; predicting one over the m n pairs. Memory beyond the data is O(n + m).

    References
    ----------
    Thesis, chapters 2 and 3.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls.kernel_mean import ParzenClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> ParzenClassifier(bandwidth=0.5).fit(X, y).predict(X[:2])
    array([0, 0])
    """

    _parameter_constraints = KernelMeanClassifier._parameter_constraints | {"priors": ["array-like", None]}

    def __init__(
        self,
        bandwidth="cv",
        *,
        kernel="gaussian",
        priors=None,
        cv=5,
        bandwidth_grid=None,
        tie_break="middle",
        max_tuning_samples=20_000,
        tolerance=None,
        random_state=0,
        n_jobs=None,
    ):
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.priors = priors
        self.cv = cv
        self.bandwidth_grid = bandwidth_grid
        self.tie_break = tie_break
        self.max_tuning_samples = max_tuning_samples
        self.tolerance = tolerance
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _rule(self):
        return Rule("density")

    def _log_priors(self, n_classes):
        if self.priors is None:
            return None
        with np.errstate(divide="ignore"):
            return np.log(check_priors(self.priors, n_classes))

    def _store(self, data, bandwidth, search, model):
        super()._store(data, bandwidth, search, model)
        if self.priors is None:
            self.class_prior_ = data.class_weight / data.class_weight.sum()
        else:
            self.class_prior_ = check_priors(self.priors, len(data.classes))
        # The scores leave out the kernel's constant; class-wise ones are relative to the narrowest kernel.
        self._log_constant = -log_normalizer(self.kernel, data.X.shape[1], np.min(bandwidth))

    def predict_log_proba(self, X):
        """Logarithms of the posterior probabilities of the classes.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)

        Returns
        -------
        log_p : ndarray of shape (n_queries, n_classes)
            -inf for a class that a compact kernel does not reach; where it reaches none, the class of the
            nearest training point has probability one.
        """
        scores = self._scores(X)
        return scores - logsumexp(scores, axis=1, keepdims=True)

    def predict_proba(self, X):
        """Posterior probabilities of the classes, shape (n_queries, n_classes).

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)

        Returns
        -------
        p : ndarray of shape (n_queries, n_classes)
        """
        return np.exp(self.predict_log_proba(X))

    def score_samples(self, X):
        """Log density ``log sum_c P_c p_c(y)`` of each query.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)

        Returns
        -------
        log_density : ndarray of shape (n_queries,)
            Normalised to integrate to one; -inf where a compact kernel does not reach.
        """
        X = self._check_queries(X)
        log_density = np.empty(len(X))
        for block in blocks(len(X), 24 * len(self.classes_)):
            log_joint, _ = self._model.log_sums(X[block])
            log_density[block] = logsumexp(log_joint, axis=1) + self._log_constant
        return log_density
