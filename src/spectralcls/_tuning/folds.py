"""Which samples are copies of each other, in which order samples are drawn, and which of them validate together.

The order is random but follows from what the samples are: not from their places in the table, the order of its columns
or the names of the classes. So neither does anything that is drawn from it.
"""

from numbers import Integral

import numpy as np
from scipy.sparse import issparse
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state

from .._utils.training_data import mean_one

BLOCK = 1 << 16  # values that are ranked at a time
FEW = 16  # a column has few values if each occurs so often in the mean


def keys_of(data, seed=0):
    """`random_keys` of training data, by their rows as they were before a learned map, which rounds."""
    return random_keys(data.X if data.unmapped is None else data.unmapped, seed)


def random_keys(X, seed=0):
    """A random number for each row, equal for equal rows, (n,): of the ranks of its values, which no scale changes.

    Columns are told apart by their values alone, and so are rows, so that no order matters. NaN equals itself. The
    cost is that of two sorts of every column.
    """
    if issparse(X):
        return _sparse_keys(X.tocsr(), seed)
    parts = np.array_split(X.T, max(1, min(X.shape[1], X.size // BLOCK)))
    ranks = [_ranks(np.ascontiguousarray(part)) for part in parts]
    with np.errstate(over="ignore"):
        rows = np.zeros(len(X), dtype=np.uint64)  # blind to columns
        for rank in ranks:
            rows += _mixed(rank).sum(axis=0)
        _, group, size = np.unique(rows, return_inverse=True, return_counts=True)
        alone = size[group] == 1
        keys = np.full(len(X), seed, dtype=np.uint64)
        for rank in ranks:
            mixed = _mixed(_mixed(rank) ^ rows)
            copies = np.sort(mixed[:, ~alone], axis=1)
            copies[:, 1:][copies[:, 1:] == copies[:, :-1]] = 0  # they count once
            column = mixed[:, alone].sum(axis=1) + copies.sum(axis=1)
            keys += _mixed(rank ^ column[:, None]).sum(axis=0)
        return _mixed(keys)


def _ranks(columns):
    """Of the values in each row of `columns`, from 0 on, uint64; NaN is the greatest."""
    columns = np.where(np.isnan(columns), np.inf, columns)
    ordered = np.sort(columns, axis=1)
    new = ordered[:, 1:] != ordered[:, :-1]
    ranks = np.zeros(columns.shape, dtype=np.uint64)
    for rank, column, values, is_new in zip(ranks, columns, ordered, new, strict=True):
        if FEW * np.count_nonzero(is_new) < len(column):  # a search takes less than a sort of places
            rank[:] = np.searchsorted(np.append(values[:1], values[1:][is_new]), column)
        else:
            rank[np.argsort(column)[1:]] = np.cumsum(is_new)
    return ranks


def _sparse_keys(X, seed):
    """The same of a CSR matrix, of the bits of what is not zero: nothing scales it."""
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    some = X.data != 0
    row, column, value = row[some], X.indices[some], _mixed(X.data[some].astype(np.float64).view(np.uint64))
    with np.errstate(over="ignore"):
        rows, columns = np.zeros(X.shape[0], dtype=np.uint64), np.zeros(X.shape[1], dtype=np.uint64)
        np.add.at(rows, row, value)
        np.add.at(columns, column, _mixed(value ^ rows[row]))
        keys = np.full(X.shape[0], seed, dtype=np.uint64)
        np.add.at(keys, row, _mixed(value ^ columns[column]))
        return _mixed(keys)


def _mixed(values):
    """The finalizer of splitmix64: 64 random bits for each value."""
    values = (values + np.uint64(0x9E3779B97F4A7C15)).astype(np.uint64)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def distinct(data, relative=False):
    """Training data without copies, which add their weights, and the row there of each sample.

    Equal rows of one class are copies of each other, unless another class has such a row too: then classes overlap
    there, and each of them is a sample. Rows that lack the same values are equal if the others are. The result is in
    random order, see `random_keys`; its weights are float64, with `relative` one on average.
    """
    X = data.X if data.unmapped is None else data.unmapped
    X = X if data.targets is None else np.column_stack([X, data.targets])
    first, group = distinct_rows(X, data.codes)
    weights = np.bincount(group, data.weights).astype(np.float64)
    weights = mean_one(weights)[0] if relative else weights
    return data.take(first)._replace(weights=weights), group


def distinct_rows(X, codes, keys=None):
    """(first row of each group of copies, group of each row); `keys` are `random_keys` of X with any seed."""
    keys = random_keys(X) if keys is None else keys
    comparable = np.where(np.isnan(X), np.inf, X)  # equal to itself; no checked number is infinite

    def sorted_by(*further):
        order = np.lexsort((np.arange(len(X)), codes, *further, keys))
        new_row = np.ones(len(X), dtype=bool)
        new_row[1:] = (comparable[order[1:]] != comparable[order[:-1]]).any(axis=1)
        return order, new_row

    order, new_row = sorted_by()
    if np.any(new_row[1:] & (np.diff(keys[order]) == 0)):  # (a, b) and (b, a), if nothing tells the columns apart
        order, new_row = sorted_by(hashes(X))
    new = new_row.copy()
    new[1:] |= np.diff(codes[order]) != 0
    value = np.cumsum(new_row) - 1
    n_classes = np.bincount(value[new])  # of each distinct row
    new |= n_classes[value] > 1
    group = np.empty(len(X), dtype=np.intp)
    group[order] = np.cumsum(new) - 1
    return order[new], group


def mean_copies(X, codes):
    """How many copies of a distinct row there are on average, see `distinct`; X may be sparse."""
    if not issparse(X):
        return len(codes) / len(distinct_rows(X, codes)[0])
    _, row = np.unique(random_keys(X), return_inverse=True)
    of_class = np.unique(np.column_stack([row, codes]), axis=0)[:, 0]  # rows of each class
    mixed = np.bincount(of_class)[row] > 1
    return len(codes) / (np.count_nonzero(mixed) + len(np.unique(row[~mixed])))


def shuffled_ranks(codes, keys):
    """A random order in which the classes keep together: position of each element, the smallest class first."""
    sizes = np.bincount(codes - codes.min())
    smallest = np.full(len(sizes), np.iinfo(np.uint64).max, dtype=np.uint64)
    np.minimum.at(smallest, codes - codes.min(), keys)
    own = codes - codes.min()
    order = np.lexsort((np.arange(len(codes)), keys, own, smallest[own], sizes[own]))
    ranks = np.empty(len(codes), dtype=np.intp)
    ranks[order] = np.arange(len(codes))
    return ranks


def stratified_subsample(codes, n_samples, keys, at_least=2):
    """Rows of a random subsample in which every class keeps its share, in ascending order.

    Of a rare class `at_least` points remain, if it has as many; then there are more than `n_samples` in all. Codes may
    be negative, as those of unlabeled points are: each value is a class.
    """
    ranks = shuffled_ranks(codes, keys)
    step = ranks * n_samples // len(codes)
    chosen = (ranks + 1) * n_samples // len(codes) > step
    for code in np.unique(codes):
        own = np.flatnonzero(codes == code)
        missing = min(at_least, len(own)) - np.count_nonzero(chosen[own])
        if missing > 0:
            left = own[~chosen[own]]
            chosen[left[np.argsort(ranks[left])[:missing]]] = True
    return np.flatnonzero(chosen)


def thin(data, n_samples, random_state):
    """A stratified random subsample of training data; all of them if there are no more, or for None."""
    if n_samples is None or len(data.X) <= n_samples:
        return data
    return data.take(stratified_subsample(data.codes, n_samples, keys_of(data, drawn_seed(random_state))))


def drawn_seed(random_state):
    """An integer from a `random_state` of any kind."""
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def folds_by_content(X, n_folds, seed):
    """Fold of each row from its values alone: random, and copies of a row in one fold, on whatever worker they are.

    The shares of folds and classes are equal on average only.
    """
    return ((hashes(X, seed) >> np.uint64(32)) * np.uint64(n_folds) >> np.uint64(32)).astype(np.intp)


def hashes(X, seed=0):
    """64 bits for each row from its values alone, by multiply-shift hashing of their bits; NaN equals itself."""
    words = np.where(np.isnan(X), X.dtype.type(np.nan), X + 0)  # a single NaN, and with + 0 no -0.0
    words = np.ascontiguousarray(words).view(np.uint32).reshape(len(X), -1)
    factors = np.random.default_rng(seed).integers(1 << 63, size=words.shape[1], dtype=np.uint64) * 2 + 1
    out = np.zeros(len(X), dtype=np.uint64)
    for word, factor in zip(words.T, factors, strict=True):
        out += word * factor
    return out


def given_folds(cv, y):
    """Fold of each row from a splitter or a list of splits whose test sets partition the rows."""
    rows = np.arange(len(y))
    folds = np.full(len(y), -1)
    if np.iterable(cv):
        cv = list(cv)
        for split in cv:
            if not np.iterable(split) or len(split) != 2:
                raise ValueError(f"cv must give pairs, the training and the test rows of a split, got {split!r}.")
    for fold, (train, test) in enumerate(check_cv(cv, y, classifier=True).split(rows, y)):
        for part in map(np.asarray, (train, test)):
            if part.dtype.kind not in "iu" or not np.isin(part, rows).all():
                raise ValueError(
                    f"cv must give rows by their positions, integers from 0 to {len(y) - 1}; in split {fold} it gives "
                    f"{part!r}."
                )
        rest = np.setdiff1d(rows, test)
        if np.any(folds[test] >= 0) or not np.array_equal(np.sort(train), rest):
            raise ValueError(
                "cv must partition the samples: each sample in exactly one test set and in all other "
                f"training sets, which split {fold} violates. Pass an int, 'loo' or a splitter such as "
                "StratifiedKFold."
            )
        folds[test] = fold
    if np.any(folds < 0) or folds.max() < 1:
        raise ValueError("cv must partition the samples into at least two test sets.")
    return folds


def check_folds(cv, data):
    """Folds of the samples that were kept, if `cv` is a splitter or a list of splits of all samples.

    None if `cv` is an int or "loo": then folds are made from the points themselves.
    """
    if isinstance(cv, Integral | str):
        return None
    folds = given_folds(cv, data.y)
    folds = folds if data.kept is None else folds[data.kept]
    if len(np.unique(folds)) < 2:
        raise ValueError("The samples of positive weight all lie in one test set of cv.")
    return folds
