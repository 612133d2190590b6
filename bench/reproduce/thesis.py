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
from spectralcls.kernels import kernel_sums
from spectralcls.spectral.kernel_map import KernelMap

from .data import thesis_data, thesis_splits

GRID = tuple(round(0.1 * step, 1) for step in range(1, 26))  # the thesis names none; MATH.md section 6
WIDE_GRID = tuple(np.round(np.geomspace(0.03, 6, 60), 4))
FOLDS = 3
CLASSIFIERS = {
    "bayes": ParzenClassifier,
    "ise": ISEClassifier,
    "laplacian_ise": LaplacianISEClassifier,
    "cs": CauchySchwarzClassifier,
}
SPECTRAL = {"spectral_ise": None, "spectral_laplacian_ise": "1/f"}
SVM_GRID = {"C": 10.0 ** np.arange(-1, 4), "gamma": 2.0 ** np.arange(-9, 3)}
CENTERS = {"mean": np.mean, "median": np.median}
READINGS = {
    "ise": {"potentials with the test kernel": {"potential": "same"}},
    "laplacian_ise": {"weights as in eq. 6.12": {"weighting": "inverse"}, "potentials with the test kernel":
                      {"potential": "same"}},
    "cs": {"weights f^-1/2": {"weighting": "symmetric"}, "no weights": {"weighting": None}},
}  # fmt: skip


def smallest_best(grid, scores):
    """Of the bandwidths with the best score, the smallest."""
    scores = np.asarray(scores)
    return float(grid[np.flatnonzero(scores >= np.nanmax(scores) - 1e-9)[0]])


def predict_tuned(estimator, X, y, Q, seed, grid=GRID):
    """Labels of Q and the bandwidth that 3-fold cross-validation chose, the smallest of tied ones."""
    estimator.set_params(cv=FOLDS, bandwidth_grid=grid, random_state=seed, n_jobs=1)
    estimator.fit(X, y)
    h = smallest_best(estimator.bandwidth_grid_, np.reshape(estimator.cv_scores_, (len(grid), -1))[:, 0])
    if h != estimator.bandwidth_:
        estimator.set_params(bandwidth=h).fit(X, y)
    return estimator.predict(Q), h


def paper_map(X, Q, n_components, h, weighting, kernel="gaussian"):
    """Training and test points in the leading eigenvectors, eq. 7.1 and 7.2 to the letter.

    The test kernel is the plain profile, the factor h^-d left out (section 9.1), times sqrt(n).
    """
    fitted = KernelMap(
        n_components, weighting=weighting, kernel=kernel, bandwidth=h, random_state=0, n_jobs=1
    ).fit(X)
    Z = fitted.eigenvectors_ * np.sqrt(fitted.eigenvalues_)
    alpha = fitted.eigenvectors_ / np.sqrt(fitted.eigenvalues_)
    return Z, np.sqrt(len(X)) * kernel_sums(Q, X, weights=alpha, kernel=kernel, bandwidth=h, n_jobs=1)


def nearest_centres(Z, codes, Zq, n_classes):
    """Codes of the nearest class centre in the map, for means and for componentwise medians."""
    out = {}
    for name, average in CENTERS.items():
        centres = np.array([average(Z[codes == c], axis=0) for c in range(n_classes)])
        out[name] = ((Zq[:, None] - centres) ** 2).sum(axis=-1).argmin(axis=1)
    return out


def predict_spectral(X, y, Q, seed, weighting, grid=GRID):
    """Labels of Q and chosen bandwidths {centre: (labels, h)}; means and medians share the decompositions."""
    n_classes = y.max() + 1
    folds = np.random.default_rng(seed).permutation(len(y)) % FOLDS
    hits = {name: np.zeros(len(grid)) for name in CENTERS}
    for b, h in enumerate(grid):
        for fold in range(FOLDS):
            inside = folds == fold
            Z, Zq = paper_map(X[~inside], X[inside], n_classes, h, weighting)
            for name, labels in nearest_centres(Z, y[~inside], Zq, n_classes).items():
                hits[name][b] += (labels == y[inside]).sum()
    out = {}
    for name in CENTERS:
        h = smallest_best(grid, hits[name])
        out[name] = nearest_centres(*_with_codes(X, y, Q, n_classes, h, weighting))[name], h
    return out


def _with_codes(X, y, Q, n_classes, h, weighting):
    Z, Zq = paper_map(X, Q, n_classes, h, weighting)
    return Z, y, Zq, n_classes


class Tally:
    """Rates, confusion matrices and bandwidths over the trials."""

    def __init__(self, n_classes):
        self.n_classes, self.rates, self.matrices, self.bandwidths = n_classes, [], [], []

    def add(self, truth, labels, h):
        self.rates.append(100 * np.mean(truth == labels))
        self.matrices.append(confusion_matrix(truth, labels, labels=range(self.n_classes)))
        self.bandwidths.append(h)

    def result(self):
        return {
            "rate": spread(self.rates),
            "confusion": np.mean(self.matrices, axis=0).tolist(),
            "bandwidths": [float(h) for h in self.bandwidths],
        }


def spread(values):
    """[mean, standard deviation]."""
    return [float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else 0.0]


def rates(source, data, classifier, trials, small=False):
    """The protocol for one classifier of `CLASSIFIERS` on one data set.

    `small`: 100 training and 50 test points, as the thesis did for the Laplacian ISE classifier.
    """
    X, y, splits = thesis_data(source, data)
    tally = Tally(y.max() + 1)
    potentials = []
    for trial, (train, test) in enumerate(
        thesis_splits(data, y, splits, trials, (100, 50) if small else None)
    ):
        labels, h = predict_tuned(CLASSIFIERS[classifier](), X[train], y[train], X[test], trial)
        tally.add(y[test], labels, h)
        if classifier == "ise":
            rows = [X[train][y[train] == c] for c in range(tally.n_classes)]
            own = np.array([information_potential(own, bandwidth=h, n_jobs=1) for own in rows])
            potentials.append(100 * own / own.sum())
    extra = {}
    if potentials:
        extra["potentials"] = [spread(column) for column in np.transpose(potentials)]
    return tally.result() | extra


def spectral_rates(source, data, classifier, trials):
    """The protocol for a spectral classifier, {centre: as `rates`}."""
    X, y, splits = thesis_data(source, data)
    tallies = {name: Tally(y.max() + 1) for name in CENTERS}
    for trial, (train, test) in enumerate(thesis_splits(data, y, splits, trials)):
        found = predict_spectral(X[train], y[train], X[test], trial, SPECTRAL[classifier])
        for name, (labels, h) in found.items():
            tallies[name].add(y[test], labels, h)
    return {name: tally.result() for name, tally in tallies.items()}


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
        for name, model in models.items():
            found[name].append(100 * model.fit(X[train], y[train]).score(X[test], y[test]))
    return {"readings": {name: spread(rates) for name, rates in found.items()}}
