"""``spectralcls list``: what the other commands know by name."""

import inspect
from pathlib import Path

from .. import datasets
from . import registry


def add_parser(commands):
    parser = commands.add_parser(
        "list",
        help="list classifiers and data sets",
        description="List the classifiers and the data sets that the other commands know by name.",
    )
    parser.add_argument("--data-home", type=Path, metavar="FOLDER", help="data folder (default: $SPECTRALCLS_DATA)")
    return parser


def run(arguments):
    width = max(len(entry.name) for entry in registry.ENTRIES)
    print("classifiers (case and the word Classifier may be left out, as in parzen):")
    for entry in registry.ENTRIES:
        print(f"  {entry.name.ljust(width)}  {_summary(entry)}")
    print("\ndata sets:")
    for name in datasets.available(arguments.data_home):
        print(f"  {name}")
    print("  openml:NAME, or a file: .csv, .tsv, .txt, .data, .parquet, .npz")
    return 0


def _summary(entry):
    if entry.baseline:
        return "scikit-learn's, tuned by grid search; for comparison"
    estimator = entry.make(registry.Setting(100, 5, 1.0, 2, 0, None))
    return inspect.getdoc(type(estimator)).split("\n\n")[0].replace("\n", " ")
