"""Data sets by name: bundled with scikit-learn, generated, in a folder of ``.npz`` files, or on OpenML."""

import os
import warnings
import zipfile
from pathlib import Path

import numpy as np
from sklearn import datasets as sklearn_datasets
from sklearn.utils import Bunch

from .._utils.files import as_path
from .._utils.typing import FilePath, RandomState, Sizes
from . import _generators

DATA_VARIABLE = "SPECTRALCLS_DATA"
OPENML_PREFIX = "openml:"

_BUNDLED = ("iris", "wine", "breast_cancer", "digits")
_GENERATORS = {
    "two_gaussians": _generators.make_two_gaussians,
    "two_rings": _generators.make_two_rings,
    "two_spirals": _generators.make_two_spirals,
}


def load(
    name: str,
    *,
    data_home: FilePath | None = None,
    n_samples: Sizes | None = None,
    random_state: RandomState = 0,
) -> Bunch:
    """Load a data set by its name.

    Names are looked up among the sets that come with scikit-learn (iris, wine, breast_cancer, digits), the
    generators of this module (two_gaussians, two_rings, two_spirals) and the files ``<name>.npz`` of the data
    folder, in this order. A name ``openml:credit-g`` or ``openml:31`` is fetched from OpenML by name or number; nothing
    else uses the network.

    Parameters
    ----------
    name : str
        Name of the set.
    data_home : path-like, default=None
        The data folder; None takes it from the environment variable SPECTRALCLS_DATA, if that is set. For
        OpenML it is the folder of scikit-learn's cache.
    n_samples : int or tuple of int, default=None
        Size of a generated set (None: the generator's own default); not allowed for the others.
    random_state : int, RandomState instance or None, default=0
        Seed of a generated set.

    Returns
    -------
    data : Bunch
        ``data`` (n_samples, n_features), ``target`` (n_samples,) with values 0, 1, ..., ``target_names``,
        ``feature_names``, ``name``, and ``splits``, a list of (training rows, test rows), empty where the
        set has none of its own: it can be passed as ``cv`` to scikit-learn.

    Raises
    ------
    TypeError
        If the name is no string.
    ValueError
        If no set has that name, with the names there are; if a file or its shapes are broken.
    FileNotFoundError
        If the data folder does not exist.
    ConnectionError
        If OpenML cannot be reached.

    Examples
    --------
    >>> from spectralcls.datasets import load
    >>> load("wine").data.shape
    (178, 13)
    """
    if not isinstance(name, str):
        raise TypeError(f"name must be a string, got {type(name).__name__}.")
    if n_samples is not None and name not in _GENERATORS:
        raise ValueError(f"n_samples is for generated data sets only ({', '.join(_GENERATORS)}); {name!r} is not one.")
    if name in _BUNDLED:
        bunch = getattr(sklearn_datasets, f"load_{name}")()
        names = np.asarray(bunch.target_names).astype(str)
        return _bunch(name, bunch.data, bunch.target.astype(np.int64), names, bunch.feature_names)
    if name in _GENERATORS:
        size = {} if n_samples is None else {"n_samples": n_samples}
        X, y = _GENERATORS[name](**size, random_state=random_state)
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


def available(data_home: FilePath | None = None) -> list[str]:
    """Return the names that :func:`load` knows without a network: bundled, generated, and in the data folder.

    Parameters
    ----------
    data_home : path-like, default=None
        The data folder, as in :func:`load`.

    Returns
    -------
    names : list of str
        The names, each once.

    Raises
    ------
    FileNotFoundError
        If the data folder does not exist.

    Examples
    --------
    >>> from spectralcls.datasets import available
    >>> "wine" in available()
    True
    """
    return list(dict.fromkeys([*_BUNDLED, *_GENERATORS, *_names_in(_data_folder(data_home))]))


def read_npz(path: FilePath, *, target: str = "y") -> Bunch:
    """Read a data set from one ``.npz`` file.

    The file holds one of

    - ``X``, ``y`` and, if wanted, ``classes`` (the names of the labels 0, 1, ...) and ``feature_names``;
    - ``X_train``, ``y_train``, ``X_test``, ``y_test``, ``classes``: a predefined split;
    - ``X``, ``y``, ``classes``, ``train_idx``, ``test_idx``, ``realisations``: one split per row of
      ``train_idx``.

    Parameters
    ----------
    path : path-like
        The file.
    target : str, default="y"
        Name of the array with the labels, where the file has X.

    Returns
    -------
    data : Bunch
        As :func:`load` returns it.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is no ``.npz`` file, holds pickled objects, or has none of the forms above.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from spectralcls.datasets import read_npz
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/lines.npz", X=np.eye(3), y=np.arange(3))
    ...     read_npz(f"{folder}/lines.npz").data.shape
    (3, 3)
    """
    path = as_path(path)
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
        codes = y.astype(np.int64)  # indices into the names, of which some may not occur
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
            warnings.filterwarnings("ignore", message="A network error occurred")  # the last one is raised
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
    if not isinstance(folder, (str, os.PathLike)):
        raise TypeError(f"data_home must be the name of a folder, got {folder!r}.")
    if not Path(folder).is_dir():
        raise FileNotFoundError(f"The data folder {folder} does not exist.")
    return Path(folder)


def _names_in(folder):
    return [] if folder is None else sorted(file.stem for file in folder.glob("*.npz"))
