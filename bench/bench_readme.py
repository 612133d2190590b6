"""First results in the README and other pages: the command line on wine, five classifiers in the plane, capabilities

Everything runs on one thread; seconds are processor seconds.
"""

import inspect
import os
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.base import BaseEstimator, is_classifier
from sklearn.datasets import make_moons
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.svm import SVC
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

import spectralcls
from bench.__main__ import LIMITS
from bench.measure import compare
from bench.pages import view
from bench.toy_data import two_rings, two_spirals

COLORS = ("#0072B2", "#E69F00")
SAMPLES = {
    "moons": lambda: make_moons(400, noise=0.25, random_state=0),
    "rings": lambda: two_rings(400, 0, width=0.9),
    "spirals": lambda: two_spirals(400, 0, noise=0.25),
}
OURS = ["AutoClassifier", "KernelRidgeClassifier", "PerTurboClassifier", "ParzenClassifier"]
PEER = "SVC, grid search"


def test_compare(record):
    """This is the output of `spectralcls compare wine`."""
    command = [sys.executable, "-m", "spectralcls", "compare", "wine"]
    environment = os.environ | dict.fromkeys(LIMITS, "1")
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    record({"output": run.stdout.rstrip()})


@view("compare")
def compare_wine(rows):
    return [f"```\n{rows[0]['output']}\n```"]


def make(name):
    if name in OURS:
        return getattr(spectralcls, name)(n_jobs=1)
    return GridSearchCV(SVC(), {"C": [0.1, 1, 10, 100, 1000], "gamma": [0.01, 0.1, 1, 10, 100]})


def fitted(name, sample):
    """The classifier fitted to half of the points, these points, and the test part."""
    X, y = SAMPLES[sample]()
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    return make(name).fit(X_train, y_train), X_train, y_train, X_test, y_test


@pytest.mark.parametrize("name", [*OURS, PEER])
@pytest.mark.parametrize("sample", SAMPLES)
def test_planes(record, sample, name):
    """The classifiers have their defaults and tune themselves on 200 points in the plane. The picture shows the
    accuracy on 200 other points, and the seconds to tune and train.
    """
    model, X, y, Q, truth = fitted(name, sample)
    row, _ = compare({"fit": lambda: make(name).fit(X, y)})
    record({"accuracy": 100 * model.score(Q, truth), "ms": 1000 * row["fit, s"]["median"]})


@dataclass(frozen=True)
class Planes:
    """Regions and test points of each classifier on each sample."""

    rows: list
    suffix = ".png"

    def draw(self, path):
        import matplotlib.pyplot as plt

        from bench.plots import STYLE, save

        with plt.style.context(STYLE):
            figure, axes = plt.subplots(3, len(OURS) + 1, figsize=(11.5, 6.8))
            for row, sample in zip(axes, SAMPLES, strict=True):
                for ax, name in zip(row, [*OURS, PEER], strict=True):
                    (found,) = (r for r in self.rows if (r["sample"], r["name"]) == (sample, name))
                    self._panel(ax, name, sample, found)
                row[0].set_ylabel(sample, fontsize=11)
            for ax, name in zip(axes[0], [*OURS, PEER], strict=True):
                ax.set_title(name, fontsize=10, loc="center")
            save(figure, path)

    def _panel(self, ax, name, sample, found):
        model, X, _, Q, truth = fitted(name, sample)
        low, high = np.min([*X, *Q], axis=0) - 0.4, np.max([*X, *Q], axis=0) + 0.4
        x, y = np.linspace(low[0], high[0], 200), np.linspace(low[1], high[1], 200)
        plane = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
        if hasattr(model, "decision_function"):
            scores = model.decision_function(plane).reshape(200, 200)
        else:
            scores = model.predict_proba(plane)[:, 1].reshape(200, 200) - 0.5
        ax.contourf(x, y, scores > 0, levels=[-0.5, 0.5, 1.5], colors=COLORS, alpha=0.22)
        ax.contour(x, y, scores, levels=[0], colors="#404040", linewidths=1)
        for c, marker in enumerate("o^"):
            ax.scatter(*Q[truth == c].T, s=14, marker=marker, color=COLORS[c], edgecolors="white", linewidths=0.3)
        ax.set(xticks=[], yticks=[])
        ax.set_xlabel(f"{found['accuracy']:.0f} %,  {found['ms']:.{0 if found['ms'] > 9.5 else 1}f} ms", fontsize=10)
        for spine in ax.spines.values():
            spine.set_visible(False)


@view("planes")
def classifiers_in_the_plane(rows):
    return [Planes(rows)]


def tuned(estimator):
    return ", ".join(f"`{k}`" for k, v in estimator.get_params(deep=False).items() if isinstance(v, str) and v == "cv")


CAPABILITIES = {  # title: function of an unfitted default estimator that returns a Boolean or text
    "tunes": tuned,
    "probabilities": lambda e: hasattr(e, "predict_proba"),
    "weights": lambda e: has_fit_parameter(e, "sample_weight"),
    "partial_fit": lambda e: hasattr(e, "partial_fit"),
    "embeds": lambda e: hasattr(e, "transform"),
    "novelty": lambda e: hasattr(e, "score_samples"),
    "labels": lambda e: is_classifier(e) and get_tags(e).classifier_tags.multi_label,
    "sparse": lambda e: get_tags(e).input_tags.sparse,
    "missing": lambda e: get_tags(e).input_tags.allow_nan,
    "Dask": lambda e: getattr(e, "_learns_on_workers", False),
}


@view(page=False)
def capabilities():
    """Capabilities of each estimator with its defaults, from its tags, methods and signature."""
    modules = (spectralcls, spectralcls.spectral, spectralcls.metric)
    classes = {getattr(module, name) for module in modules for name in module.__all__}
    found = [c() for c in classes if inspect.isclass(c) and issubclass(c, BaseEstimator)]
    rows = []
    for estimator in sorted(found, key=lambda e: (not is_classifier(e), type(e).__name__)):
        answers = {name: ask(estimator) for name, ask in CAPABILITIES.items()}
        answers = {name: a if isinstance(a, str) else "yes" if a else "" for name, a in answers.items()}
        rows.append({"": f"`{type(estimator).__name__}`"} | answers)
    return [rows]
