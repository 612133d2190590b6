"""Partial labels: the mask of labeled points, and their classes."""

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d

from .._utils.conversion import is_missing, label_array
from .._utils.validation import check_column, class_codes


def encode_partial(y, n, unlabeled, classes=None):
    """Classes and codes (n,) of partial labels; the code of an unlabeled point is -1.

    A missing label (NaN, None, pandas' NA) marks an unlabeled point, as does the label `unlabeled`. If `classes` are
    given, other labels raise an error.
    """
    y = column_or_1d(np.asarray(label_array(y)), warn=True)
    labeled = np.array([not is_missing(label) for label in y], dtype=bool)
    check_consistent_length(np.empty(n), y)
    known = check_column(y if labeled.all() else _whole(y[labeled]), np.count_nonzero(labeled))
    marked = _is_marked(known, unlabeled)
    found = np.unique(known[~marked]) if classes is None else classes
    own = np.where(marked, -1, class_codes(known, found))
    unknown = (own < 0) & ~marked
    if unknown.any():
        raise ValueError(f"label {known[unknown][0]!r} is neither unlabeled={unlabeled!r} nor one of classes_.")
    codes = np.full(n, -1)
    codes[labeled] = own
    return found, codes


def _whole(labels):
    """Labels, converted to an array of integers if they are integers stored as objects because of a missing label."""
    whole = labels.dtype == object and all(isinstance(label, int | np.integer) for label in labels)
    return np.array(labels.tolist(), dtype=None if len(labels) else np.int64) if whole else labels


def _is_marked(y, unlabeled):
    if is_missing(unlabeled):
        return np.zeros(len(y), dtype=bool)
    if len(y) and isinstance(unlabeled, str) != (y.dtype.kind in "OUS"):
        raise ValueError(f"unlabeled={unlabeled!r} cannot be one of the labels, which are of type {y.dtype}.")
    return np.asarray(y == unlabeled, dtype=bool)
