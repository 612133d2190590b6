"""Figures of paper 000."""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from spectralcls.datasets import make_two_gaussians, make_two_rings
from spectralcls.spectral import KernelMap, LaplacianSpectralClassifier

MARKERS, COLORS = ("s", "*"), ("#1f5fa8", "#c44e1b")


def _panel(ax, X, codes, title):
    for c in (0, 1):
        ax.scatter(*X[codes == c].T, marker=MARKERS[c], s=16, color=COLORS[c], alpha=0.75, linewidths=0.5)
    ax.set_title(title, fontsize=10)


def gaussians(source):
    X, y = make_two_gaussians((100, 5), random_state=0)
    Q, truth = make_two_gaussians((200, 10), random_state=1)
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained", sharex=True, sharey=True)
    _panel(axes[0], Q, truth, "(a) test set")
    sentences = []
    for ax, (name, model) in zip(
        axes[1:],
        (("(b) Bayes", LinearDiscriminantAnalysis()), ("(c) spectral", LaplacianSpectralClassifier())),
        strict=True,
    ):
        labels = model.fit(X, y).predict(Q)
        _panel(ax, Q, labels, name)
        wrong = [int(np.sum(labels[truth == c] != c)) for c in (0, 1)]
        sentences.append(f"{name}: {wrong[0]} wrong of class one, {wrong[1]} of class two")
    return figure, "One draw. " + "; ".join(sentences) + "."


def rings(source):
    X, y = make_two_rings(100, random_state=0)
    Q, truth = make_two_rings(844, random_state=1)
    model = LaplacianSpectralClassifier().fit(X, y)
    labels = model.predict(Q)
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
    axes[0].scatter(*X.T, s=12, color="0.3")
    axes[0].set_title("(a) training data", fontsize=10)
    _panel(axes[1], Q, labels, "(b) classified test set")
    kernel_map = KernelMap(2, weighting="symmetric", bandwidth=float(model.overall_bandwidth_)).fit(X)
    _panel(axes[2], kernel_map.transform(Q), truth, "(c) first two coordinates of the kernel space")
    return figure, f"{int(np.sum(labels != truth))} of {len(truth)} test points are wrong."
