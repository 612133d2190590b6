"""``spectralcls predict``: predict the rows of a file with a saved model, and write a text file."""

import bz2
import csv
import gzip
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path

from . import tables
from .arguments import COVERAGE, YES_OR_NO, jobs, share, threads
from .errors import CommandError
from .outputs import check, keep_apart, written

_STANDARD = Path("-")  # standard input or output
_COMPRESSED = {".gz": gzip.open, ".bz2": bz2.open}
_TEXT = {
    ".csv": ",",
    ".tsv": "\t",
    ".txt": "\t",
}  # delimiters; a semicolon replaces the comma if numbers have decimal commas
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # the last four are full-width
HELP = "predict a file with a saved model"
DESCRIPTION = """\
Predict the rows of a CSV, Excel or Parquet file (or of a folder of Parquet files), read by the rules that `fit`
learned. The output is a text file with decimal commas (and semicolons in .csv) if the input has them; - is a .csv on
the standard output. The row groups of a Parquet file are predicted one after the other."""
EPILOG = """\
example:
  spectralcls predict churn.skops new.csv --out predictions.csv --proba --keep "customer number\""""


def add_options(parser):
    add = parser.add_argument
    add("model", metavar="MODEL", type=Path, help="file that `spectralcls fit` wrote")
    add("data", metavar="DATA", help="CSV, Excel or Parquet file, folder of Parquet files, or -")
    add("--out", metavar="FILE", type=Path, required=True, help="text file to write: .csv, .tsv, .txt, .csv.gz, or -")
    add("--proba", action="store_true", help="write the probability of each class")
    add(
        "--interval",
        type=share,
        nargs="?",
        const=COVERAGE,
        metavar="SHARE",
        help=f"for numbers: write intervals of this coverage, {COVERAGE} unless given",
    )
    add("--keep", metavar="COLUMN", action="append", default=[], help="input column to copy (all: every column)")
    add(
        "--unknown",
        choices=("error", "missing"),
        default="error",
        help="treatment of cells that the model cannot read",
    )
    add("--escape", **YES_OR_NO, help="put ' before cells that a spreadsheet would run as formulas (default: yes)")
    tables.add_places(parser)
    add("--n-jobs", type=jobs, metavar="N", help="threads (default: all cores)")
    add("--quiet", action="store_true", help="do not show progress")


def run(arguments):
    keep_apart(arguments.out, arguments.model, arguments.data)
    if arguments.out != _STANDARD:
        if _ending(arguments.out) not in _TEXT:
            endings = ", ".join((*_TEXT, ".csv.gz"))
            raise CommandError(f"{arguments.out}: predictions are written as text; use a name ending in {endings}")
        check(arguments.out)
    from .. import storage
    from .._estimator import within

    try:
        model = storage.load(arguments.model)
    except (ValueError, OSError) as error:
        raise CommandError(str(error)) from None
    if not hasattr(model, "predict"):
        raise CommandError(f"{arguments.model}: holds a {type(model).__name__}, not a model that predicts")
    if arguments.proba and not hasattr(model, "predict_proba"):
        raise CommandError(f"{arguments.model}: {type(model).__name__} has no probabilities; omit --proba")
    if arguments.interval is not None and not hasattr(within(model)[0], "predict_interval"):
        raise CommandError(f"{arguments.model}: {type(model).__name__} has no intervals; omit --interval")
    if not Path(arguments.data).exists() and Path(arguments.data) != _STANDARD:
        raise CommandError(f"{arguments.data}: no such file")
    try:
        return _write(model, arguments)
    except UnicodeEncodeError as error:
        raise CommandError(
            f"the encoding {error.encoding} of the output lacks {error.object[error.start]!r}: write a file, or set "
            "PYTHONUTF8=1"
        ) from None
    except ValueError as error:
        raise CommandError(str(error)) from None


def _answers(model, source, first_row, arguments):
    """Columns of the output for the rows of a source: {title: array}."""
    import numpy as np

    from .._estimator import mapped, within

    schema = _schema(model, source)
    names = source.table.column_names
    kept = names if arguments.keep == ["all"] else arguments.keep
    added = ["row", "prediction", *(f"p({label})" for label in (model.classes_ if arguments.proba else ()))]
    added += [] if arguments.interval is None else ["low", "high"]
    for name in kept:
        if name in added or names.count(name) != 1:
            what = f"no column {name!r} to keep; there are {', '.join(map(repr, names[:20]))}"
            if name in names:
                what = f"the output would have several columns {name!r}: rename the one to keep"
            raise ValueError(f"{source.path}: {what}")
    X = schema.encode(source, unknown=arguments.unknown, decimal=arguments.decimal)
    try:
        with threads(arguments.n_jobs):
            answers = [model.predict(X), *(model.predict_proba(X).T if arguments.proba else ())]
            if arguments.interval is not None:
                inner, steps = within(model)
                answers += [*inner.predict_interval(mapped(steps, X), coverage=arguments.interval).T]
    except ValueError as error:
        raise ValueError(f"{source.path}: row {first_row} and following: {error}") from None
    rows = {"row": np.arange(first_row, first_row + len(X))}
    return rows | {name: source.table.column(name) for name in kept} | dict(zip(added[1:], answers, strict=True))


def _schema(model, source):
    """The schema stored by `fit`; for other models, a schema of numeric columns by name or position."""
    from ..datasets import Schema

    if hasattr(model, "table_schema_"):
        return model.table_schema_
    names = getattr(model, "feature_names_in_", source.table.column_names)
    expected = getattr(model, "n_features_in_", len(names))
    if len(names) != expected:
        raise ValueError(f"{source.path}: {len(names)} columns, but the model takes {expected} features")
    return Schema.of_numbers(names)


def _sources(model, arguments):
    """Parts of the input, as pairs of the first row's number and a function that reads the part."""
    from ..datasets import table_parts

    schema = getattr(model, "table_schema_", None)
    return table_parts(arguments.data, schema=schema, **tables.places(arguments))


def _ending(path):
    """The suffix that shows the type of a file, compressed or not."""
    return (path.with_suffix("") if path.suffix.lower() in _COMPRESSED else path).suffix.lower()


@contextmanager
def _opened(path, encoding):
    """Open a text file to write: standard output, or a file that appears only when complete."""
    if path == _STANDARD:
        yield sys.stdout
        return
    encoding = "utf-8" if encoding == "utf-8" else "utf-8-sig"
    with written(path, "the predictions were") as temporary:
        with _COMPRESSED.get(path.suffix.lower(), open)(temporary, "wt", encoding=encoding, newline="") as file:
            yield file


def _write(model, arguments):
    """Write the predictions as text.

    The suffix of the output sets the delimiter, the input the decimal sign unless `--decimal` is given; a file is
    encoded as UTF-8, with a byte order mark unless the input was plain UTF-8.
    """
    from .._utils.progress import progress

    n_rows, sources = 0, list(_sources(model, arguments))
    with (
        progress(f"predict {arguments.data}", len(sources), silent=arguments.quiet or len(sources) == 1) as step,
        ExitStack() as opened,
    ):
        writer = None
        for first_row, read in sources:
            step(f"rows from {first_row}")
            source = read()
            out = _answers(model, source, first_row, arguments)
            signs = [column.decimal for column in _schema(model, source).used if column.decimal]
            decimal = arguments.decimal or ("," if "," in signs else "." if signs else source.decimal)
            if writer is None:
                file = opened.enter_context(_opened(arguments.out, source.encoding))
                delimiter = _TEXT.get(_ending(arguments.out), ",")
                if delimiter == "," and "," in (decimal, source.decimal):
                    delimiter = ";"  # as is usual if numbers have decimal commas
                writer = csv.writer(file, delimiter=delimiter)
                writer.writerow(map(_escaped if arguments.escape else str, out))
            columns = [_as_text(column, decimal, arguments.escape) for column in out.values()]
            writer.writerows(zip(*columns, strict=True))
            n_rows += len(out["row"])
        if writer is None:
            raise ValueError(f"{arguments.data}: no rows to predict, and {arguments.out} is not written")
    headed = f"; {source.path}: {source.headed}" if source.headed else ""
    stream = sys.stderr if arguments.out == _STANDARD else sys.stdout
    print(f"{arguments.out}: {n_rows} predictions{headed}", file=stream)
    return 0


def _as_text(column, decimal, escape):
    """Cells of a copied Arrow column, exact to the last digit, or of an array of predictions."""
    import pyarrow as pa

    if not hasattr(column, "to_pylist"):
        values = column.tolist()
        if column.dtype.kind == "f":
            return [f"{value:.6g}".replace(".", decimal) for value in values]
    elif pa.types.is_floating(column.type):
        values = column.cast(pa.string()).to_pylist()
        return ["" if value in (None, "nan") else value.replace(".", decimal) for value in values]
    else:
        values = column.to_pylist()
    return [_escaped(v) if escape and isinstance(v, str) else "" if v is None else v for v in values]


def _escaped(text):
    """Make text safe for spreadsheets: a cell that begins like a formula is escaped, except numbers and signs."""
    if not text.startswith(_FORMULA) or text in ("+", "-"):
        return text
    digits = text[1:].translate(str.maketrans("", "", " .,'%eE-+"))
    return text if text[0] in "+-" and digits.isdecimal() else f"'{text}"
