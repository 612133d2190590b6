"""Checked training data in the form that every family of estimators receives, in memory or as Dask arrays."""

from typing import NamedTuple

import numpy as np

from .._utils.cached import cached_property
from .._utils.copies import Copies, copies_of, row_numbers, seeded, units_of_counts
from .._utils.validation import mean_one, rounded
from .missing import is_incomplete


class _DataFields(NamedTuple):
    X: np.ndarray  # (n, d) float32 or float64; NaN if a value is missing and the family integrates over it
    codes: np.ndarray  # (n,) class of each row, 0 ... C - 1; all 0 if there are no classes
    classes: np.ndarray  # (C,) labels, sorted
    weights: np.ndarray | None = None  # (n,) positive weights; None if all are one
    kept: np.ndarray | None = None  # (n_given,) mask of the rows that were kept, or the row of each sample; None: all
    features: np.ndarray | None = None  # (d,) feature of each column; the columns of a feature are missing together
    targets: np.ndarray | None = None  # (n, k) float64, targets of a regression
    unmapped: np.ndarray | None = None  # (n, d') rows before the learned map; None without a map
    y: np.ndarray | None = None  # (n_given,) as given by the user, for splitters
    groups: np.ndarray | None = None  # (n,) 0, 1, ..., what is left out together; None: each sample with its copies


class TrainingData(_DataFields):
    """Coordinates and targets of the samples of positive weight.

    Copies among the samples are searched for once, at the first use.
    """

    @classmethod
    def points(cls, X, weights=None):
        """Samples of one class."""
        codes = np.zeros_like(X[:, :0].any(axis=1), dtype=np.intp)  # in the chunks of a Dask array
        return cls(X, codes, np.zeros(1), weights)

    @property
    def n_classes(self):
        return len(self.classes)

    @property
    def class_weight(self):
        """Sum of the sample weights of each class, (C,)."""
        return np.asarray(np.bincount(self.codes, self.weights, minlength=len(self.classes)), dtype=np.float64)

    @cached_property
    def incomplete(self):
        """Whether a value is missing."""
        return is_incomplete(self.X)

    @property
    def _rows(self):
        """Values that distinguish samples: the targets, and the rows before a learned map, because the map's rounding
        may separate copies.
        """
        X = self.X if self.unmapped is None else self.unmapped
        return X if self.targets is None else np.column_stack([X, self.targets])

    @cached_property
    def _numbers(self):
        return row_numbers(self._rows)

    @cached_property
    def copies(self):
        """`Copies` among the samples, or among those of each group."""
        return copies_of(self._rows, self.codes, self._numbers, self.groups)

    def keys(self, seed=0):
        """A random number for each sample, (n,), determined by its values and thus equal for copies."""
        return seeded(self._numbers, seed)

    def distinct(self, relative=False):
        """The distinct samples in random order, with the total weight of their copies.

        The weights are float64; with `relative`, their mean is one, or would be if copies in different groups were
        merged, so that groups do not change what a weight means.
        """
        weights = np.bincount(self.copies.group, self.weights).astype(np.float64)
        if relative:
            weights = mean_one(weights)[0]
        if relative and self.groups is not None:
            weights *= len(self.codes) / self.mean_copies / len(weights)
        out = self.take(self.copies.first)._replace(weights=weights)
        vars(out)["copies"] = Copies(np.arange(len(weights)), np.arange(len(weights)))
        return out

    @property
    def mean_copies(self):
        """Mean number of copies of a distinct sample, of any group."""
        everywhere = self if self.groups is None else self._replace(groups=None)
        return len(self.codes) / len(everywhere.copies.first)

    def _replace(self, **changes):
        out = super()._replace(**changes)
        return out if changes.keys() & {"X", "codes", "targets", "unmapped", "groups"} else self._same_rows_as(out)

    def moved(self, X, **changes):
        """The samples with other coordinates and the same copies."""
        return self._same_rows_as(super()._replace(X=X, **changes))

    def __getstate__(self):
        """Pickle only the fields, not the cached copies."""

    def _same_rows_as(self, other):
        vars(other).update(vars(self))
        return other

    def take(self, rows):
        """Some of the rows, without `y` and `kept`, so that given folds no longer apply."""
        names = "weights", "targets", "unmapped", "groups"
        parts = {name: None if (value := getattr(self, name)) is None else value[rows] for name in names}
        out = super()._replace(X=self.X[rows], codes=self.codes[rows], kept=None, y=None, **parts)
        vars(out).update({"_numbers": self._numbers[rows]} if "_numbers" in vars(self) else {})
        return out

    def with_units(self, by_class):
        """The samples, followed by copies of the rows that stand for several, and the row of each; None for the rows if
        each stands for one. See `units_of_counts`. Of groups, only whole ones are left out.
        """
        units = np.ones(1)
        if self.weights is not None and self.groups is None and self.n_classes > 1:
            units = units_of_counts(self._rows, self.codes, self.weights, by_class)
        if units.max() == 1:
            return self, None
        each = np.arange(len(units))
        rows = np.append(each, np.repeat(each, units - 1))
        kept = each if self.kept is None else np.flatnonzero(self.kept)
        weights = (self.weights / units)[rows] * (len(rows) / len(units))  # the mean of sample weights remains one
        return self.take(rows)._replace(weights=rounded(weights), kept=kept[rows], y=self.y), rows

    def append(self, more):
        """These samples followed by `more` samples of the same classes, each of which is left out alone."""
        X, weights = stack((self.X, self.weights), (more.X, more.weights))
        codes, groups = np.concatenate([self.codes, more.codes]), self.groups
        if groups is not None:
            groups = np.append(groups, groups.max() + 1 + np.arange(len(more.X)))
        return TrainingData(X, codes, self.classes, weights, features=self.features, groups=groups)


def stack(*parts):
    """Join pairs (rows, weights) into one pair; weights are None if all are one."""
    X = np.concatenate([rows for rows, _ in parts])
    if all(weights is None for _, weights in parts):
        return X, None
    return X, np.concatenate([np.ones(len(rows)) if weights is None else weights for rows, weights in parts])
