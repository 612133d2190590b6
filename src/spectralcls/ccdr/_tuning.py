"""CCDR's accuracies on held-out points: one decomposition serves every n_components."""

from itertools import product

import numpy as np
from sklearn.base import clone

from .._validation import encode

NAMES = ("beta", "n_neighbors", "n_components")


def fold_accuracies(ccdr, estimator, sample, candidates):
    """Accuracy in each fold, (n_folds, n_beta, n_n_neighbors, n_n_components).

    Every fold's points lose their label and are embedded out of sample, without being part of the graph;
    unlabeled points of the other folds stay in the graph.

    Parameters
    ----------
    ccdr : CCDR
    estimator : classifier
    sample : TuningSample
        With codes -1, and weight 0, of unlabeled points.
    candidates : dict of name -> sequence of values, for "beta", "n_neighbors" and "n_components"

    Returns
    -------
    scores : ndarray
        NaN where the graph has no more components to give, and for a fold without labeled points.
    """
    out = np.full((sample.folds.max() + 1, *(len(candidates[name]) for name in NAMES)), np.nan)
    for fold, (inside, held_out) in enumerate(sample.splits()):
        held_out = held_out & (sample.codes >= 0)
        if not held_out.any():
            continue
        codes = sample.codes[inside]
        labeled = codes >= 0
        if not labeled.any():
            raise ValueError("tuning needs two labeled points: give single beta, n_neighbors and n_components.")
        classes = np.unique(codes[labeled])
        largest = min(max(candidates["n_components"]), len(codes) + len(classes) - 2)
        for (i, beta), (j, n_neighbors) in product(*(enumerate(candidates[name]) for name in NAMES[:2])):
            part = clone(ccdr).set_params(beta=beta, n_neighbors=n_neighbors, max_samples=None)
            part._embed(sample.X[inside], classes, encode(codes, classes), largest)
            queries = part._transform(sample.X[held_out])
            for q, m in enumerate(candidates["n_components"]):
                if m <= part.n_components_:
                    fitted = clone(estimator).fit(part.embedding_[labeled, :m], codes[labeled])
                    out[fold, i, j, q] = np.mean(fitted.predict(queries[:, :m]) == sample.codes[held_out])
    return out
