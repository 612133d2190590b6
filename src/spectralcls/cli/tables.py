"""Options for reading a file, shared by `compare` and `fit`, and the resulting data."""

import argparse
import warnings
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from .._utils.advice import tell
from .errors import CommandError

_READING = {  # help texts of the options that are named like parameters of read_table
    "drop": "column to leave out",
    "categories": "column of categories, whatever its cells look like",
    "numbers": "column of numbers, whatever its cells look like",
    "missing": "word for a missing value, besides '-', NA, n/a, k.A., null, ? and the like",
    "not_missing": "word that does not mean a missing value in the file, e.g. none",
}
_DIALECT = ("encoding", "delimiter", "comment", "skip", "header", "sheet")
_BLANKS = {"tab": "\t", "\\t": "\t", "blank": " ", "space": " "}  # delimiters by their names
BUNDLED = ("iris", "wine", "breast_cancer", "digits")
MOST_FEATURES = 50_000  # tables with more columns are refused


def add_places(parser):
    """Add the options for finding the table in a file, shared with `predict`."""
    add = parser.add_argument
    add("--header", action=argparse.BooleanOptionalAction, help="whether the first row holds the names of the columns")
    add("--encoding", metavar="NAME", help="encoding of a text file, e.g. cp1252")
    add(
        "--delimiter",
        metavar="SIGN",
        type=_delimiter,
        help="delimiter of cells: a character, tab, or blank for any number of blanks",
    )
    add("--comment", metavar="SIGN", help="prefix of lines to skip, e.g. #")
    add("--skip", metavar="N", type=_number_of_lines, help="number of lines above the table")
    add("--sheet", metavar="NAME", help="sheet of a spreadsheet: name or position (default: the first)")
    add("--decimal", choices=(".", ","), help="decimal sign")


def places(arguments):
    """The options of `add_places` as parameters of `read_table`, without the decimal sign."""
    return {name: getattr(arguments, name) for name in _DIALECT}


def _delimiter(text):
    sign = _BLANKS.get(text, text)
    if len(sign) != 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not one character, nor tab or blank")
    return sign


def _number_of_lines(text):
    if not (text.isascii() and text.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of lines")
    return int(text)


def add_options(parser):
    """Add the options for reading."""
    group = parser.add_argument_group("reading a file", "All of this is detected; an option overrides the detection.")
    for name, text in _READING.items():
        group.add_argument(
            f"--{name.replace('_', '-')}",
            metavar="WORD" if "missing" in name else "COLUMN",
            action="append",
            default=[],
            help=f"{text}; may be repeated",
        )
    group.add_argument("--dates", choices=("dmy", "mdy", "ymd"), help="order of day, month and year")
    group.add_argument(
        "--task",
        choices=("classification", "regression"),
        help="whether the target holds classes or numbers (default: numbers with many values are numbers)",
    )
    group.add_argument(
        "--group", metavar="COLUMN", help="column that groups related rows, which are left out together; no feature"
    )
    group.add_argument(
        "--unlabeled",
        choices=("drop", "error"),
        default="drop",
        help="rows without a target (default: drop, with a warning)",
    )
    add_places(group)
    group.add_argument("--dry-run", action="store_true", help="print how the file was read, and exit")


@dataclass(frozen=True)
class Data:
    """A learning problem: ``y`` holds indices into ``classes``, all of which occur, or numbers if ``classes`` is
    None.
    """

    name: str
    X: np.ndarray
    y: np.ndarray
    classes: np.ndarray
    feature_names: list
    categorical: list  # positions of the categories
    schema: object = None  # schema of the file; None for a named set
    n_rows: int = 0  # number of rows of the file
    description: str = ""
    groups: np.ndarray | None = None  # group of each row, if the user named a column of groups

    @property
    def task(self):
        return "regression" if self.classes is None else "classification"

    @property
    def answers(self):
        """Description of the target."""
        if self.classes is not None:
            return f"{len(self.classes)} classes"
        return f"numbers from {self.y.min():.6g} to {self.y.max():.6g}"

    def subsample(self, n_samples, seed):
        """The same problem with ``n_samples`` samples, in which the class proportions are the same."""
        from sklearn.model_selection import train_test_split

        if n_samples >= len(self.y):
            return self
        strata = None if self.classes is None else self.y
        try:
            rows, _ = train_test_split(np.arange(len(self.y)), train_size=n_samples, stratify=strata, random_state=seed)
        except ValueError as error:
            raise CommandError(f"{self.name}: --subsample {n_samples}: {error}") from None
        groups = None if self.groups is None else self.groups[rows]
        if self.classes is None:
            return replace(self, X=self.X[rows], y=self.y[rows], groups=groups)
        classes, y = np.unique(self.y[rows], return_inverse=True)
        return replace(self, X=self.X[rows], y=y, classes=self.classes[classes], groups=groups)


def read(arguments, n_samples=None):
    """Read a file, or the data set of that name."""
    from .. import datasets

    path = Path(arguments.data)
    options = {name: getattr(arguments, name) for name in (*_READING, "dates", "decimal", "group")} | places(arguments)
    if arguments.task and arguments.target is not None:
        kind = {"classification": "categories", "regression": "numbers"}[arguments.task]
        options[kind] = [*options[kind], arguments.target]
    if not (path.suffix or path.exists() or arguments.data == "-"):
        if arguments.target is not None or any(value not in (None, []) for value in options.values()):
            raise CommandError(f"{arguments.data!r} is not a file: --target and the options for reading are for files")
        return _bundled(arguments.data, arguments.task)
    if arguments.target is None and path.exists() and not arguments.dry_run:
        raise CommandError(f"{path}: say which column holds the target: --target NAME or --target POSITION")
    options |= {"n_samples": n_samples, "random_state": arguments.seed, "unlabeled": arguments.unlabeled}
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            table = datasets.read_table(path, target=arguments.target, **options)
        for note in dict.fromkeys(str(warning.message) for warning in caught):
            tell(note)
        return _from_table(table, arguments.task)
    except (ValueError, OSError) as error:
        raise CommandError(str(error) if str(error) else repr(error)) from None


def _from_table(table, task):
    fields = dict(schema=table.schema, n_rows=table.n_rows, description=table.DESCR, groups=table.groups)
    columns = table.feature_names, table.categorical_features
    if table.target is None:  # in a dry run
        return Data(table.name, table.data, None, None, *columns, **fields)
    n = len(np.unique(table.target)) if table.target.dtype.kind == "f" else 0
    if task is None and n:
        print(f"{table.name}: the target has {n} numbers: regression (for classes: --task classification)")
    elif n == 2:
        tell(f"{table.name}: the target has two values: are these classes? If so, use --task classification")
    return checked(table.name, table.data, table.target, *columns, **fields)


def _bundled(name, task):
    """A data set that comes with scikit-learn."""
    from sklearn import datasets

    if name not in BUNDLED:
        raise CommandError(f"there is no file {name}, and no data set {name!r}; there are {', '.join(BUNDLED)}")
    bunch = getattr(datasets, f"load_{name}")()
    labels = np.asarray(bunch.target_names).astype(str)[bunch.target]
    if task == "regression":
        raise CommandError(f"{name}: --task regression predicts numbers, but the target has {labels[0]!r}")
    return checked(name, bunch.data, labels, list(bunch.feature_names), [])


def checked(name, X, target, feature_names, categorical, **more):
    """Make a classification or, if the target holds floats, a regression problem.

    Raises
    ------
    CommandError
    """
    values, y = np.unique(target, return_inverse=True)
    if not X.shape[1]:
        raise CommandError(f"{name}: there are no features")
    if X.shape[1] > MOST_FEATURES:
        raise CommandError(
            f"{name}: {X.shape[1]} features, but at most {MOST_FEATURES} can be learned from in a reasonable time: "
            "give a file with fewer columns"
        )
    if np.isinf(X).any():
        row, column = np.unravel_index(np.argmax(np.isinf(X)), X.shape)
        raise CommandError(f"{name}: row {row}, column {feature_names[column]!r}: {X[row, column]} is not finite")
    if len(values) < 2:
        what = "class" if target.dtype.kind != "f" else "target"
        raise CommandError(f"{name}: all {len(y)} samples have the {what} {values[0].item()!r}; two are needed")
    if target.dtype.kind != "f":
        return Data(name, X, y, values, feature_names, categorical, **more)
    return Data(name, X, target, None, feature_names, categorical, **more)
