"""Choice of parameters by nested evaluation: one decomposition serves every n_components."""

from itertools import product

import numpy as np
from sklearn.base import clone

from ._integration import stratified_subsample
from ._labels import encode

MAX_TUNING_SAMPLES = 5000


def stratified_folds(codes, n_folds, random):
    """Fold of every labelled point, -1 for unlabelled ones: classes are dealt out evenly, however small."""
    folds = np.full(len(codes), -1)
    start = 0
    for code in np.unique(codes[codes >= 0]):
        rows = random.permutation(np.flatnonzero(codes == code))
        folds[rows] = (start + np.arange(len(rows))) % n_folds
        start += len(rows)
    return folds


def tune(ccdr, estimator, X, codes, candidates, n_folds, random):
    """The best (beta, n_neighbors, n_components) and the scores of all.

    Every fold's points lose their label and are embedded out of sample, without being part of the graph;
    unlabelled points stay in the graph of every fold.

    Parameters
    ----------
    candidates : dict of name -> sequence of values, for "beta", "n_neighbors" and "n_components"

    Returns
    -------
    best : dict
    scores : ndarray of shape (n_beta, n_n_neighbors, n_n_components)
        Accuracy; NaN where the graph has no more components to give. Ties go to the first candidate.
    """
    if len(X) > MAX_TUNING_SAMPLES:
        rows = stratified_subsample(codes, MAX_TUNING_SAMPLES, random)
        X, codes = X[rows], codes[rows]
    folds = stratified_folds(codes, n_folds, random)
    correct = np.zeros([len(candidates[name]) for name in ("beta", "n_neighbors", "n_components")])
    for fold in np.unique(folds[folds >= 0]):
        inside, held_out = folds != fold, folds == fold
        labelled = codes[inside] >= 0
        targets = codes[inside][labelled]
        if not len(targets):
            raise ValueError(
                "tuning needs two labelled points: give single beta, n_neighbors and n_components."
            )
        classes = np.unique(targets)
        largest = min(max(candidates["n_components"]), len(labelled) + len(classes) - 2)
        for (i, beta), (j, n_neighbors) in product(
            enumerate(candidates["beta"]), enumerate(candidates["n_neighbors"])
        ):
            part = clone(ccdr).set_params(beta=beta, n_neighbors=n_neighbors, max_samples=None)
            part._embed(X[inside], classes, encode(codes[inside], classes), largest)
            queries = part.transform(X[held_out])
            for q, m in enumerate(candidates["n_components"]):
                if m > part.n_components_:
                    correct[i, j, q] = np.nan
                    continue
                fitted = clone(estimator).fit(part.embedding_[labelled, :m], targets)
                correct[i, j, q] += np.sum(fitted.predict(queries[:, :m]) == codes[held_out])
    scores = correct / np.sum(folds >= 0)
    if np.isnan(scores).all():
        raise ValueError("no candidate n_components can be reached on this graph: offer smaller ones.")
    i, j, q = np.unravel_index(np.nanargmax(scores), scores.shape)
    names = ("beta", "n_neighbors", "n_components")
    return {name: candidates[name][at] for name, at in zip(names, (i, j, q), strict=True)}, scores
