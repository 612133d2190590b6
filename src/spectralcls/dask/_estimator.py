"""What all estimators on Dask collections share."""

import dask
import dask.array as da
import numpy as np
from scipy.special import log_softmax
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._estimator import finite_scores, has_probabilities
from ._inputs import DaskInputs
from ._rows import as_column, as_points, blocks, from_blocks, sizes


class DaskEstimator:
    """Queries are Dask collections, answers are Dask arrays in their chunks that are not computed yet."""

    def _make_inputs(self, **options):
        inputs = DaskInputs(type(self).__name__)
        vars(inputs).update(vars(super()._make_inputs(**options)))
        return inputs

    def to_local(self):
        """The fitted estimator of `spectralcls` with all that it has learned in this process.

        Returns
        -------
        local : object
            The estimator of the same name for data in memory, with the same parameters; it predicts without a cluster.
        """
        check_is_fitted(self)
        local = self._local_class(**self.get_params())
        vars(local).update(vars(self) | self._local_state() | {"_inputs": self._inputs.local()})
        return local


class DaskClassifier(DaskEstimator):
    """A classifier of Dask collections.

    A family gives `_class_scores`, the lazy scores of the classes of which the largest wins.
    """

    _without_leave_one_out: str | None = (
        "they compare every query with every training point: use to_local().predict_set(X)."
    )

    def _map_queries(self, X, function, *arguments):
        """``function(block, *arguments)`` for every block of queries: (m, C), arguments may be Delayed."""
        task = dask.delayed(function)
        done = [task(block, *arguments) for block in blocks(X)]
        return from_blocks(done, sizes(X), (len(self.classes_),), np.float64)

    def _evidence(self, X):
        return self._class_scores(X).map_blocks(finite_scores, dtype=np.float64)

    @available_if(has_probabilities)
    def predict_log_proba(self, X):
        """Log probability of each class.

        Parameters
        ----------
        X : Dask array or data frame of shape (n_queries, n_features)
            Queries.

        Returns
        -------
        log_p : Dask array of shape (n_queries, n_classes)
            Not computed yet, in the chunks of X.
        """
        return self._evidence(X).map_blocks(_log_softmax, vars(self).get("temperature_", 1.0), dtype=np.float64)

    @available_if(has_probabilities)
    def predict_proba(self, X):
        """Probability of each class.

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

    def predict(self, X):
        """Predict the best class of each query.

        Parameters
        ----------
        X : Dask array or data frame of shape (n_queries, n_features)
            Queries.

        Returns
        -------
        y : Dask array of shape (n_queries,)
            Labels. Not computed yet, in the chunks of X.
        """
        scores = self._class_scores(X)
        return scores.map_blocks(_best, self.classes_, drop_axis=1, dtype=self.classes_.dtype)

    @property
    def partial_fit(self):
        """Not available: points added one by one are work for one machine."""
        raise AttributeError("Points added one by one are work for one machine: use to_local().partial_fit(X, y).")

    def score(self, X, y, sample_weight=None):
        """Accuracy, computed at once.

        Parameters
        ----------
        X : Dask array or data frame of shape (n_queries, n_features)
            Queries.
        y : Dask array, series or array-like of shape (n_queries,)
            Their labels.
        sample_weight : Dask array or array-like of shape (n_queries,), default=None
            Weights of the queries.

        Returns
        -------
        accuracy : float
            Weighted share of the queries whose label is predicted.
        """
        right = self.predict(X) == as_column(y, as_points(X), "y")
        weight = np.ones(1) if sample_weight is None else as_column(sample_weight, right, "sample_weight")
        hits, total = dask.compute((right * weight).sum(), da.broadcast_to(weight, right.shape).sum())
        return float(hits / total)


def _log_softmax(scores, temperature):
    return log_softmax(scores / temperature, axis=1)


def _best(scores, classes):
    return classes[scores.argmax(axis=1)]
