"""The classifiers of `spectralcls.kernel_mean` on Dask arrays and data frames."""

import dask
import dask.array as da
import numpy as np
from scipy.special import logsumexp

from .. import kernel_mean
from .._validation import check_bandwidth
from ..kernel_mean.base import finite_scores
from ..kernel_mean.engine import fit_class_means
from ._class_means import ClassMeans, TrainingPoints
from ._estimator import DaskEstimator
from ._rows import check_training_data
from ._tuning import reference_bandwidth, search_bandwidth
from ._workers import check_workers


class DaskKernelMean(DaskEstimator):
    """What the classifiers share: `fit` keeps the training points on the workers, everything else is lazy.

    With ``bandwidth="cv"`` a stratified sample of `max_tuning_samples` points is gathered in this process
    (all points where it is None); `cv` is an int or "loo". Parzen's rule validates the sample against all points,
    unless `cv` is "loo"; the others tune within it and scale the bandwidth by ``(m / n) ** (1 / (d + 4))``.
    """

    def _fit(self, X, y, sample_weight):
        check_workers()
        data = check_training_data(self, X, y, sample_weight)
        rule = self._rule()
        log_priors = self._log_priors(len(data.classes))
        search = None
        if isinstance(self.bandwidth, str) and self.bandwidth == "cv":
            search = search_bandwidth(self, rule, data, log_priors)
            bandwidth = search.bandwidth
        elif isinstance(self.bandwidth, str):
            bandwidth = reference_bandwidth(self.bandwidth, data, self.kernel)
        else:
            bandwidth = check_bandwidth(self.bandwidth, len(data.classes))
        points = TrainingPoints.of(data, self.tolerance, self.n_jobs)
        model = fit_class_means(rule, points, self.kernel, bandwidth, log_priors, ClassMeans)
        self._store(data, bandwidth, search, model)
        return self

    def decision_function(self, X):
        """Scores of the classes as a Dask array (n_queries,) or (n_queries, n_classes), larger wins."""
        scores = self._scores(X).map_blocks(finite_scores, dtype=np.float64)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X):
        """Labels of the best classes as a Dask array (n_queries,), in the chunks of X."""
        return self._labels(self._scores(X))

    def _local_state(self):
        (inverse_density,) = dask.compute(getattr(self, "inverse_density_", None))
        state = {"_model": self._model.local()}
        return state if inverse_density is None else state | {"inverse_density_": inverse_density}


class ParzenClassifier(DaskKernelMean, kernel_mean.ParzenClassifier):
    """:class:`spectralcls.ParzenClassifier` on Dask collections."""

    _local_class = kernel_mean.ParzenClassifier

    def predict_log_proba(self, X):
        """Logarithms of the posterior probabilities, a Dask array (n_queries, n_classes)."""
        return self._scores(X).map_blocks(_log_posterior, dtype=np.float64)

    def predict_proba(self, X):
        """Posterior probabilities, a Dask array (n_queries, n_classes)."""
        return da.exp(self.predict_log_proba(X))

    def score_samples(self, X):
        """Log density of each query, a Dask array (n_queries,)."""
        log_joint, _ = self._model.log_sums(self._check_queries(X))
        constant = self._log_constant
        return log_joint.map_blocks(_log_density, constant, drop_axis=1, dtype=np.float64)


def _log_posterior(scores):
    return scores - logsumexp(scores, axis=1, keepdims=True)


def _log_density(log_joint, constant):
    return logsumexp(log_joint, axis=1) + constant


class ISEClassifier(DaskKernelMean, kernel_mean.ISEClassifier):
    """:class:`spectralcls.ISEClassifier` on Dask collections."""

    _local_class = kernel_mean.ISEClassifier


class LaplacianISEClassifier(DaskKernelMean, kernel_mean.LaplacianISEClassifier):
    """:class:`spectralcls.LaplacianISEClassifier` on Dask collections."""

    _local_class = kernel_mean.LaplacianISEClassifier


class CauchySchwarzClassifier(DaskKernelMean, kernel_mean.CauchySchwarzClassifier):
    """:class:`spectralcls.CauchySchwarzClassifier` on Dask collections."""

    _local_class = kernel_mean.CauchySchwarzClassifier
