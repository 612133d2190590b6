"""Cells of paper 002: `paper_002` computes, these give its numbers the form of a cell."""

from pathlib import Path

import numpy as np
from sklearn import preprocessing
from sklearn.svm import LinearSVC

from spectralcls.spectral import SpectralKernel, linear_svm

from . import paper_002
from .data import MissingData
from .summary import spread

RESAMPLES = 200
OTHER_C = 1.0
TABLE_3_COMPONENTS = paper_002.TABLE_3_COMPONENTS


def _folder(source, *files):
    for file in files:
        if source.folder is None or not (Path(source.folder) / file).exists():
            raise MissingData(f"no data: put {file} into {'the data folder' if source.folder else '$SPECTRALCLS_DATA'}")
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


def reuters_readings(source):
    """Table 3: F1 over resampled test documents [mean, deviation], with another SVM, and with automatic k.

    {k or "linear": {category, "micro" or "macro": {"readings": {...}}}}
    """
    X, Y, X_test, Y_test, categories = _reuters(source)
    rng = np.random.default_rng(0)
    draws = [rng.integers(len(Y_test), size=len(Y_test)) for _ in range(RESAMPLES)]
    automatic = reuters_automatic(source)
    kernel = SpectralKernel(max(TABLE_3_COMPONENTS), normalize=False, random_state=0)
    embedded, embedded_test = kernel.fit_transform(X), kernel.transform(X_test)
    features = {
        str(k): tuple(preprocessing.normalize(part[:, :k]) for part in (embedded, embedded_test))
        for k in TABLE_3_COMPONENTS
    }

    def scores(machine, train, test, samples):
        predicted = np.transpose([machine(train).fit(train, y).predict(test) for y in Y.T])
        return [_points(paper_002.reuters_scores(Y_test[rows], predicted[rows], categories)) for rows in samples]

    out = {}
    for k, (train, test) in {**features, "linear": (X, X_test)}.items():
        resampled = scores(lambda rows: linear_svm(rows, 0), train, test, draws)
        other = scores(lambda _: LinearSVC(C=OTHER_C, random_state=0), train, test, [slice(None)])[0]
        out[k] = {
            name: {
                "readings": {
                    "over resampled test documents": spread([found[name] for found in resampled]),
                    f"squared hinge loss, C = {OTHER_C:g}": other[name],
                    f"k by cross-validation ({automatic['n_components'].get(name, 'for each category')})": automatic[
                        "F1"
                    ][name],
                }
            }
            for name in other
        }
    return out


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
