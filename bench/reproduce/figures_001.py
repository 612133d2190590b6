"""The figures of the thesis, with our own draws from its distributions."""

import matplotlib.pyplot as plt
import numpy as np

from bench.pages import listed
from spectralcls.kernel_mean import LaplacianISEClassifier
from spectralcls.kernels import kernel_sums
from spectralcls.spectral import KernelMap

from .data import thesis_data, thesis_splits
from .thesis import model, predict_tuned
from .thesis_kernels import SIZES, gaussian_in_ring

MARKERS = ("o", "x", "s")
COLORS = ("#0072B2", "#E69F00", "#009E73")
RING_BANDWIDTH = 0.25
SEED = 0


def _ring(seed=SEED, n=150):
    return gaussian_in_ring(n, seed)


def _weights(X, y, h):
    """1/f at the training points."""
    return LaplacianISEClassifier(h, scale=None).fit(X, y).inverse_density_


def _scatter(ax, Z, codes, size=18):
    for c in range(codes.max() + 1):
        own = Z[codes == c]
        face = {"facecolors": "none", "edgecolors": COLORS[c]} if MARKERS[c] != "x" else {"color": COLORS[c]}
        ax.scatter(own[:, 0], own[:, 1], s=size, marker=MARKERS[c], linewidths=0.8, label=f"class {c + 1}", **face)


def _stars(ax, points):
    ax.scatter(points[:, 0], points[:, 1], marker="*", s=90, color="black", zorder=3, label="largest weights")


def largest_weights(source):
    X, y = _ring()
    top = np.argsort(_weights(X, y, RING_BANDWIDTH))[-10:]
    figure, ax = plt.subplots(figsize=(4.5, 4.2), layout="constrained")
    _scatter(ax, X, y)
    _stars(ax, X[top])
    ax.set_aspect("equal")
    ax.legend(frameon=False, fontsize=8)
    return (
        figure,
        f"Of the 10 points with the largest weights 1/f, {int((y[top] == 1).sum())} are in the ring "
        f"(h = {RING_BANDWIDTH}).",
    )


def weights_of_gaussian_in_ring(source):
    X, y = _ring()
    order = np.argsort(y, kind="stable")
    weights = _weights(X, y, RING_BANDWIDTH)[order]
    figure, ax = plt.subplots(figsize=(6, 2.8), layout="constrained")
    ax.vlines(np.arange(len(weights)), 0, weights, colors=np.array(COLORS)[y[order]], linewidth=0.8)
    ax.set(xlabel="sample (first 150: Gaussian)", ylabel="weight 1/f")
    ratio = weights[y[order] == 1].mean() / weights[y[order] == 0].mean()
    return figure, f"On average, the weights in the ring are {ratio:.1f} times those in the Gaussian."


def densities(source, h):
    """Density estimates without and with the weights 1/f; the figures of section 8 at their bandwidths."""
    X, y = _ring()
    line = np.linspace(-2.25, 2.25, 121)
    grid = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    weights = _weights(X, y, h)
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.8), sharey=True)
    peaks = []
    for ax, w, title in zip(
        axes, (np.ones(len(X)), weights), ("each point counts 1", "each point counts 1/f"), strict=True
    ):
        density = kernel_sums(grid, X, weights=w / w.sum(), bandwidth=h, normalize=True).reshape(121, 121)
        image = ax.pcolormesh(line, line, density / density.max(), vmin=0, vmax=1, rasterized=True)
        ax.set(title=title, xlabel="feature 1", aspect="equal")
        peaks.append(density[60, 60] / density[60, line.searchsorted(SIZES["dense"]["radius"])])
    axes[0].set_ylabel("feature 2")
    figure.colorbar(image, ax=axes, label="density, share of its peak")
    return figure, (
        f"At h = {h}, the density at the center is {peaks[0]:.1f} times that on the ring without weights, and "
        f"{peaks[1]:.1f} times with weights."
    )


def map_of_ring(source, weighting):
    X, y = _ring()
    Z = KernelMap(2, weighting=weighting, bandwidth=RING_BANDWIDTH, scale=None).fit_transform(X)
    figure, ax = plt.subplots(figsize=(4.5, 3.8), layout="constrained")
    _scatter(ax, Z, y)
    ax.set(xlabel="first component", ylabel="second component")
    ax.legend(frameon=False, fontsize=8)
    means = np.array([Z[y == c].mean(axis=0) for c in (0, 1)])
    norms = np.linalg.norm(means, axis=1)
    angle = np.degrees(np.arccos(means[0] @ means[1] / norms.prod()))
    return (
        figure,
        f"The angle between the class means is {angle:.0f} degrees; their lengths are {norms[0]:.3g} and "
        f"{norms[1]:.3g}.",
    )


def classes_and_ranges(source, *ranges):
    figure, axes = plt.subplots(1, 4, figsize=(13, 3.8), layout="constrained", width_ratios=(1.3, 1, 1, 1))
    X, y = _ring(n=50)
    _scatter(axes[0], X, y)
    axes[0].set_aspect("equal")
    axes[0].legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=2)
    for ax, found, kernel in zip(axes[1:], ranges, ("Gaussian", "Epanechnikov", "uniform"), strict=True):
        names = [name for name in found if found[name]]
        for row, name in enumerate(names):
            ends = found[name]
            ax.plot([ends["from"][0], ends["to"][0]], [row, row], color=COLORS[0], linewidth=4)
        ax.set_yticks(range(len(names)), names if ax is axes[1] else [""] * len(names), fontsize=8)
        ax.set(title=f"{kernel} kernel", xlabel="bandwidths with no error", xlim=(0, 2.5))
    widest = max(
        (ends["to"][0] - ends["from"][0], name, kernel)
        for found, kernel in zip(ranges, ("Gaussian", "Epanechnikov", "uniform"), strict=True)
        for name, ends in found.items()
        if ends
    )
    return figure, (
        "Left: one draw. Right: the mean range of bandwidths for which all test points are classified correctly. The "
        f"widest is that of the {widest[1]} classifier with the {widest[2]} kernel."
    )


def _training_set(source, data, size=None):
    X, y, splits = thesis_data(source, data)
    train, test = next(thesis_splits(data, y, splits, 1))
    train = train if size is None else train[:size]
    return X[train], y[train], X[test], y[test]


def _tuned_weights(source, data):
    X, y, Q, _ = _training_set(source, data)
    h = predict_tuned(model("laplacian_ise"), X, y, Q, SEED)[1]
    return X, y, h, _weights(X, y, h)


def banana_weights(source):
    X, y, h, weights = _tuned_weights(source, "banana")
    top = np.argsort(weights)[-15:]
    figure, ax = plt.subplots(figsize=(4.8, 4.2), layout="constrained")
    _scatter(ax, X, y)
    _stars(ax, X[top])
    ax.set(xlabel="feature 1", ylabel="feature 2")
    ax.legend(frameon=False, fontsize=8)
    return (
        figure,
        f"The picture shows a training set. Its 15 points of largest weight (h = {h:.2g}) lie at the edge of the "
        "whole set.",
    )


def iris_weights(source):
    X, y, h, weights = _tuned_weights(source, "iris")
    top = np.argsort(weights)[-15:]
    figure, ax = plt.subplots(figsize=(6, 4.2), layout="constrained")
    _scatter(ax, X[:, 1:3], y)
    _stars(ax, X[top][:, 1:3])
    ax.set(xlabel="feature 2, unit deviation", ylabel="feature 3, unit deviation")
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    return (
        figure,
        "The picture shows a training set of iris in dimensions 2 and 3; stars mark the 15 points with the largest "
        f"weights (h = {h:.2g}).",
    )


def class_weights(source, data):
    X, y, h, weights = _tuned_weights(source, data)
    n_classes = y.max() + 1
    figure, ax = plt.subplots(figsize=(6.4, 3.6))
    bins = np.geomspace(weights.min(), weights.max(), 25)
    for c, hatch in zip(range(n_classes), ("", "//", ".."), strict=False):
        ax.hist(
            weights[y == c],
            bins,
            histtype="stepfilled",
            alpha=0.5,
            color=COLORS[c],
            hatch=hatch,
            label=f"class {c + 1}",
        )
    ax.set(xscale="log", xlabel="weight 1/f", ylabel="training points")
    ax.set_title("A few points weigh many times the others")
    ax.legend()
    ratios = [f"{weights[y == c].max() / np.median(weights[y == c]):.1f}" for c in range(n_classes)]
    return figure, (
        f"At h = {h:.2g}, the ratios of the largest to the median weight, class by class, are {listed(ratios)}."
    )


def map_of_data(source, data, classifier):
    """Training and test points on separate scales, because eq. 7.2 multiplies test points by sqrt(n)."""
    X, y, Q, truth = _training_set(source, data)
    estimator = model(classifier, "mean")
    labels, h = predict_tuned(estimator, X, y, Q, SEED)
    Z, Zq = estimator.map_.transform(X), extend_as_printed(estimator.map_, Q)
    n_classes = y.max() + 1
    pairs = [(0, 1)] if n_classes == 2 else [(0, 1), (0, 2)]
    figure, axes = plt.subplots(len(pairs), 2, figsize=(9.5, 4.2 * len(pairs)), squeeze=False)
    for row, (i, j) in zip(axes, pairs, strict=True):
        for ax, points, codes in ((row[0], Z, y), (row[1], Zq, truth)):
            for c in range(n_classes):
                style = {"marker": MARKERS[c], "color": COLORS[c], "linewidths": 0.8}
                own = points[codes == c]
                ax.scatter(own[:, i], own[:, j], **style, s=14, alpha=0.6, label=f"class {c + 1}")
            for c, center in enumerate(estimator.centers_):
                ax.scatter(center[i], center[j], marker="*", s=230, color=COLORS[c], edgecolors="black", zorder=3)
            ax.set(xlabel=f"eigenvector {i + 1}", ylabel=f"eigenvector {j + 1}")
        factor = np.sqrt(len(X))
        row[0].set_title(f"{len(Z)} training points; stars: class means")
        row[1].set_title(f"{len(Zq)} test points, scaled by {factor:.0f} (eq. 7.2)")
    axes[0, 0].legend()
    nearest = ((Z[:, None] - estimator.centers_) ** 2).sum(axis=-1).argmin(axis=1)
    return figure, (
        f"The bandwidth h = {h:.2g} is chosen by cross-validation. For {100 * np.mean(nearest == y):.0f} percent of "
        f"the training points and {100 * np.mean(labels == truth):.0f} percent of the test points, the mean of their "
        "own class is the nearest one."
    )


def extend_as_printed(fitted, Q):
    """Eq. 7.2: sqrt(n) k(y) E L^-1/2, with the unweighted kernel even for the Laplacian matrix."""
    alpha = fitted.eigenvectors_ / np.sqrt(fitted.eigenvalues_)
    sums = kernel_sums(Q, fitted.X_fit_, weights=alpha, bandwidth=fitted.bandwidth_, n_jobs=1)
    return np.sqrt(len(fitted.X_fit_)) * sums


def outliers(source, *found):
    """Mean rates over the sets; see `thesis_outliers`."""
    means = {kind: {rule: np.mean([of[kind][rule] for of in found]) for rule in found[0][kind]} for kind in found[0]}
    figure, ax = plt.subplots(figsize=(8, 3.8), layout="constrained")
    places = np.arange(len(means["none"]))
    for shift, (kind, of) in enumerate(means.items()):
        ax.barh(places + (shift - 1) * 0.27, list(of.values()), 0.25, label=kind)
    ax.set(yticks=places, yticklabels=list(means["none"]), xlabel="rate, %")
    ax.invert_yaxis()
    ax.legend(title="spoiled", loc="center left", bbox_to_anchor=(1, 0.5))
    rates = "; ".join(f"{rule} {', '.join(f'{of[rule]:.1f}' for of in means.values())}" for rule in means["none"])
    return figure, (
        "The thesis proposes this test and supposes that medians help if there are outliers. Each classifier has three "
        f"rates, which are means over {len(found)} data sets of the thesis: with clean training data, with a tenth of "
        "the training points replaced by points with ten times their deviation, and with the labels of a fifth of the "
        f"training points permuted. The rates are: {rates}."
    )
