"""Figures of paper 003."""

import matplotlib.pyplot as plt
import numpy as np

from bench.toy_data import two_spirals
from spectralcls.perturbo import PerTurboClassifier

from .perturbo_cuts import PerTurboByNumber

COLORS = ("#0072B2", "#E69F00", "#009E73")


def _plane(X, n=161):
    low, high = X.min(axis=0) - 0.5, X.max(axis=0) + 0.5
    x, y = (np.linspace(low[i], high[i], n) for i in (0, 1))
    return x, y, np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)


def figure_2(source):
    """tau of one spiral for two bandwidths, and for one of them with regularization."""
    X, y = two_spirals(200, 0)
    models = (
        ("h = 0.1", PerTurboClassifier(0.1, regularization=None, scale=None)),
        ("h = 1", PerTurboClassifier(1.0, regularization=None, scale=None)),
        ("h = 1, alpha = 0.1", PerTurboClassifier(1.0, alpha=0.1, scale=None)),
    )
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained", sharey=True)
    x, v, grid = _plane(X)
    shares = []
    for ax, (title, model) in zip(axes, models, strict=True):
        tau = model.fit(X, y).perturbation(grid)[:, 0]
        field = tau.reshape(len(v), len(x))
        image = ax.pcolormesh(x, v, field, vmin=0, vmax=1, shading="gouraud", rasterized=True)
        ax.plot(*X[y == 0].T, ".", color="white", markersize=3)
        ax.set(title=title, xlabel="feature 1")
        shares.append(f"{100 * np.mean(tau < 0.5):.0f} percent of the plane for {title}")
    axes[0].set_ylabel("feature 2")
    figure.colorbar(image, ax=axes, label="perturbation of the first class")
    return figure, f"Tau is below one half on {'; on '.join(shares)}."


def _toys():
    """Two spirals, and three flat Gaussians."""
    rng = np.random.RandomState(3)
    y = rng.permutation(150) % 3
    angle, means = rng.uniform(0, np.pi, 3), rng.standard_normal((3, 2))
    along = np.column_stack([np.cos(angle), np.sin(angle)])[y] * rng.standard_normal((150, 1))
    gaussians = means[y] + along + 0.1 * rng.standard_normal((150, 2)), y
    return two_spirals(200, 0), gaussians


def figure_3(source, measured):
    """The three variants on two toy sets, sigma = 1 and alpha = 0.1 as in the paper's caption."""
    variants = (
        ("regularization=None", PerTurboClassifier(1.0, regularization=None, scale=None)),
        ('regularization="truncate"', PerTurboByNumber(1.0, regularization="truncate", scale=None)),
        ('regularization="tikhonov"', PerTurboClassifier(1.0, alpha=0.1, scale=None)),
    )
    figure, axes = plt.subplots(2, 3, figsize=(10, 6), layout="constrained")
    for row, (X, y) in zip(axes, _toys(), strict=True):
        x, v, grid = _plane(X)
        for ax, (title, model) in zip(row, variants, strict=True):
            labels = model.fit(X, y).predict(grid).reshape(len(v), len(x))
            n_classes = y.max() + 1
            ax.contourf(x, v, labels, levels=np.arange(n_classes + 1) - 0.5, colors=COLORS[:n_classes], alpha=0.25)
            for c, marker in zip(range(n_classes), "o^s", strict=False):
                ax.scatter(*X[y == c].T, color=COLORS[c], marker=marker, s=9)
            ax.set(xticks=[], yticks=[], title=title)
    for row, name in zip(axes, ("two spirals", "three Gaussians"), strict=True):
        row[0].set_ylabel(name)
    rates = "; ".join(f"{mean:.1f} ± {dev:.1f} for {name}" for name, (mean, dev) in measured["readings"].items())
    return figure, f"The test rates of the tuned variants on two spirals are {rates}."


def _draw_fields(axes, model, X, y):
    """Draw tau of each class, and the region in which the two smallest differ by less than 0.1."""
    x, v, grid = _plane(X)
    tau = model.fit(X, y).perturbation(grid).reshape(len(v), len(x), -1)
    for c, ax in enumerate(axes[:-1]):
        ax.pcolormesh(x, v, tau[..., c], vmin=0, vmax=1, shading="gouraud", rasterized=True)
        ax.scatter(*X[y == c].T, color=COLORS[c], s=9)
        ax.set_title(rf"$\tau$ of class {c}")
    least = np.sort(tau, axis=2)
    levels = np.arange(tau.shape[2] + 1) - 0.5
    axes[-1].contourf(x, v, tau.argmin(axis=2), levels=levels, colors=COLORS[: tau.shape[2]], alpha=0.3)
    axes[-1].contourf(x, v, least[..., 1] - least[..., 0], levels=[-1, 0.1], colors=["#222222"], alpha=0.45)
    axes[-1].set_title("margin < 0.1")


def figure_4(source):
    figure = plt.figure(figsize=(12, 7), layout="constrained")
    for part, (X, y) in zip(figure.subfigures(2, 1), _toys(), strict=True):
        n_classes = len(np.unique(y))
        _draw_fields(part.subplots(1, n_classes + 1), PerTurboClassifier(1.0, alpha=0.1, scale=None), X, y)
    return (
        figure,
        "The picture shows tau for each class, and the region in which the two smallest taus differ by less than 0.1.",
    )


def figure_5(source, *found, titles):
    """Accuracy against the number of labels, on the rest of the pool and on a fixed test set."""
    figure, axes = plt.subplots(len(found) // 2, 2, figsize=(9, 2.6 * (len(found) // 2)), layout="constrained")
    sentences = []
    for ax, title, curves in zip(axes.flat, titles, found, strict=True):
        for name, rates in curves["means"].items():
            scored_on, strategy = name.split()
            style = "-" if scored_on == "pool" else "--"
            color = COLORS[strategy == "random"]
            ax.plot(curves["n_labels"], rates, style, color=color, label=f"{strategy}, {scored_on}")
        ax.set(title=title, xlabel="labels", ylabel="accuracy, %")
        gains = [
            f"{mean:+.1f} \u00b1 {deviation:.1f}" for mean, deviation in map(curves["gains"].get, ("pool", "test"))
        ]
        sentences.append(f"{title}: {' and '.join(gains)}")
    axes[0, 0].legend(fontsize=7)
    return (
        figure,
        "The gains at the end, in percentage points, on the rest of the pool and on a fixed test set are: "
        + "; ".join(sentences)
        + ".",
    )
