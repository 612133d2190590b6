"""A page for each paper, with one table of all its numbers, and an index."""

from collections import Counter
from dataclasses import replace
from itertools import groupby

from ..record import commit
from .registry import PAPERS, Table

COMPATIBLE = (
    "*Compatible*: within two of the paper's standard deviations or 1.5 points of per cent, whichever is larger. "
    "A number that is not stands in bold. Each cell: ours, then the paper's in brackets."
)


def write_pages(items, store, pictures, out, command):
    """Write the pages of the papers that `items` touch; `pictures`: {figure name: caption}. Returns their tallies."""
    counts = {}
    for paper, own in groupby(items, key=lambda item: item.name.split(":")[0]):
        own = list(own)
        lines, counts[paper] = paper_page(paper, own, store, pictures)
        foot = ["", "---", "", f"Written by `python -m bench.reproduce {command}`, commit {commit()}."]
        (out / f"{paper}.md").write_text("\n".join([*lines, *foot]) + "\n", encoding="utf-8")
    return counts


def tally(tables, store):
    """How many entries are compatible, differ, or have no result; and how many are compatible by calibration, by
    scaling of their rows, and would be without it."""
    count = Counter()
    for entry in (entry for table in tables for entry in table.entries):
        verdict = entry.agrees(store)
        missing = "no data" if store.failure(entry.cell) else "not run"
        count[{True: "compatible", False: "differs", None: missing}[verdict]] += 1
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
        text += f" {count['calibrated']} are so by calibration: the paper leaves a size of its data open."
    if count["scaled"]:
        text += (
            f" {count['scaled']} are counts of confusion matrices, our rows scaled to the printed sizes of the "
            f"classes; without that {count['unscaled']} counts are compatible."
        )
    return text


def paper_page(paper, items, store, pictures):
    """Lines of a page, and its tally."""
    tables = [item for item in items if isinstance(item, Table)]
    figures = [item for item in items if not isinstance(item, Table)]
    count = tally(tables, store)
    lines = [f"# {paper}: {PAPERS[paper]}", "", summary(count), "", COMPATIBLE, "", *numbers(tables, store)]
    readings = {}
    for table in tables:
        readings.setdefault(table.reading, []).append(table.name.split(":")[1])
    lines += ["", "## How it was computed", ""]
    lines += [f"- {', '.join(names)}: {reading}" for reading, names in readings.items() if reading]
    for figure in figures:
        caption = pictures.get(figure.name, "not drawn")
        lines += ["", f"## Figure {figure.name.split(':fig')[1]}: {figure.title}", ""]
        if not caption.startswith(("no data", "failed", "not drawn")):
            lines += [f"![{figure.title}](figures/{picture_name(figure)})", ""]
        lines.append(caption)
    return lines, count


def picture_name(figure):
    return figure.name.replace(":", "_").replace(".", "_") + ".png"


def numbers(tables, store):
    """One Markdown table: a line for each row of each table of the paper."""
    lines = ["| table | row | ours (the paper's) |", "|---|---|---|"]
    for table in tables:
        name = f"{table.name.split(':')[1]} {table.title}"
        for row, entries in groupby(table.entries, key=lambda entry: entry.row):
            cells = "; ".join(f"{entry.column}: {shown(entry, store)}" for entry in entries)
            lines.append(f"| {name} | {row} | {cells} |")
            name = ""
    return lines


def shown(entry, store):
    paper = "N.I." if entry.paper is None else number(entry.paper, entry.deviation, entry.digits)
    ours, agrees = entry.ours(store), entry.agrees(store)
    if ours is None:
        return f"{store.failure(entry.cell) or 'not run'} ({paper})"
    text = f"singular in {ours[0]} trials" if entry.paper is None else number(*ours, entry.digits)
    return f"{text} ({paper})" if agrees else f"**{text}** ({paper})"


def number(value, deviation, digits):
    return f"{value:.{digits}f}" + (f" ± {deviation:.{digits}f}" if deviation else "")


def overview(counts, seconds, out):
    """`index.md` of the results."""
    lines = [
        "# Results of the papers",
        "",
        "Every table and figure of the five source papers, computed again. These pages are for those who know the "
        "papers; to choose a classifier read [Choose](../choose.md).",
        "",
        "| paper | compatible | differ | no data | not computed |",
        "|---|---|---|---|---|",
    ]
    for paper, count in counts.items():
        cells = " | ".join(str(count[verdict]) for verdict in ("compatible", "differs", "no data", "not run"))
        lines.append(f"| [{paper}: {PAPERS[paper]}]({paper}.md) | {cells} |")
    lines += ["", summary(sum(counts.values(), Counter())), "", "```{toctree}", ":hidden:", "", *counts, "```", ""]
    lines += [
        "---",
        "",
        f"Written by `python -m bench.reproduce`, commit {commit()}, from {seconds / 60:.0f} minutes of work.",
    ]
    (out / "index.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
