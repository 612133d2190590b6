"""CCDR's accuracies on held-out points, with one graph for all values of beta, one decomposition for all n_components,
and one neighbor search for all votes."""

import numpy as np
from sklearn.base import clone

from .._utils.validation import class_codes
from ..kernels.neighbor_search import knn

NAMES = ("beta", "n_neighbors", "n_components", "estimator__n_neighbors")
TIE = 2.0**-20  # amount by which the farthest neighbor's vote is reduced, to break ties


def fold_accuracies(ccdr, estimator, sample, candidates):
    """Accuracy in each fold, (n_folds, *(number of candidates of each of `NAMES`)).

    The labeled points of a fold are embedded out of sample, without their labels. Unlabeled points of the other folds
    stay in the graph.

    Parameters
    ----------
    ccdr : CCDR
    estimator : classifier or None
        Classifier trained on the embedding; None means a vote of the nearest neighbors.
    sample : TuningSample
        Sample whose unlabeled points have code -1 and weight 0.
    candidates : dict of name -> sequence of values, for each of `NAMES`
        Candidates. Numbers of voting neighbors are not used with an estimator.

    Returns
    -------
    scores : ndarray
        Accuracies. NaN if the embedding has too few components, if there are fewer labeled points than votes, if a fold
        has no labeled points, or if fewer than two points are outside it, which leaves no graph.
    """
    out = np.full((sample.folds.max() + 1, *(len(candidates[name]) for name in NAMES)), np.nan)
    for fold, (inside, held_out) in enumerate(sample.splits()):
        held_out = held_out & (sample.codes >= 0)
        if not held_out.any() or inside.sum() < 2:
            continue
        codes = sample.codes[inside]
        labeled = codes >= 0
        if not labeled.any():
            raise ValueError(
                "tuning needs two labeled points: give single values of beta, n_neighbors and n_components."
            )
        classes = np.unique(codes[labeled])
        largest = min(max(candidates["n_components"]), len(codes) + len(classes) - 2)
        X, Q = sample.X[inside], sample.X[held_out]
        for j, n_neighbors in enumerate(candidates["n_neighbors"]):
            part = clone(ccdr).set_params(n_neighbors=min(n_neighbors, len(X) - 1), max_samples=None)
            graph, rows = part._graph(X), None
            for i, beta in enumerate(candidates["beta"]):
                part.set_params(beta=beta)._embed_graph(graph, X, classes, class_codes(codes, classes), largest)
                if part.extension != "full" and rows is None:
                    rows = part._log_rows(Q)
                queries = part._transform(Q, rows)
                for q, m in enumerate(candidates["n_components"]):
                    if m <= part.n_components_:
                        known = part.embedding_[labeled, :m], codes[labeled], queries[:, :m]
                        if estimator is None:
                            found = _votes(*known, candidates["estimator__n_neighbors"], part.n_jobs)
                        else:
                            found = [clone(estimator).fit(*known[:2]).predict(known[2])]
                        for v, predicted in enumerate(found):
                            out[fold, i, j, q, v] = np.mean(predicted == sample.codes[held_out])
    return out


class VoteWeights:
    """Weights of the nearest points, (m, k): equal, except that ties go to the nearer class instead of the first by
    name."""

    def __call__(self, distances):
        with np.errstate(invalid="ignore"):  # 0 / 0 if all neighbors equal the query
            return 1 - TIE * np.nan_to_num(distances / distances.max(axis=1, keepdims=True))


def _votes(X, codes, Q, counts, n_jobs):
    """Yield the majority classes (m,) of the nearest points for each number of neighbors."""
    distances, indices = knn(Q, X, min(max(counts), len(X)), n_jobs=n_jobs)
    n_classes, rows = codes.max() + 1, np.arange(len(Q))[:, None]
    for count in counts:
        if count <= len(X):
            places, weights = rows * n_classes + codes[indices[:, :count]], VoteWeights()(distances[:, :count])
            votes = np.bincount(places.ravel(), weights.ravel(), minlength=len(Q) * n_classes)
            yield votes.reshape(len(Q), n_classes).argmax(axis=1)
