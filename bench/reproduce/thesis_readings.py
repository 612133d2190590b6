"""What else the thesis could have printed: other readings, and every fixed bandwidth."""

import numpy as np
from sklearn.metrics import confusion_matrix

from spectralcls.kernels import kernel_sums
from spectralcls.spectral.spectral_ise import SpectralISEClassifier, SpectralLaplacianISEClassifier

from .data import thesis_data, thesis_splits
from .thesis import (
    CLASSIFIERS,
    FOLDS,
    READINGS,
    SPECTRAL,
    WIDE_GRID,
    nearest_centres,
    paper_map,
    predict_tuned,
    smallest_best,
    spread,
)


def explain(source, data, classifier, trials, center="mean", small=False):
    """What else could have been printed: the rate at every fixed bandwidth, and the other readings, tuned."""
    X, y, splits = thesis_data(source, data)
    parts = list(thesis_splits(data, y, splits, trials, (100, 50) if small else None))
    n_classes = y.max() + 1
    matrices = np.zeros((len(WIDE_GRID), n_classes, n_classes))
    readings = {}
    for trial, (train, test) in enumerate(parts):
        A, b, Q, truth = X[train], y[train], X[test], y[test]
        for i, h in enumerate(WIDE_GRID):
            labels = _at(classifier, center, h, A, b, Q)
            matrices[i] += confusion_matrix(truth, labels, labels=range(n_classes)) / len(parts)
        for name, labels in _other_readings(classifier, center, A, b, Q, trial):
            readings.setdefault(name, []).append(100 * np.mean(labels == truth))
    return {
        "bandwidths": list(map(float, WIDE_GRID)),
        "rates": (100 * np.trace(matrices, axis1=1, axis2=2) / matrices[0].sum()).tolist(),
        "confusion": matrices.tolist(),
        "readings": {name: spread(values) for name, values in readings.items()},
        "trials": len(parts),
    }


def _at(classifier, center, h, X, y, Q):
    if classifier in CLASSIFIERS:
        return CLASSIFIERS[classifier](h, n_jobs=1).fit(X, y).predict(Q)
    return nearest_centres(*_mapped(X, y, Q, h, SPECTRAL[classifier]))[center]


def _mapped(X, y, Q, h, weighting):
    """Arguments of `nearest_centres`."""
    Z, Zq = paper_map(X, Q, y.max() + 1, h, weighting)
    return Z, y, Zq, y.max() + 1


def _other_readings(classifier, center, X, y, Q, seed):
    if classifier == "bayes":
        yield (
            "plain double precision, a point without kernel mass goes to the first class",
            _plain_bayes(X, y, Q, seed),
        )
    for name, parameters in READINGS.get(classifier, {}).items():
        yield name, predict_tuned(CLASSIFIERS[classifier](**parameters), X, y, Q, seed)[0]
    if classifier in CLASSIFIERS:
        yield (
            "60 bandwidths from 0.03 to 6",
            predict_tuned(CLASSIFIERS[classifier](), X, y, Q, seed, WIDE_GRID)[0],
        )
    if classifier in SPECTRAL:
        kind = SpectralISEClassifier if SPECTRAL[classifier] is None else SpectralLaplacianISEClassifier
        yield "queries mapped as training points are", predict_tuned(kind(center=center), X, y, Q, seed)[0]


def _plain_bayes(X, y, Q, seed):
    """Bayes without logarithms: sums underflow to zero, and argmax of zeros is the first class."""

    def labels(A, b, T, h):
        sums = kernel_sums(T, A, labels=b, n_labels=y.max() + 1, bandwidth=h, n_jobs=1)
        return sums.argmax(axis=1)

    folds = np.random.default_rng(seed).permutation(len(y)) % FOLDS
    hits = [
        sum(
            np.sum(labels(X[folds != f], y[folds != f], X[folds == f], h) == y[folds == f])
            for f in range(FOLDS)
        )
        for h in WIDE_GRID
    ]
    return labels(X, y, Q, smallest_best(WIDE_GRID, hits))
