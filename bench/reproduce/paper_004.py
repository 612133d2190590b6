"""Paper 004, section V: satimage with and without CCDR, the entropic dimensions of its classes, and the figures."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import MaxNLocator
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import LabelBinarizer

from bench.pages import listed
from spectralcls.ccdr import CCDR
from spectralcls.information import entropic_dimension

BETAS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
NEIGHBORS = (2, 3, 4, 5, 6, 8, 10, 12)  # of the graph
DIMENSIONS = tuple(range(1, 21))
KNN = (1, 3, 4, 5, 7, 9)
DIMENSION, NEIGHBOR, BETA = 14, 4, 0.5  # in figures 2 to 4, unless varied
FIRST_PCA, LAST_PCA = 2, 36
RESAMPLES = 10
COLORS = ("#0072B2", "#E69F00")


def satimage(source):
    data = source.load("satimage")
    train, test = data.splits[0]
    X, y = np.asarray(data.data, dtype=np.float64), data.target
    return X[train], y[train], X[test], y[test]


def linear_error(Z, y, Q, truth):
    """Error in percent of the paper's linear classifier: least squares on class indicators, centered, without
    intercept.
    """
    indicators, middle = LabelBinarizer().fit(y), Z.mean(axis=0)
    linear = LinearRegression(fit_intercept=False).fit(Z - middle, indicators.transform(y))
    predicted = linear.predict(Q - middle).argmax(axis=1)
    return 100 * float(np.mean(indicators.classes_[predicted] != truth))


def knn_error(Z, y, Q, truth, k):
    return 100 * float(np.mean(KNeighborsClassifier(k).fit(Z, y).predict(Q) != truth))


def net_error(Z, y, Q, truth, n_inputs, scale=1.0):
    """Error in percent of the paper's network with 2 d hidden units, on inputs divided by one common factor."""
    net = MLPClassifier((2 * n_inputs,), max_iter=400, random_state=0)
    return 100 * float(np.mean(net.fit(Z / scale, y).predict(Q / scale) != truth))


def embed(X, y, Q, beta, n_neighbors, n_components):
    model = CCDR(n_components, beta=beta, n_neighbors=n_neighbors, n_jobs=1, scale=None).fit(X, y)
    return model.embedding_, model.transform(Q)


def table(source):
    """Least errors over the tuning parameters: {"none": {"Neural net": ...}, "PCA": ..., "CCDR": ...}."""
    X, y, Q, truth = satimage(source)
    energy = PCA().fit(X).explained_variance_ratio_.cumsum()
    d = int(np.searchsorted(energy, 0.999) + 1)
    found = {
        "none": {
            "Neural net": net_error(X, y, Q, truth, X.shape[1]),
            "Linear": linear_error(X, y, Q, truth),
            "k-NN": min(knn_error(X, y, Q, truth, k) for k in KNN),
        }
    }
    pca = PCA(LAST_PCA).fit(X)
    Z, T = pca.transform(X), pca.transform(Q)
    kept = range(FIRST_PCA, LAST_PCA + 1)
    found["PCA"] = {
        "Neural net": net_error(Z[:, :d], y, T[:, :d], truth, d, Z[:, 0].std() / 3),
        "Linear": min(linear_error(Z[:, :m], y, T[:, :m], truth) for m in kept),
        "k-NN": min(knn_error(Z[:, :m], y, T[:, :m], truth, k) for m in kept[::4] for k in KNN),
    }
    best = {"Linear": [], "k-NN": []}
    for beta in BETAS:
        for n_neighbors in NEIGHBORS[1:6]:
            Z, T = embed(X, y, Q, beta, n_neighbors, 16)
            for m in (6, 10, 14, Z.shape[1]):
                best["Linear"].append(linear_error(Z[:, :m], y, T[:, :m], truth))
                best["k-NN"] += [knn_error(Z[:, :m], y, T[:, :m], truth, k) for k in (3, 5, 9)]
    nets = []
    for beta in (0.05, BETA, 5.0):
        Z, T = embed(X, y, Q, beta, NEIGHBOR, DIMENSION)
        nets.append(net_error(Z, y, T, truth, Z.shape[1], Z.std()))
    found["CCDR"] = {"Neural net": min(nets)} | {name: min(errors) for name, errors in best.items()}
    return found


def sweep(source, over):
    """Errors of the linear classifier and of k-NN over beta, the dimension or the graph's neighbors."""
    X, y, Q, truth = satimage(source)
    values = {"beta": BETAS, "dimension": DIMENSIONS, "neighbors": NEIGHBORS}[over]
    errors = {"linear": [], "k-NN": []}
    embedded = embed(X, y, Q, BETA, NEIGHBOR, max(DIMENSIONS)) if over == "dimension" else None
    for value in values:
        if over == "dimension":
            Z, T = (part[:, :value] for part in embedded)
        else:
            beta, k = (value, NEIGHBOR) if over == "beta" else (BETA, value)
            Z, T = embed(X, y, Q, beta, k, DIMENSION)
        errors["linear"].append(linear_error(Z, y, T, truth))
        errors["k-NN"].append(knn_error(Z, y, T, truth, 5))
    return {"values": list(values)} | errors


def minima(source):
    """The least errors in figures 2 and 4, which the text names."""
    k, beta = sweep(source, "neighbors"), sweep(source, "beta")
    return {"figure 4, linear": min(k["linear"]), "figure 4, k-NN": min(k["k-NN"]), "figure 2, k-NN": min(beta["k-NN"])}


def dimensions(source):
    """Entropic dimension of each class: [estimate, spread over the resamples]."""
    X, y, _, _ = satimage(source)
    options = {"graph": "mst", "n_resamples": RESAMPLES, "random_state": 0, "n_jobs": 1}
    found = [entropic_dimension(X[y == c], **options) for c in np.unique(y)]
    return {f"class {c + 1}": [value.dimension, value.spread] for c, value in enumerate(found)}


def draw_elongated(source):
    """Two classes that differ across the direction of largest variance: only PCA mixes them."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 150)
    X = rng.normal(size=(300, 2)) * (4.0, 0.5) + np.where(y[:, None] == 0, (0, -1.2), (0, 1.2))
    maps = {
        "PCA": PCA(1).fit_transform(X),
        "LDA": LinearDiscriminantAnalysis(n_components=1).fit(X, y).transform(X),
        "CCDR": CCDR(1, scale=None).fit_transform(X, y),
    }
    figure, axes = plt.subplots(1, 4, figsize=(13, 3.4), layout="constrained")
    for c, color in enumerate(COLORS):
        axes[0].scatter(*X[y == c].T, color=color, s=8, label=f"class {c + 1}")
    axes[0].set(title="data", ylim=(-6, 6), xlabel="feature 1", ylabel="feature 2")
    axes[0].legend()
    separated = []
    for ax, (name, Z) in zip(axes[1:], maps.items(), strict=True):
        for c, color in enumerate(COLORS):
            ax.hist(Z[y == c, 0], bins=30, color=color, alpha=0.6)
        ax.set(title=f"{name}: one dimension", xlabel="coordinate", ylabel="points")
        order = y[np.argsort(Z[:, 0])]
        right = max(np.mean(order == y), np.mean(order[::-1] == y))
        separated.append(f"{100 * right:.0f} percent for {name}")
    return figure, {"separated": listed(separated)}


def draw_errors(source, found, words, title):
    figure, ax = plt.subplots(figsize=(5.5, 3.6), layout="constrained")
    reach = 1.2816 * np.sqrt(0.09 * 0.91 / 2000) * 100  # 80 % interval of an error of 9 % on 2000 test points
    for name, style in (("linear", "o:"), ("k-NN", "d--")):
        ax.errorbar(found["values"], found[name], reach, fmt=style, label=name, capsize=2, markersize=4)
    if words == "beta":
        ax.set_xscale("log")
    else:
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set(xlabel=words, ylabel="test error, %", title=title)
    ax.grid(alpha=0.25)
    ax.legend(frameon=False)
    best = {name: (min(found[name]), found["values"][int(np.argmin(found[name]))]) for name in ("linear", "k-NN")}
    return figure, {"lowest": " and ".join(f"{e:.2f} percent at {v:g} for {name}" for name, (e, v) in best.items())}
