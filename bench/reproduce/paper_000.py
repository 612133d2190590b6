"""Paper 000, section 4: two Gaussians of unequal priors, two rings, and the Wisconsin breast cancer data."""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from bench.pages import listed
from bench.toy_data import two_gaussians, two_rings
from spectralcls.papers import as_printed
from spectralcls.spectral import KernelMap, LaplacianSpectralClassifier

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
    """Numbers of misclassified test points of each class; the draw nearest to the medians of the spectral classifier;
    and the numbers for both classes if these have equal sizes.
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
        name: {f"class {c + 1}": spread(counts) for c, counts in enumerate(np.transpose(found))}
        for name, found in wrong.items()
    } | {
        "median draw": int(np.abs(ours - np.median(ours, axis=0)).sum(axis=1).argmin()),
        "equal classes": {name: spread(np.sum(found, axis=1)) for name, found in both.items()},
    }


def rings(source, trials):
    """Rate on 844 test points after 100 training points."""
    found = []
    for trial in range(trials):
        Q, truth = two_rings(844, 2 * trial + 1)
        found.append(100 * paper_model().fit(*two_rings(100, 2 * trial)).score(Q, truth))
    return {"rate": spread(found)}


def breast_cancer(source, trials, printed=False):
    """Rate with 100 random training points of the 683."""
    data = source.load("wbc")
    X, y = np.asarray(data.data, dtype=np.float64), data.target
    model = as_printed(paper_model()) if printed else paper_model()
    splits = stratum_splits(len(y), 100, trials)
    return {"rate": spread([100 * model.fit(X[a], y[a]).score(X[b], y[b]) for a, b in splits])}


def panel(ax, X, codes, title):
    for c, marker in enumerate("o^"):
        ax.scatter(*X[codes == c].T, marker=marker, s=18, color=f"C{c}", alpha=0.8, label=f"class {c + 1}")
    ax.set(title=title, xlabel="feature 1", ylabel="feature 2")


def draw_gaussians(source, found):
    X, y, Q, truth = draw(found["median draw"])
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained", sharex=True, sharey=True)
    panel(axes[0], Q, truth, "(a) test set")
    axes[0].legend()
    low, high = Q.min(axis=0) - 0.3, Q.max(axis=0) + 0.3
    sides = [np.linspace(low[i], high[i], 200) for i in (0, 1)]
    plane, sentences = np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2), []
    for ax, letter, name in ((axes[1], "b", "Bayes"), (axes[2], "c", "spectral")):
        model = MODELS[name]().fit(X, y)
        labels = model.predict(Q)
        panel(ax, Q, labels, f"({letter}) {name}: labels and border")
        ax.contour(*sides, model.predict(plane).reshape(200, 200), levels=[0.5], colors="black", linewidths=1.2)
        one, two = (int(np.sum(labels[truth == c] != c)) for c in (0, 1))
        sentences.append(f"In ({letter}), {name} misclassifies {one} points of class one and {two} of class two.")
    means = [f"{found[n]['class 1'][0]:.1f} and {found[n]['class 2'][0]:.1f} for {n}" for n in MODELS]
    equal = [f"{both[0]:.1f} for {name}" for name, both in found["equal classes"].items()]
    return figure, {"sentences": " ".join(sentences), "means": listed(means), "equal": listed(equal)}


def draw_rings(source):
    (X, y), (Q, truth) = two_rings(100, 0), two_rings(844, 1)
    model = paper_model().fit(X, y)
    labels = model.predict(Q)
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
    axes[0].scatter(*X.T, s=12, color="0.3")
    axes[0].set(title="(a) training data", xlabel="feature 1", ylabel="feature 2")
    panel(axes[1], Q, labels, "(b) labels of the test set")
    axes[1].legend()
    kernel_map = KernelMap(2, weighting="symmetric", bandwidth=float(model.overall_bandwidth_), scale=None).fit(X)
    panel(axes[2], kernel_map.transform(Q), truth, "(c) two coordinates of many")
    axes[2].set(xlabel="first eigenvector", ylabel="second eigenvector")
    return figure, {"wrong": int(np.sum(labels != truth)), "of": len(truth)}
