"""Data sets by name: bundled with scikit-learn, generated, in a folder of ``.npz`` files, or on OpenML."""

import os
import warnings
import zipfile
from pathlib import Path

import numpy as np
from sklearn import datasets as sklearn_datasets
from sklearn.utils import Bunch

from ..datasets import make_two_gaussians, make_two_rings, make_two_spirals

DATA_VARIABLE = "SPECTRALCLS_DATA"
OPENML_PREFIX = "openml:"

_BUNDLED = ("iris", "wine", "breast_cancer", "digits")
_GENERATORS = {
    "two_gaussians": make_two_gaussians,
    "two_rings": make_two_rings,
    "two_spirals": make_two_spirals,
}


def load(name, data_home=None, random_state=0):
    """Load a data set by name: bundled, generated, or NAME.npz in the data folder, in this order.

    ``openml:credit-g`` or ``openml:31`` is fetched from OpenML; nothing else uses the network.

    Returns
    -------
    data : Bunch
        ``data`` (n, d), ``target`` (n,) with values 0, 1, ..., ``target_names``, ``feature_names``, ``name``, and
        ``splits``, a list of (training rows, test rows), empty if the set has none.

    Raises
    ------
    ValueError, FileNotFoundError, ConnectionError
    """
    if name in _BUNDLED:
        bunch = getattr(sklearn_datasets, f"load_{name}")()
        names = np.asarray(bunch.target_names).astype(str)
        return _bunch(name, bunch.data, bunch.target.astype(np.int64), names, bunch.feature_names)
    if name in _GENERATORS:
        X, y = _GENERATORS[name](random_state=random_state)
        return _bunch(name, X, y, np.unique(y).astype(str))
    if name.startswith(OPENML_PREFIX):
        return _fetch_openml(name.removeprefix(OPENML_PREFIX), data_home)
    folder = _data_folder(data_home)
    if name in _names_in(folder):
        return read_npz(folder / f"{name}.npz")
    where = f"the data folder {folder}" if folder else f"a data folder ({DATA_VARIABLE} is not set)"
    raise ValueError(
        f"There is no data set {name!r}, nor one of that name in {where}. There are: "
        f"{', '.join(available(data_home))}; or {OPENML_PREFIX}NAME for one from OpenML."
    )


def available(data_home=None):
    """Distinct names that :func:`load` accepts without a network."""
    return list(dict.fromkeys([*_BUNDLED, *_GENERATORS, *_names_in(_data_folder(data_home))]))


def read_npz(path, target="y"):
    """Load the data set of a ``.npz`` file, as :func:`load` returns it.

    The file holds one of:

    - ``X``, ``y`` and optionally ``classes`` (the names of the labels 0, 1, ...) and ``feature_names``;
    - ``X_train``, ``y_train``, ``X_test``, ``y_test``, ``classes``: a predefined split;
    - ``X``, ``y``, ``classes``, ``train_idx``, ``test_idx``: one split per row of ``train_idx``.

    Parameters
    ----------
    path : Path
    target : str
        Name of the array with the labels if the file has X.

    Raises
    ------
    ValueError, FileNotFoundError
    """
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    if not zipfile.is_zipfile(path):
        raise ValueError(f"{path} is not a .npz file.")
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
    except zipfile.BadZipFile as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    except ValueError as error:
        raise ValueError(f"{path} cannot be read without unpickling objects: {error}") from error
    if {"X_train", "y_train", "X_test", "y_test"} <= arrays.keys():
        X = np.concatenate([arrays["X_train"], arrays["X_test"]])
        y = np.concatenate([arrays["y_train"], arrays["y_test"]])
        rows = np.arange(len(X))
        splits = [tuple(np.split(rows, [len(arrays["X_train"])]))]
    elif {"X", target} <= arrays.keys():
        X, y = arrays["X"], arrays[target]
        splits = [
            (train.astype(np.intp), test.astype(np.intp))
            for train, test in zip(arrays.get("train_idx", []), arrays.get("test_idx", []), strict=True)
        ]
    else:
        raise ValueError(
            f"{path} holds the arrays {', '.join(arrays) or '(none)'}; wanted are X and {target}, "
            "or X_train, y_train, X_test and y_test."
        )
    if X.ndim != 2 or y.shape != (len(X),):
        raise ValueError(f"{path}: X has the shape {X.shape} and y {y.shape}; wanted are (n, d) and (n,).")
    labels, codes = np.unique(y, return_inverse=True)
    names = arrays.get("classes", labels)
    if np.issubdtype(labels.dtype, np.integer) and labels.min() >= 0 and labels.max() < len(names):
        codes = y.astype(np.int64)  # indices into the names, not all of which need occur
    elif len(names) != len(labels):
        raise ValueError(f"{path}: y has {len(labels)} labels, but there are {len(names)} names in 'classes'.")
    return _bunch(path.stem, X, codes, np.asarray(names), arrays.get("feature_names"), splits)


def _bunch(name, X, target, target_names, feature_names=None, splits=()):
    features = [f"x{column}" for column in range(X.shape[1])] if feature_names is None else list(feature_names)
    known = dict(data=X, target=target, target_names=target_names, feature_names=features)
    return Bunch(**known, splits=list(splits), name=name)


def _fetch_openml(name, data_home):
    which = {"data_id": int(name)} if name.isdecimal() else {"name": name, "version": 1}
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="A network error occurred")  # the last such error is raised
            bunch = sklearn_datasets.fetch_openml(
                **which, data_home=data_home, as_frame=False, parser="liac-arff", n_retries=1, delay=0.5
            )
    except OSError as error:  # urllib's errors are OSErrors
        raise ConnectionError(f"OpenML's data set {name!r} could not be fetched: {error}") from error
    labels, target = np.unique(bunch.target, return_inverse=True)
    return _bunch(OPENML_PREFIX + name, bunch.data, target, labels, bunch.feature_names)


def _data_folder(data_home):
    folder = data_home if data_home is not None else os.environ.get(DATA_VARIABLE) or None
    if folder is None:
        return None
    if not Path(folder).is_dir():
        raise FileNotFoundError(f"The data folder {folder} does not exist.")
    return Path(folder)


def _names_in(folder):
    return [] if folder is None else sorted(file.stem for file in folder.glob("*.npz"))
