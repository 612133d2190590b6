"""The order in which samples are drawn, and the folds in which they are validated.

The order is random but depends only on the values of the samples, not on the order of rows or columns or the names of
the classes. The same is true of everything drawn from it.
"""

from numbers import Integral

import numpy as np
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state

from .._utils.copies import hashes

TIE = 1e-6  # share of all classes in the load of a fold, which counts if those of a group are equally frequent
_DECIMALS = 9  # of weights and loads, whose last bits depend on the order of the samples


def shuffled_ranks(codes, keys):
    """Position of each element in a random order in which each class is contiguous, and the smallest class is first."""
    sizes = np.bincount(codes - codes.min())
    smallest = np.full(len(sizes), np.iinfo(np.uint64).max, dtype=np.uint64)
    np.minimum.at(smallest, codes - codes.min(), keys)
    own = codes - codes.min()
    order = np.lexsort((np.arange(len(codes)), keys, own, smallest[own], sizes[own]))
    ranks = np.empty(len(codes), dtype=np.intp)
    ranks[order] = np.arange(len(codes))
    return ranks


def stratified_subsample(codes, n_samples, keys, at_least=2):
    """Ascending rows of a random subsample that preserves the class proportions.

    Every class keeps at least `at_least` points, or all if it has fewer, so the total may exceed `n_samples`. Each
    value of `codes` is a class, including negative values, as for unlabeled points.
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
    """A stratified random subsample of about `n_samples` training samples; None means all."""
    rows = thinned_rows(data, n_samples, random_state)
    return data if rows is None else data.take(rows)


def thinned_rows(data, n_samples, random_state):
    """The rows of `thin`; None if these are all."""
    if n_samples is None or len(data.X) <= n_samples:
        return None
    return stratified_subsample(data.codes, n_samples, data.keys(drawn_seed(random_state)))


def drawn_seed(random_state):
    """An integer from a `random_state` of any kind."""
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def folds_by_content(X, n_folds, seed):
    """Random fold of each row, computed from its values, so that copies share a fold even on different workers.

    The sizes and class proportions of the folds are equal only on average.
    """
    return ((hashes(X, seed) >> np.uint64(32)) * np.uint64(n_folds) >> np.uint64(32)).astype(np.intp)


def group_folds(data, n_folds, seed):
    """Fold of each sample, 0 ... n_folds - 1; a group lies in one fold.

    The largest groups come first, equal ones in random order, and each goes to the fold with the least weight of its
    classes. The order depends only on the values of the samples, not on the names of the groups.
    """
    groups, codes = (np.unique(values, return_inverse=True)[1] for values in (data.groups, data.codes))
    n_groups, weights = groups.max() + 1, np.ones(len(codes)) if data.weights is None else data.weights
    if n_folds >= n_groups:
        return groups
    keys, shares = np.zeros(n_groups, dtype=np.uint64), np.zeros((n_groups, codes.max() + 1))
    first = data.copies.first  # copies in a group count once
    np.add.at(keys, groups[first], data.keys(seed)[first])
    np.add.at(shares, (groups, codes), weights / np.bincount(codes, weights)[codes])
    loads, folds = np.zeros((n_folds, shares.shape[1])), np.empty(n_groups, dtype=np.intp)
    for group in np.lexsort((keys, -np.round(np.bincount(groups, weights), _DECIMALS))):
        folds[group] = np.round(loads @ (shares[group] + TIE), _DECIMALS).argmin()
        loads[folds[group]] += shares[group]
    return folds[groups]


def given_folds(cv, y, groups=None):
    """Fold of each row from a splitter or a list of splits whose test sets partition the rows."""
    rows = np.arange(len(y))
    folds = np.full(len(y), -1)
    if np.iterable(cv):
        cv = list(cv)
        for split in cv:
            if not np.iterable(split) or len(split) != 2:
                raise ValueError(f"cv must give pairs, the training and the test rows of a split, got {split!r}.")
    try:
        splits = [*check_cv(cv, y, classifier=True).split(rows, y, groups)]
    except ValueError as error:
        if "'groups' parameter" not in str(error):
            raise
        raise ValueError(
            f"{type(cv).__name__} splits by groups: give them to fit, as groups=, or the list of its splits as cv."
        ) from None
    for fold, (train, test) in enumerate(splits):
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
                f"training sets, which split {fold} violates. Pass an int, or a splitter such as KFold."
            )
        folds[test] = fold
    if np.any(folds < 0) or folds.max() < 1:
        raise ValueError("cv must partition the samples into at least two test sets.")
    return folds


def check_folds(cv, data, seed=0):
    """Folds of the samples of positive weight, if `cv` is a splitter or a list of splits of all samples, or if there
    are groups, which "loo" leaves out one by one.

    None if `cv` is an int or "loo", and no groups: then folds are drawn from the points.
    """
    if isinstance(cv, Integral | str):
        return None if data.groups is None else group_folds(data, np.inf if isinstance(cv, str) else int(cv), seed)
    groups = data.groups
    if groups is not None and data.kept is not None:
        groups = np.full(len(data.y), groups.max() + 1)
        groups[data.kept] = data.groups
    folds = given_folds(cv, data.y, groups)
    folds = folds if data.kept is None else folds[data.kept]
    if len(np.unique(folds)) < 2:
        raise ValueError("The samples of positive weight all lie in one test set of cv.")
    if data.groups is not None and len(np.unique(np.stack([data.groups, folds]), axis=1).T) > data.groups.max() + 1:
        raise ValueError(
            "cv splits a group: pass an int, or a splitter that keeps groups together, as GroupKFold does."
        )
    return folds
