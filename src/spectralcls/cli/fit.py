"""``spectralcls fit``: train a classifier or a regressor on a file and save it."""

import argparse
import ast
from dataclasses import replace

from . import registry, tables
from .arguments import YES_OR_NO, count, jobs, output, seed, threads
from .errors import CommandError
from .outputs import keep_apart

HELP = "fit a classifier or a regressor on a file"
DESCRIPTION = """\
Read a CSV, Excel or Parquet file (or a folder of Parquet files), fit a classifier on it, or a regressor if the target
is a number with many values, and save the model, with the rules by which the file was read. With --max-points only a
random sample of Parquet rows is ever in memory."""
EPILOG = """\
examples:
  spectralcls fit customers.csv --target churn --out churn.skops
  spectralcls fit years.parquet --target species --classifier perturbo --max-points 1000000 --out species.skops
  spectralcls fit measurements.csv --target -1 --drop id --set time_budget=60 --out species.skops"""


def add_options(parser):
    add = parser.add_argument
    add("data", metavar="DATA", help="CSV, Excel or Parquet file, or folder of Parquet files")
    add("--target", metavar="COLUMN", required=True, help="column to predict: name or position")
    add(
        "--classifier",
        metavar="NAME",
        default="auto",
        help="as in compare (default: AutoClassifier or AutoRegressor)",
    )
    add(
        "--set",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        dest="parameters",
        type=_parameter,
        help="parameter of the classifier, e.g. bandwidth=0.5; may be repeated",
    )
    add("--max-points", type=count, metavar="N", help="fit on a random sample of N rows")
    add("--seed", type=seed, default=0, metavar="SEED", help="of the sample and the tuning (default: 0)")
    add("--scale", **YES_OR_NO, help="bring features to mean 0 and variance 1 (default: yes)")
    add("--n-jobs", type=jobs, metavar="N", help="threads (default: all cores)")
    add("--out", type=output, metavar="FILE", required=True, help="model file, written by skops")
    add("--quiet", action="store_true", help="do not show progress")
    tables.add_options(parser)


def run(arguments):
    registry.check([arguments.classifier])
    keep_apart(arguments.out, arguments.data)
    if not arguments.dry_run:
        from .. import storage

        storage.skops_io()  # if the library is missing, fail before the work
    data = tables.read(arguments, n_samples=arguments.max_points)
    if arguments.dry_run:
        print(data.description)
        return 0
    import numpy as np

    from .. import datasets
    from .._inputs.far import already_said
    from .evaluation import fitted

    print((data.schema or datasets.Schema.of_numbers(data.feature_names)).summary(), flush=True)  # not after the work
    (entry,) = registry.select([arguments.classifier], task=data.task)
    rows = np.arange(len(data.y))
    options = {"seed": arguments.seed, "n_jobs": None, "parameters": arguments.parameters}
    labelled = data if data.classes is None else replace(data, y=data.classes[data.y])
    try:
        with (
            already_said(),
            threads(arguments.n_jobs),
        ):  # not stored as a parameter: the model may predict on another machine
            _, model = fitted(entry, labelled, rows, arguments.scale, **options)
    except (ValueError, TypeError) as error:
        raise CommandError(f"{arguments.data}: {entry.name}: {error}") from None
    model.table_schema_ = data.schema or datasets.Schema.of_numbers(data.feature_names)
    try:
        storage.save(model, arguments.out)
    except OSError as error:
        raise CommandError(f"{arguments.out}: the model was not written: {error.strerror or error}") from None
    is_sample = arguments.max_points is not None and arguments.max_points < data.n_rows
    size = f"a random sample of {len(rows)} of {data.n_rows} rows" if is_sample else f"{len(rows)} rows"
    print(f"{arguments.out}: {entry.name}, {size}, {data.X.shape[1]} features, {data.answers}")
    return 0


def _parameter(text):
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=VALUE")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value
