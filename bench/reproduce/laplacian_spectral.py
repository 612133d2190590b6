"""Paper 000, section 4: two Gaussians of unequal priors, two rings, and the Wisconsin breast cancer data."""

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from bench.toy_data import two_gaussians, two_rings
from spectralcls.papers import as_printed
from spectralcls.spectral import LaplacianSpectralClassifier

from .data import spread, stratum_splits

UNEQUAL = (100, 5), (200, 10)  # training and test points of each class
EQUAL = (50, 50), (105, 105)


def paper_model():
    """The paper's model: bandwidths by its equation 8, raw features. Between a query and a class, the variances add
    up."""
    return LaplacianSpectralClassifier("silverman_per_class", scale=None)


MODELS = {
    "spectral": paper_model,
    "Bayes": LinearDiscriminantAnalysis,
    "Bayes with equal priors": lambda: LinearDiscriminantAnalysis(priors=[0.5, 0.5]),
    "spectral, tuned": lambda: LaplacianSpectralClassifier(scale=None),
}


def draw(trial, sizes=UNEQUAL):
    """(X, y, Q, truth) of one draw of the two Gaussians."""
    train, test = sizes
    return *two_gaussians(train, 2 * trial), *two_gaussians(test, 2 * trial + 1)


def gaussians(source, trials):
    """Numbers of misclassified test points of each class, with their extremes; the draw nearest to the medians of the
    spectral classifier; and the numbers for both classes if these have equal sizes.
    """
    wrong, both = {name: [] for name in MODELS}, {name: [] for name in MODELS}
    for trial in range(trials):
        for sizes, found in ((UNEQUAL, wrong), (EQUAL, both)):
            X, y, Q, truth = draw(trial, sizes)
            for name, model in MODELS.items():
                labels = model().fit(X, y).predict(Q)
                found[name].append([int(np.sum(labels[truth == c] != c)) for c in (0, 1)])
    ours = np.array(wrong["spectral"])
    return {
        "wrong": {
            name: {f"class {c + 1}": spread(counts) for c, counts in enumerate(np.transpose(found))}
            for name, found in wrong.items()
        },
        "extremes": {name: [np.min(found, 0).tolist(), np.max(found, 0).tolist()] for name, found in wrong.items()},
        "median draw": int(np.abs(ours - np.median(ours, axis=0)).sum(axis=1).argmin()),
        "equal classes": {name: spread(np.sum(found, axis=1)) for name, found in both.items()},
    }


def rings(source, trials):
    """Rate on 844 test points after 100 training points."""
    found = []
    for trial in range(trials):
        X, y = two_rings(100, 2 * trial)
        Q, truth = two_rings(844, 2 * trial + 1)
        found.append(100 * paper_model().fit(X, y).score(Q, truth))
    return {"rate": spread(found)}


def breast_cancer(source, trials, printed=False):
    """Rate with 100 random training points of the 683."""
    data = source.load("wbc")
    X, y = np.asarray(data.data, dtype=np.float64), data.target
    model = as_printed(paper_model()) if printed else paper_model()
    found = [
        100 * model.fit(X[train], y[train]).score(X[test], y[test])
        for train, test in stratum_splits(len(y), 100, trials)
    ]
    return {"rate": spread(found)}
