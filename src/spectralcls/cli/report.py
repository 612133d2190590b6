"""The comparison as text."""

import sys

import numpy as np

from .significance import LEVEL, METRICS, OF_TASK, advice, point_of, ranked, standings


def heading(data, n_train, n_test, arguments):
    """Heading of the comparison: number of samples, kinds of columns, splits."""
    features = "scaled on the training part" if arguments.scale else "not scaled"
    size = f"{len(data.y)} samples, {_plural(data.X.shape[1], 'feature')}, {data.answers}"
    parts = f"{n_train} training and {n_test} test samples"
    if data.schema is not None:
        size += f"\n{data.schema.summary()}"
    stratified = data.groups is None and data.classes is not None
    splits = _plural(arguments.repeats, "stratified split" if stratified else "split")
    if data.groups is not None:
        splits += f" of {len(np.unique(data.groups))} groups"
    return f"{data.name}: {size}\n{splits} into {parts} (seed {arguments.seed}), features {features}\n"


def table(results, metrics):
    """One line per classifier, the best first; for a failed one, the line gives the reason."""
    marks = standings(results, metrics[0])
    kind = "regressor" if metrics[0] in OF_TASK["regression"] else "classifier"
    lines = [(kind, *(METRICS[metric][1] for metric in metrics), "tune + fit", "predict")]
    lines += [_cells(r, metrics, marks.get(r.name)) for r in ranked(results, metrics[0]) if r.error is None]
    failed = [r for r in results if r.error is not None]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    widths[0] = max([widths[0], *(len(result.name) for result in failed)])
    text = ["  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]).rstrip() for line in lines]
    text.insert(1, "-" * (sum(widths) + 2 * (len(widths) - 1)))
    text += [f"{result.name.ljust(widths[0])}  failed: {' '.join(result.error.split())}" for result in failed]
    return "\n".join(text)


def _cells(result, metrics, mark):
    """The cells of the table for a successful result."""
    shown = []
    for metric in metrics:
        mean, deviation, show = result.mean(metric), result.deviation(metric), METRICS[metric][2]
        spread = "" if np.isnan(deviation) else f" {_plus_minus()} {show(deviation)}"
        shown.append("-" if np.isnan(mean) else f"{show(mean)}{spread}")
    shown[0] += f" {mark or ' '}"
    return (result.name, *shown, _seconds(result.seconds("fit")), _seconds(result.seconds("predict")))


def conclusions(results, metrics, repeats):
    """Lines below the table: meaning of the marks, recommendation, warnings."""
    marks = set(standings(results, metrics[0]).values())
    lines = []
    if "=" in marks:
        lines.append(f"=: the best, or within {'1 point' if point_of(metrics[0]) == 'a point' else '1 %'} of it")
    if "?" in marks:
        lines.append(
            f"?: {_plural(repeats, 'split')} {'is' if repeats == 1 else 'are'} too few to tell (corrected resampled "
            f"t-test, {100 * LEVEL:.0f} %): try --repeats {max(10, 2 * repeats)}"
        )
    lines.append(advice(results, metrics[0]))
    warned = [f"{r.name} warned: {' '.join(note.split())}" for r in results for note in r.notes]
    return lines + warned


def _seconds(value):
    """Format a time in a suitable unit."""
    if value < 1e-3:
        return f"{1e6 * value:.0f} us"
    if value < 1:
        return f"{1e3 * value:.3g} ms"
    return f"{value:.3g} s"


def _plus_minus():
    return "±" if "±".encode(getattr(sys.stdout, "encoding", None) or "ascii", "ignore") else "+-"


def _plural(number, noun):
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
