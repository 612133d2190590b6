"""``python -m bench report`` writes pages: docs/measured, docs/performance.md, and marked places in other pages.

Each bench is a section of the page of its file: its name is the heading, its docstring the text, and its rows are the
table. A function marked by `view` shows rows in another way. In any other page, ``<!-- measured TOPIC NAME -->`` and
``<!-- end -->`` enclose the output of a section or a view. No page holds a figure that was not written by a run.

A report has two steps. `summarize` computes what the sections and views show from the rows that were measured on this
machine (build/measured), and keeps it in docs/measured/TOPIC.json; what was not measured here stays. `page` and
`filled` write pages from these files alone.
"""

import importlib
import inspect
import json
import math
import os
import re

from .record import ROOT, Record, text_of

BENCH, DOCS = ROOT / "bench", ROOT / "docs"
MEASURED = DOCS / "measured"
PLACE = re.compile(r"(<!-- measured (\w+) (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
WIDEST, UPRIGHT = 140, 5  # characters of a row; a wider table with at most UPRIGHT rows is transposed
SPELLED = {
    "arpack": "ARPACK",
    "kdepy": "KDEpy",
    "knn": "k-NN",
    "realmlp": "RealMLP",
    "pca": "PCA",
    "scipy": "SciPy",
    "svm": "SVM",
}
ANYWHERE = {"kernels": DOCS / "performance.md"}  # pages that are not in docs/measured
STATISTIC = (
    "Seconds and ratios are medians over turns in one process, with half the distance between the quartiles. "
    "With one thread, seconds are processor time; with more threads, they are time on the clock."
)


def view(*sections, page=True):
    """Mark a function that takes the rows of these sections, and returns blocks: text, lists of rows, or pictures."""

    def mark(function):
        function.sections, function.page = sections, page
        return function

    return mark


def pick(rows, *keys):
    """Select columns of rows, in this order; ``"x *"`` stands for all columns that begin with ``"x "``."""
    found = list(dict.fromkeys(key for row in rows for key in row))
    wanted = [c for key in keys for c in found if c == key or (key.endswith("*") and c.startswith(key[:-1]))]
    return [{key: row.get(key, "") for key in wanted} for row in rows]


def listed(words):
    """The words, with commas and an "and"."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def topics():
    return sorted(path.stem.removeprefix("bench_") for path in BENCH.glob("bench_*.py"))


def module_of(topic):
    return importlib.import_module(f"bench.bench_{topic}")


def path_of(topic):
    return ANYWHERE.get(topic, MEASURED / f"{topic}.md")


def functions(topic):
    """{name: function} of the sections and views of a page, in the order of the file."""
    found = vars(module_of(topic)).items()
    return {n.removeprefix("test_"): f for n, f in found if n.startswith("test_") or hasattr(f, "sections")}


def kept(topic):
    """What docs/measured keeps of a topic: ``"runs"`` of its sections, and the blocks ``"shown"`` by them and by
    views. A block is text, a list of rows, or a picture: ``{"picture": file, "alt": text}``.
    """
    path = MEASURED / f"{topic}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"runs": {}, "shown": {}}


def summarize(topic):
    """Keep what the sections and views show of the rows measured here; a view needs all of its sections."""
    sections, found = Record(topic).sections, kept(topic)
    for name, section in sections.items():
        dates = sorted({row["date"] for row in section["rows"]})
        seconds = sum(row["seconds"] for row in section["rows"])
        found["runs"][name] = section["run"] | {"dates": dates, "seconds": round(seconds, 1)}
    rows = {name: [row["case"] | row["values"] for row in section["rows"]] for name, section in sections.items()}
    for name, function in functions(topic).items():
        needed = getattr(function, "sections", (name,))
        if needed and all(map(rows.get, needed)):
            blocks = function(*map(rows.get, needed)) if hasattr(function, "sections") else [rows[name]]
            found["shown"][name] = [drawn(block, f"{topic}_{name}") for block in blocks]
    seen = functions(topic).keys() - viewed(topic) | {
        name for place in places().values() for _, of, name, _ in place if of == topic
    }
    found["shown"] = {name: blocks for name, blocks in found["shown"].items() if name in seen}
    found["runs"] = {name: run for name, run in found["runs"].items() if name in functions(topic)}
    (MEASURED / f"{topic}.json").write_text(text_of(found), encoding="utf-8")


def drawn(block, name):
    """The block; a picture, of which a view has at most one, is drawn into its file."""
    if isinstance(block, str | list):
        return block
    path = MEASURED / "plots" / f"{name}{getattr(block, 'suffix', '.svg')}"
    block.draw(path)
    return {"picture": path.name, "alt": getattr(block, "alt", heading(name.partition("_")[2]))}


def viewed(topic):
    """Sections that the page shows through views."""
    return {part for f in functions(topic).values() if getattr(f, "page", False) for part in f.sections}


def places():
    """Marked places of each page that contains some."""
    pages = [ROOT / "README.md", *DOCS.rglob("*.md")]
    return {page: found for page in pages if (found := PLACE.findall(page.read_text(encoding="utf-8")))}


def shown(topic, name, page):
    """Markdown of a section or a view in a page."""
    function = functions(topic)[name]
    blocks = function() if getattr(function, "sections", name) == () else kept(topic)["shown"].get(name)
    if blocks is None:
        return f"*Not measured yet: `python -m bench run {topic}`.*"
    return "\n\n".join(markdown(block, page) for block in blocks)


def markdown(block, page):
    if isinstance(block, dict):
        return f"![{block['alt']}]({os.path.relpath(MEASURED / 'plots' / block['picture'], page.parent)})"
    return block if isinstance(block, str) else table(block)


def table(rows):
    """Markdown table of dictionaries. A line above it has the values that are the same in all rows."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    same = [key for key in keys if len(rows) > 1 and all(key in row and row[key] == rows[0][key] for row in rows)]
    keys = [key for key in keys if key not in same]
    lines = [f"In all rows: {', '.join(f'*{key}* {cell(rows[0][key])}' for key in same)}.", ""] if same else []
    found = [keys, *([cell(row.get(key, "")) for key in keys] for row in rows)]
    wide = max(len(" | ".join(map(str, line))) for line in found) > WIDEST
    if len(rows) == 1 or wide and len(rows) <= UPRIGHT:
        found = list(map(list, zip(*found, strict=True)))
        found[:0] = [[""] * len(found[0])] if len(rows) == 1 else []
    elif wide:
        raise ValueError(f"A table of {len(rows)} rows is too wide: {', '.join(keys)}. Show it by a view or a picture.")
    first, *others = (f"| {' | '.join(map(str, line))} |" for line in found)
    return "\n".join([*lines, first, "|" + "---|" * len(found[0]), *others])


def cell(value):
    if isinstance(value, dict):
        median, reach = value["median"], value["spread"]
        if not 1e-3 <= abs(median) < 1e5:
            return f"{median:.2e}" + (f" ± {reach:.0e}" if reach else "")
        digits = max(0, 2 - math.floor(math.log10(abs(median))))
        return f"{median:.{digits}f}" + (f" ± {reach:.{digits}f}" if reach else "")  # one turn has no spread
    if isinstance(value, bool) or not isinstance(value, float):
        return str(value)
    if value and not 1e-4 <= abs(value) < 1e6:
        return f"{value:.1e}"
    return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"


def heading(name):
    first, *words = (SPELLED.get(word, word) for word in name.removesuffix("_in_short").split("_"))
    return " ".join([first[0].upper() + first[1:] if first.islower() else first, *words])


def provenance(topic):
    """A line for each run of which sections are on the page."""
    lines = {}
    for name, run in kept(topic)["runs"].items():
        dates, packages = run["dates"], ", ".join(f"{package} {number}" for package, number in run["versions"].items())
        where = ", ".join(run[key] for key in ("processor", "system", "compiler"))
        what = f"{where}, {' to '.join(dict.fromkeys((dates[0], dates[-1])))}; {packages}"
        lines.setdefault((run["commit"], what), []).append((name, run["seconds"] / 60))
    return [
        f"Commit {commit}, {what}; {sum(minutes for _, minutes in sections):.0f} minutes"
        + (f" ({', '.join(heading(name) for name, _ in sections)})." if len(lines) > 1 else ".")
        for (commit, what), sections in lines.items()
    ]


def page(topic):
    """Markdown of the page of a topic."""
    path, title = path_of(topic), inspect.getdoc(module_of(topic)).split("\n")[0].rstrip(".")
    lines = [f"# {title}", "", *inspect.getdoc(module_of(topic)).split("\n")[2:], ""]
    found, through_views = functions(topic), viewed(topic)
    for name, function in found.items():
        if name not in through_views and getattr(function, "page", True):
            text = inspect.getdoc(function) or inspect.getdoc(found[function.sections[0]])
            lines += [f"## {heading(name)}", "", text, "", shown(topic, name, path), ""]
    lines += ["---", "", f"Written by `python -m bench report` from `python -m bench run {topic}`. {STATISTIC}", ""]
    return "\n".join([*lines, *provenance(topic)]).rstrip() + "\n"


def filled(path):
    """Text of a page with its marked places filled."""
    text = path.read_text(encoding="utf-8")
    return PLACE.sub(lambda m: f"{m[1]}{shown(m[2], m[3], path)}\n{m[4]}", text)


def index():
    lines = [
        "# Measurements",
        "",
        "Each topic has a page. The last lines of a page name the command, the machine, the commit and the versions.",
        "",
        "| page | what was measured |",
        "|---|---|",
    ]
    for topic in topics():
        path = path_of(topic)
        link = path.name if path.parent.name == "measured" else f"../{path.name}"
        lines.append(f"| [{topic.replace('_', ' ')}]({link}) | {inspect.getdoc(module_of(topic)).split(chr(10))[0]} |")
    return "\n".join([*lines, "", "```{toctree}", ":maxdepth: 1", ":hidden:", ":glob:", "", "*", "```"]) + "\n"


def write():
    for topic in topics():
        summarize(topic)
        path_of(topic).write_text(page(topic), encoding="utf-8")
    (MEASURED / "index.md").write_text(index(), encoding="utf-8")
    for path in places():
        path.write_text(filled(path), encoding="utf-8")
