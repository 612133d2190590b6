"""Figures of paper 000."""

import matplotlib.pyplot as plt
import numpy as np

from bench.pages import listed
from bench.toy_data import two_rings
from spectralcls.spectral import KernelMap

from .laplacian_spectral import MODELS, draw, paper_model

MARKERS, COLORS = ("o", "^"), ("C0", "C1")


def _panel(ax, X, codes, title):
    for c in (0, 1):
        ax.scatter(*X[codes == c].T, marker=MARKERS[c], s=18, color=COLORS[c], alpha=0.8, label=f"class {c + 1}")
    ax.set_title(title)


def _border(ax, model, X):
    """Draw the border between the predicted classes."""
    low, high = X.min(axis=0) - 0.3, X.max(axis=0) + 0.3
    x, y = (np.linspace(low[i], high[i], 200) for i in (0, 1))
    labels = model.predict(np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)).reshape(200, 200)
    ax.contour(x, y, labels, levels=[0.5], colors="black", linewidths=1.2)


def gaussians(source, found):
    X, y, Q, truth = draw(found["median draw"])
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained", sharex=True, sharey=True)
    _panel(axes[0], Q, truth, "(a) test set")
    axes[0].legend()
    for ax in axes:
        ax.set(xlabel="feature 1", ylabel="feature 2")
    sentences = []
    for ax, letter, name in ((axes[1], "b", "Bayes"), (axes[2], "c", "spectral")):
        model = MODELS[name]().fit(X, y)
        labels = model.predict(Q)
        _panel(ax, Q, labels, f"({letter}) {name}: labels and border")
        _border(ax, model, Q)
        wrong = [int(np.sum(labels[truth == c] != c)) for c in (0, 1)]
        sentences.append(
            f"In ({letter}), {name} misclassifies {wrong[0]} points of class one and {wrong[1]} of class two."
        )
    means = listed(
        [
            f"{of_class['class 1'][0]:.1f} and {of_class['class 2'][0]:.1f} for {name}"
            for name, of_class in found["wrong"].items()
        ]
    )
    equal = listed([f"{both[0]:.1f} for {name}" for name, both in found["equal classes"].items()])
    return figure, (
        f"The picture shows the draw nearest to the medians of the spectral classifier. {' '.join(sentences)} The "
        "mean numbers of misclassified points over all draws (of 200 in class one and of 10 in class two) are "
        f"{means}. The paper says that the spectral and the Bayes classifier do equally well if the classes have equal "
        "sizes. After training on 50 points of each class, the mean numbers of misclassified points (of 210) are "
        f"{equal}. *Tuned* is the default of the package, which maximizes the balanced accuracy. Equal priors serve "
        "the same purpose; compared with the tuned classifier, they miss fewer rare points and raise more false "
        "alarms."
    )


def rings(source):
    X, y = two_rings(100, 0)
    Q, truth = two_rings(844, 1)
    model = paper_model().fit(X, y)
    labels = model.predict(Q)
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
    axes[0].scatter(*X.T, s=12, color="0.3")
    axes[0].set(title="(a) training data", xlabel="feature 1", ylabel="feature 2")
    _panel(axes[1], Q, labels, "(b) labels of the test set")
    axes[1].set(xlabel="feature 1", ylabel="feature 2")
    axes[1].legend()
    kernel_map = KernelMap(2, weighting="symmetric", bandwidth=float(model.overall_bandwidth_), scale=None).fit(X)
    _panel(axes[2], kernel_map.transform(Q), truth, "(c) two coordinates of many")
    axes[2].set(xlabel="first eigenvector", ylabel="second eigenvector")
    return figure, f"{int(np.sum(labels != truth))} of {len(truth)} test points are misclassified."
