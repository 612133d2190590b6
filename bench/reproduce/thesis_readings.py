"""What else the thesis could have printed: other readings, and every fixed bandwidth."""

import numpy as np
from sklearn.metrics import confusion_matrix

from spectralcls.kernels import kernel_sums

from .data import thesis_data, thesis_splits
from .summary import spread
from .thesis import FOLDS, READINGS, WIDE_GRID, model, predict_tuned, smallest_best


def explain(source, data, classifier, trials, center=None, small=False):
    """What else could have been printed: the rate at every fixed bandwidth, and the other readings, tuned."""
    X, y, splits = thesis_data(source, data)
    parts = list(thesis_splits(data, y, splits, trials, (100, 50) if small else None))
    n_classes = y.max() + 1
    matrices = np.zeros((len(parts), len(WIDE_GRID), n_classes, n_classes))
    readings = {}
    for trial, (train, test) in enumerate(parts):
        A, b, Q, truth = X[train], y[train], X[test], y[test]
        for i, h in enumerate(WIDE_GRID):
            labels = model(classifier, center, bandwidth=h).fit(A, b).predict(Q)
            matrices[trial, i] = confusion_matrix(truth, labels, labels=range(n_classes))
        for name, labels in _other_readings(classifier, center, A, b, Q, trial):
            readings.setdefault(name, []).append(100 * np.mean(labels == truth))
    rates = 100 * np.trace(matrices, axis1=2, axis2=3) / matrices[0, 0].sum()
    return {
        "bandwidths": list(map(float, WIDE_GRID)),
        "rates": rates.mean(axis=0).tolist(),
        "deviations": rates.std(axis=0, ddof=min(1, len(parts) - 1)).tolist(),
        "confusion": matrices.mean(axis=0).tolist(),
        "readings": {name: spread(values) for name, values in readings.items()},
        "trials": len(parts),
    }


def rates(source, data, classifier, reading, trials, center=None, small=False):
    """The protocol with one of the other readings."""
    X, y, splits = thesis_data(source, data)
    found = []
    for trial, (train, test) in enumerate(thesis_splits(data, y, splits, trials, (100, 50) if small else None)):
        estimator = model(classifier, center, **READINGS[classifier][reading])
        labels = predict_tuned(estimator, X[train], y[train], X[test], trial)[0]
        found.append(100 * np.mean(labels == y[test]))
    return {"rate": spread(found)}


def _other_readings(classifier, center, X, y, Q, seed):
    if classifier == "bayes":
        yield (
            "plain double precision, a point without kernel mass goes to the first class",
            _plain_bayes(X, y, Q, seed),
        )
    for name, parameters in READINGS.get(classifier, {}).items():
        yield name, predict_tuned(model(classifier, center, **parameters), X, y, Q, seed)[0]
    if center is None:
        found = predict_tuned(model(classifier), X, y, Q, seed, WIDE_GRID)[0]
        yield f"{len(WIDE_GRID)} bandwidths from {WIDE_GRID[0]:g} to {WIDE_GRID[-1]:g}", found


def _plain_bayes(X, y, Q, seed):
    """Bayes without logarithms: sums underflow to zero, and argmax of zeros is the first class."""

    def labels(A, b, T, h):
        sums = kernel_sums(T, A, labels=b, n_labels=y.max() + 1, bandwidth=h, n_jobs=1)
        return sums.argmax(axis=1)

    folds = np.random.default_rng(seed).permutation(len(y)) % FOLDS
    hits = [
        sum(np.sum(labels(X[folds != f], y[folds != f], X[folds == f], h) == y[folds == f]) for f in range(FOLDS))
        for h in WIDE_GRID
    ]
    return labels(X, y, Q, smallest_best(WIDE_GRID, hits))
