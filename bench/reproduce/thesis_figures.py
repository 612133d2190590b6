"""The figures of the thesis, with our own draws from its distributions."""

import matplotlib.pyplot as plt
import numpy as np

from bench.pages import listed
from spectralcls.kernel_mean import LaplacianISEClassifier
from spectralcls.kernels import kernel_sums
from spectralcls.spectral import KernelMap

from .data import thesis_data, thesis_splits
from .thesis import RADIUS, gaussian_in_ring, model, predict_tuned

MARKERS, COLORS = ("o", "x", "s"), ("#0072B2", "#E69F00", "#009E73")
RING_BANDWIDTH, SEED = 0.25, 0


def weights_of(X, y, h):
    """1/f at the training points."""
    return LaplacianISEClassifier(h, scale=None).fit(X, y).inverse_density_


def scatter(ax, Z, codes, stars=None):
    for c in range(codes.max() + 1):
        own = Z[codes == c]
        face = {"facecolors": "none", "edgecolors": COLORS[c]} if MARKERS[c] != "x" else {"color": COLORS[c]}
        ax.scatter(own[:, 0], own[:, 1], s=18, marker=MARKERS[c], linewidths=0.8, label=f"class {c + 1}", **face)
    if stars is not None:
        ax.scatter(*stars[:, :2].T, marker="*", s=90, color="black", zorder=3, label="largest weights")
    ax.legend(frameon=False, fontsize=8)


def largest_weights(source):
    X, y = gaussian_in_ring(150, SEED)
    top = np.argsort(weights_of(X, y, RING_BANDWIDTH))[-10:]
    figure, ax = plt.subplots(figsize=(4.5, 4.2), layout="constrained")
    scatter(ax, X, y, X[top])
    ax.set_aspect("equal")
    return figure, {"far": int((y[top] == 1).sum()), "h": RING_BANDWIDTH}


def weights_of_gaussian_in_ring(source):
    X, y = gaussian_in_ring(150, SEED)
    order = np.argsort(y, kind="stable")
    weights = weights_of(X, y, RING_BANDWIDTH)[order]
    figure, ax = plt.subplots(figsize=(6, 2.8), layout="constrained")
    ax.vlines(np.arange(len(weights)), 0, weights, colors=np.array(COLORS)[y[order]], linewidth=0.8)
    ax.set(xlabel="sample (first 150: Gaussian)", ylabel="weight 1/f")
    return figure, {"ratio": weights[y[order] == 1].mean() / weights[y[order] == 0].mean()}


def densities(source, h):
    """Density estimates without and with the weights 1/f; the figures of section 8 at their bandwidths."""
    X, y = gaussian_in_ring(150, SEED)
    line = np.linspace(-2.25, 2.25, 121)
    grid = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.8), sharey=True)
    peaks, of_title = [], {"each point counts 1": np.ones(len(X)), "each point counts 1/f": weights_of(X, y, h)}
    for ax, (title, w) in zip(axes, of_title.items(), strict=True):
        density = kernel_sums(grid, X, weights=w / w.sum(), bandwidth=h, normalize=True).reshape(121, 121)
        image = ax.pcolormesh(line, line, density / density.max(), vmin=0, vmax=1, rasterized=True)
        ax.set(title=title, xlabel="feature 1", aspect="equal")
        peaks.append(density[60, 60] / density[60, line.searchsorted(RADIUS)])
    axes[0].set_ylabel("feature 2")
    figure.colorbar(image, ax=axes, label="density, share of its peak")
    return figure, {"h": h, "peaks": peaks}


def map_of_ring(source, weighting=None):
    X, y = gaussian_in_ring(150, SEED)
    Z = KernelMap(2, weighting=weighting, bandwidth=RING_BANDWIDTH, scale=None).fit_transform(X)
    figure, ax = plt.subplots(figsize=(4.5, 3.8), layout="constrained")
    scatter(ax, Z, y)
    ax.set(xlabel="first component", ylabel="second component")
    means = np.array([Z[y == c].mean(axis=0) for c in (0, 1)])
    norms = np.linalg.norm(means, axis=1)
    return figure, {"angle": np.degrees(np.arccos(means[0] @ means[1] / norms.prod())), "norms": norms}


def classes_and_ranges(source, *ranges):
    figure, axes = plt.subplots(1, 4, figsize=(13, 3.8), layout="constrained", width_ratios=(1.3, 1, 1, 1))
    scatter(axes[0], *gaussian_in_ring(50, SEED))
    axes[0].set_aspect("equal")
    axes[0].legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=2)
    widths = []
    for ax, found, kernel in zip(axes[1:], ranges, ("Gaussian", "Epanechnikov", "uniform"), strict=True):
        ends = {name: (of["from"][0], of["to"][0]) for name, of in found.items() if of}
        for row, (name, (low, high)) in enumerate(ends.items()):
            ax.plot([low, high], [row, row], color=COLORS[0], linewidth=4)
            widths.append((high - low, name, kernel))
        ax.set_yticks(range(len(ends)), list(ends) if ax is axes[1] else [""] * len(ends), fontsize=8)
        ax.set(title=f"{kernel} kernel", xlabel="bandwidths with no error", xlim=(0, 2.5))
    return figure, {"widest": max(widths)}


def training_set(source, data):
    X, y, splits = thesis_data(source, data)
    train, test = next(thesis_splits(data, y, splits, 1))
    return X[train], y[train], X[test], y[test]


def tuned_weights(source, data):
    X, y, Q, _ = training_set(source, data)
    h = predict_tuned(model("laplacian_ise"), X, y, Q, SEED)[1]
    return X, y, h, weights_of(X, y, h)


def largest_weights_of(source, data, axes):
    """The 15 points of largest weight in a training set, in two of its features."""
    X, y, h, weights = tuned_weights(source, data)
    figure, ax = plt.subplots(figsize=(6, 4.2), layout="constrained")
    scatter(ax, X[:, axes], y, X[np.argsort(weights)[-15:]][:, axes])
    ax.set(xlabel=f"feature {axes[0] + 1}, unit deviation", ylabel=f"feature {axes[1] + 1}, unit deviation")
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    return figure, {"h": h}


def class_weights(source, data):
    X, y, h, weights = tuned_weights(source, data)
    figure, ax = plt.subplots(figsize=(6.4, 3.6))
    bins, of_class = np.geomspace(weights.min(), weights.max(), 25), [weights[y == c] for c in range(y.max() + 1)]
    for c, (own, hatch) in enumerate(zip(of_class, ("", "//", ".."), strict=False)):
        look = {"alpha": 0.5, "color": COLORS[c], "hatch": hatch, "label": f"class {c + 1}"}
        ax.hist(own, bins, histtype="stepfilled", **look)
    ax.set(xscale="log", xlabel="weight 1/f", ylabel="training points")
    ax.set_title("A few points weigh many times the others")
    ax.legend()
    return figure, {"h": h, "ratios": listed([f"{own.max() / np.median(own):.1f}" for own in of_class])}


def map_of_data(source, data, classifier):
    """Training and test points on separate scales, because eq. 7.2 multiplies test points by sqrt(n)."""
    X, y, Q, truth = training_set(source, data)
    estimator = model(classifier, "mean")
    labels, h = predict_tuned(estimator, X, y, Q, SEED)
    Z, Zq = estimator.map_.transform(X), extend_as_printed(estimator.map_, Q)
    n_classes = y.max() + 1
    pairs = [(0, 1)] if n_classes == 2 else [(0, 1), (0, 2)]
    figure, axes = plt.subplots(len(pairs), 2, figsize=(9.5, 4.2 * len(pairs)), squeeze=False)
    for row, (i, j) in zip(axes, pairs, strict=True):
        for ax, points, codes in ((row[0], Z, y), (row[1], Zq, truth)):
            for c, center in enumerate(estimator.centers_):
                own, style = points[codes == c], {"marker": MARKERS[c], "color": COLORS[c], "linewidths": 0.8}
                ax.scatter(own[:, i], own[:, j], **style, s=14, alpha=0.6, label=f"class {c + 1}")
                ax.scatter(center[i], center[j], marker="*", s=230, color=COLORS[c], edgecolors="black", zorder=3)
            ax.set(xlabel=f"eigenvector {i + 1}", ylabel=f"eigenvector {j + 1}")
        row[0].set_title(f"{len(Z)} training points; stars: class means")
        row[1].set_title(f"{len(Zq)} test points, scaled by {np.sqrt(len(X)):.0f} (eq. 7.2)")
    axes[0, 0].legend()
    nearest = ((Z[:, None] - estimator.centers_) ** 2).sum(axis=-1).argmin(axis=1)
    return figure, {"h": h, "training": 100 * np.mean(nearest == y), "test": 100 * np.mean(labels == truth)}


def extend_as_printed(fitted, Q):
    """Eq. 7.2: sqrt(n) k(y) E L^-1/2, with the unweighted kernel even for the Laplacian matrix."""
    alpha = fitted.eigenvectors_ / np.sqrt(fitted.eigenvalues_)
    sums = kernel_sums(Q, fitted.X_fit_, weights=alpha, bandwidth=fitted.bandwidth_, n_jobs=1)
    return np.sqrt(len(fitted.X_fit_)) * sums
