"""``spectralcls compare``: compare classifiers or regressors of this package and others on one data set."""

import argparse
import json

from . import outputs, registry, tables
from .arguments import YES_OR_NO, count, jobs, output, seed, size
from .errors import CommandError
from .significance import DEFAULT, OF_TASK

_METRICS = tuple(metric for metrics in OF_TASK.values() for metric in metrics)
_COPIES = 0.02  # smallest share of test samples that equal training samples that is named
HELP = "fit classifiers or regressors on a data set and print one table"
DESCRIPTION = """\
Fit classifiers of this package and of scikit-learn, or regressors if the target is a number with many values, each
tuned on the training part of the same repeated splits of one data set. Print one table, the best first, and recommend
one of them."""
EPILOG = f"""\
examples:
  spectralcls compare wine
  spectralcls compare customers.csv --target churn --dry-run
  spectralcls compare houses.csv --target price
  spectralcls compare customers.csv --target churn --metric log_loss,accuracy --json table.json
  spectralcls compare digits --subsample 500 --classifiers perturbo,parzen,rbf-svm

DATA is a CSV, Parquet or Excel file, or the name of a data set of scikit-learn: {", ".join(tables.BUNDLED)}.

{registry.listing()}"""


def add_options(parser):
    add = parser.add_argument
    add("data", metavar="DATA", help="name of a data set, or a file")
    add("--target", metavar="COLUMN", help="column of the file to predict: name or position (-1: last)")
    add("--metric", type=_metrics, metavar="NAME,...", help=_metric_help())
    add("--classifiers", metavar="NAME,...", help="compare only these, e.g. parzen,ise,knn")
    add("--all", action="store_true", help="include the methods of the papers")
    add("--repeats", type=count, default=10, metavar="N", help="number of splits (default: 10)")
    add("--test-size", type=size, default=1 / 3, metavar="SIZE", help="share or number of test samples (default: 1/3)")
    add("--subsample", type=count, metavar="N", help="use N of the samples, stratified by classes")
    add("--seed", type=seed, default=0, metavar="SEED", help="seed of splits and generators (default: 0)")
    add("--scale", **YES_OR_NO, help="bring features to mean 0 and variance 1 on the training part (default: yes)")
    add("--n-jobs", type=jobs, metavar="N", help="threads or processes per classifier (default: 1 up to 5000 samples)")
    add("--json", type=output, metavar="FILE", help="write the table as a list of records")
    add("--quiet", action="store_true", help="do not show progress")
    tables.add_options(parser)


def _metric_help():
    known = [", ".join(metrics) for metrics in OF_TASK.values()]
    return (
        f"any of {known[0]}; for a target of numbers, of {known[1]}; the first one ranks (default: the first three; "
        "for numbers, all)"
    )


def _metrics(text):
    names = tuple(dict.fromkeys(text.split(",")))
    unknown = [name for name in names if name not in _METRICS]
    if unknown:
        raise argparse.ArgumentTypeError(f"unknown metric {unknown[0]!r}; there are {', '.join(_METRICS)}")
    return names


def run(arguments):
    if arguments.classifiers is not None:
        registry.check(arguments.classifiers.split(","))
    if arguments.json:
        outputs.keep_apart(arguments.json, arguments.data)
    data = tables.read(arguments)
    if arguments.dry_run:
        print(data.description or f"{data.name}: {len(data.y)} samples, {data.X.shape[1]} features")
        return 0
    arguments.metric = metrics = _metrics_of(data, arguments.metric)
    entries = _entries(arguments, data.task)
    from .._utils.advice import tell
    from .._utils.progress import progress
    from . import report
    from .evaluation import copies_between, evaluate, splits_of

    if arguments.subsample:
        data = data.subsample(arguments.subsample, arguments.seed)
    try:
        train, test = splits_of(data, arguments.repeats, arguments.test_size, arguments.seed)[0]
    except ValueError as error:  # too few samples for the requested split
        raise CommandError(f"{data.name}: {error}") from None
    print(report.heading(data, len(train), len(test), arguments), flush=True)  # printed before the work starts
    equal = copies_between(data, train, test)
    if equal > _COPIES * len(test):
        tell(
            f"{data.name}: {equal} of {len(test)} test samples equal training samples in all features: scores are too "
            "high if new samples will not. Remove copies, or keep them together with --group"
        )
    with progress(f"compare {data.name}", len(entries) * arguments.repeats, silent=arguments.quiet) as step:
        results = evaluate(data, entries, arguments, step)
    print(report.table(results, metrics))
    print("", *report.conclusions(results, metrics, arguments.repeats), sep="\n")
    if arguments.json:
        records = [result.record(dict.fromkeys((OF_TASK[data.task][0], *metrics))) for result in results]
        with outputs.written(arguments.json, "the records were") as path:
            path.write_text(json.dumps(records, indent=2, allow_nan=False) + "\n", encoding="utf-8")
    return int(any(result.error for result in results))


def _metrics_of(data, asked):
    """The requested metrics, or the default ones of the task."""
    if asked is None:
        return DEFAULT[data.task]
    foreign = [metric for metric in asked if metric not in OF_TASK[data.task]]
    if foreign:
        what = "numbers" if data.classes is None else "classes"
        raise CommandError(
            f"{data.name}: the target holds {what}, and {foreign[0]} is not a metric for these: use "
            f"{', '.join(OF_TASK[data.task])}, or --task"
        )
    if asked[0] == "coverage":
        raise CommandError("coverage cannot rank models: name another metric first, as in rmse,coverage")
    return asked


def _entries(arguments, task):
    naive = registry.MAJORITY if task == "classification" else registry.MEAN
    names = None if arguments.classifiers is None else [*arguments.classifiers.split(","), naive]
    return registry.select(names, arguments.all, task)
