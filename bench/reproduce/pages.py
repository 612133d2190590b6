"""Write a page for each paper, with one table of its numbers, and an index, from the record and the papers alone."""

from collections import Counter
from itertools import groupby

from bench.pages import listed

from .results import Results
from .tables import DEVIATIONS, PAPERS, POINTS, STANDARD_ERRORS, VERDICTS, Table, covers, everything, line, published

MARKS = {"agrees": "{}", "in the spread": "*{}*", "outside": "**{}**", "not comparable": "[{}]"}
LEFT_OUT = {"not comparable": "not comparable", "no data": "lacking data", "not computed": "not yet computed"}


def said(name):
    """A text of all pages."""
    limits = {"errors": STANDARD_ERRORS, "deviations": DEVIATIONS, "points": POINTS}
    return line(published("index")[name]).format(**limits)


def write_pages(folder):
    """Write the pages of the papers in a folder's record, and the index if all are in it. Returns their tallies."""
    results, counts = Results(folder), {}
    known = {name for name, _, _ in results.found}
    for paper, items in by_paper().items():
        if items := [item for item in items if item.name in known]:
            text, counts[paper] = paper_page(paper, items, results)
            (folder / f"{paper}.md").write_text(text, encoding="utf-8")
    if set(counts) == set(PAPERS):
        (folder / "index.md").write_text(overview(counts), encoding="utf-8")
    return counts


def by_paper():
    """{paper: its tables and figures}."""
    return {paper: list(items) for paper, items in groupby(everything(100), key=lambda item: item.name.split(":")[0])}


def tables_of(items):
    return [item for item in items if isinstance(item, Table)]


def tally(items, results):
    """Number of counted entries with each verdict."""
    return Counter(results.verdict(t, entry) for t in tables_of(items) for entry in t.entries if entry.counted)


def summary(count):
    """The counts in words."""
    compared = sum(count[verdict] for verdict in VERDICTS)
    spread, outside = (f"{n} {'is' if n == 1 else 'are'}" for n in (count["in the spread"], count["outside"]))
    text = f"{compared} numbers are compared: {count['agrees']} agree, {spread} in the paper's spread and "
    text += f"{outside} outside."
    rest = [f"{count[kind]} as {words}" for kind, words in LEFT_OUT.items() if count[kind]]
    return f"{text} This leaves out {listed(rest)}." if rest else text


def paper_page(paper, items, results):
    """The text of a page, and its tally."""
    tables, count = tables_of(items), tally(items, results)
    lines = [f"# {paper}: {PAPERS[paper]}", "", summary(count), "", said("legend"), "", *numbers(tables, results)]
    lines += differences(paper, tables, results)
    readings = {}
    for table in tables:
        readings.setdefault(table.reading, []).append(table.name.split(":")[1])
    lines += ["", "## How it was computed", ""]
    lines += [f"- {', '.join(names)}: {reading}" for reading, names in readings.items() if reading]
    for figure in items:
        if not isinstance(figure, Table):
            lines += ["", f"## {heading(figure)}", "", *shown_figure(figure, results.found[figure.name, "", ""])]
    by = "Written by `python -m bench.reproduce`. The commits at which the numbers and figures were computed:"
    found = results.commits(items)
    parts = [f"{at}: {'all' if len(found) == 1 else ', '.join(names)}" for at, names in found.items()]
    return "\n".join([*lines, "", "---", "", by, "", "; ".join(parts) + "."]) + "\n", count


def heading(figure):
    number = figure.name.split(":fig")
    return f"Figure {number[1]}: {figure.title}" if len(number) > 1 else figure.title


def shown_figure(figure, kept):
    if "missing" in kept:
        return [kept["missing"]]
    return [f"![{figure.title}](figures/{picture_name(figure)})", "", kept["caption"]]


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
    for reason in published(paper).get("reasons", ()):
        covered = [table.name.split(":")[1] for table, entry in found if covers(reason, table, entry)]
        if covered:
            count = f"{len(covered)} number{'s' if len(covered) > 1 else ''}, {', '.join(dict.fromkeys(covered))}"
            lines.append(f"- *{reason['group']}* ({count}): {line(reason['sentence'])}")
    return lines


def overview(counts):
    """The text of `index.md`."""
    columns = (*VERDICTS, *LEFT_OUT)
    lines = ["# Results of the papers", "", said("about"), "", "| paper | " + " | ".join(columns) + " |"]
    lines.append("|---" * (len(columns) + 1) + "|")
    for paper, count in counts.items():
        cells = " | ".join(str(count[verdict]) for verdict in columns)
        lines.append(f"| [{paper}: {PAPERS[paper]}]({paper}.md) | {cells} |")
    lines += ["", summary(sum(counts.values(), Counter())), ""]
    for name in ("legend", "counted", "chosen"):
        lines += [said(name), ""]
    lines += ["```{toctree}", ":hidden:", "", *counts, "```", ""]
    return "\n".join([*lines, "---", "", "Written by `python -m bench.reproduce`."]) + "\n"
