"""Cells of paper 002: `paper_002` computes, these give its numbers the form of a cell."""

from pathlib import Path

import numpy as np
from sklearn.svm import LinearSVC

from spectralcls.spectral.spectral_kernel import SpectralKernel
from spectralcls.spectral.spectral_kernel_classifier import linear_svm

from . import paper_002
from .data import MissingData
from .summary import spread

RESAMPLES = 200
OTHER_C = (1.0, 4.0)


def _folder(source, *files):
    for file in files:
        if source.folder is None or not (Path(source.folder) / file).exists():
            raise MissingData(
                f"no data: put {file} into {'the data folder' if source.folder else '$SPECTRALCLS_DATA'}"
            )
    return source.folder


def _reuters(source):
    folder = _folder(source, "reuters21578_tf_unit.npz", "reuters21578_meta.npz")
    return paper_002.load_reuters(folder)


def _points(scores):
    return {name: 100 * value for name, value in scores.items()}


def reuters(source):
    """F1 in points for every k and for the linear kernel: {k or "linear": {category, "micro", "macro": ...}}."""
    return {str(k): _points(scores) for k, scores in paper_002.figure_3(data=_reuters(source)).items()}


def reuters_automatic(source):
    """The same with a number of components for each category by cross-validation, and these numbers."""
    found = paper_002.reuters_automatic(data=_reuters(source))
    return {"n_components": found.pop("n_components"), "F1": _points(found)}


def reuters_readings(source, k):
    """Table 3, one column: F1 over resampled test documents [mean, deviation], with other C, and with automatic k.

    {category, "micro" or "macro": {"readings": {...}}}
    """
    X, Y, X_test, Y_test, categories = _reuters(source)
    train, test = X, X_test
    if k != "linear":
        kernel = SpectralKernel(int(k), normalize=True, random_state=0)
        train, test = kernel.fit_transform(X), kernel.transform(X_test)

    def predictions(C):
        machines = (linear_svm(train, 0) if C is None else LinearSVC(C=C, random_state=0) for _ in categories)
        return np.transpose([svm.fit(train, y).predict(test) for svm, y in zip(machines, Y.T, strict=True)])

    own = predictions(None)
    rng = np.random.default_rng(0)
    draws = [rng.integers(len(own), size=len(own)) for _ in range(RESAMPLES)]
    resampled = [_points(paper_002.reuters_scores(Y_test[rows], own[rows], categories)) for rows in draws]
    others = {f"squared hinge loss, C = {C:g}": predictions(C) for C in OTHER_C}
    others = {name: _points(paper_002.reuters_scores(Y_test, p, categories)) for name, p in others.items()}
    automatic = reuters_automatic(source)
    chosen = automatic["n_components"]
    return {
        name: {
            "readings": {"over resampled test documents": spread([scores[name] for scores in resampled])}
            | {reading: scores[name] for reading, scores in others.items()}
            | {f"k by cross-validation ({chosen.get(name, 'for each category')})": automatic["F1"][name]}
        }
        for name in resampled[0]
    }


def medline(source, splits, query):
    """F1 in points on a query, with and without unit rows: {"unit rows" or "plain": {k: {"mean": ...}}}."""
    folder = _folder(source, "medline1033_doc_tf_unit.npz", "medline1033_meta.npz")
    data = paper_002.load_medline(folder)
    out = {}
    for name, normalize in (("unit rows", True), ("plain", False)):
        found = paper_002.figure_2(query, n_splits=splits, normalize=normalize, data=data)
        out[name] = {
            str(k): {"mean": [100 * scores["mean"], 100 * scores["std"]], "best": 100 * scores["best"]}
            for k, scores in found.items()
        }
    best = max((k for k in out["unit rows"] if k != "linear"), key=lambda k: out["unit rows"][k]["mean"][0])
    linear = out["unit rows"]["linear"]
    out["best k"] = best
    out["best split"] = max(scores["best"] for k, scores in out["unit rows"].items() if k != "linear")
    out["readings"] = {
        f"mean over {splits} splits, unit rows, best k = {best}": out["unit rows"][best]["mean"],
        "without unit rows, the same k": out["plain"][best]["mean"],
        "best single split": out["best split"],
        "linear, mean": linear["mean"],
        "linear, best single split": linear["best"],
    }
    out["best mean"] = out["unit rows"][best]["mean"]
    return out
