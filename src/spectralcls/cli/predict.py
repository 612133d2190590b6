"""``spectralcls predict``: classify a file with a saved model.

The output is a CSV file, or a folder of Parquet files that every Parquet reader takes for one table: a part for each
row group of the input, written under another name and renamed when it is complete. A part that exists is whole.
"""

import csv
import hashlib
import json
from pathlib import Path

from . import tables
from .arguments import YES_OR_NO, jobs, threads
from .errors import CommandError
from .outputs import check, keep_apart, written

_MANIFEST = "_spectralcls.json"  # readers skip names with an underscore
_TEXT = {".csv": ",", ".tsv": "\t", ".txt": "\t"}  # delimiters; semicolons in place of commas if numbers have these
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # the last four are full-width
HELP = "classify a file with a saved model"
DESCRIPTION = """\
Classify the rows of a CSV, Excel or Parquet file (or of a folder of Parquet files), read by the rules that `fit`
learned. If the name of the output ends in .csv, .tsv or .txt it is one text file, with decimal commas (and semicolons
in .csv) if the input has them. Otherwise it is a folder of Parquet files, one for each row group of the input, which
readers take for one table. After an interruption or a full disk its parts are valid, and --resume goes on."""
EPILOG = """\
examples:
  spectralcls predict churn.skops new.csv --out predictions.csv --proba --keep "customer number"
  spectralcls predict species.skops years.parquet --out predictions.parquet --resume"""


def add_options(parser):
    add = parser.add_argument
    add("model", metavar="MODEL", type=Path, help="file that `spectralcls fit` wrote")
    add("data", metavar="DATA", help="CSV, Excel or Parquet file, or folder of Parquet files")
    add("--out", metavar="FILE", type=Path, required=True, help="e.g. predictions.csv, or a folder predictions.parquet")
    add("--proba", action="store_true", help="write the probability of each class")
    add("--keep", metavar="COLUMN", action="append", default=[], help="input column to copy (all: every one)")
    add("--unknown", choices=("error", "missing"), default="error", help="what a level is that the model does not know")
    add("--escape", **YES_OR_NO, help="put ' before cells that a spreadsheet would run as formulas (default: yes)")
    add("--resume", action="store_true", help="keep the parts that are there and write the others")
    tables.add_places(parser)
    add("--n-jobs", type=jobs, metavar="N", help="threads (default: all cores)")
    add("--quiet", action="store_true", help="show no progress")


def run(arguments):
    keep_apart(arguments.out, arguments.model, arguments.data)
    from .. import storage

    try:
        model = storage.load(arguments.model)
    except (ValueError, OSError) as error:
        raise CommandError(str(error)) from None
    if not hasattr(model, "predict"):
        raise CommandError(f"{arguments.model}: holds no classifier, but {type(model).__name__}")
    if arguments.proba and not hasattr(model, "predict_proba"):
        raise CommandError(f"{arguments.model}: {type(model).__name__} has no probabilities; leave --proba away")
    if not Path(arguments.data).exists():
        raise CommandError(f"{arguments.data}: no such file")
    is_text = arguments.out.suffix.lower() in _TEXT
    if is_text:
        check(arguments.out)
    try:
        return _write_text(model, arguments) if is_text else _write_parquet(model, arguments)
    except ValueError as error:
        raise CommandError(str(error)) from None


def _answers(model, source, first_row, arguments):
    """Columns of the output for the rows of a source: {title: array}."""
    import numpy as np

    schema = _schema(model, source)
    names = source.table.column_names
    kept = names if arguments.keep == ["all"] else arguments.keep
    added = ["row", "prediction", *(f"p({label})" for label in (model.classes_ if arguments.proba else ()))]
    for name in kept:
        if name in added or names.count(name) != 1:
            what = f"no column {name!r} to keep; there are {', '.join(map(repr, names[:20]))}"
            if name in names:
                what = f"the output would have several columns {name!r}: rename the one to keep"
            raise ValueError(f"{source.path}: {what}")
    X = schema.encode(source, unknown=arguments.unknown)
    try:
        with threads(arguments.n_jobs):
            answers = [model.predict(X), *(model.predict_proba(X).T if arguments.proba else ())]
    except ValueError as error:
        raise ValueError(f"{source.path}: row {first_row} and following: {error}") from None
    rows = {"row": np.arange(first_row, first_row + len(X))}
    return rows | {name: source.table.column(name) for name in kept} | dict(zip(added[1:], answers, strict=True))


def _schema(model, source):
    """The rules that `fit` stored; those of a model from elsewhere are names, or positions, of numbers."""
    from ..datasets import Schema

    if hasattr(model, "table_schema_"):
        return model.table_schema_
    names = getattr(model, "feature_names_in_", source.table.column_names)
    expected = getattr(model, "n_features_in_", len(names))
    if len(names) != expected:
        raise ValueError(f"{source.path}: {len(names)} columns, but the model takes {expected} features")
    return Schema.of_numbers(names)


def _sources(model, arguments):
    """Pairs (number of the first row, callable that reads) of the parts of the input."""
    from ..datasets import table_parts

    where = {"encoding": arguments.encoding, "sheet": arguments.sheet}
    schema = getattr(model, "table_schema_", None)
    return table_parts(arguments.data, schema=schema, as_written=bool(arguments.keep), **where)


def _write_text(model, arguments):
    """One text file, in the delimiter, decimal sign and kind of encoding of the input."""
    n_rows = 0
    with written(arguments.out, "the predictions were") as temporary:
        file = None
        for first_row, read in _sources(model, arguments):
            source = read()
            out = _answers(model, source, first_row, arguments)
            signs = [column.decimal for column in _schema(model, source).used if column.decimal]
            decimal = "," if "," in signs else "." if signs else source.decimal
            if file is None:
                encoding = "utf-8" if source.encoding == "utf-8" else "utf-8-sig"
                file = open(temporary, "w", encoding=encoding, newline="")
                delimiter = _TEXT[arguments.out.suffix.lower()]
                if delimiter == "," and "," in (decimal, source.decimal):
                    delimiter = ";"  # as programs do where numbers have commas
                writer = csv.writer(file, delimiter=delimiter)
                writer.writerow(map(_escaped if arguments.escape else str, out))
            columns = [_as_text(column, decimal, arguments.escape) for column in out.values()]
            writer.writerows(zip(*columns, strict=True))
            n_rows += len(out["row"])
        file.close()
    print(f"{arguments.out}: {n_rows} predictions")
    return 0


def _as_text(column, decimal, escape):
    """Cells of a kept column of Arrow as they were, to the last digit; those of an array of answers."""
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
    """Text that a spreadsheet shows: a cell that begins like a formula is one, unless it is a number."""
    if not text.startswith(_FORMULA):
        return text
    digits = text[1:].translate(str.maketrans("", "", " .,'%eE-+"))
    return text if text[0] in "+-" and digits.isdecimal() else f"'{text}"


def _write_parquet(model, arguments):
    """A folder with a part for each part of the input."""
    import pyarrow as pa
    import pyarrow.parquet

    from .._utils.files import atomic
    from .._utils.progress import progress

    sources = list(_sources(model, arguments))
    parts = [(arguments.out / f"part-{number:06d}.parquet", *source) for number, source in enumerate(sources)]
    todo, n_rows = _open(arguments, parts), 0
    with progress(f"predict {arguments.data}", len(todo), silent=arguments.quiet) as step:
        for done, (part, first_row, read) in enumerate(todo):
            step(f"rows from {first_row}")
            try:
                out = _answers(model, read(), first_row, arguments)
            except ValueError:
                if not done and len(todo) == len(parts):  # nothing is there to go on from
                    (arguments.out / _MANIFEST).unlink()
                    arguments.out.rmdir()
                raise
            n_rows += len(out["row"])
            try:
                with atomic(part) as temporary:
                    pa.parquet.write_table(pa.table(out), temporary)
            except OSError as error:
                raise CommandError(
                    f"{part}: {error.strerror or error}; {len(parts) - len(todo) + done} of {len(parts)} parts are "
                    "complete, go on with --resume"
                ) from None
    there = f", {len(parts) - len(todo)} were there" if len(todo) < len(parts) else ""
    print(f"{arguments.out}: {n_rows} predictions in {len(todo)} parts{there}")
    return 0


def _open(arguments, parts):
    """Make the output folder, or check that the one there is of the same work; the parts that it lacks."""
    from .._utils.files import atomic

    out, manifest = arguments.out, arguments.out / _MANIFEST
    data = Path(arguments.data)
    files = sorted(data.rglob("*")) if data.is_dir() else [data]
    identity = {
        "model": _digest(arguments.model),
        "data": [[file.name, _digest(file)] for file in files if file.is_file()],
        "columns": [arguments.proba, arguments.keep, arguments.unknown],
    }
    try:
        if not out.exists() or (
            out.is_dir() and not any(out.iterdir())
        ):  # where a full disk took not even the manifest
            out.mkdir(exist_ok=True)
            with atomic(manifest) as temporary:
                temporary.write_text(json.dumps(identity) + "\n", encoding="utf-8")
        elif not arguments.resume:
            raise CommandError(f"{out}: exists; go on with --resume, remove it, or name another folder")
        elif not manifest.is_file() or json.loads(manifest.read_text(encoding="utf-8")) != identity:
            raise CommandError(f"{out}: was not written from this model and these data; name another folder")
        for leftover in out.glob(".*.tmp"):  # of a process that was killed
            leftover.unlink()
    except OSError as error:
        raise CommandError(f"{out}: {error.strerror or error}") from None
    except json.JSONDecodeError:
        raise CommandError(f"{manifest}: damaged; remove {out} and start again") from None
    return [part for part in parts if not part[0].exists() or part[0].stat().st_size == 0]


def _digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
