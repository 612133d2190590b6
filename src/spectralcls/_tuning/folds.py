"""Which samples validate together: folds that depend on what the samples are, not on how often they are
listed."""

from numbers import Integral

import numpy as np
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state


def distinct_rows(X, codes):
    """Group equal rows of one class: (first row of each group, group of each row).

    Groups are sorted by class, then lexicographically, hence independent of the order of rows. Rows that lack the same
    values are equal if the others are.
    """
    X = np.where(np.isnan(X), np.inf, X)  # equal to itself; no checked number is infinite
    order = np.lexsort((X[:, 0], codes))
    # The first feature settles most comparisons; only ties are sorted by all features.
    equal = (X[order[1:], 0] == X[order[:-1], 0]) & (np.diff(codes[order]) == 0)
    undecided = np.append(False, equal) | np.append(equal, False)
    rows = order[undecided]
    order[undecided] = rows[np.lexsort((*X[rows].T[::-1], codes[rows]))]
    ordered = X[order]
    starts = np.ones(len(X), dtype=bool)
    starts[1:] = np.any(ordered[1:] != ordered[:-1], axis=1) | (np.diff(codes[order]) != 0)
    group = np.empty(len(X), dtype=np.intp)
    group[order] = np.cumsum(starts) - 1
    return order[starts], group


def shuffled_ranks(codes, random_state):
    """A random order in which the classes keep together: position of each element, class 0 first."""
    rng = check_random_state(random_state)
    order = np.lexsort((rng.permutation(len(codes)), codes))
    ranks = np.empty(len(codes), dtype=np.intp)
    ranks[order] = np.arange(len(codes))
    return ranks


def stratified_subsample(codes, n_samples, random_state, at_least=2):
    """Rows of a random subsample in which every class keeps its share, in ascending order.

    Of a rare class `at_least` points remain, if it has as many; then there are more than `n_samples` in all. Codes may
    be negative, as those of unlabeled points are: each value is a class.
    """
    ranks = shuffled_ranks(codes, random_state)
    step = ranks * n_samples // len(codes)
    chosen = (ranks + 1) * n_samples // len(codes) > step
    for code in np.unique(codes):
        own = np.flatnonzero(codes == code)
        missing = min(at_least, len(own)) - np.count_nonzero(chosen[own])
        if missing > 0:
            left = own[~chosen[own]]
            chosen[left[np.argsort(ranks[left])[:missing]]] = True
    return np.flatnonzero(chosen)


def stratified_folds(X, codes, n_folds, random_state=0):
    """Fold of each row: random, equal shares of each class, and copies of a row always in the same fold.

    Copies are kept together because a point validated against its own copy tells nothing about new points
    (the smallest bandwidth would always win); it also makes a weight of two and a row given twice the same
    thing.

    Parameters
    ----------
    X : ndarray (n, d)
    codes : ndarray (n,)
    n_folds : int
        Two at least. With fewer distinct points than folds some folds stay empty.
    random_state : int, RandomState or None

    Returns
    -------
    folds : ndarray (n,) of ints
    """
    first, group = distinct_rows(X, codes)
    return (shuffled_ranks(codes[first], random_state) % n_folds)[group]


def folds_by_content(X, n_folds, seed):
    """Fold of each row from its values alone: random, and copies of a row in one fold, on whatever worker they are.

    Multiply-shift hashing of the values' bits; the shares of folds and classes are equal on average only.
    """
    words = np.where(np.isnan(X), X.dtype.type(np.nan), X + 0)  # a single NaN, and with + 0 no -0.0
    words = np.ascontiguousarray(words).view(np.uint32).reshape(len(X), -1)
    factors = np.random.default_rng(seed).integers(1 << 63, size=words.shape[1], dtype=np.uint64) * 2 + 1
    hashes = np.zeros(len(X), dtype=np.uint64)
    for word, factor in zip(words.T, factors, strict=True):
        hashes += word * factor
    return ((hashes >> np.uint64(32)) * np.uint64(n_folds) >> np.uint64(32)).astype(np.intp)


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


def check_folds(cv, y, kept=None):
    """Folds of the samples that were kept, if `cv` is a splitter or a list of splits of all samples.

    None if `cv` is an int or "loo": then folds are made from the points themselves.
    """
    if isinstance(cv, Integral | str):
        return None
    folds = given_folds(cv, y)
    folds = folds if kept is None else folds[kept]
    if len(np.unique(folds)) < 2:
        raise ValueError("The samples of positive weight all lie in one test set of cv.")
    return folds
