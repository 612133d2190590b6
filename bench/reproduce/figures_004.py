"""Figures of paper 004."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import MaxNLocator
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from bench.pages import listed
from spectralcls.ccdr import CCDR

COLORS = ("#0072B2", "#E69F00")
TITLES = {
    "beta": "k-NN needs the pull of the classes, a linear rule does not",
    "dimension": "Five dimensions are enough",
    "the graph's neighbors": "Few neighbors do best",
}


def elongated(source):
    """Two classes that differ across the direction of largest variance: only PCA mixes them."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 150)
    X = rng.normal(size=(300, 2)) * (4.0, 0.5) + np.where(y[:, None] == 0, (0, -1.2), (0, 1.2))
    maps = (
        ("PCA", PCA(1).fit_transform(X)),
        ("LDA", LinearDiscriminantAnalysis(n_components=1).fit(X, y).transform(X)),
        ("CCDR", CCDR(1, scale=None).fit_transform(X, y)),
    )
    figure, axes = plt.subplots(1, 4, figsize=(13, 3.4), layout="constrained")
    for c, color in enumerate(COLORS):
        axes[0].scatter(*X[y == c].T, color=color, s=8, label=f"class {c + 1}")
    axes[0].set(title="data", ylim=(-6, 6), xlabel="feature 1", ylabel="feature 2")
    axes[0].legend()
    separated = []
    for ax, (name, Z) in zip(axes[1:], maps, strict=True):
        for c, color in enumerate(COLORS):
            ax.hist(Z[y == c, 0], bins=30, color=color, alpha=0.6)
        ax.set(title=f"{name}: one dimension", xlabel="coordinate", ylabel="points")
        order = y[np.argsort(Z[:, 0])]
        right = max(np.mean(order == y), np.mean(order[::-1] == y))
        separated.append(f"{100 * right:.0f} percent for {name}")
    return figure, (f"In one dimension, the share of points on the correct side of the median is {listed(separated)}.")


def errors(source, found, words):
    figure, ax = plt.subplots(figsize=(5.5, 3.6), layout="constrained")
    reach = 1.2816 * np.sqrt(0.09 * 0.91 / 2000) * 100  # 80 % interval of an error of 9 % on 2000 test points
    for name, style in (("linear", "o:"), ("k-NN", "d--")):
        ax.errorbar(found["values"], found[name], reach, fmt=style, label=name, capsize=2, markersize=4)
    if words == "beta":
        ax.set_xscale("log")
    else:
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set(xlabel=words, ylabel="test error, %", title=TITLES[words])
    ax.grid(alpha=0.25)
    ax.legend(frameon=False)
    best = {name: (min(found[name]), found["values"][int(np.argmin(found[name]))]) for name in ("linear", "k-NN")}
    lowest = " and ".join(f"{e:.2f} percent at {v:g} for {name}" for name, (e, v) in best.items())
    return figure, f"The lowest error is {lowest}. The bars are 80 % intervals for the sampling of the test points."


def rivals(source, table, linear_maps):
    """Least errors of all reductions; see `ccdr.table` and `ccdr.rivals`."""
    errors = {"none": table["none"], "PCA": table["PCA"], **linear_maps, "CCDR": table["CCDR"]}
    figure, ax = plt.subplots(figsize=(6.5, 3.2), layout="constrained")
    places = np.arange(len(errors))
    for shift, rule in ((-0.2, "Linear"), (0.2, "k-NN")):
        ax.bar(places + shift, [of[rule] for of in errors.values()], 0.38, label=rule)
    ax.set(xticks=places, xticklabels=list(errors), ylabel="test error, %")
    ax.legend(frameon=False)
    rates = listed([f"{of['Linear']:.2f} and {of['k-NN']:.2f} for {name}" for name, of in errors.items()])
    return figure, (
        "The paper reviews linear discriminant analysis (LDA) and marginal Fisher analysis (MFA) without numbers. "
        "In the best case, as in table I, the lowest errors of the linear rule and of k-NN, in percent, are "
        f"{rates}."
    )
