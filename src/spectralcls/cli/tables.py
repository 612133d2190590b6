"""Options on how a file is read, which `compare` and `fit` share, and the data that they lead to."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .errors import CommandError

_READING = {  # option: parameter of read_table
    "drop": "column to leave out",
    "categories": "column of categories, whatever its cells look like",
    "numbers": "column of numbers, whatever its cells look like",
    "missing": "word for a missing value, besides '-', NA, n/a, k.A., null, ? and the like",
}
MOST_FEATURES = 50_000  # with which AutoClassifier takes minutes


def add_places(parser):
    """The options on where in a file the table stands, which `predict` has too."""
    parser.add_argument("--encoding", metavar="NAME", help="of a text file, e.g. cp1252")
    parser.add_argument("--sheet", metavar="NAME", help="of a spreadsheet: name or position (default: the first)")


def add_options(parser):
    """The options of reading."""
    group = parser.add_argument_group("reading a file", "All of this is found out; an option overrules it.")
    for name, text in _READING.items():
        group.add_argument(
            f"--{name}",
            metavar="WORD" if name == "missing" else "COLUMN",
            action="append",
            default=[],
            help=f"{text}; may be repeated",
        )
    group.add_argument("--dates", choices=("dmy", "mdy", "ymd"), help="order of day, month and year")
    group.add_argument("--decimal", choices=(".", ","), help="decimal sign")
    add_places(group)
    group.add_argument("--dry-run", action="store_true", help="print what was understood of the file, and end")


@dataclass(frozen=True)
class Data:
    """A classification problem; ``y`` indexes ``classes``, all of which occur."""

    name: str
    X: np.ndarray
    y: np.ndarray
    classes: np.ndarray
    feature_names: list
    categorical: list  # positions
    schema: object = None  # of a file
    n_rows: int = 0  # of the file
    description: str = ""

    def subsample(self, n_samples, seed):
        """The same problem with ``n_samples`` samples, in the same proportions of the classes."""
        from sklearn.model_selection import train_test_split

        if n_samples >= len(self.y):
            return self
        try:
            rows, _ = train_test_split(np.arange(len(self.y)), train_size=n_samples, stratify=self.y, random_state=seed)
        except ValueError as error:
            raise CommandError(f"{self.name}: --subsample {n_samples}: {error}") from None
        fields = dict(feature_names=self.feature_names, categorical=self.categorical, schema=self.schema)
        return checked(self.name, self.X[rows], self.classes[self.y[rows]], **fields)


def read(arguments, n_samples=None):
    """The file, or the data set of that name."""
    from .. import datasets
    from . import named_sets

    path = Path(arguments.data)
    is_file = path.suffix or path.exists()
    options = {name: getattr(arguments, name) for name in (*_READING, "dates", "decimal", "encoding", "sheet")}
    try:
        if is_file and path.suffix.lower() != ".npz" and not arguments.data.startswith("openml:"):
            if arguments.target is None and path.exists() and not arguments.dry_run:
                raise CommandError(f"{path}: say which column holds the classes: --target NAME or --target POSITION")
            table = datasets.read_table(
                path, target=arguments.target, n_samples=n_samples, random_state=arguments.seed, **options
            )
            return _from_table(table)
        if any(options.values()) or (arguments.target is not None and path.suffix.lower() != ".npz"):
            raise CommandError(f"{arguments.data!r} is no file: --target and the options of reading are for files")
        if path.suffix.lower() == ".npz":
            if not path.exists():
                raise CommandError(f"{path}: no such file")
            bunch = named_sets.read_npz(path, target=arguments.target or "y")
        else:
            bunch = named_sets.load(arguments.data, getattr(arguments, "data_home", None), arguments.seed)
    except (ValueError, OSError) as error:
        raise CommandError(str(error) if str(error) else repr(error)) from None
    return _from_bunch(bunch)


def _from_table(table):
    fields = dict(schema=table.schema, n_rows=table.n_rows, description=table.DESCR)
    if table.target is None:  # of a dry run
        return Data(table.name, table.data, None, None, table.feature_names, table.categorical_features, **fields)
    return checked(table.name, table.data, table.target, table.feature_names, table.categorical_features, **fields)


def _from_bunch(bunch):
    from scipy import sparse

    X = bunch.data
    if sparse.issparse(X) or X.dtype.kind not in "biuf":
        raise CommandError(f"{bunch.name}: the features are not a dense array of real numbers")
    if X.dtype != np.float32:
        X = X.astype(np.float64)
    labels = np.asarray(bunch.target_names).astype(str)[bunch.target]
    return checked(bunch.name, X, labels, list(map(str, bunch.feature_names)), [])


def checked(name, X, labels, feature_names, categorical, **more):
    """A problem of classes that can be learned.

    Raises
    ------
    CommandError
    """
    classes, y = np.unique(labels, return_inverse=True)
    if not X.shape[1]:
        raise CommandError(f"{name}: there are no features")
    if X.shape[1] > MOST_FEATURES:
        raise CommandError(
            f"{name}: {X.shape[1]} features, more than the {MOST_FEATURES} that are learned from in a reasonable time: "
            "give a file with fewer columns"
        )
    if np.isinf(X).any():
        row, column = np.unravel_index(np.argmax(np.isinf(X)), X.shape)
        raise CommandError(f"{name}: row {row}, column {feature_names[column]!r}: {X[row, column]} is not finite")
    if len(classes) < 2:
        raise CommandError(f"{name}: all {len(y)} samples have the class {str(classes[0])!r}; two classes are needed")
    if _looks_continuous(classes):
        raise CommandError(f"{name}: the target has {len(classes)} values such as {classes[0]}: numbers, not classes")
    return Data(name, X, y, classes, feature_names, categorical, **more)


def _looks_continuous(classes):
    """Numbers, perhaps with decimal commas, of which some are no integers."""
    try:
        values = np.char.replace(classes, ",", ".").astype(np.float64)
    except ValueError:
        return False
    return not np.array_equal(values, np.round(values))
