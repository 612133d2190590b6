"""What all generators share: how many samples each class gets, and the order of the rows."""

from numbers import Integral

import numpy as np

from .._utils.from_sklearn import Interval

SIZE = [Interval(Integral, 1, None, closed="left"), "array-like"]


def class_counts(n_samples, priors):
    """Samples per class: given one by one, or a total shared out by the priors.

    A total is shared out by largest remainders, so that the counts are within one of ``n_samples * priors``
    and do not vary from draw to draw.
    """
    if not isinstance(n_samples, Integral):
        counts = np.asarray(n_samples)
        if counts.shape != (len(priors),) or not np.issubdtype(counts.dtype, np.integer) or (counts < 0).any():
            raise ValueError(
                f"n_samples has to be one number, or {len(priors)} non-negative integers, one per class; "
                f"got {n_samples!r}."
            )
        return counts
    shares = n_samples * np.asarray(priors, dtype=np.float64) / np.sum(priors)
    counts = np.floor(shares).astype(int)
    largest = np.argsort(counts - shares, kind="stable")[: n_samples - counts.sum()]
    counts[largest] += 1
    return counts


def labels_of(counts):
    """Labels 0, 1, ... repeated as often as ``counts`` says."""
    return np.repeat(np.arange(len(counts)), counts)


def shuffled(X, y, rng):
    """The rows in random order: no split, fold or subsample sees the classes one after the other."""
    order = rng.permutation(len(y))
    return X[order], y[order]
