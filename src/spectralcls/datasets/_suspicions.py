"""Warnings about suspicious tables: columns that reveal the target, copies of rows, groups, classes that look alike."""

import re

import numpy as np

from .._inputs.identifiers import calls_itself_a_key
from .._inputs.reading import listed
from .._utils.advice import tell

_FEWEST = 50  # minimum number of rows for a suspicion
_MOST_LOOKED_AT = 10_000  # rows used to judge a column
_MOST_COPIES_LOOKED_FOR = 200_000
_PURE = 0.99  # a single column reveals the class if its accuracy is at least this
_ROWS_A_VALUE = 5  # a column with at least this many rows per distinct value, on average, is judged by its values
_COPIES = 0.2  # a warning is issued if at least this share of the rows are copies
_BY_CHANCE = 0.05  # if a row is expected to have more copies than this by chance alone, no warning is issued
_LEAST_GROUPS = 10
# A column reveals numbers if those of neighbors in its order differ at most this much, relative to those of random
# rows: with normal noise, if its correlation with the target exceeds .994.
_NEAR = 0.1
_BETWEEN_WORDS = re.compile(r"[\s_\-\u200b\ufeff]+")
_OWNER = re.compile(r"patient|subject|person|proband|participant|customer|kunde|user|speaker|session|household", re.I)


def warn_of_suspicions(path, schema, X, y):
    """Warn of columns that reveal the target y, classes or numbers, of groups and of copies of rows."""
    values, counts = np.unique(y, return_counts=True)
    y = np.searchsorted(values, y)
    if len(y) < _FEWEST or len(counts) < 2:
        return
    names, is_level = schema.feature_names, set(schema.categorical_features)
    are_few = len(y) <= _MOST_COPIES_LOOKED_FOR
    some = np.arange(0, len(y), 1 if are_few else len(y) // _MOST_LOOKED_AT)
    sums = _sums(X[some])
    first = some[np.unique(sums, return_index=True)[1]]  # drop copies, whose class any column would predict
    rows = first[:: -(-len(first) // _MOST_LOOKED_AT)]
    Z, z = X[rows], y[rows]
    are_numbers, have_many = values.dtype.kind == "f", len(z) >= len(counts) * _ROWS_A_VALUE
    if len(z) >= _FEWEST and (have_many or are_numbers):
        tells = _gives_away if have_many else _follows
        owners = {column.name for column in schema.used if _is_owner(column)}
        telling = [name for j, name in enumerate(names) if name not in owners and tells(Z[:, j], z, j in is_level)]
        if telling:
            what = "target" if are_numbers else "class"
            tell(
                f"{path}: {listed(telling)} alone {'reveals' if len(telling) == 1 else 'reveal'} the {what}: is it "
                f"known before the {what} is? If not, leave it out with drop= (--drop)",
            )
    for column in schema.used:
        if _is_owner(column):
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


def _is_owner(column):
    """Whether a column's name is that of something that may have several rows."""
    return len(column.features) == 1 and bool(calls_itself_a_key(column.name) or _OWNER.search(column.name))


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
            "are the same",
        )


def _plain(name):
    try:
        return float(name.replace(",", "."))
    except ValueError:
        return " ".join(_BETWEEN_WORDS.split(name)).strip().casefold()


def _gives_away(values, y, is_level):
    """Whether values or intervals of a column determine the class, apart from a few rows.

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


def _follows(values, y, is_level):
    """Whether the ranks y of a target are nearly a function of a column without recurring values [1]_.

    References
    ----------
    .. [1] S. Chatterjee, "A new coefficient of correlation", Journal of the American Statistical Association 116, 2021.
    """
    known = ~np.isnan(values)
    values, y = values[known], y[known]
    if is_level or len(y) < _FEWEST or 2 * len(np.unique(values)) < len(y):
        return False
    at_random = np.random.default_rng(0).permutation(len(y))
    steps, random_steps = (np.abs(np.diff(y[order])).sum() for order in (np.argsort(values, kind="stable"), at_random))
    return bool(steps <= _NEAR * random_steps)


def _sums(X):
    """A number for each row, equal for equal rows."""
    weights = np.random.default_rng(0).normal(size=X.shape[1])
    return np.where(np.isnan(X), 0.5 * np.pi, X) @ weights


def _share_of_copies(X, sums):
    """Fraction of rows that equal another row; 0 if copies are likely by chance, as in columns with few values."""
    _, first, counts = np.unique(sums, return_index=True, return_counts=True)
    share = counts[counts > 1].sum() / len(X)
    if share < _COPIES:
        return share
    X = X[first]
    by_chance = len(X) * np.prod([np.sum((np.unique(x, return_counts=True)[1] / len(x)) ** 2) for x in X.T])
    return 0.0 if by_chance > _BY_CHANCE else share
