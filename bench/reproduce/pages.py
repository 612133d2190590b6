"""Markdown pages: one a paper, and an overview."""

import re
from collections import Counter
from dataclasses import dataclass, replace
from itertools import groupby

from . import explain
from .registry import PAPERS, Table

VERDICTS = {True: "compatible", False: "differs"}
LONG = 300  # characters of a note


def write_pages(items, store, pictures, out, options):
    """Write the pages of the papers that `items` touch; `pictures`: {figure name: caption}, `options`: words of
    the command line."""
    counts = {}
    for paper, own in groupby(items, key=lambda item: item.name.split(":")[0]):
        own = list(own)
        lines, counts[paper] = paper_page(paper, own, store, pictures, options)
        (out / f"{paper}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return counts


def tally(tables, store):
    """Numbers of entries that are compatible, differ, and have no result; and how many of the compatible ones are so by
    calibration ("calibrated"), after scaling of their rows ("scaled"), and would without it ("unscaled").
    """
    count = Counter()
    for entry in (entry for table in tables if table.counted for entry in table.entries):
        verdict = entry.agrees(store)
        missing = "no data" if store.failure(entry.cell) else "not run"
        count[VERDICTS.get(verdict, missing)] += 1
        if verdict is not None and entry.row_total is not None:
            count["scaled"] += verdict
            count["unscaled"] += replace(entry, row_total=None).agrees(store)
        count["calibrated"] += bool(verdict and entry.calibrated)
    return count


def summary(count):
    """What the counts say, in sentences."""
    compared = count["compatible"] + count["differs"]
    share = f" ({100 * count['compatible'] / compared:.0f} %)" if compared else ""
    text = f"{count['compatible']} of {compared} numbers are compatible with the paper{share}"
    for missing, words in (("no data", "have no data"), ("not run", "are not computed yet")):
        text += f"; {count[missing]} {words}" if count[missing] else ""
    text += "."
    if count["calibrated"]:
        text += (
            f" Of these {count['calibrated']} are so by calibration: a paper leaves a size of its simulated "
            "data open, and ours was chosen for it."
        )
    if count["scaled"]:
        text += (
            f" {count['scaled']} of them are counts of confusion matrices, our rows scaled to the "
            f"printed sizes of the classes; without that calibration {count['unscaled']} counts are compatible."
        )
    return text


def paper_page(paper, items, store, pictures, options):
    """Lines of a page, and its tally."""
    tables = [item for item in items if isinstance(item, Table)]
    figures = [item for item in items if not isinstance(item, Table)]
    count = tally(tables, store)
    lines = [
        f"# {paper}: {PAPERS[paper]}",
        "",
        f"Written by `python -m bench.reproduce {options}`. " + summary(count),
        "",
        "A number is *compatible* if it is within two of the paper's standard deviations or 1.5 points of per cent, "
        "whichever is larger: a paper with a wide spread is easy to be compatible with, which is why the tables also "
        "say how many of the paper's standard deviations (SD) the difference is.",
    ]
    for table in tables:
        lines += ["", *table_lines(table, store)]
    for figure in figures:
        lines += ["", f"## Figure {figure.name.split(':fig')[1]}: {figure.title}", ""]
        caption = pictures.get(figure.name, "not drawn")
        if caption.startswith("no data") or caption.startswith("failed") or caption == "not drawn":
            lines.append(caption)
        else:
            lines += [f"![{figure.title}](figures/{picture_name(figure)})", "", caption]
    return lines, count


def picture_name(figure):
    return figure.name.replace(":", "_").replace(".", "_") + ".png"


@dataclass(frozen=True)
class Row:
    """One number of a paper as the page shows it; without a verdict `ours` says why there is no result."""

    row: str
    column: str
    paper: str
    ours: str
    difference: str = ""
    deviations: str = ""
    verdict: str | None = None

    def line(self):
        cells = (self.row, self.column, self.paper, self.ours, self.difference, self.deviations, self.verdict or "")
        return f"| {' | '.join(cells)} |"


def table_lines(table, store):
    name = f"Table {table.name.split(':')[1]}: " if table.counted else ""
    differing = [entry for entry in table.entries if entry.agrees(store) is False] if table.counted else []
    rows = [shown(entry, store) for entry in table.entries]
    return section(name + table.title, table.reading, rows, explanations(differing, store))


def section(title, reading, rows, notes):
    """What a reader asks first, does it agree and where not; everything else behind folds."""
    found = [row for row in rows if row.verdict]
    differing = [row for row in found if row.verdict == VERDICTS[False]]
    lines = [f"## {title}", "", headline(rows)]
    if 0 < len(differing) < len(found):
        lines += ["", *markdown(differing)]
    if found:
        lines += fold(f"All {len(found)} numbers", markdown(found))
    if notes:
        lines += fold("What was measured about the differences", notes)
    if reading:
        lines += fold("How it was computed", [reading])
    return lines


def headline(rows):
    found = [row for row in rows if row.verdict]
    compatible = sum(row.verdict != VERDICTS[False] for row in found)
    sentences = [f"**{compatible} of {len(found)} numbers are compatible with the paper.**"] if found else []
    for reason in dict.fromkeys(row.ours for row in rows if not row.verdict):
        lacking = list(dict.fromkeys(row.row for row in rows if not row.verdict and row.ours == reason))
        sentences.append(f"Without a result ({reason}): {', '.join(lacking)}.")
    return " ".join(sentences)


def markdown(rows):
    return ["| | | paper | ours | difference | in the paper's SD | verdict |", "|---|---|---|---|---|---|---|"] + [
        row.line() for row in rows
    ]


def fold(summary, lines):
    return ["", f"<details><summary>{summary}</summary>", "", *lines, "", "</details>"]


def number(value, deviation, digits):
    return f"{value:.{digits}f}" + (f" ± {deviation:.{digits}f}" if deviation else "")


def shown(entry, store):
    paper = "N.I." if entry.paper is None else number(entry.paper, entry.deviation, entry.digits)
    ours, verdict = entry.ours(store), VERDICTS.get(entry.agrees(store))
    if ours is None:
        return Row(entry.row, entry.column, paper, store.failure(entry.cell) or "not run")
    if entry.paper is None:
        return Row(entry.row, entry.column, paper, f"singular in {ours[0]} trials", verdict=verdict)
    if entry.calibrated and entry.agrees(store):
        verdict += ", calibrated"
    difference = ours[0] - entry.paper
    deviations = f"{difference / entry.deviation:+.1f}" if entry.deviation else ""
    return Row(
        entry.row,
        entry.column,
        paper,
        number(*ours, entry.digits),
        f"{difference:+.{entry.digits}f}",
        deviations,
        verdict,
    )


def explanations(entries, store):
    """A bullet for each explaining cell, naming what it explains."""
    lines = []
    grouped = {}
    for entry in entries:
        grouped.setdefault(entry.explanation, []).append(entry)
    for explanation, own in grouped.items():
        names = ", ".join(dict.fromkeys(f"{entry.row} {entry.column}" for entry in own))
        text = explain.sentence(explanation, own, store) if explanation is not None else None
        if text is None:
            failure = store.failure(explanation) if explanation is not None else None
            text = failure or "not explained by a measurement."
        lines += note(names, text)
    return lines


def note(names, text):
    """A bullet; what was measured in several ways becomes bullets of its own."""
    if len(text) <= LONG:
        return [f"- *{names}*: {text}"]
    parts = re.split(r"; (?![^(]*\))", text)  # not within parentheses
    return [f"- *{names}*:", *(f"  - {part}" for part in parts)]


def overview(counts, seconds, out, trials, jobs):
    """`index.md` of the results."""
    lines = [
        "# Results of the papers",
        "",
        "Does this package do what the papers say? Every table and figure of the five source papers, computed again. "
        "These pages are for those who know the papers; to choose a classifier read [Choose](../choose.md).",
        "",
        f"Written by `python -m bench.reproduce --trials {trials} --jobs {jobs}`.",
        "",
        "| paper | compatible | differ | no data | not computed |",
        "|---|---|---|---|---|",
    ]
    for paper, count in counts.items():
        numbers = " | ".join(str(count[verdict]) for verdict in ("compatible", "differs", "no data", "not run"))
        lines.append(f"| [{paper}: {PAPERS[paper]}]({paper}.md) | {numbers} |")
    total = sum(counts.values(), Counter())
    lines += ["", "All papers: " + summary(total)]
    lines += ["", f"Computing the cells took {seconds / 60:.1f} minutes, added over the processes."]
    lines += [
        "",
        "[What changes today](today.md): the same data with the defaults of this package, and its peers; "
        "[the defaults](defaults.md) as they are now and as they were.",
    ]
    lines += ["", "[Speed of the thesis's protocol](speed.md) compared with grid search with refits."]
    lines += ["", "```{toctree}", ":hidden:", "", *counts, "today", "defaults", "speed", "```"]
    (out / "index.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
