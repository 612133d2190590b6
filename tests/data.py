"""Real data for tests: found in the folder $SPECTRALCLS_DATA, never required to pass."""

import os
import threading
from pathlib import Path

import numpy as np
import pytest

DATA_VARIABLE = "SPECTRALCLS_DATA"
REQUIRE_VARIABLE = "SPECTRALCLS_REQUIRE_DATA"  # set in .ci/run, where the data is always there


_reading = threading.Lock()  # the headers are parsed, which CPython 3.11 does not do well in several threads


def data_folder():
    """The folder, or a path that does not exist."""
    return Path(os.environ.get(DATA_VARIABLE) or f"${DATA_VARIABLE}")


def data_path(name):
    """Path of a data file, or a loud skip (a failure where the data is required)."""
    path = data_folder() / name
    if not path.exists():
        message = f"no data: {name} is not in the folder ${DATA_VARIABLE}"
        if os.environ.get(REQUIRE_VARIABLE):
            pytest.fail(message)
        pytest.skip(message)
    return path


def load_npz(name):
    """Arrays of ``<name>.npz`` as a dict."""
    with _reading, np.load(data_path(f"{name}.npz"), allow_pickle=False) as file:
        return {key: file[key] for key in file.files}


def read_csv(path, **options):
    """A frame whose numbers are those of the text, to the last bit: before pandas 3, only if asked."""
    pandas = pytest.importorskip("pandas")
    exact = {"float_precision": "round_trip"} if int(pandas.__version__.partition(".")[0]) < 3 else {}
    return pandas.read_csv(path, **exact, **options)
