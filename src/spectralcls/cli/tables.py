"""Options for reading a file, shared by `compare` and `fit`, and the resulting data."""

import argparse
import shlex
import warnings
from dataclasses import dataclass, replace
from functools import partial
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
# At most _MOST_WHOLE distinct integers are classes. More are classes only if they are consecutive, start with 0 or 1,
# and have at least _ROWS_A_CLASS rows each, on average.
_MOST_WHOLE, _ROWS_A_CLASS = 20, 3
# with at least this many distinct numbers per other distinct cell, the other cells count as mistakes
_NUMBERS_A_WORD = 10
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
    group.add_argument("--group", metavar="COLUMN", help="column that groups related rows; it is not a feature")
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
        return _from_table(table, arguments)
    except (ValueError, OSError) as error:
        raise CommandError(str(error) if str(error) else repr(error)) from None


def _from_table(table, arguments):
    fields = dict(schema=table.schema, n_rows=table.n_rows, description=table.DESCR, groups=table.groups)
    if table.target is None:  # in a dry run
        return Data(table.name, table.data, None, None, table.feature_names, table.categorical_features, **fields)
    from ..datasets import numbers_in

    signs = [column.decimal for column in table.schema.used if column.decimal]
    options = {"task": arguments.task, "read": partial(numbers_in, decimal=arguments.decimal or _decimal(signs))}
    columns = table.feature_names, table.categorical_features
    return checked(table.name, table.data, table.target, *columns, **options, **fields)


def _bundled(name, task):
    """A data set that comes with scikit-learn."""
    from sklearn import datasets

    if name not in BUNDLED:
        raise CommandError(f"there is no file {name}, and no data set {name!r}; there are {', '.join(BUNDLED)}")
    bunch = getattr(datasets, f"load_{name}")()
    labels = np.asarray(bunch.target_names).astype(str)[bunch.target]
    return checked(name, bunch.data, labels, list(bunch.feature_names), [], task)


def checked(name, X, labels, feature_names, categorical, task=None, read=None, **more):
    """Make a classification or regression problem. If `task` is not given and the target makes it a regression, a
    printed line says so.

    Raises
    ------
    CommandError
    """
    classes, y = np.unique(labels, return_inverse=True)
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
    numbers = _numbers(classes, y, task, read or _plain_numbers, name)
    if numbers is not None:
        return Data(name, X, numbers, None, feature_names, categorical, **more)
    if len(classes) < 2:
        raise CommandError(f"{name}: all {len(y)} samples have the class {str(classes[0])!r}; two classes are needed")
    return Data(name, X, y, classes, feature_names, categorical, **more)


def _numbers(classes, y, task, read, name):
    """The target as numbers (n,) for a regression; otherwise None.

    Raises
    ------
    CommandError
        If a regression is requested and a cell is not a number.
    """
    if task == "classification":
        return None
    values = read(classes)
    known = ~np.isnan(values)
    if task is None and not known.all():
        _refuse_mistaken(name, classes, values, len(y))
        return None
    if task is None and not _many(values, len(y)):
        return None
    if not known.all():
        wrong = str(classes[~known][0])
        raise CommandError(f"{name}: --task regression predicts numbers, but the target has {wrong!r}")
    if len(values) < 2:
        raise CommandError(f"{name}: all {len(y)} samples have the target {values[0]:g}: there is nothing to predict")
    if task is None:
        print(f"{name}: the target has {len(values)} numbers: regression (for classes: --task classification)")
    elif len(values) == 2:
        tell(f"{name}: the target has two values: are these classes? If so, use --task classification")
    return values[y]


def _refuse_mistaken(name, classes, values, n_rows):
    """Raise for a target of dates, or of many numbers and a few words, which would make each number a class."""
    known = ~np.isnan(values)
    if known.sum() >= _NUMBERS_A_WORD * (~known).sum() and _many(values[known], n_rows):
        wrong = str(classes[~known][0])
        raise CommandError(
            f"{name}: the target has {known.sum()} numbers, and {wrong!r}: correct the cell, or leave out its row with "
            f"--missing {shlex.quote(wrong)}; --task classification takes each number as a class"
        )
    if len(classes) > max(_MOST_WHOLE, n_rows / _ROWS_A_CLASS):
        texts = [str(text) for text in classes]
        from .._inputs.dates import ORDERS, read_dates  # imported here, so that commands start without the core

        if any(read_dates(texts, order) is not None for order in ORDERS):
            raise CommandError(
                f"{name}: the target holds dates, such as {texts[0]!r}, and regression predicts numbers: write the "
                "days since some date into the file; --task classification takes each date as a class"
            )


def _plain_numbers(classes):
    try:
        return classes.astype(np.float64)
    except ValueError:
        return np.full(len(classes), np.nan)


def _decimal(signs):
    """The decimal sign of the columns of numbers if it is known to be a comma, else None."""
    return "," if "," in signs else None


def _many(values, n_rows):
    """Whether numbers are a regression target: some are not integers, or there are many that cannot be consecutive
    classes.
    """
    if not np.array_equal(values, np.round(values)):
        return True
    if len(values) <= _MOST_WHOLE:
        return False
    running = values.min() in (0, 1) and np.ptp(values) == len(values) - 1
    return not running or len(values) > n_rows / _ROWS_A_CLASS
