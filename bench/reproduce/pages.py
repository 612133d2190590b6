"""Write a page for each paper, with one table of its numbers, and an index, from the record and the registry alone."""

from collections import Counter
from itertools import groupby

from bench.pages import listed

from .registry import DEVIATIONS, PAPERS, POINTS, STANDARD_ERRORS, VERDICTS, Table, everything, reasons
from .results import Results

LEGEND = (
    "Each cell has our number and, in parentheses, the paper's, both with the standard deviation of single trials if "
    "it is known. z is the difference divided by its standard error; it is given if both deviations are known or the "
    "paper shows a single draw. The splits overlap, so z is only approximate. There are three verdicts. A number "
    f"*agrees* if it is within {STANDARD_ERRORS} standard errors of the paper's. Otherwise it is *in the spread* (in "
    f"italics) if it is within {DEVIATIONS} of the paper's deviations, or within {POINTS} percentage points if this is "
    "more, or if no deviation is given. All others are **outside** (in bold). Numbers in square brackets are *not "
    "comparable*, because the paper does not specify the data."
)
MARKS = {"agrees": "{}", "in the spread": "*{}*", "outside": "**{}**", "not comparable": "[{}]"}
COUNTED = (
    "Numbers that follow from others are not counted: the diagonal of a confusion matrix, which follows from the "
    "sizes of the classes; the last of several shares; and a second reading of the same number."
)
CHOSEN = (
    "If a paper can be read in several ways, we chose the reading that comes nearest to its tables. This concerns the "
    "end of the thesis's grid of bandwidths (2.5), on which some rates depend; the kernels of chapters 5 to 7; which "
    "eigenvalues the truncated PerTurbo keeps, and how it breaks ties; the order of the Hill-valley sets; and the "
    "rows of confusion matrices, which are scaled to the printed sizes of the classes. Agreement therefore shows that "
    "one set of readings explains all tables, not that it was the authors' reading."
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
    """Number of counted entries with each verdict."""
    return Counter(results.verdict(table, entry) for table in tables for entry in table.entries if entry.counted)


def summary(count):
    """The counts in words."""
    compared = sum(count[verdict] for verdict in VERDICTS)
    spread, outside = (f"{n} {'is' if n == 1 else 'are'}" for n in (count["in the spread"], count["outside"]))
    text = f"{compared} numbers are compared: {count['agrees']} agree, {spread} in the paper's spread and "
    text += f"{outside} outside."
    left_out = {"not comparable": "not comparable", "no data": "lacking data", "not computed": "not yet computed"}
    rest = [f"{count[kind]} as {words}" for kind, words in left_out.items() if count[kind]]
    return f"{text} This leaves out {listed(rest)}." if rest else text


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
    lines += [
        "",
        "---",
        "",
        "Written by `python -m bench.reproduce`. The commits at which the numbers and figures were computed:",
        "",
    ]
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
    """(table, entry) of all numbers outside, including those that follow from others."""
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
        "These pages recompute the tables and figures of the five source papers, for readers who know them. To choose "
        "a classifier, read [Choose](../choose.md).",
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
