"""Fitted estimators as files that can be read without running code."""

import zipfile
from typing import Any

from .._utils.atomic_files import as_path, atomic
from .._utils.typing import FilePath, Model
from ._reader import Refused, read

__all__ = ["load", "save"]


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


def load(path: FilePath) -> Model:
    """Read an estimator that :func:`save` or ``spectralcls fit`` wrote.

    Only estimators of this package, steps and searches of scikit-learn, arrays and plain values are read. No module is
    imported by a name from the file, and indices that compiled code would follow are checked, so that a file from
    anybody runs no code. skops is not needed.

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
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is not a model, is damaged, or holds anything else, such as estimators of other packages or of
        another minor version of scikit-learn.

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
    path = as_path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: {'not a file' if path.exists() else 'no such file'}")
    try:
        with path.open("rb") as file:
            return read(file, path.stat().st_size)
    except Refused as error:
        raise ValueError(f"{path}: {_line(error)}") from None
    except Exception as error:  # foreign bytes may break a parser in any way
        reason = (
            f": {_line(error)}" if isinstance(error, (OSError, ValueError, ImportError, zipfile.BadZipFile)) else ""
        )
        raise ValueError(f"{path}: not a readable model file, or a truncated one{reason}") from None


def _line(error):
    """A message in one line that can be printed, although it may quote the file."""
    return "".join(sign if sign.isprintable() else "?" for sign in " ".join(str(error).split()))[:400]


def skops_io():
    """Import the library, or raise an error that says how to install it."""
    try:
        import skops.io
    except ImportError:
        raise ImportError('to write model files, install skops: pip install "spectralcls[models]"') from None
    return skops.io
