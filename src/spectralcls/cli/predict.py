"""``spectralcls predict``: classify a Parquet file of any size, row group by row group, resumable; or a CSV file.

Of Parquet the output is a folder that every Parquet reader takes for one table: a part for each row group of the input,
written under another name and renamed when it is complete. A part that exists is therefore whole.
"""

import argparse
import csv
import hashlib
import json
from pathlib import Path

import numpy as np

from .._utils.progress import progress
from . import models, tables
from .arguments import jobs, threads
from .data import is_text
from .errors import CommandError
from .outputs import atomic, check, keep_apart, written
from .parquet import ParquetData, import_pyarrow

_MANIFEST = "_spectralcls.json"  # readers skip names with an underscore
_DESCRIPTION = """\
Classify the rows of a Parquet file (or of a folder of them). The output is a folder of Parquet files, one for
each row group, which readers take for one table with the columns row and prediction. After an interruption or
a full disk its parts are valid, and --resume goes on where it stopped. Of a CSV file the output is a CSV file."""
_EPILOG = """\
examples:
  spectralcls predict species.skops new.csv --out predictions.csv
  spectralcls predict species.skops years.parquet --out predictions.parquet --resume"""


def add_parser(commands):
    parser = commands.add_parser(
        "predict",
        help="classify a Parquet or CSV file with a saved model",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("model", metavar="MODEL", type=Path, help="file that `spectralcls fit` wrote")
    add("data", metavar="DATA", help="Parquet or CSV file, or folder of Parquet files")
    add("--out", metavar="FOLDER", type=Path, required=True, help="e.g. predictions.parquet; a file for a CSV file")
    add("--resume", action="store_true", help="keep the parts that are there and write the others")
    add("--trust", action="store_true", help="load the model even if it could run code of its author")
    add("--n-jobs", type=jobs, metavar="N", help="threads (default: all cores)")
    add("--quiet", action="store_true", help="show no progress")
    return parser


def run(arguments):
    keep_apart(arguments.out, arguments.model, arguments.data)
    model = models.load(arguments.model, arguments.trust)
    if is_text(arguments.data):
        return _predict_text(model, arguments)
    data = ParquetData(arguments.data, lambda names: model.features or names)
    _check_columns(model, len(data.columns), arguments)
    todo = _open(arguments.out, arguments.model, data, arguments.resume)
    with (
        threads(arguments.n_jobs),
        progress(f"predict {arguments.data}", len(todo), silent=arguments.quiet) as step,
    ):
        for done, (part, group) in enumerate(todo):
            step(f"row group at row {group.first_row}")
            try:
                _write(part, group, _predict(model, data, group))
            except OSError as error:
                n_parts = len(data.groups) - len(todo) + done
                raise CommandError(
                    f"{part}: {error.strerror or error}; {n_parts} of {len(data.groups)} parts are complete, "
                    "go on with --resume"
                ) from None
    print(f"{arguments.out}: {data.n_rows} predictions in {len(data.groups)} parts")
    return 0


def _predict_text(model, arguments):
    """Classify a CSV file that fits in memory, into one CSV file with the columns row and prediction."""
    check(arguments.out)
    try:
        X = tables.read_csv_features(arguments.data, model.features, model.categories)
    except FileNotFoundError:
        raise CommandError(f"{arguments.data}: no such file") from None
    _check_columns(model, X.shape[1], arguments)
    try:
        with threads(arguments.n_jobs):
            labels = model.estimator.predict(X)
    except ValueError as error:
        raise CommandError(f"{arguments.data}: {error}") from None
    with written(arguments.out, "the predictions were") as temporary:
        with open(temporary, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(("row", "prediction"))
            writer.writerows(enumerate(labels))
    print(f"{arguments.out}: {len(X)} predictions")
    return 0


def _check_columns(model, found, arguments):
    expected = getattr(model.estimator, "n_features_in_", found)
    if found != expected:
        raise CommandError(f"{arguments.data}: {found} columns, but the model takes {expected} features")


def _open(out, model, data, resume):
    """Make the output folder, or check that the one there is of the same work; the parts that it lacks."""
    identity = {"model": _digest(model), "data": data.identity()}
    manifest = out / _MANIFEST
    try:
        if not out.exists() or _is_empty(out):  # empty where a full disk took not even the manifest
            out.mkdir(exist_ok=True)
            with atomic(manifest) as temporary:
                temporary.write_text(json.dumps(identity) + "\n", encoding="utf-8")
        elif not resume:
            raise CommandError(f"{out}: exists; go on with --resume, remove it, or name another folder")
        elif not manifest.is_file() or json.loads(manifest.read_text(encoding="utf-8")) != identity:
            raise CommandError(f"{out}: was not written from this model and these data; name another folder")
        for leftover in out.glob(".*.tmp"):  # of a process that was killed
            leftover.unlink()
    except OSError as error:
        raise CommandError(f"{out}: {error.strerror or error}") from None
    except json.JSONDecodeError:
        raise CommandError(f"{manifest}: damaged; remove {out} and start again") from None
    parts = [(out / f"part-{number:06d}.parquet", group) for number, group in enumerate(data.groups)]
    return [(part, group) for part, group in parts if not part.exists()]


def _is_empty(folder):
    return folder.is_dir() and not any(folder.iterdir())


def _digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _predict(model, data, group):
    numbers = set(data.columns) - set(model.categories)
    try:
        return np.concatenate(
            [model.estimator.predict(X) for X, _ in data.batches(group, data.columns, None, model.categories, numbers)]
        )
    except ValueError as error:
        raise CommandError(f"{data.path}: row group at row {group.first_row}: {error}") from None


def _write(part, group, labels):
    pa = import_pyarrow()
    rows = np.arange(group.first_row, group.first_row + group.n_rows)
    table = pa.table({"row": rows, "prediction": labels})
    with atomic(part) as temporary:
        pa.parquet.write_table(table, temporary)
