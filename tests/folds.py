"""The folds that every tuner draws."""

import numpy as np

from spectralcls._tuning import distinct_rows, drawn_seed, random_keys, shuffled_ranks


def stratified_folds(X, y, n_folds, random_state=0):
    """Fold of each row; copies of a row of one class are in one fold."""
    codes = np.unique(y, return_inverse=True)[1]
    first, group = distinct_rows(X, codes)
    keys = random_keys(X[first], drawn_seed(random_state) + 1)
    return (shuffled_ranks(codes[first], keys) % n_folds)[group]
