"""The comparison as text and as a figure."""

import sys

from .errors import CommandError
from .significance import LEVEL, indistinguishable

COLUMNS = ("classifier", "accuracy %", "bandwidth", "tune + fit", "predict")
LEGEND = f"=: not distinguishable from the best (corrected resampled t-test, {100 * LEVEL:.0f} %)"


def heading(problem, result, arguments):
    """Lines on what was compared: of how many samples, what the columns were taken for if not numbers, how."""
    features = "scaled on the training part" if arguments.scale else "not scaled"
    size = f"{len(problem.y)} samples, {_plural(problem.X.shape[1], 'feature')}, {len(problem.classes)} classes"
    splits = _plural(arguments.repeats, "stratified split")
    parts = f"{result.n_train} training and {result.n_test} test samples"
    if problem.columns is not None:
        size += f"\n{problem.columns}"
    return f"{problem.name}: {size}\n{splits} into {parts} (seed {arguments.seed}), features {features}\n"


def ranked(records):
    """The most accurate first; those that failed last."""
    return sorted(
        records, key=lambda record: -1.0 if record["accuracy_mean"] is None else record["accuracy_mean"], reverse=True
    )


def table(records, results):
    """One line per classifier, the most accurate first; those that cannot be told from it are marked."""
    equal = indistinguishable(results)
    lines = [COLUMNS, *(cells(record, "=" if record["classifier"] in equal else " ") for record in ranked(records))]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    text = ["  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]).rstrip() for line in lines]
    text.insert(1, "-" * (sum(widths) + 2 * (len(widths) - 1)))
    return "\n".join(text)


def advice(records, results):
    """The most accurate, and the fastest of those that cannot be told from it, in two sentences."""
    equal = indistinguishable(results)
    if not equal:
        return "No classifier could be fitted."
    first = ranked(records)[0]
    quick = min((r for r in records if r["classifier"] in equal), key=lambda r: r["fit_seconds"])
    text = f"Most accurate: {_in_words(first)}."
    if quick is first:
        return text
    return f"{text} Fastest of the {len(equal)} that cannot be told apart on these splits: {_in_words(quick)}."


def _in_words(record):
    accuracy = f"{100 * record['accuracy_mean']:.1f} %"
    return f"{record['classifier']}, {accuracy} in {seconds(record['fit_seconds'])}"


def notes(results):
    """Lines on what went wrong, and on warnings."""
    failed = [f"{result.name} failed: {' '.join(result.error.split())}" for result in results if result.error]
    warned = [f"{result.name} warned: {' '.join(note.split())}" for result in results for note in result.notes]
    return failed + warned


def cells(record, mark):
    """What the table shows of a record."""
    if record["accuracy_mean"] is None:
        return record["classifier"], "failed", "", "", ""
    plus_minus = "±" if "±".encode(getattr(sys.stdout, "encoding", None) or "ascii", "ignore") else "+-"
    deviation = record["accuracy_std"]
    spread = "" if deviation is None else f" {plus_minus} {100 * deviation:4.1f}"
    accuracy = f"{100 * record['accuracy_mean']:.1f}{spread} {mark}"
    return (
        record["classifier"],
        accuracy,
        _bandwidth(record["bandwidth"]),
        seconds(record["fit_seconds"]),
        seconds(record["predict_seconds"]),
    )


def _bandwidth(value):
    if value is None:
        return "-"
    if isinstance(value, list):
        return f"{min(value):.3g} to {max(value):.3g}"
    return f"{value:.3g}"


def seconds(value):
    """A time in the unit that suits it."""
    if value < 1e-3:
        return f"{1e6 * value:.0f} us"
    if value < 1:
        return f"{1e3 * value:.3g} ms"
    return f"{value:.3g} s"


def _plural(number, noun):
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def require_matplotlib(path, option="--plot"):
    """Fail before the work if the figure cannot be drawn or its format is unknown."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
    except ImportError:
        raise CommandError(f'{option} needs matplotlib: pip install "spectralcls[plot]"') from None
    kinds = FigureCanvasAgg.get_supported_filetypes()
    if path.suffix.removeprefix(".").lower() not in kinds:
        raise CommandError(f"{path}: unknown kind of figure; known are {', '.join(sorted(kinds))}")


def plot(records, results, problem, path, kind):
    """Draw accuracy and time into a file of that kind."""
    from matplotlib.figure import Figure

    from ..plotting import ComparisonDisplay

    figure = Figure(figsize=(10, 1.5 + 0.4 * len(records)), layout="constrained")
    baselines = [result.name for result in results if result.baseline]
    ComparisonDisplay(records, baselines=baselines).plot(axes=figure.subplots(1, 2, sharey=True))
    figure.suptitle(f"{problem.name}: {len(problem.y)} samples, {_plural(problem.X.shape[1], 'feature')}")
    figure.savefig(path, dpi=150, format=kind)
