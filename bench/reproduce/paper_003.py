"""Paper 003: PerTurbo (full, gle, reg), SVM and k-NN with a fifth of the data for training, and active learning."""

import warnings
from math import isqrt

import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import LinAlgWarning
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from bench.toy_data import two_spirals
from spectralcls.perturbo import PerTurboClassifier

from . import perturbo_plain
from .cells import cell
from .data import SETS, spread, stratum_splits
from .learning_curves import STRATEGIES, gain, learning_curves
from .perturbo_cuts import PerTurboByInverse, PerTurboByNumber
from .tables import Entry, pair

VARIANTS = {"full": None, "gle": "truncate", "reg": "tikhonov"}
SHOWN = {"full": "PerTurbo (full)", "gle": "PerTurbo (gle)", "reg": "PerTurbo (reg)", "svm": "SVM", "knn": "k-NN"}
PLAIN = "ionosphere"  # many of its queries are far from every class
SVM_GRID = {"svc__C": [0.1, 1.0, 10.0, 100.0], "svc__gamma": 4.0 ** np.arange(-5, 1)}
COLORS = ("#0072B2", "#E69F00", "#009E73")
REPETITIONS, LETTER_TRIALS = 10, 3


def rates(spec, trials):
    """The entries of table 2. For "singular" numbers, the paper has N.I.: duplicates make K singular."""
    entries, inverses = [], []
    for data, row in spec["numbers"].items():
        title, letter = spec["titles"][data], data == "letter"
        most, weight = min(trials, LETTER_TRIALS if letter else REPETITIONS), 60 if letter else 4
        plain_entries = []
        for column, number in zip(spec["columns"], row, strict=True):
            options = {"variant": column} if column in VARIANTS else {}
            name = "perturbo" if options else column
            ours = cell(f"paper_003.{name}", weight * (1 if options else 2), data=data, trials=most, **options)
            if number == "singular":
                inverses.append(Entry(title, SHOWN[column], None, None, ours, ("singular",)))
                continue
            again = data == PLAIN and column in VARIANTS  # the same number, in plain double precision
            more = {"counted": not again, "specified": not data.startswith("simdata")}
            number = pair(number)
            entries.append(Entry(title, SHOWN[column], *number, ours, ("rate",), trials=REPETITIONS, **more))
            if again:
                ours = cell("paper_003.plain", data=data, trials=most, **options)
                place = f"{title}, as computed then", SHOWN[column]
                plain_entries.append(Entry(*place, *number, ours, ("rate",), trials=REPETITIONS))
        entries += plain_entries
    return entries + inverses, spec["reading"]


def parts(source, name, trials):
    """(X, y, splits): raw features, with a fifth for training or the split of the set."""
    data = source.load(name, SETS["openml"].get(name))
    X, y = np.asarray(data.data, dtype=np.float64), np.asarray(data.target)
    own = name.startswith("hill_valley") and data.splits
    return X, y, own or list(stratum_splits(len(y), SETS["training"][name], trials))


def perturbo(source, data, variant, trials):
    """Rate of a variant, tuned by 5 folds, on raw features, and the number of trials in which a class has a singular
    kernel matrix.
    """
    X, y, splits = parts(source, data, trials)
    found, singular = [], 0
    for train, test in splits:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = PerTurboClassifier(regularization=VARIANTS[variant], cv=5, scale=None, n_jobs=1)
            model.fit(X[train], y[train])
        singular += any(issubclass(warning.category, LinAlgWarning) for warning in caught)
        found.append(100 * model.score(X[test], y[test]))
    return {"rate": spread(found), "singular": singular}


def plain(source, data, variant, trials):
    """Rate of a variant in plain double precision: see `perturbo_plain`."""
    X, y, splits = parts(source, data, trials)
    found = []
    for train, test in splits:
        own = list(folds(y[train]).split(X[train], y[train]))
        labels = perturbo_plain.predict_tuned(X[train], y[train], X[test], variant, own)
        found.append(100 * np.mean(labels == y[test]))
    return {"rate": spread(found)}


def svm(source, data, trials):
    """RBF-SVM on scaled features, C and gamma by 5-fold cross-validation; once for letter."""
    (X, y, splits), found, best = parts(source, data, trials), [], None
    for train, test in splits:
        if best is None or len(train) < 1000:
            search = GridSearchCV(make_pipeline(StandardScaler(), SVC()), SVM_GRID, cv=folds(y[train]))
            best = search.fit(X[train[:1500]], y[train[:1500]]).best_params_
        tuned = make_pipeline(StandardScaler(), SVC()).set_params(**best)
        found.append(100 * tuned.fit(X[train], y[train]).score(X[test], y[test]))
    return {"rate": spread(found)}


def folds(y):
    """Five folds, stratified if each class has two samples or more (with fewer than five, a warning is raised)."""
    enough = np.unique(y, return_counts=True)[1].min() >= 2
    return (StratifiedKFold if enough else KFold)(5, shuffle=True, random_state=0)


def knn(source, data, trials):
    """Rate of the k that is best on the test set, as in the paper; this is too optimistic."""
    (X, y, splits), found = parts(source, data, trials), []
    for train, test in splits:
        classes, codes = np.unique(y[train], return_inverse=True)
        most = max(1, isqrt(2 * len(train) // len(classes)))
        near = NearestNeighbors(n_neighbors=most, algorithm="brute").fit(X[train]).kneighbors(X[test])[1]
        votes = np.cumsum(np.eye(len(classes), dtype=np.int32)[codes[near]], axis=1)
        found.append(100 * (classes[votes.argmax(axis=2)] == y[test][:, None]).mean(axis=0).max())
    return {"rate": spread(found)}


def active(source, data, classifier, trials, retune=None):
    """Learning curves, and the gain of boundary queries over random ones on the rest of the pool and on a test set.

    PerTurbo is tuned on the first labels and again after every `retune` further ones (None: never).
    """
    loaded = source.load(data)
    X, y = np.asarray(loaded.data, dtype=np.float64), np.asarray(loaded.target)
    queries = min(300, int(0.9 * (len(X) - -(-len(X) // 3))) - 2 * len(np.unique(y)))
    model = PerTurboClassifier(scale=None, n_jobs=1) if classifier == "PerTurbo" else KNeighborsClassifier(3)
    n_labels, scores = learning_curves(model, X, y, n_queries=queries, retune=retune, n_repeats=trials, n_jobs=1)
    means = {
        f"{name} {strategy}": (100 * scores[:, s, kind].mean(axis=0)).tolist()
        for kind, name in enumerate(("pool", "test"))
        for s, strategy in enumerate(STRATEGIES)
    }
    gains = {name: [100 * value for value in gain(scores, name)] for name in ("pool", "test")}
    return {"gains": gains, "n_labels": n_labels.tolist(), "means": means}


def spirals(source, trials):
    """Two spirals: the three variants and the literal reading of "gle", 200 training and 1000 test points."""
    kinds = {
        "full": PerTurboClassifier(regularization=None, scale=None),
        "gle": PerTurboClassifier(regularization="truncate", scale=None),
        "gle, largest eigenvalues of the inverse": PerTurboByInverse(regularization="truncate", scale=None),
        "reg": PerTurboClassifier(scale=None),
    }
    found = {name: [] for name in kinds}
    for trial in range(trials):
        (X, y), (Q, truth) = two_spirals(200, 2 * trial), two_spirals(1000, 2 * trial + 1)
        for name, model in kinds.items():
            found[name].append(100 * model.set_params(n_jobs=1).fit(X, y).score(Q, truth))
    return {name: spread(rates) for name, rates in found.items()}


def plane(X, n=161):
    low, high = X.min(axis=0) - 0.5, X.max(axis=0) + 0.5
    x, y = (np.linspace(low[i], high[i], n) for i in (0, 1))
    return x, y, np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)


def draw_tau(source):
    """tau of one spiral for two bandwidths, and for one of them with regularization."""
    X, y = two_spirals(200, 0)
    models = {
        "h = 0.1": PerTurboClassifier(0.1, regularization=None, scale=None),
        "h = 1": PerTurboClassifier(1.0, regularization=None, scale=None),
        "h = 1, alpha = 0.1": PerTurboClassifier(1.0, alpha=0.1, scale=None),
    }
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained", sharey=True)
    x, v, grid = plane(X)
    shares = []
    for ax, (title, model) in zip(axes, models.items(), strict=True):
        tau = model.fit(X, y).perturbation(grid)[:, 0]
        image = ax.pcolormesh(x, v, tau.reshape(len(v), -1), vmin=0, vmax=1, shading="gouraud", rasterized=True)
        ax.plot(*X[y == 0].T, ".", color="white", markersize=3)
        ax.set(title=title, xlabel="feature 1")
        shares.append(f"{100 * np.mean(tau < 0.5):.0f} percent of the plane for {title}")
    axes[0].set_ylabel("feature 2")
    figure.colorbar(image, ax=axes, label="perturbation of the first class")
    return figure, {"shares": "; on ".join(shares)}


def toys():
    """Two spirals, and three flat Gaussians."""
    rng = np.random.RandomState(3)
    y = rng.permutation(150) % 3
    angle, means = rng.uniform(0, np.pi, 3), rng.standard_normal((3, 2))
    along = np.column_stack([np.cos(angle), np.sin(angle)])[y] * rng.standard_normal((150, 1))
    return two_spirals(200, 0), (means[y] + along + 0.1 * rng.standard_normal((150, 2)), y)


def draw_variants(source, measured):
    """The three variants on two toy sets, sigma = 1 and alpha = 0.1 as in the paper's caption."""
    variants = {
        "regularization=None": PerTurboClassifier(1.0, regularization=None, scale=None),
        'regularization="truncate"': PerTurboByNumber(1.0, regularization="truncate", scale=None),
        'regularization="tikhonov"': PerTurboClassifier(1.0, alpha=0.1, scale=None),
    }
    figure, axes = plt.subplots(2, 3, figsize=(10, 6), layout="constrained")
    for row, (X, y), name in zip(axes, toys(), ("two spirals", "three Gaussians"), strict=True):
        x, v, grid = plane(X)
        for ax, (title, model) in zip(row, variants.items(), strict=True):
            labels, n_classes = model.fit(X, y).predict(grid).reshape(len(v), -1), y.max() + 1
            ax.contourf(x, v, labels, levels=np.arange(n_classes + 1) - 0.5, colors=COLORS[:n_classes], alpha=0.25)
            for c, marker in zip(range(n_classes), "o^s", strict=False):
                ax.scatter(*X[y == c].T, color=COLORS[c], marker=marker, s=9)
            ax.set(xticks=[], yticks=[], title=title)
        row[0].set_ylabel(name)
    return figure, {"rates": "; ".join(f"{mean:.1f} ± {dev:.1f} for {n}" for n, (mean, dev) in measured.items())}


def draw_borders(source):
    """tau of each class, and the region in which the two smallest differ by less than 0.1."""
    figure = plt.figure(figsize=(12, 7), layout="constrained")
    for part, (X, y) in zip(figure.subfigures(2, 1), toys(), strict=True):
        axes = part.subplots(1, y.max() + 2)
        x, v, grid = plane(X)
        model = PerTurboClassifier(1.0, alpha=0.1, scale=None).fit(X, y)
        tau = model.perturbation(grid).reshape(len(v), len(x), -1)
        for c, ax in enumerate(axes[:-1]):
            ax.pcolormesh(x, v, tau[..., c], vmin=0, vmax=1, shading="gouraud", rasterized=True)
            ax.scatter(*X[y == c].T, color=COLORS[c], s=9)
            ax.set_title(rf"$\tau$ of class {c}")
        least, levels = np.sort(tau, axis=2), np.arange(tau.shape[2] + 1) - 0.5
        axes[-1].contourf(x, v, tau.argmin(axis=2), levels=levels, colors=COLORS[: tau.shape[2]], alpha=0.3)
        axes[-1].contourf(x, v, least[..., 1] - least[..., 0], levels=[-1, 0.1], colors=["#222222"], alpha=0.45)
        axes[-1].set_title("margin < 0.1")
    return figure, {}


def draw_curves(source, *found, titles):
    """Accuracy against the number of labels, on the rest of the pool and on a fixed test set."""
    figure, axes = plt.subplots(len(found) // 2, 2, figsize=(9, 2.6 * (len(found) // 2)), layout="constrained")
    gains = []
    for ax, title, curves in zip(axes.flat, titles, found, strict=True):
        for name, rates in curves["means"].items():
            scored_on, strategy = name.split()
            style, color = "-" if scored_on == "pool" else "--", COLORS[strategy == "random"]
            ax.plot(curves["n_labels"], rates, style, color=color, label=f"{strategy}, {scored_on}")
        ax.set(title=title, xlabel="labels", ylabel="accuracy, %")
        of_both = [f"{mean:+.1f} ± {dev:.1f}" for mean, dev in map(curves["gains"].get, ("pool", "test"))]
        gains.append(f"{title}: {' and '.join(of_both)}")
    axes[0, 0].legend(fontsize=7)
    return figure, {"gains": "; ".join(gains)}
