"""Copies among samples, and random numbers determined by the values of a sample.

Neither depends on a sample's position, the order of the columns, or the names of the classes.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import issparse

from .._core import compiled

BLOCK = 1 << 16  # values ranked at a time
FEW = 16  # a column has few distinct values if each occurs more often than this on average
LEAST, NEGLIGIBLE = 1e-5, 1e-7  # of the largest weight: the smallest unit of counts, and rounding errors of weights
MOST_UNITS = 2000  # samples that counts become, unless there are more rows, so that a table remains cheap


class Copies(NamedTuple):
    """Equal samples of one class are copies, unless another class contains an equal row: then the classes overlap, and
    each row stays a separate sample. Rows with missing values in the same columns are equal if their other values are.
    """

    first: np.ndarray  # (m,) first row of each distinct sample, in random order
    group: np.ndarray  # (n,) position of each row's distinct sample in `first`


def random_keys(X, seed=0):
    """A random number for each row, equal for equal rows, (n,).

    The numbers are computed from the ranks of the values, so they do not depend on the scale of a column or on the
    order of rows or columns. NaN equals itself. The cost is two sorts of every column.
    """
    return seeded(row_numbers(X), seed)


def seeded(numbers, seed):
    """`random_keys` from given `row_numbers`."""
    with np.errstate(over="ignore"):
        return _mixed(numbers + np.uint64(seed))


def row_numbers(X):
    """Keys of the rows, (n,) uint64, equal for equal rows; `random_keys` derives its numbers from them."""
    if issparse(X):
        return _sparse_numbers(X.tocsr())
    parts = np.array_split(X.T, max(1, min(X.shape[1], X.size // BLOCK)))
    ranks = [_ranks(np.ascontiguousarray(part)) for part in parts]
    with np.errstate(over="ignore"):
        rows = np.zeros(len(X), dtype=np.uint64)  # independent of the order of columns
        for rank in ranks:
            rows += _mixed(rank).sum(axis=0)
        _, group, size = np.unique(rows, return_inverse=True, return_counts=True)
        alone = size[group] == 1
        numbers = np.zeros(len(X), dtype=np.uint64)
        for rank in ranks:
            mixed = _mixed(_mixed(rank) ^ rows)
            copies = np.sort(mixed[:, ~alone], axis=1)
            copies[:, 1:][copies[:, 1:] == copies[:, :-1]] = 0  # each value counts once
            column = mixed[:, alone].sum(axis=1) + copies.sum(axis=1)
            numbers += _mixed(rank ^ column[:, None]).sum(axis=0)
        return numbers


def _ranks(columns):
    """Ranks of the values in each row of `columns`, from 0 on, uint64; NaN is the greatest."""
    columns = np.where(np.isnan(columns), np.inf, columns)
    ordered = np.sort(columns, axis=1)
    new = ordered[:, 1:] != ordered[:, :-1]
    steps = np.count_nonzero(new, axis=1)
    ranks = (columns != ordered[:, :1]).astype(np.uint64)  # correct for at most two distinct values, as in indicators
    few = FEW * steps < columns.shape[1]
    for row in np.flatnonzero(few & (steps > 1)):  # a search is faster than sorting positions
        ranks[row] = np.searchsorted(np.append(ordered[row, :1], ordered[row, 1:][new[row]]), columns[row])
    many = np.flatnonzero(~few & (steps > 1))
    places = np.argsort(columns[many], axis=1)
    ranks[many[:, None], places[:, :1]] = 0
    ranks[many[:, None], places[:, 1:]] = np.cumsum(new[many], axis=1)
    return ranks


def _sparse_numbers(X):
    """`row_numbers` of a CSR matrix, from the bits of its nonzeros, because sparse columns are never scaled."""
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    some = X.data != 0
    row, column, value = row[some], X.indices[some], _mixed(X.data[some].astype(np.float64).view(np.uint64))
    with np.errstate(over="ignore"):
        rows, columns, numbers = (np.zeros(size, dtype=np.uint64) for size in (X.shape[0], X.shape[1], X.shape[0]))
        np.add.at(rows, row, value)
        np.add.at(columns, column, _mixed(value ^ rows[row]))
        np.add.at(numbers, row, _mixed(value ^ columns[column]))
        return numbers


def _mixed(values):
    """The finalizer of splitmix64: 64 random bits for each value."""
    values = (values + np.uint64(0x9E3779B97F4A7C15)).astype(np.uint64)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def equal_rows(X, groups=None):
    """The first of each set of equal rows of X, ascending, and the position there of each row's, (n,). NaN equals NaN,
    and -0 equals 0. Rows of different `groups`, (n,) integers from 0, are not equal.
    """
    first, group = compiled.equal_rows(np.ascontiguousarray(X))
    if groups is None:
        return first, group
    return compiled.equal_rows(np.column_stack([group, groups]).astype(np.float64))


def matching_rows(Q, X):
    """The first row of X that is equal to each row of Q, (m,); -1 if there is none."""
    first, group = equal_rows(np.concatenate([X, Q]))
    found = first[group[len(X) :]]
    return np.where(found < len(X), found, -1)


def _places(X, keys=None, groups=None):
    """`equal_rows`; for sparse rows, by their 64-bit keys."""
    if issparse(X):
        keys = row_numbers(X) if keys is None else keys
        X = keys.view(np.uint32).reshape(-1, 2).astype(np.float64)
    return equal_rows(X, groups)


def _overlap(first, group, codes):
    """Whether rows (n,) of another class are equal, from the results of `_places`."""
    overlap = np.zeros(len(first), dtype=bool)
    overlap[group[codes != codes[first[group]]]] = True
    return overlap[group]


def copies_of(X, codes, numbers=None, groups=None):
    """The `Copies` among rows X with classes `codes`; `numbers` are the `row_numbers` of X if known. Rows of different
    `groups`, (n,) integers from 0, are not copies.

    Sparse rows are compared only by their 64-bit keys.
    """
    keys = seeded(row_numbers(X) if numbers is None else numbers, 0)
    first, group = _places(X, keys, groups)
    each = np.arange(len(keys))
    own = np.where(_overlap(first, group, codes), each, first[group])  # first row of each row's sample
    rows = np.flatnonzero(own == each)
    order = np.argsort(keys[rows], kind="stable")
    if np.any(np.diff(keys[rows[order]]) == 0):
        # different rows may share a key, such as (a, b) and (b, a) if the columns have equal ranks
        order = np.lexsort((codes[rows], *([] if issparse(X) else [hashes(X[rows])]), keys[rows]))
    place = np.empty(len(keys), dtype=np.intp)
    place[rows[order]] = np.arange(len(rows))
    return Copies(rows[order], place[own])


def units_of_counts(X, codes, weights, by_class=False):
    """How many samples each row stands for, (n,), if weights are counts.

    A count is a multiple of the largest number that divides all weights, or those of the class. Only rows that equal a
    row of another class stand for several samples, of equal weights, so that a fold, or what is left out, need not
    contain the whole count; other counts are left out whole, as copies are. All rows stand for one sample if there is
    no such number, if weights are equal within each class, or if no classes overlap. A row of a large count stands for
    fewer samples if there would otherwise be more than `MOST_UNITS`, and more than rows.
    """
    of_class, units = np.empty(codes.max() + 1), np.ones(len(codes))
    of_class[codes] = weights
    if np.array_equal(of_class[codes], weights):
        return units.astype(np.intp)
    for rows in [codes == c for c in np.unique(codes)] if by_class else [slice(None)]:
        divisor = _common_divisor(weights[rows])
        units[rows] = np.rint(weights[rows] / divisor) if divisor else 1
    if units.max() > 1:
        units[~_overlap(*_places(X), codes)] = 1
    low, high, most = 1, int(units.max()), max(MOST_UNITS, len(units))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if np.minimum(units, middle).sum() <= most else (low, middle - 1)
    return np.minimum(units, low).astype(np.intp)


def _common_divisor(weights):
    """The largest number that divides all weights, up to rounding, by Euclid's algorithm; 0 if there is none."""
    largest = weights.max()
    rest = weights = np.unique(weights) / largest
    while len(rest):
        divisor = rest[0]
        if divisor < LEAST:
            return 0.0
        rest = np.unique(np.abs(weights - np.rint(weights / divisor) * divisor))
        rest = rest[rest > NEGLIGIBLE]
    return divisor * largest


def column_order(X):
    """An order of the columns of X (n, d) that follows from their values: by the first rows, then by a hash."""
    return np.lexsort((hashes(X.T), *X[:FEW][::-1]))


def hashes(X, seed=0):
    """A 64-bit hash of each row, from its values alone, by multiply-shift hashing of their bits; NaN equals itself."""
    words = np.where(np.isnan(X), X.dtype.type(np.nan), X + 0)  # one bit pattern for NaN; + 0 removes -0.0
    words = np.ascontiguousarray(words).view(np.uint32).reshape(len(X), -1)
    factors = np.random.default_rng(seed).integers(1 << 63, size=words.shape[1], dtype=np.uint64) * 2 + 1
    step = max(1, BLOCK // max(1, len(factors)))
    blocks = (words[start : start + step] * factors for start in range(0, len(X), step))
    return np.concatenate([block.sum(axis=1) for block in blocks])
