"""From the user's data to coordinates, in one object that an estimator keeps."""

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_random_state

from .._tuning import choose_factors, gathered, shared_scale, spreads
from .._tuning.factors import rescale
from .._tuning.scales import MOST_POINTS
from .._utils.advice import tell
from .._utils.blocks import by_rows, in_blocks, kept
from .._utils.conversion import named_overflow_errors
from .._utils.validation import nonnegative_weights, relative_weights
from .columns import TOLD
from .completion import Completion
from .coordinates import Gap
from .far import already_said, warn_of_far_values
from .frames import DATE, MEANS, NUMBER, Column, Columns, as_columns, is_frame, without_stream
from .level_means import Answers
from .on_workers import refuse_collection
from .read import FLOATS, read
from .table import Table, categorical_columns, names_categories
from .targets import check_labels, check_more_labels, check_targets, check_weights_of_points, with_groups
from .types import Number, matrix

DONORS = 1000  # training samples used to fill missing values
MAX_GATHERED = 20_000  # rows on workers from which a map is learned
MAX_COMPARED = 5000  # rows on workers from which the factors of categories and of missing values are chosen
DRAWN = 100  # training samples kept in the user's form, whose values can replace those of queries


class Inputs:
    """Reads arrays and frames, scales numbers, encodes categories, fills missing values and applies a learned map.

    `fit`, `fit_targets` and `fit_points` learn from the user's training samples and return checked data. Calling the
    object maps queries, and `more` reads further training samples.

    Parameters
    ----------
    name : str
        Class of the estimator, for messages.
    scale : {"auto", None}
        Whether numbers are scaled to standard deviation one.
    categories : "from_dtype", array-like or None
        Columns that are categories, as `categorical_features` of the estimators.
    missing : {"complete", "integrate", "integrate queries", "refuse"}
        Treatment of missing values. They are filled by kernel regression on the training samples; left as NaN, in all
        samples or only in queries, because the estimator's formula integrates over them; or refused.
    unitless : bool
        Whether missing values are filled according to distances in which each number is divided by its column's spread.
    step : object or None
        A map of coordinates: ``step.fit(data)`` learns it, and ``step(X)`` applies it.
    accept_sparse : bool or str
        As in scikit-learn's `check_array`; a sparse matrix passes unchanged.
    dtype : dtype or list of dtypes
    bandwidth : float or None
        The estimator's only bandwidth, if given.
    tuned : bool
        Whether the estimator tunes a bandwidth for its coordinates.
    class_weight : dict, "balanced" or None
        As in scikit-learn.
    counts : bool
        Whether counts may stand for several samples, see `TrainingData.with_units`.
    copies_are_weights : bool
        Whether weights are scaled so that their mean over distinct samples, not over rows, is one, as formulas with a
        ridge penalty require.
    weighs_categories : bool
        Whether held-out labels determine how much each category counts.
    random_state, n_jobs : as in the estimator

    Attributes
    ----------
    seen : dict
        `n_features_in_` and, if X had string names, `feature_names_in_`.
    table : Table or None
        Coordinates of the columns; None for unchanged numbers.
    scale_ : {"each", "shared", None}
        Whether each column of numbers has its own scale, or all share one.
    weight_unit : float
        Mean of the sample weights, without class weights. Sample weights are divided by it, so that their scale does
        not matter.
    """

    on_workers = False  # whether the training points are on workers
    _rows = None  # (n_samples,) the user's row, among those of positive weight, of each sample; None: all in order

    def __init__(
        self,
        name,
        *,
        scale=None,
        categories="from_dtype",
        missing="complete",
        unitless=False,
        step=None,
        accept_sparse=False,
        dtype=FLOATS,
        bandwidth=None,
        tuned=False,
        class_weight=None,
        counts=True,
        copies_are_weights=False,
        weighs_categories=True,
        random_state=0,
        n_jobs=None,
    ):
        self.name = name
        self.scale = scale
        self.categories = categories
        self.missing = missing
        self.unitless = unitless
        self.step = step
        self.accept_sparse = accept_sparse
        self.dtype = dtype
        self.bandwidth = bandwidth
        self.tuned = tuned
        self.class_weight = class_weight
        self.counts = counts
        self.copies_are_weights = copies_are_weights
        self.weighs_categories = weighs_categories
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.seen, self.table, self._donors, self._drawn, self.weight_unit = {}, None, None, None, 1.0

    @classmethod
    def like(cls, inputs):
        """The same inputs as an instance of this class."""
        made = cls(inputs.name)
        vars(made).update(vars(inputs))
        return made

    def fit(self, X, y, sample_weight=None, groups=None, *, classes=None, at_least=2, further=(), unlabeled=()):
        """Learn from labeled samples.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
        y : array-like of shape (n,)
            Labels of X, followed by those of the `further` samples.
        sample_weight, groups : array-like of shape (n,), optional
        classes : array-like, optional
            All labels that may ever occur, at a first `partial_fit`.
        at_least : int
            Smallest number of classes.
        further : sequence of samples
            Samples that follow the rows of X, each in any container.
        unlabeled : sequence of samples
            Samples without labels; scales and levels are learned from them too.

        Returns
        -------
        TrainingData
        """
        raw = self._read(X, reset=True, ensure_min_samples=1 if classes is not None else at_least)
        raw = joined([raw, *map(self.read, further)]) if further else raw
        weights = self._relative(sample_weight, n_rows(raw))
        options = {"class_weight": self.class_weight, "classes": classes, "at_least": at_least}
        data = check_labels(self.name, y, n_rows(raw), weights, **options)
        return self._learned(X, raw, with_groups(data, groups, n_rows(raw)), [self.read(X) for X in unlabeled])

    def fit_targets(self, X, y, sample_weight=None, groups=None):
        """Learn from samples with numeric targets, (n,) or (n, k)."""
        raw = self._read(X, reset=True)
        weights = self._relative(sample_weight, n_rows(raw))
        data = check_targets(self.name, y, n_rows(raw), weights)
        return self._learned(X, raw, with_groups(data, groups, n_rows(raw)))

    def fit_points(self, X, sample_weight=None, groups=None, *, ensure_min_samples=1):
        """Learn from samples without targets."""
        raw = self._read(X, reset=True, ensure_min_samples=ensure_min_samples)
        weights = self._relative(sample_weight, n_rows(raw))
        data = check_weights_of_points(n_rows(raw), weights)
        return self._learned(X, raw, with_groups(data, groups, n_rows(raw)))

    def _relative(self, sample_weight, n):
        weights, self.weight_unit = relative_weights(sample_weight, n)
        return weights

    def more(self, X, y, classes, sample_weight=None, *, new_classes=False):
        """Further training samples, in the learned coordinates.

        Parameters
        ----------
        classes : ndarray
            The labels known so far.
        new_classes : bool
            Whether other labels may occur.
        """
        refuse_collection(X, f"{self.name}.partial_fit")
        raw = self._read(X, reset=False)
        weights = sample_weight
        if self.weight_unit != 1.0:
            weights = np.ones(n_rows(raw)) if weights is None else nonnegative_weights(weights, n_rows(raw))
            weights = weights / self.weight_unit
        options = {"class_weight": self.class_weight, "new_classes": new_classes}
        data = check_more_labels(y, n_rows(raw), classes, weights, **options)
        X = self._finish(self._coordinates(take(raw, data.kept)))
        return data._replace(X=X, features=self.features, kept=None)

    def __call__(self, X):
        """Queries as coordinates, (m, d)."""
        return self._finish(self._coordinates(self._read(X, reset=False)))

    def read(self, X):
        """Checked but unconverted samples: an array or `Columns`."""
        return self._read(X, reset=False)

    def columns(self, X):
        """Queries as `Columns`, one for each feature."""
        raw = self._read(X, reset=False)
        return raw if isinstance(raw, Columns) else as_columns(raw)

    def affine(self):
        """Center (d,) and axes such that ``(X - center) @ axes`` are the coordinates of complete queries.

        Raises
        ------
        ValueError
            If the coordinates are not an affine map of numbers.
        """
        center, axes = np.zeros(self.seen["n_features_in_"]), np.eye(self.seen["n_features_in_"])
        if self.table is not None:
            self.table.check_numbers(self.name)
            used = np.array([bool(column.width) for column in self.table.columns])
            center = np.array([column.center if column.width else 0.0 for column in self.table.columns])
            axes = np.diag([1 / column.scale for column in self.table.columns])[:, used]
        if self.step is None:
            return center, axes
        mean, components = self.step.affine()
        return center + axes @ (mean / (axes**2).sum(axis=0)), axes @ components.T

    def of_features(self, features):
        """The inputs of an estimator that uses only some of the features, all of which are unchanged numbers."""
        if self.table is not None:
            raise ValueError(f"A {self.name} with categories or scales cannot be restricted to some of its features.")
        part = Inputs(self.name, missing=self.missing, unitless=self.unitless, dtype=self.dtype, n_jobs=self.n_jobs)
        part.seen = {name: value[features] for name, value in self.seen.items() if name == "feature_names_in_"}
        part.seen["n_features_in_"] = len(features)
        X, weights = self._donors
        part._donors = X[:, features], weights
        return part

    @property
    def features(self):
        """Feature of each coordinate, (d,); None if each feature has one coordinate."""
        return self.table.features if self.table is not None and self.table.categories and self.step is None else None

    @property
    def column_of(self):
        """Column of X from which each coordinate is computed, (d,)."""
        if self.table is None:
            return np.arange(self.seen["n_features_in_"])
        return self.table.column_of

    @property
    def scale_(self):
        return None if self.scale is None or self.table is None else "shared" if self.table.shared else "each"

    def spreads(self, X, weights=None):
        """Spread of each coordinate of training samples, (d,); for categories, the scale of their indicators."""
        return spreads(X, weights) if self.table is None else self.table.spreads(X, weights)

    def log_jacobian(self, X):
        """Logarithm of the product of the scales of the known coordinates of each sample, (m,)."""
        if self.table is None:
            return 0.0
        return np.where(np.isnan(X), 0.0, self.table.log_scales).sum(axis=1)

    def _read(self, X, *, reset, ensure_min_samples=1):
        X = without_stream(X)
        as_columns = names_categories(self.categories) if reset else self.table is not None and self.table.as_columns
        if reset:
            refuse_collection(X, self.name)
        elif as_columns and not (is_frame(X) or isinstance(X, Columns)):
            others = [place for place, own in enumerate(self.table.types) if not own.takes_numbers]
            if others:
                raise ValueError(
                    f"X must be a data frame like that of fit, in which the columns {others} are not plain numbers."
                )
        return read(
            X,
            self.name,
            self.seen,
            reset=reset,
            as_columns=as_columns,
            finite=self.missing == "refuse",
            dtype=self.dtype,
            accept_sparse=self.accept_sparse,
            ensure_min_samples=ensure_min_samples,
        )

    def _learned(self, X, raw, data, unlabeled=()):
        """Learn from the checked samples of X, and warn about far values."""
        learned = self._learn(raw, data, unlabeled)
        rows = np.arange(n_rows(raw)) if data.kept is None else np.flatnonzero(data.kept)
        named = hasattr(X, "iloc") and len(X) == n_rows(raw)
        index = X.index if named else range(n_rows(raw))
        columns = [] if data.targets is None else [(None, target) for target in data.targets.T]
        if self._tells_of_far_values and not issparse(raw):
            columns = [*self._numbers(take(raw, data.kept)), *columns]
        warn_of_far_values(self.name, columns, lambda row: index[rows[row]], data.weights)
        return learned

    @property
    def _tells_of_far_values(self):
        return self.scale is not None

    def _numbers(self, raw):
        """Type and values of each column of numbers or dates."""
        if isinstance(raw, Columns):
            types = [Number(column.name) for column in raw] if self.table is None else self.table.types
            pairs = zip(types, raw, strict=True)
            return [(own, own.read(column)[:, 0]) for own, column in pairs if own.kind in (NUMBER, DATE)]
        names = self.seen.get("feature_names_in_", range(raw.shape[1]))
        return list(zip(map(Number, names), raw.T, strict=True))

    def _learn(self, raw, data, unlabeled=()):
        """Learn coordinates, and return the data in them."""
        given, raw = self._learned_rows(raw, data, unlabeled)
        data = self._recoded(raw, data)
        if issparse(data.X):
            return data
        if data.incomplete and np.isnan(data.X).all():
            raise ValueError("Input X contains NaN only: all values are missing.")
        data, rows = self._with_units(data)
        if rows is not None:
            given, raw = take(given, rows), take(raw, rows)
        if self._chooses_scale(data) and self._shares_scale(self._sample(data, MOST_POINTS)):
            data = data.moved(self._recoded(raw, data).X)
        if self.table is not None and data.n_classes > 1:
            data = self._with_factors(raw, data)
        if not in_blocks(data.X):
            self._draw(given, data)
        if self.missing != "integrate":
            self._donors = donors(self._sample(data, DONORS))
            if data.incomplete:
                data = data._replace(X=kept(data.X, by_rows(data.X, self._completed), large=True)[0])
                vars(data)["incomplete"] = False
        if self.step is not None:
            with already_said():
                self.step.fit(self._sample(data, MAX_GATHERED))
            data = data.moved(kept(data.X, self._mapped(data.X), large=True)[0], features=None, unmapped=data.X)
        copies_are_weights = self.copies_are_weights and not in_blocks(data.X)
        return self._with_copies_as_weights(data) if copies_are_weights else data

    def _sample(self, data, n):
        """The data, or some rows of data on workers."""
        return gathered(data, n, check_random_state(self.random_state))

    def _with_units(self, data):
        """`TrainingData.with_units`, whose rows are kept."""
        if not self.counts or in_blocks(data.X):
            return data, None
        data, rows = data.with_units(self.class_weight is not None)
        if rows is not None:
            self._rows, self.weight_unit = rows, self.weight_unit * (rows.max() + 1) / len(rows)
        return data, rows

    def _learned_rows(self, raw, data, unlabeled=()):
        """Learn the table, and return the rows of positive weight twice, as `Columns` if a column is not a number: as
        given, and with means of the target in categories of many levels.
        """
        raw = take(raw, data.kept)
        everything, weights = raw, data.weights
        if unlabeled:
            everything = joined([raw, *unlabeled])
            if weights is not None:
                weights = np.concatenate([weights, np.ones(n_rows(everything) - len(weights))])
        self.table, own = self._learned_table(everything, weights, Answers.of(data))
        if self.table is None or not self.table.as_columns:
            return raw, raw
        warn_of_columns_left_out(self.name, self.table.left_out)
        raw = raw if isinstance(raw, Columns) else as_columns(raw)
        has_means = own is not None and any(column.kind == MEANS for column in own)
        return raw, own.take(slice(raw.n_rows)) if has_means else raw

    def _with_factors(self, raw, data):
        """The data after categories and gaps have been given factors that held-out labels choose."""
        weighs = bool(self.table.categories) and self.weighs_categories
        if not (weighs or data.incomplete):
            return data
        points = self._sample(data, MAX_COMPARED).distinct()
        self.table.gaps = self._possible_gaps(np.isnan(points.X), points.weights)
        if self.table.gaps:
            data = self._recoded(raw, data)
            points = self._sample(data, MAX_COMPARED).distinct()
        if self.table.gaps or weighs:
            options = {"random_state": self.random_state, "n_jobs": self.n_jobs}
            factors = choose_factors(self.table, points, self.bandwidth, categories=self.weighs_categories, **options)
            self.table.gaps = [gap for gap in self.table.gaps if gap.factor]
            if in_blocks(data.X):  # a copy times the factors would double the memory
                return self._recoded(raw, data)
            data = data._replace(X=rescale(data.X, factors), features=self.features)  # all factors were 1 before
        return data

    def _recoded(self, raw, data):
        """The data in the current coordinates of the table."""
        return data._replace(X=self._coordinates(raw), features=self.features)

    def _possible_gaps(self, missing, weights):
        """Gaps of the numbers that are missing often enough, from the mask of missing coordinates (n, d)."""
        columns, first = np.unique(self.table.number_of, return_index=True)
        some = zip(columns.tolist(), missing[:, first].T, strict=True) if missing.any() else ()
        gaps = [Gap.learned(column, mask, weights) for column, mask in some]
        return [gap for gap in gaps if gap is not None]

    def _with_copies_as_weights(self, data):
        unit = data.mean_copies
        if unit == 1.0:
            return data
        self.weight_unit *= unit
        return data._replace(weights=(np.ones(len(data.X)) if data.weights is None else data.weights) / unit)

    def rows(self, n):
        """The user's row of each of n training samples, which may include those of later `partial_fit`."""
        if self._rows is None:
            return np.arange(n)
        return np.append(self._rows, self._rows.max() + 1 + np.arange(n - len(self._rows)))

    def drawn(self):
        """The kept training samples in the user's form, as `Columns`, and their weights; None if none were kept."""
        if self._drawn is None:
            return None
        raw, weights = self._drawn
        return Columns(Column(*fields) for fields in raw) if isinstance(raw, list) else as_columns(raw), weights

    def _draw(self, raw, data):
        """Keep up to `DRAWN` random samples from up to `DONORS` evenly spaced rows, in an order that depends only on
        their values.
        """
        some = np.linspace(0, len(data.X) - 1, min(len(data.X), DONORS)).astype(np.intp)
        few = data if len(some) == len(data.X) else data.take(some)  # `data` caches its keys
        rows = some[np.argsort(few.keys(), kind="stable")[:DRAWN]]
        raw = raw.take(rows) if isinstance(raw, Columns) else raw[rows]
        if isinstance(raw, Columns):
            raw = [tuple(column.compact()) for column in raw]  # so that model files do not depend on our classes
        self._drawn = raw, np.ones(len(rows)) if data.weights is None else data.weights[rows]

    def _chooses_scale(self, data):
        return self.scale is not None and self.tuned and self.step is None and data.n_classes > 1

    def _shares_scale(self, sample):
        """Give the table one scale for all columns if held-out samples favor this, and return whether they do."""
        scale = shared_scale(self.table, sample, random_state=self.random_state, n_jobs=self.n_jobs)
        if scale is not None:
            self.table.share(scale)
        return scale is not None

    def _learned_table(self, raw, weights, answers):
        """A table, or None if numbers remain as they are; and columns with means of the target, if there are any."""
        if isinstance(raw, Columns):
            categorical = categorical_columns(self.categories, raw)
            table, own = Table.learned(raw, categorical, self.scale is not None, weights, self.name, answers)
            return (table.checked(), own) if self.scale is not None or table.as_columns else (None, None)
        if issparse(raw) or (self.scale is None and "feature_names_in_" not in self.seen):
            return None, None
        names, decides = self.seen.get("feature_names_in_"), isinstance(self.categories, str)
        table = Table.of_numbers(raw, self.scale is not None, weights, names, decides)
        return None if table is None else table.checked(), None

    def _coordinates(self, raw):
        """The coordinates of the samples, NaN if a value is missing."""
        if issparse(raw):
            return raw
        if isinstance(raw, Columns):
            X = plain(raw) if self.table is None else self.table.encode(raw)
            with named_overflow_errors("X"):
                return np.ascontiguousarray(X, dtype=X.dtype if X.dtype in np.atleast_1d(self.dtype) else np.float64)
        return raw if self.table is None else self.table.scaled(raw)

    def _finish(self, X):
        if issparse(X):
            return X
        X = by_rows(X, self._completed) if self.missing == "complete" else X
        return X if self.step is None else self._mapped(X)

    def _mapped(self, X):
        shape = self.step(np.zeros((1, X.shape[1]), X.dtype)).shape[1:] if in_blocks(X) else None
        return by_rows(X, self.step, shape=shape)

    def _completed(self, X):
        """X with each missing value replaced by its expectation over all classes."""
        lacking = np.isnan(X).any(axis=1)
        if not lacking.any():
            return X
        known, weights = self._donors
        units = np.ones(X.shape[1])
        if self.unitless:
            units = self.spreads(known, weights)
            units[units == 0] = 1.0
        codes = np.zeros(len(known), dtype=np.intp)
        scaled = (known / units).astype(known.dtype)
        completion = Completion.learned(scaled, codes, weights, self.features, most_donors=DONORS)
        found = completion.of_class((X[lacking] / units).astype(X.dtype), 0, self.n_jobs)[0] * units
        X = X.copy()
        X[lacking] = np.where(np.isnan(X[lacking]), found, X[lacking])
        return X


def plain(columns):
    """The values of numeric columns, (n, d)."""
    return matrix([Number(column.name) for column in columns], columns)


def warn_of_columns_left_out(name, columns):
    """Warn about columns of X that are left out, with the reason, except for empty and constant columns."""
    told = [column for column in columns if column.note in TOLD]
    if not told:
        return
    listed = "; ".join(f"{column.name!r}: {column.note}" for column in told[:10])
    more = f"; and {len(told) - 10} more" if len(told) > 10 else ""
    tell(
        f"{name} leaves out columns of X without information about new samples ({listed}{more}). Drop them, or name "
        "them in categorical_features if they are categories."
    )


def n_rows(raw):
    return raw.n_rows if isinstance(raw, Columns) else raw.shape[0]


def take(raw, kept):
    """The rows selected by a mask; all rows if it is None."""
    if kept is None:
        return raw
    return raw.take(kept) if isinstance(raw, Columns) else raw[kept]


def joined(parts):
    """The concatenated rows of several sets of checked samples."""
    if not any(isinstance(part, Columns) for part in parts):
        return np.concatenate(parts)
    return Columns.joined([part if isinstance(part, Columns) else as_columns(part) for part in parts])


def donors(data):
    """Coordinates and weights of up to `DONORS` random samples."""
    if len(data.X) <= DONORS:
        return data.X, data.weights
    rows = np.sort(np.argsort(data.keys(), kind="stable")[:DONORS])
    return data.X[rows], None if data.weights is None else data.weights[rows]
