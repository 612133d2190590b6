"""What changes today: the papers' data with this package's defaults, beside scikit-learn's classifiers,
tuned.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import rankdata, studentized_range
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spectralcls.ccdr import CCDRClassifier
from spectralcls.kernel_mean import (
    CauchySchwarzClassifier,
    ISEClassifier,
    LaplacianISEClassifier,
    ParzenClassifier,
)
from spectralcls.perturbo import PerTurboClassifier
from spectralcls.spectral.laplacian_spectral import LaplacianSpectralClassifier
from spectralcls.spectral.spectral_ise import SpectralISEClassifier, SpectralLaplacianISEClassifier

from .cells import cell
from .data import THESIS, thesis_data, thesis_splits
from .thesis import spread

TRIALS = 3
ALPHA = 0.05
FAR_BEHIND = 5
DEFAULTS = {
    "Parzen": ParzenClassifier,
    "ISE": ISEClassifier,
    "Laplacian ISE": LaplacianISEClassifier,
    "Cauchy-Schwarz": CauchySchwarzClassifier,
    "spectral ISE": SpectralISEClassifier,
    "spectral Laplacian ISE": SpectralLaplacianISEClassifier,
    "Laplacian spectral": LaplacianSpectralClassifier,
    "PerTurbo": PerTurboClassifier,
    "CCDR": CCDRClassifier,
}
FURTHER = {
    "Parzen, bandwidths by class": (ParzenClassifier, {"bandwidth": "silverman_per_class"}),
    "ISE, bandwidths by class": (ISEClassifier, {"bandwidth": "silverman_per_class"}),
    "spectral ISE, number of eigenvectors by cv": (SpectralISEClassifier, {"n_components": "cv"}),
    "spectral Laplacian ISE, eigenvectors by cv": (SpectralLaplacianISEClassifier, {"n_components": "cv"}),
    "Parzen, Silverman": (ParzenClassifier, {"bandwidth": "silverman"}),
    "ISE, Silverman": (ISEClassifier, {"bandwidth": "silverman"}),
    "Laplacian ISE, Silverman": (LaplacianISEClassifier, {"bandwidth": "silverman"}),
}
PEERS = {
    "SVC": (SVC, {"C": [0.1, 1.0, 10.0, 100.0, 1000.0], "gamma": [0.001, 0.004, 0.016, 0.064, 0.25, 1.0]}),
    "KNeighbors": (KNeighborsClassifier, {"n_neighbors": [1, 3, 5, 9, 15, 25]}),
    "RandomForest": (RandomForestClassifier, {"max_features": ["sqrt", 0.5]}),
    "HistGradientBoosting": (
        HistGradientBoostingClassifier,
        {"learning_rate": [0.03, 0.1], "max_leaf_nodes": [7, 31]},
    ),
    "GaussianProcess": (GaussianProcessClassifier, None),
}
METHODS = (*DEFAULTS, *FURTHER, *PEERS)
GROUPS = (
    ("defaults untouched", DEFAULTS),
    ("further work of the thesis", FURTHER),
    ("scikit-learn, tuned", PEERS),
)


def cells():
    return [
        cell("today.measure", 40 if method in PEERS else 5, data=data, method=method, trials=TRIALS)
        for data in THESIS
        for method in METHODS
    ]


def _model(method):
    if method in DEFAULTS:
        return DEFAULTS[method]()
    if method in FURTHER:
        kind, parameters = FURTHER[method]
        return kind(**parameters)
    kind, grid = PEERS[method]
    if grid is None:  # tuned by its marginal likelihood
        return kind(1.0 * RBF(3.0), random_state=0)
    seed = {"random_state": 0} if kind in (RandomForestClassifier, HistGradientBoostingClassifier) else {}
    return GridSearchCV(kind(**seed), grid, cv=5)


def measure(source, data, method, trials):
    """Rate, and processor seconds of tuning and fitting."""
    X, y, splits = thesis_data(source, data)
    rates, seconds = [], []
    for train, test in thesis_splits(data, y, splits, trials):
        model = make_pipeline(StandardScaler(), _model(method))
        start = time.process_time()
        model.fit(X[train], y[train])
        seconds.append(time.process_time() - start)
        rates.append(100 * model.score(X[test], y[test]))
    return {"rate": spread(rates), "seconds": float(np.mean(seconds))}


def collect(store):
    """(names of the data sets with all results, rates (data, methods), seconds (data, methods))."""
    names, rates, seconds = [], [], []
    for data in THESIS:
        row = [
            store.value(cell("today.measure", data=data, method=method, trials=TRIALS)) for method in METHODS
        ]
        if all(value is not None for value in row):
            names.append(data)
            rates.append([value["rate"][0] for value in row])
            seconds.append([value["seconds"] for value in row])
    return names, np.array(rates), np.array(seconds)


def critical_difference(n_methods, n_data):
    """Nemenyi's critical difference of mean ranks."""
    q = studentized_range.ppf(1 - ALPHA, n_methods, np.inf) / np.sqrt(2)
    return q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_data))


def write_page(store, out):
    """`today.md` and its picture."""
    names, rates, seconds = collect(store)
    lines = ["# What changes today", ""]
    if len(names) < 2:
        failures = {store.failure(c) for c in cells()} - {None}
        lines += ["Fewer than two data sets have all results.", "", *sorted(failures)]
        (out / "today.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return
    ranks = np.mean([rankdata(-np.round(row, 6)) for row in rates], axis=0)
    critical = critical_difference(len(METHODS), len(names))
    _draw(ranks, critical, out / "figures" / "today.png")
    lines += [
        f"Test rates in per cent, mean of {TRIALS} splits of the thesis; features standardised on the "
        "training data. Seconds are processor time of tuning and fitting, added over the data sets (one "
        "split each). The peers are tuned by 5-fold grid search, the Gaussian process by its marginal "
        "likelihood.",
        "",
        f"| | {' | '.join(THESIS[name].title for name in names)} | mean rank | seconds |",
        "|---|" + "---|" * (len(names) + 2),
    ]
    for title, group in GROUPS:
        lines.append(f"| *{title}* |" + " |" * (len(names) + 2))
        for method in group:
            m = METHODS.index(method)
            cols = " | ".join(f"{rate:.1f}" for rate in rates[:, m])
            lines.append(f"| {method} | {cols} | {ranks[m]:.1f} | {seconds[:, m].sum():.2f} |")
    lines += ["", "![Mean ranks](figures/today.png)", "", *advice(names, rates, ranks, seconds, critical)]
    (out / "today.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def advice(names, rates, ranks, seconds, critical):
    """What the numbers say, in sentences made from them."""
    order = np.argsort(ranks)
    total = seconds.sum(axis=0)
    best = order[0]
    near = [m for m in order if ranks[m] <= ranks[best] + critical]
    far = [m for m in order if ranks[m] > ranks[best] + critical]
    fastest = min(near, key=lambda m: total[m])
    ours = [m for m in order if METHODS[m] not in PEERS]
    lines = [
        f"The best mean rank over {len(names)} data sets is {ranks[best]:.1f}, of {METHODS[best]}. Ranks "
        f"that are less "
        f"than {critical:.1f} apart cannot be told apart (Nemenyi, {100 * ALPHA:.0f} %): so few data "
        f"sets separate "
        f"only the extremes. Within that distance of the best, {METHODS[fastest]} is the fastest "
        f"({total[fastest]:.2f} s against {total[best]:.2f} s of {METHODS[best]}).",
        "",
        f"Of the methods of the papers {METHODS[ours[0]]} does best (rank {ranks[ours[0]]:.1f}).",
        "",
        "Simply not as good on these data: "
        + (", ".join(f"{METHODS[m]} (rank {ranks[m]:.1f})" for m in far) or "none by this test")
        + ".",
        "",
    ]
    behind = (rates.max(axis=1, keepdims=True) - rates).mean(axis=0)

    def listed(methods):
        return ", ".join(f"{METHODS[m]} ({behind[m]:.1f})" for m in methods) or "none"

    poor = [m for m in order if behind[m] > FAR_BEHIND]
    close = [m for m in ours if behind[m] <= behind[best] + 1]
    lines += [
        f"More than {FAR_BEHIND} points behind the best of each data set on average, and not to be "
        f"recommended as they stand: {listed(poor)}.",
        "",
        f"{METHODS[best]} is {behind[best]:.1f} points behind on average. Methods of the papers within a "
        f"point of that: {listed(close)}.",
        "",
    ]
    for d, name in enumerate(names):
        winner = rates[d].argmax()
        own = max(ours, key=lambda m: rates[d, m])
        lines.append(
            f"- {THESIS[name].title}: best {METHODS[winner]} ({rates[d, winner]:.1f}); of the papers' "
            f"methods "
            f"{METHODS[own]} ({rates[d, own]:.1f})"
        )
    lines += ["", "Against their defaults, in mean points over the data sets:", ""]
    for method in FURTHER:
        base = method.split(",")[0]
        gain = (rates[:, METHODS.index(method)] - rates[:, METHODS.index(base)]).mean()
        lines.append(f"- {method}: {gain:+.1f}")
    return lines


def _draw(ranks, critical, path):
    order = np.argsort(ranks)
    figure, ax = plt.subplots(figsize=(7, 5.5), layout="constrained")
    colors = ["0.5" if METHODS[m] in PEERS else "#1f5fa8" for m in order]
    ax.scatter(ranks[order], np.arange(len(order)), c=colors, s=40, zorder=3)
    ax.hlines(
        np.arange(len(order)), ranks[order], ranks[order] + critical, colors=colors, alpha=0.25, linewidth=3
    )
    ax.axvline(
        ranks.min() + critical,
        color="0.3",
        linestyle="--",
        linewidth=1,
        label="critical difference to the best",
    )
    ax.set_yticks(np.arange(len(order)), [METHODS[m] for m in order], fontsize=8)
    ax.invert_yaxis()
    ax.set_xlabel("mean rank (bar: critical difference; grey: scikit-learn)")
    ax.legend(frameon=False)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=80)
    plt.close(figure)
