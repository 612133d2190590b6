"""Paper 000, section 4: two Gaussians of unequal priors, two rings, and the Wisconsin breast cancer data."""

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

from spectralcls.datasets import make_two_gaussians, make_two_rings

from .data import stratum_splits
from .literal import TEST_KERNELS
from .summary import spread

RING_WIDTHS = (0.1, 0.3, 0.5, 0.8)


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


def explain(source, trials, rule, code):
    """Experiment 1, wrong points of one class: the extremes over the draws, and other readings of the rule."""
    readings = {}
    for name, make in (_spectral_rules() if rule == "spectral" else _bayes_rules()).items():
        own = []
        for trial in range(trials):
            X, y = make_two_gaussians((100, 5), random_state=2 * trial)
            Q, truth = make_two_gaussians((200, 10), random_state=2 * trial + 1)
            labels = make(X, y).predict(Q)
            own.append(int(np.sum(labels[truth == code] != code)))
        readings[f"{name} ({min(own)} to {max(own)} over the draws)"] = spread(own)
    return {"readings": readings}


def _spectral_rules():
    return {
        f"test kernel {kernel!r}": make("silverman_per_class", scale=None).fit for kernel, make in TEST_KERNELS.items()
    }


def _bayes_rules():
    return {
        "linear discriminant": LinearDiscriminantAnalysis().fit,
        "quadratic discriminant": QuadraticDiscriminantAnalysis(reg_param=1e-3).fit,
        "linear discriminant with equal priors": LinearDiscriminantAnalysis(priors=[0.5, 0.5]).fit,
    }


def ring_readings(source, trials):
    """Experiment 2 with other widths of the rings: they touch at the widest."""
    readings = {}
    for width in RING_WIDTHS:
        found = []
        for trial in range(trials):
            X, y = make_two_rings(100, width=width, random_state=2 * trial)
            Q, truth = make_two_rings(844, width=width, random_state=2 * trial + 1)
            found.append(100 * TEST_KERNELS["convolved"]("silverman_per_class", scale=None).fit(X, y).score(Q, truth))
        readings[f"rings of width {width:g}"] = spread(found)
    return {"readings": readings}


def breast_cancer_readings(source, trials):
    """Experiment 3 with each test kernel."""
    found = {kernel: breast_cancer(source, trials, kernel)["rate"] for kernel in TEST_KERNELS}
    return {"readings": {f"test kernel {kernel!r}": rate for kernel, rate in found.items()}}
