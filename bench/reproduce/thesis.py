"""The thesis's protocol (section 9.2): 3-fold choice of the bandwidth, rates and confusion matrices
over trials.
"""

from functools import partial

import numpy as np
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from spectralcls.information import information_potential
from spectralcls.kernel_mean import CauchySchwarzClassifier, ISEClassifier, LaplacianISEClassifier, ParzenClassifier
from spectralcls.kernels import kernel_sums
from spectralcls.papers import SpectralISEAsPrinted, SpectralLaplacianISEAsPrinted

from .data import spread, thesis_data, thesis_splits

FOLDS = 3


def bandwidths(step, last):
    """The bandwidths step, 2 step, ..., last."""
    return tuple(round(step * i, 2) for i in range(1, round(last / step) + 1))


GRID = bandwidths(0.1, 2.5)  # the thesis names none


class _PlainlyTuned:
    """Every bandwidth is a candidate, even if the data hardly determine the eigenvectors there."""

    def _nested_scores(self, *arguments):
        scores, sound = super()._nested_scores(*arguments)
        return scores, np.ones_like(sound)


class SpectralISE(_PlainlyTuned, SpectralISEAsPrinted):
    """Queries are mapped by eq. 7.2 as printed."""


class SpectralLaplacianISE(_PlainlyTuned, SpectralLaplacianISEAsPrinted):
    """Queries are mapped by eq. 7.2 as printed."""


CLASSIFIERS = {
    "bayes": ParzenClassifier,
    "ise": ISEClassifier,
    "laplacian_ise": LaplacianISEClassifier,
    "cs": partial(CauchySchwarzClassifier, priors="equal"),
    "spectral_ise": SpectralISE,
    "spectral_laplacian_ise": SpectralLaplacianISE,
}
SVM_GRID = {"C": 10.0 ** np.arange(-1, 4), "gamma": 2.0 ** np.arange(-9, 3)}


def model(classifier, center=None, **parameters):
    """The estimator, with one thread. `center` applies to spectral classifiers. LAPACK finds their eigenvectors, which
    is fastest at these sizes.
    """
    spectral = {} if center is None else {"center": center, "solver": "dense"}
    return CLASSIFIERS[classifier](**{"scale": None, "n_jobs": 1} | spectral | parameters)


def smallest_best(grid, scores):
    """The smallest bandwidth with the best score, or the largest bandwidth if no score is defined."""
    scores = np.asarray(scores)
    if np.isnan(scores).all():
        return float(grid[-1])
    return float(grid[np.flatnonzero(scores >= np.nanmax(scores) - 1e-9)[0]])


def predict_tuned(estimator, X, y, Q, seed, grid=GRID):
    """Labels of Q, and the bandwidth that 3-fold cross-validation chose, the smallest one if several tie."""
    estimator.set_params(cv=FOLDS, bandwidth_grid=grid, random_state=seed)
    estimator.fit(X, y)
    h = smallest_best(grid, estimator.cv_results_["mean_test_score"])
    if h != estimator.bandwidth_:
        estimator.set_params(bandwidth=h).fit(X, y)
    return estimator.predict(Q), h


def predict_bayes(X, y, Q, seed, grid=GRID):
    """The same for the Bayes classifier in double precision: if all densities underflow, the first class wins."""
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    right = np.zeros(len(grid))
    for train, test in folds.split(X, y):
        right += (densest_class(X[train], y[train], X[test], grid) == y[test, None]).sum(axis=0)
    h = smallest_best(grid, right)
    return densest_class(X, y, Q, [h])[:, 0], h


def densest_class(X, y, Q, bandwidths):
    """The class with the largest product of density and prior, at each bandwidth (m, b)."""
    return kernel_sums(Q, X, labels=y, bandwidth=bandwidths, n_jobs=1).argmax(axis=-1)


class Tally:
    """Rates and confusion matrices over the trials."""

    def __init__(self, n_classes):
        self.n_classes, self.rates, self.matrices = n_classes, [], []

    def add(self, truth, labels):
        self.rates.append(100 * np.mean(truth == labels))
        self.matrices.append(confusion_matrix(truth, labels, labels=range(self.n_classes)))

    def result(self):
        return {"rate": spread(self.rates), "confusion": np.mean(self.matrices, axis=0).tolist()}


def rates(source, data, classifier, trials, center=None, small=False, step=0.1, last=2.5):
    """The protocol for one classifier of `CLASSIFIERS` on one data set.

    `center` applies to spectral classifiers. `small` uses 100 training and 50 test points, as in the thesis for the
    Laplacian ISE classifier. `step` and `last` define the grid of bandwidths.
    """
    grid = bandwidths(step, last)
    X, y, splits = thesis_data(source, data)
    tally = Tally(y.max() + 1)
    potentials = []
    for trial, (train, test) in enumerate(thesis_splits(data, y, splits, trials, (100, 50) if small else None)):
        parts = X[train], y[train], X[test], trial, grid
        labels, h = predict_bayes(*parts) if classifier == "bayes" else predict_tuned(model(classifier, center), *parts)
        tally.add(y[test], labels)
        if classifier == "ise":
            rows = [X[train][y[train] == c] for c in range(tally.n_classes)]
            # tables 9.2 and 9.4 fit W_{sigma^2}, not the W_{2 sigma^2} of the rule
            own = np.array([information_potential(own, bandwidth=h / np.sqrt(2), n_jobs=1) for own in rows])
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
        tally.add(y[test], SVC(C=C, gamma=gamma).fit(X[train], y[train]).predict(X[test]))
    return tally.result() | {"C": C, "gamma": gamma}
