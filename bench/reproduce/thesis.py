"""The thesis: rates and confusion matrices over trials, with a 3-fold choice of the bandwidth (section 9.2), and
bandwidths without errors (chapter 8).
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


def tally(outcomes, n_classes):
    """Rate and mean confusion matrix of pairs of true and predicted labels."""
    matrices = [confusion_matrix(*outcome, labels=range(n_classes)) for outcome in outcomes]
    rates = [100 * np.mean(truth == labels) for truth, labels in outcomes]
    return {"rate": spread(rates), "confusion": np.mean(matrices, axis=0).tolist()}


def rates(source, data, classifier, trials, center=None, small=False, step=0.1, last=2.5):
    """The protocol for one classifier of `CLASSIFIERS` on one data set.

    `center` applies to spectral classifiers. `small` uses 100 training and 50 test points, as in the thesis for the
    Laplacian ISE classifier. `step` and `last` define the grid of bandwidths.
    """
    grid = bandwidths(step, last)
    X, y, splits = thesis_data(source, data)
    outcomes, potentials = [], []
    for trial, (train, test) in enumerate(thesis_splits(data, y, splits, trials, (100, 50) if small else None)):
        parts = X[train], y[train], X[test], trial, grid
        labels, h = predict_bayes(*parts) if classifier == "bayes" else predict_tuned(model(classifier, center), *parts)
        outcomes.append((y[test], labels))
        if classifier == "ise":  # tables 9.2 and 9.4 fit W_{sigma^2}, not the W_{2 sigma^2} of the rule
            rows = [X[train][y[train] == c] for c in range(y.max() + 1)]
            own = np.array([information_potential(own, bandwidth=h / np.sqrt(2), n_jobs=1) for own in rows])
            potentials.append(100 * own / own.sum())
    shares = {"potentials": [spread(column) for column in np.transpose(potentials)]} if potentials else {}
    return tally(outcomes, y.max() + 1) | shares


def svm_rates(source, data, trials):
    """RBF-SVM; C and gamma are the medians of 5-fold choices on the first five trials, as in [21]."""
    X, y, splits = thesis_data(source, data)
    parts, chosen = list(thesis_splits(data, y, splits, trials)), []
    for train, _ in parts[:5]:
        best = GridSearchCV(SVC(), SVM_GRID, cv=5).fit(X[train], y[train]).best_params_
        chosen.append([np.log(best["C"]), np.log(best["gamma"])])
    C, gamma = np.exp(np.median(chosen, axis=0))
    tuned = SVC(C=C, gamma=gamma)
    return tally([(y[b], tuned.fit(X[a], y[a]).predict(X[b])) for a, b in parts], y.max() + 1)


BANDWIDTHS = bandwidths(0.01, 2.5)  # of chapter 8
OF_CHAPTER_8 = {
    "Standard ISE": ("ise", None),
    "Laplacian ISE": ("laplacian_ise", None),
    "Bayes": ("bayes", None),
    "Spectral ISE means": ("spectral_ise", "mean"),
    "Spectral Laplacian ISE means": ("spectral_laplacian_ise", "mean"),
}
RADIUS, WIDTH = 1.5, 0.5  # of the ring, which the thesis does not specify


def gaussian_in_ring(n, seed):
    """n points of each of the thesis's two classes: a Gaussian, and a ring around it."""
    rng = np.random.RandomState(seed)
    inside = 0.1 * rng.standard_normal((n, 2))
    angle = rng.uniform(0, 2 * np.pi, n)
    distance = np.sqrt(rng.uniform((RADIUS - WIDTH / 2) ** 2, (RADIUS + WIDTH / 2) ** 2, n))
    X = np.concatenate([inside, distance[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])])
    order = rng.permutation(2 * n)
    return X[order], np.repeat([0, 1], n)[order]


def ranges(source, kernel, trials):
    """Ends of the longest range of bandwidths at which a classifier makes no error: {classifier: {"from": [mean,
    deviation], "to": ...}}. In each draw, 50 points of each class are for training and 20 for testing.
    """
    ends = {name: [] for name in OF_CHAPTER_8}
    for draw in range(trials):
        (X, y), (Q, truth) = gaussian_in_ring(50, 2 * draw), gaussian_in_ring(20, 2 * draw + 1)
        right = {name: [] for name in ends}
        for h in BANDWIDTHS:
            reached = kernel_sums(Q, X, kernel=kernel, bandwidth=h, n_jobs=1) > 0
            for name, (classifier, center) in OF_CHAPTER_8.items():
                labels = model(classifier, center, bandwidth=h, kernel=kernel).fit(X, y).predict(Q)
                if name == "Bayes":  # if both densities are zero, the thesis must have chosen the ring
                    labels = np.where(reached, labels, 1)
                right[name].append(bool((labels == truth).all()))
        for name, flags in right.items():
            if run := longest_run(flags):
                ends[name].append([BANDWIDTHS[position] for position in run])
    return {
        name: {end: spread(values) for end, values in zip(("from", "to"), np.transpose(runs), strict=True)}
        if runs
        else None
        for name, runs in ends.items()
    }


def longest_run(flags):
    """(first, last) position of the longest run of True, or None."""
    best, start = None, None
    for i, flag in enumerate([*flags, False]):
        if flag and start is None:
            start = i
        elif not flag and start is not None:
            if best is None or i - start > best[1] - best[0] + 1:
                best = (start, i - 1)
            start = None
    return best
