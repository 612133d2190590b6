"""A page for each paper, with one table of all its numbers, and an index: from the record and the registry alone."""

from collections import Counter
from itertools import groupby

from .registry import DEVIATIONS, PAPERS, POINTS, STANDARD_ERRORS, VERDICTS, Table, everything, reasons
from .results import Results

LEGEND = (
    "Each cell: ours, then the paper's in brackets, each with the deviation of single trials; z is the difference over "
    "its standard error, if both deviations are known or the paper shows one draw. Splits overlap, so that z is rough. "
    f"Three verdicts: a number *agrees* within {STANDARD_ERRORS} standard errors; it is *in the spread* (in italics) "
    f"within {DEVIATIONS} of the paper's deviations, or {POINTS} points of per cent where these are less or not given; "
    "it is **outside** (in bold) otherwise. *Not comparable* (in brackets) are numbers of data that the paper does not "
    "specify."
)
MARKS = {"agrees": "{}", "in the spread": "*{}*", "outside": "**{}**", "not comparable": "[{}]"}
COUNTED = (
    "What others imply is not counted: the diagonal of a confusion matrix, which follows from the sizes of classes; "
    "the last of some shares; a second reading of the same number."
)
CHOSEN = (
    "Chosen because it fits: where a paper leaves a reading open, ours is the one of several that comes nearest to its "
    "tables. Among these are the end of the thesis's grid of bandwidths, 2.5, on which some rates rest; the kernels of "
    "chapters 5 to 7; what the truncated PerTurbo keeps, and ties; the order of the Hill-valley sets; and rows of "
    "confusion matrices, scaled to the printed sizes of the classes. Agreement says that one set of readings serves "
    "all tables, not that it was the authors'."
)


def write_pages(folder):
    """Write the pages of the papers in a folder's record, and the index if all are in it. Returns their tallies."""
    results, counts = Results(folder), {}
    for paper, items in by_paper().items():
        items = [item for item in items if results.known(item)]
        if items:
            text, counts[paper] = paper_page(paper, items, results)
            (folder / f"{paper}.md").write_text(text, encoding="utf-8")
    if set(counts) == set(PAPERS):
        (folder / "index.md").write_text(overview(counts), encoding="utf-8")
    return counts


def by_paper():
    """{paper: its tables and figures}."""
    return {paper: list(items) for paper, items in groupby(everything(100), key=lambda item: item.name.split(":")[0])}


def tally(tables, results):
    """How many numbers that no others imply have each verdict."""
    return Counter(results.verdict(table, entry) for table in tables for entry in table.entries if entry.counted)


def summary(count):
    """What the counts say, in a sentence."""
    compared = sum(count[verdict] for verdict in VERDICTS)
    text = (
        f"Of {compared} numbers {count['agrees']} agree, {count['in the spread']} more are in the paper's spread, and "
    )
    text += f"{count['outside']} are outside"
    for rest, words in (
        ("not comparable", "are not comparable"),
        ("no data", "have no data"),
        ("not computed", "wait"),
    ):
        text += f"; {count[rest]} {words}" if count[rest] else ""
    return text + "."


def paper_page(paper, items, results):
    """The text of a page, and its tally."""
    tables = [item for item in items if isinstance(item, Table)]
    figures = [item for item in items if not isinstance(item, Table)]
    count = tally(tables, results)
    lines = [f"# {paper}: {PAPERS[paper]}", "", summary(count), "", LEGEND, "", *numbers(tables, results)]
    lines += differences(paper, tables, results)
    readings = {}
    for table in tables:
        readings.setdefault(table.reading, []).append(table.name.split(":")[1])
    lines += ["", "## How it was computed", ""]
    lines += [f"- {', '.join(names)}: {reading}" for reading, names in readings.items() if reading]
    for figure in figures:
        kept = results.found[figure.name, "", ""]
        lines += ["", f"## {heading(figure)}", ""]
        if "caption" in kept:
            lines += [f"![{figure.title}](figures/{picture_name(figure)})", ""]
        lines.append(kept.get("caption") or kept["missing"])
    lines += ["", "---", "", "Written by `python -m bench.reproduce`, which computed at commit"]
    found = results.commits(items)
    parts = [f"{at}: {'all' if len(found) == 1 else ', '.join(names)}" for at, names in found.items()]
    return "\n".join([*lines, "; ".join(parts) + "."]) + "\n", count


def heading(figure):
    number = figure.name.split(":fig")
    return f"Figure {number[1]}: {figure.title}" if len(number) > 1 else figure.title


def picture_name(figure):
    return figure.name.replace(":", "_").replace(".", "_") + ".png"


def numbers(tables, results):
    """One Markdown table: a line for each row of each table of the paper."""
    lines = ["| table | row | ours (the paper's) |", "|---|---|---|"]
    for table in tables:
        name = f"{table.name.split(':')[1]} {table.title}"
        for row, entries in groupby(table.entries, key=lambda entry: entry.row):
            cells = "; ".join(f"{entry.column}: {shown(table, entry, results)}" for entry in entries)
            lines.append(f"| {name} | {row} | {cells} |")
            name = ""
    return lines + [f"\n{missing[0].upper()}{missing[1:]}." for missing in results.missing(tables)]


def shown(table, entry, results):
    paper = "N.I." if entry.paper is None else number(entry.paper, entry.deviation, entry.digits)
    ours = results.ours(table, entry)
    if ours is None:
        return f"{results.verdict(table, entry)} ({paper})"
    text = f"singular in {ours.mean:.0f} trials" if entry.paper is None else number(*ours[:2], entry.digits)
    z = entry.z(ours) if entry.specified else None
    text = MARKS[entry.verdict(ours)].format(text)
    return f"{text} ({paper})" if z is None else f"{text} ({paper}; z {z:+.1f})"


def number(value, deviation, digits):
    return f"{value:.{digits}f}" + (f" ± {deviation:.{digits}f}" if deviation else "")


def outside(tables, results):
    """(table, entry) of the numbers outside, those that others imply among them."""
    return [(table, entry) for table in tables for entry in table.entries if results.verdict(table, entry) == "outside"]


def differences(paper, tables, results):
    """The sentences on the numbers outside, group by group."""
    found = outside(tables, results)
    lines = ["", "## Why numbers are outside", ""] if found else []
    for reason in reasons(paper):
        covered = [table.name.split(":")[1] for table, entry in found if reason.covers(table, entry)]
        if covered:
            count = f"{len(covered)} number{'s' if len(covered) > 1 else ''}, {', '.join(dict.fromkeys(covered))}"
            lines.append(f"- *{reason.group}* ({count}): {reason.sentence}")
    return lines


def overview(counts):
    """The text of `index.md`."""
    shown = (*VERDICTS, "not comparable", "no data", "not computed")
    lines = [
        "# Results of the papers",
        "",
        "Tables and figures of the five source papers, computed again. These pages are for those who know the "
        "papers; to choose a classifier read [Choose](../choose.md).",
        "",
        "| paper | " + " | ".join(shown) + " |",
        "|---" * (len(shown) + 1) + "|",
    ]
    for paper, count in counts.items():
        cells = " | ".join(str(count[verdict]) for verdict in shown)
        lines.append(f"| [{paper}: {PAPERS[paper]}]({paper}.md) | {cells} |")
    lines += ["", summary(sum(counts.values(), Counter())), "", LEGEND, "", COUNTED, "", CHOSEN, ""]
    lines += ["```{toctree}", ":hidden:", "", *counts, "```", ""]
    return "\n".join([*lines, "---", "", "Written by `python -m bench.reproduce`."]) + "\n"
