"""The last item of further work in the thesis: its classifiers, with means and with medians, on data with outliers."""

import numpy as np

from .data import thesis_data, thesis_splits
from .thesis import model, predict_tuned

SETS = ("wine", "iris", "wbc", "thyroid", "ionosphere", "pima")
SHARES = {"none": 0.0, "outliers": 0.1, "wrong labels": 0.2}  # of the training points that are spoiled
FAR = 10.0  # deviation of the outliers, in units of the deviations of the features
RULES = {
    "Bayes": ("bayes", None),
    "ISE": ("ise", None),
    "Laplacian ISE": ("laplacian_ise", None),
    "CS": ("cs", None),
    "spectral ISE, means": ("spectral_ise", "mean"),
    "spectral ISE, medians": ("spectral_ise", "median"),
    "spectral Laplacian ISE, means": ("spectral_laplacian_ise", "mean"),
    "spectral Laplacian ISE, medians": ("spectral_laplacian_ise", "median"),
}


def spoiled(X, y, kind, rng):
    """Training data, a fraction of which is replaced by far points or has its labels permuted."""
    X, y = X.copy(), y.copy()
    rows = rng.permutation(len(X))[: round(SHARES[kind] * len(X))]
    if kind == "outliers":
        X[rows] = X.mean(axis=0) + FAR * rng.standard_normal((len(rows), X.shape[1]))
    else:
        y[rows] = rng.permutation(y[rows])
    return X, y


def rates(source, data, trials):
    """{kind: {rule: mean rate}} on one set, with unchanged test data."""
    X, y, splits = thesis_data(source, data)
    found = {kind: {rule: [] for rule in RULES} for kind in SHARES}
    for trial, (train, test) in enumerate(thesis_splits(data, y, splits, trials)):
        for kind in SHARES:
            A, labels = spoiled(X[train], y[train], kind, np.random.default_rng([trial, len(y)]))
            for rule, (classifier, center) in RULES.items():
                predicted, _ = predict_tuned(model(classifier, center), A, labels, X[test], trial)
                found[kind][rule].append(100 * np.mean(predicted == y[test]))
    return {kind: {rule: float(np.mean(all_)) for rule, all_ in of.items()} for kind, of in found.items()}
