"""What each estimator can do, asked from its tags and methods: ``python -m bench.capabilities`` writes the page."""

import inspect
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

import spectralcls
import spectralcls.dask

PAGE = Path(__file__).parents[1] / "docs" / "guide" / "capabilities.md"
HEAD = """# Capabilities

What each estimator offers with its defaults, written by `python -m bench.capabilities` from the estimators' own
tags, methods and signatures.

- *Tunes*: the parameters that `fit` chooses by cross-validation. `AutoClassifier` chooses those of its members.
- *Probabilities*: `predict_proba`. *Weights*: `sample_weight`. *Embeds*: `transform`. *Novelty*: `score_samples`.
- *Labels*: several labels for a sample. *Sparse*: sparse matrices. *Missing*: missing values.
- *Float32*: a transformer maps float32 data to float32. *Dask*: there is a counterpart in `spectralcls.dask`.

"""


def _tuned(estimator):
    return ", ".join(f"`{k}`" for k, v in estimator.get_params(deep=False).items() if isinstance(v, str) and v == "cv")


COLUMNS = {  # title: what an unfitted default estimator offers, a boolean or text
    "tunes": _tuned,
    "probabilities": lambda e: hasattr(e, "predict_proba"),
    "weights": lambda e: has_fit_parameter(e, "sample_weight"),
    "partial_fit": lambda e: hasattr(e, "partial_fit"),
    "embeds": lambda e: hasattr(e, "transform"),
    "novelty": lambda e: hasattr(e, "score_samples"),
    "labels": lambda e: is_classifier(e) and get_tags(e).classifier_tags.multi_label,
    "sparse": lambda e: get_tags(e).input_tags.sparse,
    "missing": lambda e: get_tags(e).input_tags.allow_nan,
    "float32": lambda e: hasattr(e, "transform") and "float32" in get_tags(e).transformer_tags.preserves_dtype,
    "Dask": lambda e: type(e).__name__ in spectralcls.dask.__all__,
}


def estimators():
    """The estimators at the top of the package, classifiers first."""
    classes = [getattr(spectralcls, name) for name in spectralcls.__all__]
    found = [c() for c in classes if inspect.isclass(c) and issubclass(c, BaseEstimator)]
    return sorted(found, key=lambda e: (not is_classifier(e), type(e).__name__))


def cell(value):
    return value if isinstance(value, str) else "yes" if np.bool_(value) else ""


def page():
    rows = [["", *COLUMNS], ["---"] * (1 + len(COLUMNS))]
    for estimator in estimators():
        rows.append([f"`{type(estimator).__name__}`", *(cell(ask(estimator)) for ask in COLUMNS.values())])
    return HEAD + "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
