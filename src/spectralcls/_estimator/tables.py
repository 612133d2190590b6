"""Estimators that take tables: categories, missing values, features on different scales."""

from functools import partial
from numbers import Real

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._inputs import check_features, choose_smoothing, rescaled
from .._utils.validation import check_more_data, check_training_data


class TableMixin:
    """Gives an estimator the parameters `categorical_features`, `missing` and `scale`.

    `_check_training_data`, `_check_more_data` and `_check_points` return coordinates, NaN where a value is missing. An
    estimator without one of the parameters has what stands here.
    """

    categorical_features = missing = scale = bandwidth = metric = tolerance = n_jobs = None
    kernel, random_state = "gaussian", 0
    _table = None

    def _check_training_data(self, X, y, sample_weight=None, **options):
        check = partial(check_features, sample_weight=sample_weight)
        data = check_training_data(self, X, y, sample_weight, check=check, **options)
        return self._smoothed(data)

    def _smoothed(self, data):
        """The data in the coordinates that are left once it is known how much each category counts."""
        if self._table is None or not self._table.categories:
            return data
        factors = self._smoothing(data)
        return data._replace(X=rescaled(data.X, factors), features=self._table.features)

    def _smoothing(self, data):
        """Choose how much each category counts: the factors of the coordinates."""
        return choose_smoothing(
            self._table,
            data,
            self.bandwidth if isinstance(self.bandwidth, Real) else None,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )

    def _check_more_data(self, X, y, classes, sample_weight, before):
        check = partial(check_features, sample_weight=sample_weight)
        data = check_more_data(self, X, y, classes, sample_weight, before, check=check)
        if before is None:
            return self._smoothed(data)
        return data._replace(features=before.features)

    def _check_points(self, X, dtype=(np.float64, np.float32)):
        check_is_fitted(self)
        return check_features(self, X, reset=False, dtype=dtype)

    def _log_units(self, X):
        """What log densities of coordinates exceed those in the user's units by, (m,); missing values add nothing."""
        if self._table is None:
            return 0.0
        return np.where(np.isnan(X), 0.0, self._table.log_units).sum(axis=1)

    @property
    def _needs_complete(self):
        """Why no value may be missing; None if values may."""
        if self.missing is None:
            return self._of_complete_points
        if self.missing != "marginalize":
            return 'missing="error"'
        if self.metric is not None:
            return "metric maps all features together"
        if self.kernel != "gaussian":
            return f"the {self.kernel} kernel is no product of one factor for each feature, as the Gaussian is"
        if self.tolerance is not None:
            return "the sums within a tolerance are of complete points"
        return None

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._needs_complete is None
        return tags
