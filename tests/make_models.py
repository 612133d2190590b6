"""Writes ``tests/models``: every estimator as this version stores it, in both formats, compressed.

    python -m tests.make_models

What is stored is the same for every instruction set of the core: packed layouts are built again when they are needed.

The files of a released version stay as they are, and later versions have to read them
(``tests/storage/test_models.py``).
Those of a version that is not released yet are written again whenever what an estimator stores has changed.
"""

import lzma
import pickle
import warnings
from pathlib import Path

import numpy as np
import skops.io

import spectralcls

from . import every_estimator as estimators

FOLDER = Path(__file__).parent / "models"


def fitted():
    """Every estimator, fitted to 24 points of three classes."""
    X, y, _ = estimators.problem(n=24, d=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few points: that is what some of them say
        return {name: estimators.make(name, fixed=True).fit(X, y) for name in estimators.names()}


def main():
    models = fitted()
    stem = str(FOLDER / spectralcls.__version__)
    for suffix, content in {".pkl": pickle.dumps(models, protocol=4), ".skops": skops.io.dumps(models)}.items():
        Path(f"{stem}{suffix}.xz").write_bytes(lzma.compress(content))
    queries = estimators.problem(n=24, d=2)[2]
    answers = {
        f"{name} {what}": np.asarray(answer)
        for name, model in models.items()
        for what, answer in estimators.responses(model, queries).items()
    }
    np.savez_compressed(f"{stem}.npz", queries=queries, **answers)


if __name__ == "__main__":
    main()
