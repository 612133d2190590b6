"""What the user names, a data set or a file, as features and integer labels."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.model_selection import train_test_split

from .. import datasets
from . import tables
from .columns import described
from .errors import CommandError

_TEXT = (".csv", ".tsv", ".txt", ".data")
_READERS = dict.fromkeys(_TEXT, tables.read_csv) | {".parquet": tables.read_parquet, ".pq": tables.read_parquet}


@dataclass(frozen=True)
class Data:
    """A classification problem; ``y`` indexes ``classes``, all of which occur."""

    name: str
    X: np.ndarray
    y: np.ndarray
    classes: np.ndarray
    columns: str | None = None  # what they were taken for, if not all are numbers

    def subsample(self, n_samples, seed):
        """The same problem with ``n_samples`` samples, in the same proportions of the classes."""
        if n_samples >= len(self.y):
            return self
        try:
            rows, _ = train_test_split(np.arange(len(self.y)), train_size=n_samples, stratify=self.y, random_state=seed)
        except ValueError as error:
            raise CommandError(f"{self.name}: --subsample {n_samples}: {error}") from None
        return _checked(self.name, self.X[rows], self.classes[self.y[rows]], self.columns)


def is_text(path):
    """Whether a file is delimited text, by the end of its name."""
    return Path(path).suffix.lower() in _TEXT


def read(source, *, target=None, drop=(), categories=(), numbers=(), data_home=None, seed=0):
    """The data set of that name, or the file at that path; see ``spectralcls compare --help``."""
    path = Path(source)
    suffix = path.suffix.lower()
    if suffix in _READERS or suffix == ".npz" or path.is_file():
        return _from_file(path, suffix, target, drop, categories, numbers)
    if target is not None or drop or categories or numbers:
        raise CommandError(
            f"{source!r} is no file: --target, --drop, --categories and --numbers are for CSV and Parquet files"
        )
    try:
        bunch = datasets.load(source, data_home=data_home, random_state=seed)
    except (ValueError, OSError) as error:
        raise CommandError(str(error)) from None
    return _from_bunch(bunch)


def _from_file(path, suffix, target, drop, categories, numbers):
    try:
        if suffix == ".npz":
            return _from_bunch(datasets.read_npz(path, target=target or "y"), drop)
        if suffix not in _READERS:
            raise CommandError(f"{path}: unknown kind of file; known are {', '.join(_READERS)} and .npz")
        if not path.exists():
            raise FileNotFoundError
        if target is None:
            raise CommandError(f"{path}: say which column holds the classes: --target NAME or --target POSITION")
        X, labels, names = _READERS[suffix](path, target, drop, categories, numbers)
    except FileNotFoundError:
        raise CommandError(f"{path}: no such file") from None
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror or error}") from None
    except ValueError as error:
        raise CommandError(str(error)) from None
    return _checked(path.stem, X, labels, described(X, names))


def _from_bunch(bunch, drop=()):
    if bunch.target is None or np.ndim(bunch.target) != 1:
        raise CommandError(f"{bunch.name}: this set has no single label per sample, so there is nothing to compare")
    dropped = [tables.find_column(bunch.feature_names, name, bunch.name) for name in drop]
    X = np.delete(bunch.data, dropped, axis=1) if dropped else bunch.data
    if sparse.issparse(X) or X.dtype.kind not in "biuf":
        raise CommandError(f"{bunch.name}: the features are not a dense array of real numbers")
    if X.dtype != np.float32:
        X = X.astype(np.float64)
    return _checked(bunch.name, X, np.asarray(bunch.target_names).astype(str)[bunch.target])


def _checked(name, X, labels, columns=None):
    classes, y, counts = np.unique(labels, return_inverse=True, return_counts=True)
    if not X.shape[1]:
        raise CommandError(f"{name}: there are no features")
    infinite = np.isinf(X) if X.dtype != object else np.zeros(1, dtype=bool)  # those of files are refused before
    if infinite.any():
        row, column = np.unravel_index(np.argmax(infinite), X.shape)
        raise CommandError(f"{name}: row {row}, column {column}: {X[row, column]} is not finite")
    if len(classes) < 2:
        raise CommandError(f"{name}: all {len(y)} samples have the class {str(classes[0])!r}; two classes are needed")
    if _looks_continuous(classes):
        raise CommandError(f"{name}: the target has {len(classes)} values such as {classes[0]}: numbers, not classes")
    if counts.min() < 2:
        lone = str(classes[np.argmin(counts)])
        raise CommandError(f"{name}: class {lone!r} has one sample; a stratified split needs two of every class")
    return Data(name, X, y, classes, columns)


def _looks_continuous(classes):
    """Numbers of which some are no integers."""
    try:
        values = classes.astype(np.float64)
    except ValueError:
        return False
    return not np.array_equal(values, np.round(values))
