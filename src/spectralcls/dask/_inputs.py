"""`Inputs` for Dask collections: the table is learned from all rows; choices that compare samples use gathered rows."""

from functools import partial

import dask
import dask.array as da
import numpy as np

from .._inputs import Inputs, Table
from .._utils.blocks import by_rows, in_blocks
from .._utils.from_sklearn import check_columns_seen
from ._layout import Layout, encoded
from ._rows import as_points, blocks, check_labels, check_points, check_targets, column_blocks
from ._workers import active_client, check_workers, keep

GROUP_BYTES = 1 << 28  # bytes of the columns per task


class DaskInputs(Inputs):
    """`Inputs` for Dask arrays and data frames; coordinates are lazy Dask arrays.

    Coordinates of queries in memory are in memory.
    """

    on_workers = True

    def fit(self, X, y, sample_weight=None, groups=None, *, at_least=2, further=(), unlabeled=()):
        options = {"class_weight": self.class_weight, "at_least": at_least}
        return self._fit(X, sample_weight, groups, partial(check_labels, y=y, **options))

    def fit_targets(self, X, y, sample_weight=None, groups=None):
        return self._fit(X, sample_weight, groups, partial(check_targets, y=y))

    def fit_points(self, X, sample_weight=None, groups=None, *, ensure_min_samples=1):
        return self._fit(X, sample_weight, groups, partial(check_points, at_least=ensure_min_samples))

    def _fit(self, X, sample_weight, groups, check):
        check_workers()
        if groups is not None:
            raise ValueError(
                "groups need all samples in memory: fit an array or a data frame instead of a Dask collection."
            )
        layout = Layout.of(X)
        data, incomplete = check(self.name, self.seen, layout.numeric(X), sample_weight=self._relative(sample_weight))
        vars(data)["incomplete"] = incomplete
        return self._learn((data.X, layout), data)

    def _relative(self, sample_weight):
        """Weights divided by the mean of the positive ones; invalid weights are unchanged, because later checks refuse
        them.
        """
        if sample_weight is None:
            return None
        weights = getattr(sample_weight, "to_dask_array", lambda **_: da.asarray(sample_weight))(lengths=True)
        total, number = dask.compute(weights.sum(), (weights > 0).sum())
        if not (np.isfinite(total) and total > 0):
            return sample_weight
        self.weight_unit = float(total / number)
        return weights / self.weight_unit

    def __call__(self, X):
        if not in_blocks(X):
            return self.to_local()(X)
        check_workers()
        layout = Layout.of(X)
        names = X._meta if hasattr(X, "to_dask_array") else None
        X = as_points(layout.numeric(X))
        check_columns_seen(self.name, self.seen, np.empty((1, X.shape[1])) if names is None else names, reset=False)
        return self._finish(self._coordinates((X, layout)))

    def to_local(self):
        """The same inputs for data in memory."""
        return Inputs.like(self)

    def _recoded(self, raw, data):
        (X,) = keep(self._coordinates(raw))
        out = data._replace(X=X, features=self.features)
        if self.table is None or not self.table.has_categories:  # numbers are missing in X if they were in `data`
            vars(out)["incomplete"] = data.incomplete
        return out

    def _learned_rows(self, raw, data, unlabeled):
        """Learn the table from all rows, a few columns per task; none if numbers are used unchanged."""
        layout = raw[1]
        categorical = layout.categorical(self.categories, self.name)
        if self.scale is None and not layout.has_categories(categorical):
            return raw, raw
        n, d = data.X.shape
        learn, parts, weights = dask.delayed(_learned), [], column_blocks(data.weights, data.X)
        group = max(1, min(int(GROUP_BYTES // (8 * n)), d // 32))  # a task holds about five copies of its columns
        for start in range(0, d, group):
            some = slice(start, min(start + group, d))
            parts.append(
                learn(
                    blocks(data.X[:, some].map_blocks(np.copy)),
                    weights,
                    layout.part(some),
                    categorical[some],
                    self.scale is not None,
                )
            )
        # If X is not kept, computing all tasks together would hold all groups of columns, and so all of X, in memory.
        learned = dask.compute(*parts) if active_client() else [dask.compute(part)[0] for part in parts]
        self.table = Table.joined(learned).checked()
        return raw, raw

    def _coordinates(self, raw):
        X, layout = raw
        X = X if X.dtype in np.atleast_1d(self.dtype) else X.astype(np.float64)
        if self.table is None:
            layout.categorical(None, self.name)
            return X
        return by_rows(X, partial(encoded, self.table, layout), shape=(len(self.table.column_of),))


def _learned(blocks, weights, layout, categorical, scale):
    X = np.concatenate(blocks)
    weights = None if weights[0] is None else np.concatenate(weights)
    return Table.learned(layout.columns(X), categorical, scale, weights)[0]
