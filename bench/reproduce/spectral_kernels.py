"""Cells of paper 002, which bring the results of `paper_002` into the form of a cell."""

from pathlib import Path

from . import paper_002
from .data import MissingData


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


def latent_semantic(source):
    """The same for the latent semantic kernel, and processor seconds of SVMs with and without the embedding."""
    data = _reuters(source)
    found = {str(k): _points(scores) for k, scores in paper_002.latent_semantic(data).items()}
    return {"F1": found, "seconds": paper_002.seconds(data)}


def reuters_automatic(source):
    """The same with a number of components for each category by cross-validation, and these numbers."""
    found = paper_002.reuters_automatic(data=_reuters(source))
    return {"n_components": found.pop("n_components"), "F1": _points(found)}


def medline(source, splits, query):
    """F1 in points on a query, with and without unit rows: {"unit rows" or "plain": {k: {"mean": ...}}}, and the
    "best" of both."""
    folder = _folder(source, "medline1033_doc_tf_unit.npz", "medline1033_meta.npz")
    data = paper_002.load_medline(folder)
    out = {}
    for name, normalize in (("unit rows", True), ("plain", False)):
        found = paper_002.figure_2(query, n_splits=splits, normalize=normalize, data=data)
        out[name] = {
            str(k): {"mean": [100 * scores["mean"], 100 * scores["std"]], "best": 100 * scores["best"]}
            for k, scores in found.items()
        }
    return out | {"best": {name: _best(curves) for name, curves in out.items()}}


def _best(curves):
    """The number of eigenvectors with the best mean, this mean, and the best single split for any number."""
    of_k = {k: scores for k, scores in curves.items() if k != "linear"}
    k = max(of_k, key=lambda k: of_k[k]["mean"][0])
    return {"k": k, "mean": of_k[k]["mean"], "split": max(scores["best"] for scores in of_k.values())}
