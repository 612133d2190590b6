"""Writes ``tests/models``: every estimator as this version stores it, made by each variant that runs here.

    python -m tests.make_models

The files of a released version stay as they are, and later versions have to read them
(``tests/storage/test_models.py``).
Those of a version that is not released yet are written again whenever what an estimator stores has changed.
"""

import io
import os
import pickle
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path

import numpy as np
import skops.io

import spectralcls
from spectralcls._core import ISA_VARIABLE, available_variants, compiled

from . import every_estimator as estimators

FOLDER = Path(__file__).parent / "models"


def fitted():
    """Every estimator, fitted to 24 points of three classes."""
    X, y, _ = estimators.problem(n=24, d=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few points: that is what some of them say
        return {name: estimators.make(name, fixed=True).fit(X, y) for name in estimators.names()}


def compressed(content):
    """The bytes of a zip file, packed; skops by itself stores them as they are."""
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            target.writestr(zipfile.ZipInfo(name), source.read(name), zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def write(variant):
    models = fitted()
    FOLDER.mkdir(exist_ok=True)
    stem = FOLDER / f"{spectralcls.__version__}-{variant}"
    stem.with_name(stem.name + ".pkl").write_bytes(pickle.dumps(models, protocol=4))
    stem.with_name(stem.name + ".skops").write_bytes(compressed(skops.io.dumps(models)))
    queries = estimators.problem(n=24, d=2)[2]
    answers = {
        f"{name} {what}": np.asarray(answer)
        for name, model in models.items()
        for what, answer in estimators.responses(model, queries).items()
    }
    np.savez_compressed(stem.with_name(stem.name + ".npz"), queries=queries, **answers)


def main():
    if sys.argv[1:]:
        return write(compiled.build_info()["variant"])
    for variant in available_variants():
        subprocess.run(
            [sys.executable, "-m", "tests.make_models", variant], check=True, env=os.environ | {ISA_VARIABLE: variant}
        )


if __name__ == "__main__":
    main()
