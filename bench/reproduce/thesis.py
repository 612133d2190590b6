"""The thesis's protocol (section 9.2): 3-fold choice of the bandwidth, rates and confusion matrices
over trials.
"""

import numpy as np
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from spectralcls.information import information_potential
from spectralcls.kernel_mean import (
    CauchySchwarzClassifier,
    ISEClassifier,
    LaplacianISEClassifier,
    ParzenClassifier,
)

from .data import thesis_data, thesis_splits
from .literal import (
    SpectralISEAsPrinted,
    SpectralISEConsistent,
    SpectralLaplacianISEAsPrinted,
    SpectralLaplacianISEConsistent,
)
from .summary import spread

GRID = tuple(round(0.1 * step, 1) for step in range(1, 26))  # the thesis names none
WIDE_GRID = tuple(np.round(np.geomspace(0.03, 6, 60), 4))
FOLDS = 3
CLASSIFIERS = {
    "bayes": ParzenClassifier,
    "ise": ISEClassifier,
    "laplacian_ise": LaplacianISEClassifier,
    "cs": CauchySchwarzClassifier,
    "spectral_ise": SpectralISEAsPrinted,
    "spectral_laplacian_ise": SpectralLaplacianISEAsPrinted,
}
CONSISTENT = {"spectral_ise": SpectralISEConsistent, "spectral_laplacian_ise": SpectralLaplacianISEConsistent}
SVM_GRID = {"C": 10.0 ** np.arange(-1, 4), "gamma": 2.0 ** np.arange(-9, 3)}
READINGS = {
    "ise": {"potentials with the test kernel": {"potential": "same"}},
    "laplacian_ise": {
        "weights as in eq. 6.12": {"weighting": "inverse"},
        "potentials with the test kernel": {"potential": "same"},
    },
    "cs": {"weights f^-1/2": {"weighting": "symmetric"}, "no weights": {"weighting": None}},
    "spectral_ise": {"queries mapped as training points are": {"consistent": True}},
    "spectral_laplacian_ise": {"queries mapped as training points are": {"consistent": True}},
}


def model(classifier, center=None, consistent=False, **parameters):
    """The estimator, with one thread; `center` of a spectral one, whose queries eq. 7.2 maps as printed and
    whose eigenvectors LAPACK finds, which at these sizes is the fastest; `consistent` maps queries as training points.
    """
    spectral = {} if center is None else {"center": center, "solver": "dense"}
    classifiers = CLASSIFIERS | CONSISTENT if consistent else CLASSIFIERS
    return classifiers[classifier](**{"scale": None, "n_jobs": 1} | spectral | parameters)


def smallest_best(grid, scores):
    """Of the bandwidths with the best score, the smallest; the largest where no score is defined."""
    scores = np.asarray(scores)
    if np.isnan(scores).all():
        return float(grid[-1])
    return float(grid[np.flatnonzero(scores >= np.nanmax(scores) - 1e-9)[0]])


def predict_tuned(estimator, X, y, Q, seed, grid=GRID):
    """Labels of Q; the bandwidth that 3-fold cross-validation chose, the smallest of tied ones; and the
    largest at which the data do not determine the leading eigenvectors of some fold (0: none).
    """
    estimator.set_params(cv=FOLDS, bandwidth_grid=grid, random_state=seed)
    estimator.fit(X, y)
    scores = estimator.cv_results_["mean_test_score"]
    h = smallest_best(np.sort(grid), scores)
    if h != estimator.bandwidth_:
        estimator.set_params(bandwidth=h).fit(X, y)
    return estimator.predict(Q), h, float(np.max(np.asarray(grid)[np.isnan(scores)], initial=0))


class Tally:
    """Rates, confusion matrices and bandwidths over the trials."""

    def __init__(self, n_classes):
        self.n_classes, self.rates, self.matrices = n_classes, [], []
        self.bandwidths, self.undetermined = [], []

    def add(self, truth, labels, h, undetermined=0.0):
        self.rates.append(100 * np.mean(truth == labels))
        self.matrices.append(confusion_matrix(truth, labels, labels=range(self.n_classes)))
        self.bandwidths.append(h)
        self.undetermined.append(undetermined)

    def result(self):
        return {
            "rate": spread(self.rates),
            "confusion": np.mean(self.matrices, axis=0).tolist(),
            "bandwidths": [float(h) for h in self.bandwidths],
            "undetermined": float(np.median(self.undetermined)),
        }


def rates(source, data, classifier, trials, center=None, small=False):
    """The protocol for one classifier of `CLASSIFIERS` on one data set.

    `center`: of a spectral classifier; `small`: 100 training and 50 test points, as the thesis did for the
    Laplacian ISE classifier.
    """
    X, y, splits = thesis_data(source, data)
    tally = Tally(y.max() + 1)
    potentials = []
    for trial, (train, test) in enumerate(thesis_splits(data, y, splits, trials, (100, 50) if small else None)):
        found = predict_tuned(model(classifier, center), X[train], y[train], X[test], trial)
        tally.add(y[test], *found)
        if classifier == "ise":
            rows = [X[train][y[train] == c] for c in range(tally.n_classes)]
            own = np.array([information_potential(own, bandwidth=found[1], n_jobs=1) for own in rows])
            potentials.append(100 * own / own.sum())
    extra = {}
    if potentials:
        extra["potentials"] = [spread(column) for column in np.transpose(potentials)]
    return tally.result() | extra


def svm_rates(source, data, trials):
    """RBF-SVM; C and gamma are the medians of 5-fold choices on the first five trials, as in [21]."""
    X, y, splits = thesis_data(source, data)
    parts = list(thesis_splits(data, y, splits, trials))
    chosen = []
    for train, _ in parts[:5]:
        best = GridSearchCV(SVC(), SVM_GRID, cv=5).fit(X[train], y[train]).best_params_
        chosen.append([np.log(best["C"]), np.log(best["gamma"])])
    C, gamma = np.exp(np.median(chosen, axis=0))
    tally = Tally(y.max() + 1)
    for train, test in parts:
        tally.add(y[test], SVC(C=C, gamma=gamma).fit(X[train], y[train]).predict(X[test]), gamma)
    return tally.result() | {"C": C, "gamma": gamma}


def potentials(source, data, trials):
    """Shares of the classes' information potentials at fixed bandwidths, (bandwidths, classes)."""
    X, y, splits = thesis_data(source, data)
    shares = []
    for train, _ in thesis_splits(data, y, splits, trials):
        rows = [X[train][y[train] == c] for c in range(y.max() + 1)]
        own = np.array([[information_potential(r, bandwidth=h, n_jobs=1) for r in rows] for h in WIDE_GRID])
        shares.append(100 * own / own.sum(axis=1, keepdims=True))
    return {"bandwidths": list(map(float, WIDE_GRID)), "shares": np.mean(shares, axis=0).tolist()}


def svm_readings(source, data, trials):
    """The SVM with C and gamma chosen in each trial, and with scikit-learn's defaults."""
    X, y, splits = thesis_data(source, data)
    models = {
        "C and gamma by 5 folds in each trial": GridSearchCV(SVC(), SVM_GRID, cv=5),
        "C = 1, gamma = 1 / (d variance)": SVC(),
    }
    found = {name: [] for name in models}
    for train, test in thesis_splits(data, y, splits, trials):
        for name, estimator in models.items():
            found[name].append(100 * estimator.fit(X[train], y[train]).score(X[test], y[test]))
    return {"readings": {name: spread(rates) for name, rates in found.items()}}
