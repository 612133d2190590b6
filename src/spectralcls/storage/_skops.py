"""Fitted estimators as files that can be read without running code."""

import re
import zipfile
from importlib import import_module
from typing import Any

import numpy as np
import sklearn
from scipy import sparse

from .._utils.atomic_files import as_path, atomic
from .._utils.typing import FilePath

__all__ = ["load", "save"]

_VERSION = re.compile(r'"_sklearn_version": \{[^{}]*"content": "\\"([^"\\]+)')


def save(model: Any, path: FilePath) -> None:
    """Write a fitted estimator to a file.

    The file is written by skops, without pickled code, and either completely or not at all.

    Parameters
    ----------
    model : estimator
        Estimator of this package or scikit-learn, or a pipeline of them.
    path : path-like
        Usually ``*.skops``.

    Raises
    ------
    ImportError
        If skops is not installed.
    OSError
        If the file cannot be written.
    TypeError
        For an estimator fitted to a Dask collection, whose points are on workers.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> import spectralcls
    >>> X, y = load_iris(return_X_y=True)
    >>> model = spectralcls.ParzenClassifier(bandwidth=0.5).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     spectralcls.save(model, f"{folder}/iris.skops")
    ...     again = spectralcls.load(f"{folder}/iris.skops")
    >>> bool((again.predict(X) == model.predict(X)).all())
    True
    """
    for part in (model, *(step for _, step in getattr(model, "steps", ()))):
        if hasattr(part, "to_local"):
            raise TypeError(
                f"This {type(part).__name__} was fitted to a Dask collection, and a file must contain its points: save "
                "the result of to_local()."
            )
    skops = skops_io()
    with atomic(path) as temporary:
        skops.dump(model, temporary)


def load(path: FilePath) -> Any:
    """Read an estimator that :func:`save` or ``spectralcls fit`` wrote.

    A file with anything but estimators of this package and scikit-learn, arrays and plain values is refused, so that
    reading runs no code from its author.

    Parameters
    ----------
    path : path-like
        The file to read.

    Returns
    -------
    model : estimator
        The estimator as it was saved. A model of ``spectralcls fit`` has the attribute ``table_schema_``, with which
        :func:`spectralcls.datasets.read_table` reads further files.

    Raises
    ------
    ImportError
        If skops is not installed.
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is not a model, is damaged, or holds a type that is not trusted or estimators of another minor
        version of scikit-learn.

    Examples
    --------
    >>> import tempfile
    >>> import spectralcls
    >>> model = spectralcls.ParzenClassifier(bandwidth=0.5).fit([[0.0], [1.0]], ["no", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     spectralcls.save(model, f"{folder}/model.skops")
    ...     again = spectralcls.load(f"{folder}/model.skops")
    >>> again.predict([[0.9]])
    array(['yes'], dtype='<U3')
    """
    skops, path = skops_io(), as_path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: {'not a file' if path.exists() else 'no such file'}")
    try:
        unknown = skops.get_untrusted_types(file=path)
    except Exception as error:  # a parser may raise anything on foreign bytes
        raise _damaged(path, error) from None
    _refuse_other_versions(path)
    foreign = [name for name in unknown if not _is_trusted(name)]
    if foreign:
        raise ValueError(
            f"{path}: refused, because it holds {', '.join(foreign[:5])}, which does not belong to this "
            "package, scikit-learn, NumPy or SciPy; if you trust its author, read it with skops.io.load"
        )
    try:
        return skops.load(path, trusted=unknown)
    except Exception as error:
        raise _damaged(path, error) from None


def _damaged(path, error):
    reason = f": {error}" if isinstance(error, (OSError, ValueError, ImportError)) else ""
    return ValueError(f"{path}: not a readable model file, or a truncated one{reason}")


def _refuse_other_versions(path):
    """Raise for estimators of another minor version of scikit-learn, which this version may not read."""
    with zipfile.ZipFile(path) as file:
        versions = set(_VERSION.findall(file.read("schema.json").decode()))
    here = sklearn.__version__
    other = sorted(version for version in versions if version.split(".")[:2] != here.split(".")[:2])
    if other:
        raise ValueError(
            f"{path}: was written with scikit-learn {other[0]}, but this is {here}, which may not read it: install "
            f"scikit-learn {'.'.join(other[0].split('.')[:2])}, or fit the model again"
        )


def _is_trusted(name):
    """Whether an object of this type can be created without running code from the file's author.

    Classes of this package and scikit-learn run no such code. From NumPy and SciPy, only number types and sparse
    matrices are trusted, because some of their other classes, such as numpy.memmap, open files.
    """
    module, _, attribute = name.rpartition(".")
    if name in ("builtins.object", "functools.partial"):  # the function of a partial is examined, too
        return True
    if module.split(".")[0] not in ("spectralcls", "sklearn", "numpy", "scipy"):
        return False
    try:
        found = getattr(import_module(module), attribute, None)
    except ImportError:
        return False
    if getattr(found, "__module__", None) != module:
        return False
    if not isinstance(found, type):
        return module == "sklearn.utils.validation"  # histogram boosting stores a validator from this module
    if module.split(".")[0] in ("numpy", "scipy"):
        return issubclass(found, (np.dtype, np.generic, sparse.sparray, sparse.spmatrix))
    return True


def skops_io():
    """Import the library, or raise an error that says how to install it."""
    try:
        import skops.io
    except ImportError:
        raise ImportError('model files need skops: pip install "spectralcls[models]"') from None
    return skops.io
