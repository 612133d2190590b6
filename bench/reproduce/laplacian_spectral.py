"""Paper 000, section 4: two Gaussians of unequal priors, two rings, and the Wisconsin breast cancer data."""

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from spectralcls.datasets import make_two_gaussians, make_two_rings

from .data import spread, stratum_splits
from .literal import TEST_KERNELS


def gaussians(source, trials):
    """Wrong test points of each class: {"spectral": {"class 1": [mean, deviation], ...}, "Bayes": ...}."""
    wrong = {name: {"class 1": [], "class 2": []} for name in ("spectral", "Bayes")}
    for trial in range(trials):
        X, y = make_two_gaussians((100, 5), random_state=2 * trial)
        Q, truth = make_two_gaussians((200, 10), random_state=2 * trial + 1)
        for name, model in (
            ("spectral", TEST_KERNELS["convolved"]("silverman_per_class", scale=None)),
            ("Bayes", LinearDiscriminantAnalysis()),
        ):
            labels = model.fit(X, y).predict(Q)
            for c in (0, 1):
                wrong[name][f"class {c + 1}"].append(int(np.sum(labels[truth == c] != c)))
    return {
        "wrong": {name: {c: spread(counts) for c, counts in found.items()} for name, found in wrong.items()},
        "extremes": {name: {c: [min(v), max(v)] for c, v in found.items()} for name, found in wrong.items()},
    }


def rings(source, trials):
    """Rate on 844 test points after 100 training points."""
    found = []
    for trial in range(trials):
        X, y = make_two_rings(100, random_state=2 * trial)
        Q, truth = make_two_rings(844, random_state=2 * trial + 1)
        found.append(100 * TEST_KERNELS["convolved"]("silverman_per_class", scale=None).fit(X, y).score(Q, truth))
    return {"rate": spread(found)}


def breast_cancer(source, trials, test_kernel="convolved"):
    """Rate with 100 random training points of the 683."""
    data = source.load("wbc")
    X, y = np.asarray(data.data, dtype=np.float64), data.target
    model = TEST_KERNELS[test_kernel]("silverman_per_class", scale=None)
    found = [
        100 * model.fit(X[train], y[train]).score(X[test], y[test])
        for train, test in stratum_splits(len(y), 100, trials)
    ]
    return {"rate": spread(found)}
