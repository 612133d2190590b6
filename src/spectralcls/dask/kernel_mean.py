"""The classifiers of `spectralcls.kernel_mean` on Dask arrays and data frames."""

import dask
import dask.array as da
import numpy as np

from .. import kernel_mean
from .._estimator import finite_scores, log_posterior
from ._estimator import DaskClassifier
from ._points import TrainingPoints, local
from ._tuning import bandwidth_problem, reference_bandwidth


class DaskScoreClassifier(DaskClassifier):
    """`fit` keeps the training points on the workers, everything else is lazy."""

    def decision_function(self, X):
        """Score the classes, larger wins.

        Parameters
        ----------
        X : Dask array or data frame of shape (n_queries, n_features)
            Queries.

        Returns
        -------
        scores : Dask array of shape (n_queries,) or (n_queries, n_classes)
            Not computed yet, in the chunks of X. With two classes the score of ``classes_[1]`` less that of
            ``classes_[0]``.
        """
        scores = self._class_scores(X).map_blocks(finite_scores, dtype=np.float64)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def _class_scores(self, X):
        return self._scores(self._queries(X))

    def _points(self, data):
        return TrainingPoints.of(data, self.tolerance, self.n_jobs)

    def _reference(self, rule, data):
        return reference_bandwidth(rule, data, self.kernel, self.random_state)

    def _local_state(self):
        (inverse_density,) = dask.compute(getattr(self, "inverse_density_", None))
        state = {"_model": local(self._model)}
        return state if inverse_density is None else state | {"inverse_density_": inverse_density}


class DaskKernelMean(DaskScoreClassifier):
    """What the classifiers share.

    With ``bandwidth="cv"`` a stratified sample of `max_tuning_samples` points is gathered in this process
    (all points if it is None); `cv` is an int or "loo". Parzen's rule validates the sample against all points,
    unless `cv` is "loo"; the others tune within it and scale the bandwidth by ``(m / n) ** (1 / (d + 4))``.
    """

    def _tune(self, data, rule, log_priors):
        sample, grid, scores = bandwidth_problem(self, rule, data, log_priors, self._importance(data))
        self.bandwidth_ = float(self._search(sample, {"bandwidth": grid}, scores).params["bandwidth"])


class ParzenClassifier(DaskKernelMean, kernel_mean.ParzenClassifier):
    """:class:`spectralcls.ParzenClassifier` on Dask collections.

    A stratified sample of `max_tuning_samples` points is gathered in this process and validated against all points, or
    within itself with ``cv="loo"``; `cv` is an int or "loo". Scales and
    levels of columns are learned from all rows; distances of levels from 5000 rows, and what fills gaps from 1000.

    %(inherited)s

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls.dask import ParzenClassifier
    >>> X, y = (da.from_array(array, chunks=50) for array in load_iris(return_X_y=True))
    >>> X = X.rechunk((50, -1))
    >>> ParzenClassifier(bandwidth=1.0).fit(X, y).predict(X).compute().shape
    (150,)
    """

    _local_class = kernel_mean.ParzenClassifier

    def predict_log_proba(self, X):
        """Log posterior probability of each class.

        Parameters
        ----------
        X : Dask array or data frame of shape (n_queries, n_features)
            Queries.

        Returns
        -------
        log_p : Dask array of shape (n_queries, n_classes)
            Not computed yet, in the chunks of X.
        """
        return self._class_scores(X).map_blocks(log_posterior, dtype=np.float64)

    def predict_proba(self, X):
        """Posterior probability of each class.

        Parameters
        ----------
        X : Dask array or data frame of shape (n_queries, n_features)
            Queries.

        Returns
        -------
        p : Dask array of shape (n_queries, n_classes)
            Not computed yet, in the chunks of X.
        """
        return da.exp(self.predict_log_proba(X))


class ISEClassifier(DaskKernelMean, kernel_mean.ISEClassifier):
    """:class:`spectralcls.ISEClassifier` on Dask collections.

    Unlike in memory, the bandwidth is tuned within a stratified sample of `max_tuning_samples` points gathered in this
    process, and then scaled by ``(m / n) ** (1 / (d + 4))``; `cv` is an int or "loo". Scales and
    levels of columns are learned from all rows; distances of levels from 5000 rows, and what fills gaps from 1000.

    %(inherited)s

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls.dask import ISEClassifier
    >>> X, y = (da.from_array(array, chunks=50) for array in load_iris(return_X_y=True))
    >>> X = X.rechunk((50, -1))
    >>> ISEClassifier(bandwidth=1.0).fit(X, y).predict(X).compute().shape
    (150,)
    """

    _local_class = kernel_mean.ISEClassifier


class LaplacianISEClassifier(DaskKernelMean, kernel_mean.LaplacianISEClassifier):
    """:class:`spectralcls.LaplacianISEClassifier` on Dask collections.

    Unlike in memory, the bandwidth is tuned within a stratified sample of `max_tuning_samples` points gathered in this
    process, and then scaled by ``(m / n) ** (1 / (d + 4))``; `cv` is an int or "loo". Scales and
    levels of columns are learned from all rows; distances of levels from 5000 rows, and what fills gaps from 1000.

    %(inherited)s

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls.dask import LaplacianISEClassifier
    >>> X, y = (da.from_array(array, chunks=50) for array in load_iris(return_X_y=True))
    >>> X = X.rechunk((50, -1))
    >>> LaplacianISEClassifier(bandwidth=1.0).fit(X, y).predict(X).compute().shape
    (150,)
    """

    _local_class = kernel_mean.LaplacianISEClassifier


class CauchySchwarzClassifier(DaskKernelMean, kernel_mean.CauchySchwarzClassifier):
    """:class:`spectralcls.CauchySchwarzClassifier` on Dask collections.

    Unlike in memory, the bandwidth is tuned within a stratified sample of `max_tuning_samples` points gathered in this
    process, and then scaled by ``(m / n) ** (1 / (d + 4))``; `cv` is an int or "loo". Scales and
    levels of columns are learned from all rows; distances of levels from 5000 rows, and what fills gaps from 1000.

    %(inherited)s

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls.dask import CauchySchwarzClassifier
    >>> X, y = (da.from_array(array, chunks=50) for array in load_iris(return_X_y=True))
    >>> X = X.rechunk((50, -1))
    >>> CauchySchwarzClassifier(bandwidth=1.0).fit(X, y).predict(X).compute().shape
    (150,)
    """

    _local_class = kernel_mean.CauchySchwarzClassifier
