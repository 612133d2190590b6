"""Partial labels: -1 marks an unlabelled point, as in scikit-learn's semi-supervised module."""

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets


def encode_partial(y):
    """Classes and codes (n,) of partial labels; the code of an unlabelled point is -1.

    The label -1 means "unlabelled", except where y holds exactly the labels -1 and 1: that is the usual
    coding of two classes.
    """
    y = column_or_1d(y, warn=True)
    check_classification_targets(y)
    classes = np.unique(y)
    if classes.dtype.kind in "if" and not (len(classes) == 2 and classes[0] == -1 and classes[1] == 1):
        classes = classes[classes != -1]
    return classes, encode(y, classes)


def encode(y, classes):
    """Position of every label in the sorted `classes`, -1 where it is not among them."""
    if not len(classes):
        return np.full(len(y), -1)
    position = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    return np.where(classes[position] == y, position, -1)
