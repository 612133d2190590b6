"""The folds that every tuner draws."""

import numpy as np

from spectralcls._tuning import drawn_seed, shuffled_ranks
from spectralcls._utils.copies import copies_of, random_keys


def stratified_folds(X, y, n_folds, random_state=0):
    """Fold of each row; copies of a row of one class are in one fold."""
    codes = np.unique(y, return_inverse=True)[1]
    first, group = copies_of(X, codes)
    keys = random_keys(X[first], drawn_seed(random_state) + 1)
    return (shuffled_ranks(codes[first], keys) % n_folds)[group]
