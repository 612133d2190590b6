"""Markdown pages: one a paper, and an overview."""

from collections import Counter
from dataclasses import replace
from itertools import groupby

from . import explain
from .registry import PAPERS, Table

VERDICTS = {True: "agrees", False: "differs"}


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
    """Numbers of entries that agree, differ, and have no result; and how many of the agreeing ones do so by
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
    compared = count["agrees"] + count["differs"]
    share = f" ({100 * count['agrees'] / compared:.0f} %)" if compared else ""
    text = f"{count['agrees']} of {compared} numbers agree with the paper{share}"
    for missing, words in (("no data", "have no data"), ("not run", "are not computed yet")):
        text += f"; {count[missing]} {words}" if count[missing] else ""
    text += "."
    if count["calibrated"]:
        text += (
            f" Of those that agree {count['calibrated']} do by calibration: a paper leaves a size of its simulated "
            "data open, and ours was chosen for it."
        )
    if count["scaled"]:
        text += (
            f" {count['scaled']} of those that agree are counts of confusion matrices, our rows scaled to the "
            f"printed sizes of the classes; without that calibration {count['unscaled']} counts agree."
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
        "A number agrees where it is within two of the paper's standard deviations or 1.5 points of per cent, "
        "whichever is larger. Below each table stands what was measured about the numbers that differ.",
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


def table_lines(table, store):
    name = f"Table {table.name.split(':')[1]}: " if table.counted else ""
    lines = [f"## {name}{table.title}", ""]
    if table.reading:
        lines += [table.reading, ""]
    lines += ["| | | paper | ours | difference | verdict |", "|---|---|---|---|---|---|"]
    lines += [entry_line(entry, store) for entry in table.entries]
    if not table.counted:
        return lines
    differing = [entry for entry in table.entries if entry.agrees(store) is False]
    notes = explanations(differing, store)
    return lines + (["", *notes] if notes else [])


def number(value, deviation, digits):
    return f"{value:.{digits}f}" + (f" ± {deviation:.{digits}f}" if deviation else "")


def entry_line(entry, store):
    paper = "N.I." if entry.paper is None else number(entry.paper, entry.deviation, entry.digits)
    ours = entry.ours(store)
    head = f"| {entry.row} | {entry.column} | {paper} |"
    if ours is None:
        return f"{head} {store.failure(entry.cell) or 'not run'} | | |"
    if entry.paper is None:
        return f"{head} singular in {ours[0]} trials | | {VERDICTS[entry.agrees(store)]} |"
    verdict = VERDICTS[entry.agrees(store)]
    if entry.calibrated and entry.agrees(store):
        verdict += ", calibrated"
    difference = f"{ours[0] - entry.paper:+.{entry.digits}f}"
    return f"{head} {number(*ours, entry.digits)} | {difference} | {verdict} |"


def explanations(entries, store):
    """One line for each explaining cell, naming what it explains."""
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
        lines.append(f"- *{names}*: {text}")
    return lines


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
        "| paper | agree | differ | no data | not computed |",
        "|---|---|---|---|---|",
    ]
    for paper, count in counts.items():
        numbers = " | ".join(str(count[verdict]) for verdict in ("agrees", "differs", "no data", "not run"))
        lines.append(f"| [{paper}: {PAPERS[paper]}]({paper}.md) | {numbers} |")
    total = sum(counts.values(), Counter())
    lines += ["", "All papers: " + summary(total)]
    lines += ["", f"Computing the cells took {seconds / 60:.1f} minutes, added over the processes."]
    lines += ["", "[What changes today](today.md): the same data with the defaults of this package, and its peers."]
    lines += ["", "[Speed of the thesis's protocol](speed.md) compared with grid search with refits."]
    lines += ["", "```{toctree}", ":hidden:", "", *counts, "today", "speed", "```"]
    (out / "index.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
