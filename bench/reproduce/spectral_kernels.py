"""Cells of paper 002: `paper_002` computes, these give its numbers the form of a cell."""

from . import paper_002
from .data import MissingData

COMPONENTS = paper_002.FIGURE_3_COMPONENTS


def _folder(source, *files):
    from pathlib import Path

    for file in files:
        if source.folder is None or not (Path(source.folder) / file).exists():
            raise MissingData(
                f"no data: put {file} into {'the data folder' if source.folder else '$SPECTRALCLS_DATA'}"
            )
    return source.folder


def reuters(source):
    """F1 in points for every k and for the linear kernel: {k or "linear": {"micro": ..., "macro": ...}}."""
    folder = _folder(source, "reuters21578_tf_unit.npz", "reuters21578_meta.npz")
    found = paper_002.figure_3(data=paper_002.load_reuters(folder))
    return {
        str(k): {average: 100 * scores[average] for average in ("micro", "macro")}
        for k, scores in found.items()
    }


def reuters_automatic(source):
    """The same with a number of components for each category by cross-validation: a reading of table 3."""
    folder = _folder(source, "reuters21578_tf_unit.npz", "reuters21578_meta.npz")
    found = paper_002.reuters_automatic(data=paper_002.load_reuters(folder))
    ks = found["n_components"].values()
    return {
        "readings": {
            f"k by cross-validation ({min(ks)} to {max(ks)}), micro": 100 * found["micro"],
            "macro": 100 * found["macro"],
        }
    }


def medline(source, splits):
    """F1 in points on query 23, with and without unit rows: {"unit rows" or "plain": {k: {"mean": ...}}}."""
    folder = _folder(source, "medline1033_doc_tf_unit.npz", "medline1033_meta.npz")
    data = paper_002.load_medline(folder)
    out = {}
    for name, normalize in (("unit rows", True), ("plain", False)):
        found = paper_002.figure_2(n_splits=splits, normalize=normalize, data=data)
        out[name] = {
            str(k): {"mean": [100 * scores["mean"], 100 * scores["std"]], "best": 100 * scores["best"]}
            for k, scores in found.items()
        }
    best = max((k for k in out["unit rows"] if k != "linear"), key=lambda k: out["unit rows"][k]["mean"][0])
    linear = out["unit rows"]["linear"]
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
