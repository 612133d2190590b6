"""Partial labels: which points have one, and the classes of those that do."""

import warnings

import numpy as np
from sklearn.utils import column_or_1d

from .._utils.validation import check_class_labels, encode

UNSAID = "warn"


def is_marked(y, unlabeled):
    """Which entries of `y` mark an unlabeled point."""
    if unlabeled is None or (isinstance(unlabeled, str) and unlabeled == UNSAID):
        return np.zeros(len(y), dtype=bool)
    if isinstance(unlabeled, str) != (y.dtype.kind in "OUS"):
        raise ValueError(f"unlabeled={unlabeled!r} cannot be one of the labels, which are of type {y.dtype}.")
    return np.asarray(y == unlabeled, dtype=bool)


def encode_partial(y, unlabeled):
    """Classes and codes (n,) of partial labels; the code of an unlabeled point is -1."""
    y = column_or_1d(y, warn=True)
    check_class_labels(y)
    known = np.unique(y)
    if isinstance(unlabeled, str) and unlabeled == UNSAID and known.dtype.kind in "if" and -1 in known:
        if len(known) != 2 or known[1] != 1:
            warnings.warn(
                "y contains -1, which is taken for a class like the others. Pass unlabeled=-1 if it marks points "
                "without a label, or unlabeled=None if it is a class.",
                UserWarning,
                stacklevel=6,
            )
    marked = is_marked(y, unlabeled)
    classes = np.unique(y[~marked])
    return classes, np.where(marked, -1, encode(y, classes))
