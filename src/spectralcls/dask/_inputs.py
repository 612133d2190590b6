"""`Inputs` for Dask collections: the table is learned from all rows; choices that compare samples use gathered rows."""

import dask
import dask.array as da
import numpy as np
from sklearn.utils import check_random_state

from .._inputs import Inputs, Table, library_of, register_inputs
from .._inputs.inputs import DONORS, donors
from .._tuning.scales import MOST_POINTS
from .._utils.from_sklearn import check_columns_seen
from .._utils.lazy import in_memory
from ._layout import Layout, encoded
from ._rows import as_points, blocks, check_labels, check_points, check_targets, column_blocks
from ._tuning import gather
from ._workers import active_client, check_workers, keep

MAX_GATHERED = 20_000  # rows gathered in this process to learn a map
MAX_COMPARED = 5000  # rows used to choose the factors of categories and of indicators of missing values
GROUP_BYTES = 1 << 28  # bytes of the columns per task


class DaskInputs(Inputs):
    """`Inputs` for Dask arrays and data frames; coordinates are lazy Dask arrays.

    Coordinates of queries in memory are in memory.
    """

    on_workers = True

    @classmethod
    def like(cls, inputs):
        """New inputs with the parameters of inputs for data in memory."""
        made = cls(inputs.name)
        vars(made).update(vars(inputs))
        return made

    def fit(self, X, y, sample_weight=None, groups=None, *, at_least=2, further=(), unlabeled=()):
        check_workers()
        _refuse_groups(groups)
        layout = Layout.of(X)
        numbers, options = layout.numeric(X), {"class_weight": self.class_weight, "at_least": at_least}
        data = check_labels(self.name, self.seen, numbers, y, self._relative(sample_weight), **options)
        return self._learn(layout, data)

    def fit_targets(self, X, y, sample_weight=None, groups=None):
        check_workers()
        _refuse_groups(groups)
        layout = Layout.of(X)
        weights = self._relative(sample_weight)
        return self._learn(layout, check_targets(self.name, self.seen, layout.numeric(X), y, weights))

    def fit_points(self, X, sample_weight=None, groups=None, *, ensure_min_samples=1):
        check_workers()
        _refuse_groups(groups)
        layout = Layout.of(X)
        data = check_points(self.name, self.seen, layout.numeric(X), self._relative(sample_weight))
        if data.X.shape[0] < ensure_min_samples:
            raise ValueError(f"{self.name} requires at least {ensure_min_samples} samples of positive weight.")
        return self._learn(layout, data)

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
        if library_of(X) is None:
            return self.local()(X)
        check_workers()
        layout = Layout.of(X)
        names = X._meta if hasattr(X, "to_dask_array") else None
        X = as_points(layout.numeric(X))
        check_columns_seen(self.name, self.seen, np.empty((1, X.shape[1])) if names is None else names, reset=False)
        return self._finish(self._coordinates(X, layout))

    def more(self, X, y, classes, sample_weight=None, *, new_classes=False):
        raise TypeError(f"{self.name}.partial_fit adds points to points in memory: use to_local().")

    def local(self):
        """The same inputs for data in memory."""
        inputs = Inputs(self.name)
        vars(inputs).update(vars(self))
        return inputs

    def _learn(self, layout, data):
        self.table = self._learned_table(layout, data)
        (X,) = keep(self._coordinates(data.X, layout))
        if self._chooses_scale(data) and self._shares_scale(self._sample(data._replace(X=X), MOST_POINTS)):
            (X,) = keep(self._coordinates(data.X, layout))
        if self.table is not None and data.n_classes > 1:
            X = self._with_factors((data.X, layout), data._replace(X=X, features=self.features)).X
        incomplete = data.incomplete
        if self.table is not None and self.table.has_categories:
            incomplete = bool(da.isnan(X).any().compute())
        data = data._replace(X=X, features=self.features, incomplete=incomplete)
        if self.missing != "integrate":
            self._donors = donors(self._sample(data, DONORS))
            if incomplete:
                (X,) = keep(self._by_blocks(data.X, self._completed, data.X.shape[1]))
                data = data._replace(X=X, incomplete=False)
        if self.step is not None:
            self.step.fit(self._sample(data, MAX_GATHERED))
            (X,) = keep(self._mapped(data.X))
            data = data._replace(X=X, features=None)
        return data

    def _lacks_values(self, data):
        return data.incomplete

    def _compared(self, data):
        return self._sample(data, MAX_COMPARED).distinct()

    def _recoded(self, raw, data):
        (X,) = keep(self._coordinates(*raw))
        return data._replace(X=X, features=self.features)

    def _weighed(self, raw, data, factors):
        return self._recoded(raw, data)  # a copy times the factors would double the memory

    def _sample(self, data, n):
        return gather(data, n, check_random_state(self.random_state))

    def _learned_table(self, layout, data):
        """Learn the table from all rows, a few columns per task; None if numbers are used unchanged."""
        categorical = layout.categorical(self.categories, self.name)
        if self.scale is None and not layout.has_categories(categorical):
            return None
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
        return Table.joined(learned).checked()

    def _coordinates(self, X, layout):
        X = X if X.dtype in np.atleast_1d(self.dtype) else X.astype(np.float64)
        if self.table is None:
            layout.categorical(None, self.name)
            return X
        width = len(self.table.column_of)
        return X.map_blocks(encoded, self.table, layout, dtype=X.dtype, chunks=(X.chunks[0], (width,)))

    def _finish(self, X):
        X = self._by_blocks(X, self._completed, X.shape[1]) if self.missing == "complete" else X
        return X if self.step is None else self._mapped(X)

    def _mapped(self, X):
        return self._by_blocks(X, self.step, self.step(np.zeros((1, X.shape[1]), X.dtype)).shape[1])

    @staticmethod
    def _by_blocks(X, function, width):
        return X.map_blocks(_applied, function, width, dtype=X.dtype, chunks=(X.chunks[0], (width,)))


register_inputs("dask", DaskInputs)


@in_memory.register(DaskInputs)
def _(inputs):
    return inputs.local()


def _applied(X, function, width):
    return function(X) if len(X) else np.empty((0, width), X.dtype)


def _learned(blocks, weights, layout, categorical, scale):
    X = np.concatenate(blocks)
    weights = None if weights[0] is None else np.concatenate(weights)
    return Table.learned(layout.columns(X), categorical, scale, weights)[0]


def _refuse_groups(groups):
    if groups is not None:
        raise ValueError(
            "groups need all samples in memory: fit an array or a data frame instead of a Dask collection."
        )
