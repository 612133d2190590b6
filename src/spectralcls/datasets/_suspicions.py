"""Warnings about suspicious tables: columns that reveal the class, copies of rows, groups, classes that look alike."""

import re

import numpy as np

from .._inputs.identifiers import calls_itself_a_key
from .._utils.advice import tell

_FEWEST = 50  # minimum number of rows for a suspicion
_MOST_LOOKED_AT = 10_000  # rows used to judge a column
_MOST_COPIES_LOOKED_FOR = 200_000
_PURE = 0.99  # accuracy from which a single column reveals the class
_ROWS_A_VALUE = 5  # least mean number of rows per value to judge a column by its values
_COPIES = 0.2  # share of copies from which a warning is issued
_BY_CHANCE = 0.05  # copies are no reason for a warning if chance alone makes this many expected
_LEAST_GROUPS = 10
_BETWEEN_WORDS = re.compile(r"[\s_\-\u200b\ufeff]+")
_OWNER = re.compile(r"patient|subject|person|proband|participant|customer|kunde|user|speaker|session|household", re.I)


def warn_of_suspicions(path, schema, X, classes, y):
    """Warn of columns that reveal the class, of groups and of copies of rows."""
    counts = np.bincount(y)
    if len(y) < _FEWEST or len(counts) < 2:
        return
    names, is_level = schema.feature_names, set(schema.categorical_features)
    are_few = len(y) <= _MOST_COPIES_LOOKED_FOR
    some = np.arange(0, len(y), 1 if are_few else len(y) // _MOST_LOOKED_AT)
    sums = _sums(X[some])
    first = some[np.unique(sums, return_index=True)[1]]  # drop copies, whose class any column would predict
    rows = first[:: -(-len(first) // _MOST_LOOKED_AT)]
    Z, z = X[rows], y[rows]
    if len(z) >= max(_FEWEST, len(counts) * _ROWS_A_VALUE):
        telling = [name for j, name in enumerate(names) if _gives_away(Z[:, j], z, j in is_level)]
        if telling:
            tell(
                f"{path}: {_listed(telling)} alone {'reveals' if len(telling) == 1 else 'reveal'} the class: is it "
                "known before the class is? If not, leave it out with drop= (--drop)",
            )
    for column in schema.used:
        if len(column.features) == 1 and (calls_itself_a_key(column.name) or _OWNER.search(column.name)):
            values = X[:, names.index(column.name)]
            n_groups = len(np.unique(values[~np.isnan(values)]))
            if n_groups >= _LEAST_GROUPS and 2 * n_groups <= len(values):
                tell(
                    f"{path}: rows with equal {column.name!r} seem to form groups: accuracies are too high if a group "
                    "is split between training and testing. Keep groups together with group= (--group)",
                )
    share = _share_of_copies(X, sums) if are_few else 0.0
    if share >= _COPIES:
        tell(
            f"{path}: {100 * share:.0f} % of the rows are copies of others in all columns: accuracies are too high if "
            "copies are split between training and testing",
        )


def warn_of_classes_alike(path, target, classes):
    """Warn of classes that differ only in case, word separators, or the form of a number."""
    groups = {}
    for name in classes:
        groups.setdefault(_plain(name), []).append(name)
    alike = [names for names in groups.values() if len(names) > 1]
    if alike:
        listed = "; ".join(" and ".join(map(repr, names)) for names in alike[:5])
        tell(
            f"{path}: among the classes of {target!r} are {listed}, which count as different: write them alike if they "
            "are one",
        )


def _plain(name):
    try:
        return float(name.replace(",", "."))
    except ValueError:
        return " ".join(_BETWEEN_WORDS.split(name)).strip().casefold()


def _gives_away(values, y, is_level):
    """Whether values or intervals of a column determine the class.

    With few values, each value must have one class; with many, each class must have one interval.
    """
    values = np.where(np.isnan(values), np.inf, values)
    distinct, group = np.unique(values, return_inverse=True)
    if len(distinct) < 2:
        return False
    n_classes = int(y.max()) + 1
    if is_level or len(distinct) * _ROWS_A_VALUE <= len(y):
        if len(distinct) * _ROWS_A_VALUE > len(y) or len(distinct) * n_classes > 10**7:
            return False
        counts = np.bincount(group * n_classes + y, minlength=len(distinct) * n_classes).reshape(-1, n_classes)
        return bool(counts.max(axis=1).sum() >= _PURE * len(y) > counts.sum(axis=0).max())
    order = np.lexsort((y, values))
    changes = np.count_nonzero(np.diff(y[order]))
    return bool(changes <= n_classes - 1 + 2 * (1 - _PURE) * np.bincount(y).min())


def _sums(X):
    """A number for each row, equal for equal rows."""
    weights = np.random.default_rng(0).normal(size=X.shape[1])
    return np.where(np.isnan(X), 0.5 * np.pi, X) @ weights


def _share_of_copies(X, sums):
    """Fraction of rows that equal another one; 0 if columns with few values explain it."""
    _, first, counts = np.unique(sums, return_index=True, return_counts=True)
    share = counts[counts > 1].sum() / len(X)
    if share < _COPIES:
        return share
    X = X[first]
    by_chance = len(X) * np.prod([np.sum((np.unique(x, return_counts=True)[1] / len(x)) ** 2) for x in X.T])
    return 0.0 if by_chance > _BY_CHANCE else share


def _listed(names):
    return ", ".join(map(repr, names[:5])) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
