"""What the estimators on Dask collections share."""

import dask
import dask.array as da
import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._estimator import finite_scores
from .._tuning import reference_of
from .._utils.lazy import in_memory
from ._inputs import DaskInputs
from ._points import TrainingPoints
from ._rows import as_column, as_points, blocks, from_blocks, sizes


def to_local(self):
    """The fitted estimator of `spectralcls` with all that it has learned in this process.

    Returns
    -------
    local : object
        The estimator of the same name for data in memory, with the same parameters; it predicts without a cluster.
    """
    check_is_fitted(self)
    fitted = self._local_class(**self.get_params())
    vars(fitted).update(vars(self) | self._local_state() | {"_inputs": self._inputs.local()})
    return fitted


class DaskClassifier:
    """A classifier of Dask collections: its training points stay on the workers, its answers are lazy Dask arrays.

    A family gives `_class_scores`, of which the largest wins, or has a model whose scores are kernel sums.
    """

    _kind_of_inputs = DaskInputs
    _without_leave_one_out: str | None = (
        "they compare every query with every training point, in memory: take to_local()."
    )
    to_local = to_local

    def _points(self, data):
        return TrainingPoints.of(data, self.tolerance, self.n_jobs)

    def _reference(self, rule, data):
        return reference_of(data, rule, self.kernel, self.random_state)

    def _local_state(self):
        (inverse_density,) = dask.compute(getattr(self, "inverse_density_", None))
        state = {"_model": in_memory(self._model)}
        return state if inverse_density is None else state | {"inverse_density_": inverse_density}

    def _map_queries(self, X, function, *arguments):
        """``function(block, *arguments)`` for every block of queries: (m, C), arguments may be Delayed."""
        task = dask.delayed(function)
        done = [task(block, *arguments) for block in blocks(X)]
        return from_blocks(done, sizes(X), (len(self.classes_),), np.float64)

    def _class_scores(self, X):
        return self._scores(self._queries(X))

    def _evidence(self, X):
        return self._class_scores(X).map_blocks(finite_scores, dtype=np.float64)

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


def _best(scores, classes):
    return classes[scores.argmax(axis=1)]
