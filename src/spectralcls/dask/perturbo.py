"""PerTurbo on Dask collections: the classes are independent tasks."""

import dask
import numpy as np
from sklearn.utils import check_random_state

from .. import perturbo
from .._estimator import transactional
from .._inputs.completion import Completion
from ..perturbo import fit_class, log_explained, perturbation, seen_by_classes
from ._estimator import DaskClassifier
from ._incomplete import without_gaps
from ._inputs import MAX_GATHERED
from ._rows import blocks
from ._tuning import gather


class PerTurboClassifier(DaskClassifier, perturbo.PerTurboClassifier):
    """:class:`spectralcls.PerTurboClassifier` on Dask collections.

    Each class is gathered on one worker and factored there; with n_l points that takes O(n_l^2) memory, or O(n_l r)
    with ``rank=r``. Bandwidth and alpha are chosen in this process, as the estimator in memory would from at most
    20 000 points, a stratified sample. Scales and
    levels of columns are learned from all rows; distances of levels from 5000 rows, and what fills gaps from 1000.

    %(inherited)s

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

    @transactional
    def fit(self, X, y):
        """Choose bandwidth and alpha where they are "cv", and factor every class.

        Parameters
        ----------
        X : Dask array or data frame of shape (n_samples, n_features)
            Training points, of known chunk sizes.
        y : Dask array, series or array-like of shape (n_samples,)
            Class labels.

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
        self._learn(self._inputs.fit(X, y))
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
        parts = list(zip(blocks(X), blocks(data.codes), strict=True))
        models = [
            make(float(h), self._regularization, data.classes[c], options, *[take(*part, c) for part in parts])
            for c, h in enumerate(np.broadcast_to(self.bandwidth_, n_classes))
        ]
        models = dask.persist(*models)
        summary = dask.delayed(_summary)
        counts, ranks, residuals = zip(*dask.compute(*[summary(model) for model in models]), strict=True)
        self.classes_, self._models = data.classes, models
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


def _rows_of_class(X, codes, c):
    return X[codes == c]


def _fit_class(bandwidth, regularization, name, options, *parts):
    points = np.concatenate(parts).astype(np.float64)
    return fit_class(points, bandwidth, regularization, name=name, **options)


def _summary(model):
    return len(model.samples), model.rank, model.trace_residual


def _of_models(X, function, completion, options, *models):
    return function(models, seen_by_classes(X.astype(np.float64), models, completion), *options)
