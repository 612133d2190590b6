"""``spectralcls list``: the names that the other commands accept."""

from pathlib import Path

from . import registry

HELP = "list classifiers, regressors and data sets"
DESCRIPTION = "List the names of classifiers, regressors and data sets that the other commands accept."


def add_options(parser):
    parser.add_argument("--data-home", type=Path, metavar="FOLDER", help="data folder (default: $SPECTRALCLS_DATA)")


def run(arguments):
    width = max(len(entry.name) for entries in registry.OF_TASK.values() for entry in entries)
    print("classifiers (case and the word Classifier may be left out, as in parzen; compare --all takes those with *):")
    for entry in registry.ENTRIES:
        print(f"{' ' if entry.front else '*'} {entry.name.ljust(width)}  {entry.summary}")
    print("\nregressors, for a target of numbers:")
    for entry in registry.REGRESSORS:
        print(f"  {entry.name.ljust(width)}  {entry.summary}")
    from . import named_sets

    print("\ndata sets:")
    for name in named_sets.available(arguments.data_home):
        print(f"  {name}")
    print("  openml:NAME, or a file: .csv, .tsv, .txt, .data, .parquet, .xlsx, .ods, .npz")
    return 0
