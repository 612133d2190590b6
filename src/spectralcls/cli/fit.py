"""``spectralcls fit``: train a classifier on a Parquet or CSV file and save it."""

import argparse
import ast

import numpy as np

from .._utils.progress import progress
from . import columns, models, registry, tables
from .arguments import count, jobs, output, seed, threads
from .data import is_text
from .errors import CommandError
from .outputs import keep_apart
from .parquet import ParquetData, training_columns

_DESCRIPTION = """\
Read a Parquet file (or a folder of them) row group by row group, fit a classifier on it and save the model.
With --max-points only a random sample of the rows is ever in memory. A CSV file is read whole."""
_EPILOG = """\
examples:
  spectralcls fit measurements.csv --target species --out species.skops
  spectralcls fit years.parquet --target species --classifier perturbo --max-points 1000000 --out species.skops
  spectralcls fit measurements.csv --target -1 --drop id --set bandwidth=0.5 --out species.skops"""


def add_parser(commands):
    parser = commands.add_parser(
        "fit",
        help="fit a classifier on a Parquet or CSV file",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("data", metavar="DATA", help="Parquet or CSV file, or folder of Parquet files")
    add("--target", metavar="COLUMN", required=True, help="column with the classes: name or position")
    add("--drop", metavar="COLUMN", action="append", default=[], help="column to leave out; may be repeated")
    add("--categories", metavar="COLUMN", action="append", default=[], help="column of categories; may be repeated")
    add("--numbers", metavar="COLUMN", action="append", default=[], help="column of numbers; may be repeated")
    add("--classifier", metavar="NAME", default="parzen", help="as in compare (default: parzen)")
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
    add(
        "--scale",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="bring features to mean 0 and variance 1 (default: yes)",
    )
    add("--n-jobs", type=jobs, metavar="N", help="threads (default: all cores)")
    add(
        "--out",
        type=output,
        metavar="FILE",
        required=True,
        help="model file, written by skops; by joblib if it ends in .joblib",
    )
    add("--quiet", action="store_true", help="show no progress")
    return parser


def run(arguments):
    (entry,) = registry.select([arguments.classifier])
    models.require_writer(arguments.out)
    keep_apart(arguments.out, arguments.data)
    X, labels, features, n_rows = (_read_text if is_text(arguments.data) else _read)(arguments)
    classes, counts = np.unique(labels, return_counts=True)
    setting = registry.Setting(
        n_train=len(labels),
        n_folds=int(np.clip(counts.min(), 2, 5)),
        n_features=X.shape[1],
        variance=float(X.var(dtype=np.float64)) if X.dtype != object else 1.0,
        seed=arguments.seed,
        n_jobs=None,
    )
    classifier = entry.make(setting)
    try:
        classifier.set_params(**dict(arguments.parameters))
        model = columns.prepared(classifier, X, arguments.scale)
        with threads(arguments.n_jobs):  # not a parameter: the model may predict on another machine
            model.fit(X, labels)
    except (ValueError, TypeError) as error:
        raise CommandError(f"{arguments.data}: {entry.name}: {error}") from None
    categories = [features[position] for position in columns.category_positions(X)]
    models.save(models.Model(model, features, categories), arguments.out)
    print(
        f"{arguments.out}: {entry.name}, {_size(len(labels), n_rows)}, {len(features)} features, {len(classes)} classes"
    )
    taken = columns.described(X, features)
    if taken is not None:
        print(taken)
    return 0


def _read_text(arguments):
    """Rows, labels and names of the features of a CSV file, or a uniform sample of its rows; and their number."""
    try:
        X, labels, features = tables.read_csv(
            arguments.data, arguments.target, arguments.drop, arguments.categories, arguments.numbers
        )
    except FileNotFoundError:
        raise CommandError(f"{arguments.data}: no such file") from None
    twice = next((name for name in features if features.count(name) > 1), None)
    if twice is not None:  # predict finds columns by their names
        raise CommandError(f"{arguments.data}: more than one column {twice!r}; rename them, or --drop by position")
    n_rows = len(labels)
    if arguments.max_points is not None and arguments.max_points < n_rows:
        kept = np.sort(np.random.default_rng(arguments.seed).choice(n_rows, arguments.max_points, replace=False))
        X, labels = X[kept], labels[kept]
    return X, labels, features, n_rows


def _read(arguments):
    """The same of Parquet files, the sample drawn beforehand: the other rows are never held."""
    data = ParquetData(arguments.data, training_columns(arguments.target, arguments.drop, arguments.data))
    *features, target = data.columns
    for name in (*arguments.categories, *arguments.numbers):
        tables.find_column(features, name, arguments.data)
    n_kept = data.n_rows if arguments.max_points is None else min(arguments.max_points, data.n_rows)
    kept = None
    if n_kept < data.n_rows:
        rng = np.random.default_rng(arguments.seed)
        kept = np.sort(rng.choice(data.n_rows, n_kept, replace=False, shuffle=False))
    X, labels, done = None, [], 0
    with progress(f"read {arguments.data}", len(data.groups), silent=arguments.quiet) as step:
        for group in data.groups:
            step(f"row group at row {group.first_row}")
            first = group.first_row
            for block, block_labels in data.batches(group, features, target, arguments.categories, arguments.numbers):
                if kept is not None:
                    low, high = np.searchsorted(kept, [first, first + len(block)])
                    first += len(block)
                    rows = kept[low:high] - (first - len(block))
                    block, block_labels = block[rows], block_labels[rows]
                if X is None:
                    X = np.empty((n_kept, len(features)), dtype=block.dtype)
                X[done : done + len(block)] = block
                labels.append(block_labels)
                done += len(block)
    return X, np.concatenate(labels), features, data.n_rows


def _size(n_kept, n_rows):
    return f"{n_kept} rows" if n_kept == n_rows else f"a random sample of {n_kept} of {n_rows} rows"


def _parameter(text):
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=VALUE")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value
