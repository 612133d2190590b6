"""What all estimators on Dask collections share."""

import dask
import dask.array as da
import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_feature_names, _check_n_features, check_is_fitted

from .._inputs.check import names_categories
from ..metric import apply
from ._rows import as_column, as_points, blocks, check_training_data, from_blocks, sizes
from ._table import Layout, encoded
from ._tuning import gather
from ._workers import check_workers, keep

MAX_GATHERED = 20_000  # points from which a metric is learned, and among which PerTurbo chooses
MAX_SCALED = 5000  # points that tables are learned from


class DaskEstimator:
    """Queries are Dask collections, answers are Dask arrays in their chunks that are not computed yet."""

    categorical_features = scale = metric_ = _table = None

    def _check_queries(self, X):
        check_is_fitted(self)
        check_workers()
        layout = Layout.of(X)
        names = X._meta if hasattr(X, "to_dask_array") else None
        X = as_points(layout.numeric(X))
        _check_feature_names(self, np.empty((1, X.shape[1])) if names is None else names, reset=False)
        _check_n_features(self, np.empty((1, X.shape[1])), reset=False)
        return self._mapped(self._in_units(X, layout))

    def _checked(self, X, y, sample_weight=None):
        """Checked training data as coordinates, NaN where a value is missing; the table is that of a sample."""
        layout = Layout.of(X)
        data = check_training_data(self, layout.numeric(X), y, sample_weight)
        if self.scale is None and layout.is_plain and not names_categories(self.categorical_features):
            return data
        sample = gather(data, MAX_SCALED, check_random_state(self.random_state))
        self._table = layout.learned(sample.X, self.categorical_features, self.scale is not None, sample.weights)
        features = None
        if self._table.categories:
            self._smoothing(sample._replace(X=encoded(sample.X, self._table, layout)))
            features = self._table.features
        (X,) = keep(self._in_units(data.X, layout))
        if self._table.has_categories:  # a level that the sample does not have is missing
            data = data._replace(incomplete=bool(da.isnan(X).any().compute()))
        if data.incomplete and self._needs_complete:
            raise ValueError(
                f"A category of X has a level that is in none of the {MAX_SCALED} rows that the table is learned from, "
                f"and no value may be missing, because {self._needs_complete}: join rare levels first."
            )
        return data._replace(X=X, features=features)

    def _in_units(self, X, layout):
        """Coordinates of numbers, by the table that was learned."""
        if self._table is None:
            layout.require_numbers()
            return X
        width = sum(column.width for column in self._table.columns)
        return X.map_blocks(encoded, self._table, layout, dtype=X.dtype, chunks=(X.chunks[0], (width,)))

    def _prepared(self, data, y):
        prepared = super()._prepared(data, y)
        if prepared is data:
            return data
        (X,) = keep(prepared.X)
        return prepared._replace(X=X)

    def _mapped(self, X):
        if self.metric_ is None:
            return X
        width = apply(self.metric_, np.zeros((1, X.shape[1]), X.dtype)).shape[1]
        return X.map_blocks(_mapped, self.metric_, width, dtype=X.dtype, chunks=(X.chunks[0], (width,)))

    def _gathered(self, data):
        return gather(data, MAX_GATHERED, check_random_state(self.random_state))

    def _trial(self, metric):
        trial = self._local_class(**(self.get_params(deep=False) | {"metric": metric}))
        trial.scale = trial.categorical_features = None  # the points are coordinates already
        return trial

    def to_local(self):
        """The fitted estimator of `spectralcls` with all that it has learned in this process.

        Returns
        -------
        local : object
            The estimator of the same name for data in memory, with the same parameters; it predicts without a cluster.
        """
        check_is_fitted(self)
        local = self._local_class(**self.get_params())
        vars(local).update(vars(self) | self._local_state())
        return local


class DaskClassifier(DaskEstimator):
    """A classifier of Dask collections.

    A family gives `_class_scores`, the lazy scores of the classes of which the largest wins.
    """

    def _map_queries(self, X, function, *arguments):
        """``function(block, *arguments)`` for every block of queries: (m, C), arguments may be Delayed."""
        task = dask.delayed(function)
        done = [task(block, *arguments) for block in blocks(X)]
        return from_blocks(done, sizes(X), (len(self.classes_),), np.float64)

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

    def partial_fit(self, X, y, classes=None, **options):
        """Not offered: points added one by one are work for one machine; see `to_local`.

        Parameters
        ----------
        X, y, classes : object
            Ignored.
        **options : object
            Ignored.

        Raises
        ------
        NotImplementedError
            Always.
        """
        raise NotImplementedError("partial_fit is for data in memory: use to_local().partial_fit(X, y).")

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


def _mapped(X, metric, width):
    return apply(metric, X) if len(X) else np.empty((0, width), X.dtype)


def _best(scores, classes):
    return classes[scores.argmax(axis=1)]
