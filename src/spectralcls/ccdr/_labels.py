"""Partial labels: which points have one, and the classes of those that do."""

import numpy as np

from .._utils.validation import check_column, encode


def is_marked(y, unlabeled):
    """Which entries of `y` mark an unlabeled point."""
    if unlabeled is None:
        return np.zeros(len(y), dtype=bool)
    if isinstance(unlabeled, str) != (y.dtype.kind in "OUS"):
        raise ValueError(f"unlabeled={unlabeled!r} cannot be one of the labels, which are of type {y.dtype}.")
    return np.asarray(y == unlabeled, dtype=bool)


def encode_partial(y, n, unlabeled):
    """Classes and codes (n,) of partial labels; the code of an unlabeled point is -1."""
    y = check_column(y, n)
    marked = is_marked(y, unlabeled)
    classes = np.unique(y[~marked])
    return classes, np.where(marked, -1, encode(y, classes))
