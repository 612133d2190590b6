"""``spectralcls compare``: all classifiers and scikit-learn's on one data set."""

import argparse
import json
from pathlib import Path

from .._utils.progress import progress
from . import data, html, outputs, peers, registry, report
from .arguments import count, jobs, output, seed, size
from .errors import CommandError
from .evaluation import SMALL, evaluate

_DESCRIPTION = """\
Fit every classifier, and scikit-learn's RBF-SVM, k-NN and Gaussian naive Bayes for comparison, each tuned on the
training part of the same repeated stratified splits of one data set. Print one table, the most accurate first:
accuracy +- standard deviation, and the medians of the chosen bandwidth (of the SVM: 1/sqrt(2 gamma)), time to tune
and fit, and time to predict. `spectralcls list` names all classifiers and data sets.

A column of a file is a category if none of its cells is a number. Classifiers that take categories and missing values
(empty, NA, ?) get them as they are; for the others missing values are imputed and categories become indicators."""
_EPILOG = f"""\
--peers adds, each with its defaults and if it is installed: {", ".join(peers.PEERS)}.

examples:
  spectralcls compare wine
  spectralcls compare measurements.csv --target species --html report.html
  spectralcls compare wine --peers --classifiers auto,rbf-svm
  spectralcls compare digits --subsample 500 --classifiers perturbo,parzen,rbf-svm

DATA is a CSV, Parquet or .npz file, or the name of a data set: iris, wine, breast_cancer, digits,
two_gaussians, two_rings, gaussian_in_ring, two_spirals, ringnorm, twonorm, waveform, simdata_1, simdata_2,
simdata_3, a file NAME.npz of the data folder, or openml:NAME."""


def add_parser(commands):
    parser = commands.add_parser(
        "compare",
        help="fit all classifiers on a data set and print one table",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("data", metavar="DATA", help="name of a data set, or a file")
    add("--target", metavar="COLUMN", help="column of the file with the classes: name or position (-1: last)")
    add("--drop", metavar="COLUMN", action="append", default=[], help="column to leave out; may be repeated")
    add("--categories", metavar="COLUMN", action="append", default=[], help="column of categories; may be repeated")
    add("--numbers", metavar="COLUMN", action="append", default=[], help="column of numbers; may be repeated")
    add("--classifiers", metavar="NAME,...", help="only these, in this order, e.g. parzen,ise,knn")
    add("--peers", action="store_true", help="add boosting, forests and other libraries' classifiers (below)")
    add("--repeats", type=count, default=10, metavar="N", help="number of splits (default: 10)")
    add("--test-size", type=size, default=1 / 3, metavar="SIZE", help="share or number (default: 1/3)")
    add("--subsample", type=count, metavar="N", help="use N of the samples, stratified")
    add("--seed", type=seed, default=0, metavar="SEED", help="of splits and generators (default: 0)")
    add(
        "--scale",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="bring features to mean 0 and variance 1 on the training part (default: yes)",
    )
    add(
        "--n-jobs",
        type=jobs,
        metavar="N",
        help=f"threads or processes a classifier (default: 1 up to {SMALL} samples, its own with more)",
    )
    add("--data-home", type=Path, metavar="FOLDER", help="data folder (default: $SPECTRALCLS_DATA)")
    add("--json", type=output, metavar="FILE", help="write the table as a list of records")
    add("--plot", type=output, metavar="FILE.png", help="draw accuracy and time")
    add("--html", type=output, metavar="FILE.html", help="write a report: table, picture and advice in one file")
    add("--quiet", action="store_true", help="show no progress")
    return parser


def run(arguments):
    entries = _entries(arguments)
    if arguments.plot:
        report.require_matplotlib(arguments.plot)
    if arguments.html:
        report.require_matplotlib(arguments.html.with_suffix(".png"), option="--html")
    for path in filter(None, (arguments.json, arguments.plot, arguments.html)):
        outputs.keep_apart(path, arguments.data)
    problem = data.read(
        arguments.data,
        target=arguments.target,
        drop=arguments.drop,
        categories=arguments.categories,
        numbers=arguments.numbers,
        data_home=arguments.data_home,
        seed=arguments.seed,
    )
    if arguments.subsample:
        problem = problem.subsample(arguments.subsample, arguments.seed)
    with progress(f"compare {problem.name}", len(entries) * arguments.repeats, silent=arguments.quiet) as step:
        try:
            results = evaluate(
                problem.X,
                problem.y,
                entries,
                repeats=arguments.repeats,
                test_size=arguments.test_size,
                seed=arguments.seed,
                scale=arguments.scale,
                n_jobs=arguments.n_jobs,
                step=step,
            )
        except ValueError as error:  # too few samples for the split that was asked for
            raise CommandError(f"{problem.name}: {error}") from None
    records = [result.record() for result in results]
    print(report.heading(problem, results[0], arguments))
    print(report.table(records, results))
    print(f"\n{report.LEGEND}\n{report.advice(records, results)}")
    for note in report.notes(results):
        print(note)
    if arguments.json:
        with outputs.written(arguments.json, "the records were") as path:
            path.write_text(json.dumps(records, indent=2, allow_nan=False) + "\n", encoding="utf-8")
    if arguments.plot:
        with outputs.written(arguments.plot, "the figure was") as path:
            report.plot(records, results, problem, path, kind=arguments.plot.suffix.removeprefix("."))
    if arguments.html:
        with outputs.written(arguments.html, "the report was") as path:
            path.write_text(html.page(problem, records, results, arguments), encoding="utf-8")
    return int(any(result.error for result in results))


def _entries(arguments):
    installed = peers.installed()
    chosen = registry.select(None if arguments.classifiers is None else arguments.classifiers.split(","), installed)
    return chosen + tuple(peer for peer in installed if arguments.peers and peer not in chosen)
