"""Estimators that take tables: categories, missing values, features on different scales."""

from copy import copy
from numbers import Real

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._model.incomplete import by_pattern, is_incomplete
from .._table import check_features, choose_smoothing
from .._validation import check_more_data, check_training_data


class TableMixin:
    """Gives an estimator the parameters `categorical_features`, `missing` and `scale`.

    `_check_training_data`, `_check_more_data` and `_check_points` return coordinates, NaN where a value is missing.
    """

    _of_complete_points = "its formulas are of complete points"

    def _check_training_data(self, X, y, sample_weight=None, **options):
        data = check_training_data(self, X, y, sample_weight, check=check_features, **options)
        self._require_complete(data.X)
        if self._table is None:
            return data
        bandwidth = getattr(self, "bandwidth", None)
        return choose_smoothing(
            self._table, data, bandwidth if isinstance(bandwidth, Real) else None,
            random_state=getattr(self, "random_state", 0), n_jobs=getattr(self, "n_jobs", None),
        )

    def _check_more_data(self, X, y, classes, sample_weight, before):
        if before is None:
            return check_more_data(self, X, y, classes, sample_weight, before, check=check_features)
        data = check_more_data(self, X, y, classes, sample_weight, before, check=check_features)
        self._require_complete(data.X)
        return data._replace(features=before.features)

    def _check_points(self, X, dtype=(np.float64, np.float32)):
        check_is_fitted(self)
        X = check_features(self, X, reset=False, dtype=dtype)
        self._require_complete(X)
        return X

    def _require_complete(self, X):
        """Raise for missing values unless the estimator, as its parameters are, has a formula for them."""
        why = self._needs_complete
        if why is not None and is_incomplete(X):
            raise ValueError(
                f"Input X contains NaN, and {type(self).__name__} takes no missing values: {why}. Impute them, or use "
                "ParzenClassifier."
            )

    @property
    def _needs_complete(self):
        """Why no value may be missing; None if values may."""
        if not hasattr(self, "missing"):
            return self._of_complete_points
        if self.missing != "marginalize":
            return 'missing="error"'
        if getattr(self, "metric", None) is not None:
            return "metric maps all features together"
        if getattr(self, "kernel", "gaussian") != "gaussian":
            return f"the {self.kernel} kernel is no product of one factor for each feature, as the Gaussian is"
        if getattr(self, "tolerance", None) is not None:
            return "the sums within a tolerance are of complete points"
        return None

    def _without_missing(self, X, data, scores):
        """``scores(estimator, X)`` for each pattern of missing features, by an estimator that has learned from the
        others alone, at the same bandwidth: (m, C)."""
        features = np.arange(X.shape[1]) if data.features is None else data.features
        out = np.empty((len(X), len(data.classes)))
        for pattern, rows in by_pattern(np.isnan(X)):
            kept = ~pattern
            if kept.all():
                out[rows] = scores(self, X[rows])
                continue
            part = copy(self)
            if kept.any():
                part._learn_given(data._replace(X=np.ascontiguousarray(data.X[:, kept]), features=features[kept]))
                out[rows] = scores(part, np.ascontiguousarray(X[rows][:, kept]))
            else:  # nothing is known: points that are all equal
                part._learn_given(data._replace(X=np.zeros((len(data.X), 1)), features=None))
                out[rows] = scores(part, np.zeros((len(rows), 1)))
        return out

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._needs_complete is None
        return tags
