"""Figures of paper 003."""

import matplotlib.pyplot as plt
import numpy as np

from spectralcls.datasets import make_gaussian_mixture, make_two_spirals
from spectralcls.perturbo import PerTurboClassifier
from spectralcls.plotting import PerturbationDisplay

from .perturbo_cuts import PerTurboByNumber

NAMES = ("SimData-1", "Ecoli", "Wine")


def _plane(X, n=161):
    low, high = X.min(axis=0) - 0.5, X.max(axis=0) + 0.5
    x, y = (np.linspace(low[i], high[i], n) for i in (0, 1))
    return x, y, np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)


def figure_2(source):
    """tau of one spiral for two bandwidths, and regularised."""
    X, y = make_two_spirals(200, random_state=0)
    models = (
        ("sigma = 0.1", PerTurboClassifier(0.1, regularization=None)),
        ("sigma = 1", PerTurboClassifier(1.0, regularization=None)),
        ("sigma = 1, alpha = 0.1", PerTurboClassifier(1.0, alpha=0.1)),
    )
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained", sharey=True)
    x, v, grid = _plane(X)
    shares = []
    for ax, (title, model) in zip(axes, models, strict=True):
        tau = model.fit(X, y).perturbation(grid)[:, 0]
        ax.pcolormesh(x, v, tau.reshape(len(v), len(x)), vmin=0, vmax=1, cmap="viridis", shading="gouraud")
        ax.plot(*X[y == 0].T, ".", color="white", markersize=3)
        ax.set_title(title, fontsize=10)
        shares.append(
            f"{title}: tau is below one half on {100 * np.mean(tau < 0.5):.0f} per cent of the plane"
        )
    return figure, "; ".join(shares) + "."


def _toys():
    spirals = make_two_spirals(200, random_state=0)
    gaussians = make_gaussian_mixture(
        150, n_classes=3, n_features=2, n_components=3, intrinsic_dim=1, random_state=3
    )
    return spirals, gaussians


def figure_3(source, measured):
    """The three variants on two toy sets, sigma = 1 and alpha = 0.1 as in the paper's caption."""
    variants = (
        ("full", PerTurboClassifier(1.0, regularization=None)),
        ("95 % of the eigenvalues", PerTurboByNumber(1.0, regularization="truncate")),
        ("regularised", PerTurboClassifier(1.0, alpha=0.1)),
    )
    figure, axes = plt.subplots(2, 3, figsize=(10, 6), layout="constrained")
    for row, (X, y) in zip(axes, _toys(), strict=True):
        x, v, grid = _plane(X)
        for ax, (title, model) in zip(row, variants, strict=True):
            labels = model.fit(X, y).predict(grid).reshape(len(v), len(x))
            ax.pcolormesh(x, v, labels, cmap="Pastel1", vmin=0, vmax=8)
            ax.scatter(*X.T, c=y, cmap="Set1", vmin=0, vmax=8, s=8)
            ax.set_title(title, fontsize=10)
    rates = "; ".join(f"{name}: {mean:.1f} ± {dev:.1f}" for name, (mean, dev) in measured["readings"].items())
    return figure, f"Tuned, test rate on two spirals: {rates}."


def figure_4(source):
    figure = plt.figure(figsize=(12, 7), layout="constrained")
    for part, (X, y) in zip(figure.subfigures(2, 1), _toys(), strict=True):
        n_classes = len(np.unique(y))
        model = PerTurboClassifier(1.0, alpha=0.1).fit(X, y)
        PerturbationDisplay.from_estimator(model, X, y, axes=part.subplots(1, n_classes + 1))
    return figure, "Fields of tau for each class, and the region where the two least differ by less than 0.1."


def figure_5(source, *curves):
    figure, axes = plt.subplots(3, 4, figsize=(13, 8), layout="constrained", sharey="row")
    for i, found in enumerate(curves):
        row, side = divmod(i, 2)
        for j, scored in enumerate(("pool", "test")):
            ax = axes[row, 2 * side + j]
            for strategy, color in (("boundary", "#b2182b"), ("random", "#2166ac")):
                ax.plot(
                    found["n_labels"], found["means"][f"{scored} {strategy}"], color=color, label=strategy
                )
            ax.set_title(f"{NAMES[row]}, {('k-NN', 'PerTurbo')[side]}, on the {scored}", fontsize=9)
    axes[0, 0].legend(frameon=False)
    for ax in axes[-1]:
        ax.set_xlabel("labelled samples")
    for ax in axes[:, 0]:
        ax.set_ylabel("accuracy, %")
    pool = [found["gains"]["pool"][0] for found in curves]
    test = [found["gains"]["test"][0] for found in curves]
    return figure, (
        f"Gain of border queries at the end: {min(pool):+.1f} to {max(pool):+.1f} points on what is left "
        f"of the pool, "
        f"{min(test):+.1f} to {max(test):+.1f} on a fixed test set."
    )
