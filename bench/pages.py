"""``python -m bench report`` writes pages from records: docs/measured, docs/performance.md, and marked places in other
pages.

Each bench is a section of the page of its file: its name is the heading, its docstring the text, and its rows are the
table. A function marked by `view` shows rows in another way. In any other page, ``<!-- measured TOPIC NAME -->`` and
``<!-- end -->`` enclose the output of a section or a view. No page holds a figure that was not written by a run.
"""

import importlib
import inspect
import math
import os
import re

from .record import FOLDER, ROOT, Record

BENCH, DOCS = ROOT / "bench", ROOT / "docs"
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
    return ANYWHERE.get(topic, DOCS / "measured" / f"{topic}.md")


def rows_of(record, section):
    return [row["case"] | row["values"] for row in record.sections.get(section, {"rows": []})["rows"]]


def functions(topic):
    """{name: function} of the sections and views of a page, in the order of the file."""
    found = vars(module_of(topic)).items()
    return {n.removeprefix("test_"): f for n, f in found if n.startswith("test_") or hasattr(f, "sections")}


def blocks(topic, name):
    """The blocks of a section or a view; None if nothing was measured."""
    record, function = Record(topic), functions(topic)[name]
    if not hasattr(function, "sections"):
        return [rows] if (rows := rows_of(record, name)) else None
    rows = [rows_of(record, section) for section in function.sections]
    return function(*rows) if all(rows) else None


def shown(topic, name, page):
    """Markdown of a section or a view in a page; draws its pictures."""
    found = blocks(topic, name)
    if found is None:
        return f"*Not measured yet: `python -m bench run {topic}`.*"
    parts, pictures = [], 0
    for block in found:
        if isinstance(block, str):
            parts.append(block)
        elif isinstance(block, list):
            parts.append(table(block))
        else:
            picture = FOLDER / "plots" / f"{topic}_{name}{pictures or ''}{getattr(block, 'suffix', '.svg')}"
            block.draw(picture)
            pictures += 1
            parts.append(f"![{getattr(block, 'alt', heading(name))}]({os.path.relpath(picture, page.parent)})")
    return "\n\n".join(parts)


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
    lines, record = {}, Record(topic)
    for name, section in record.sections.items():
        run, rows = section["run"], section["rows"]
        dates = sorted({row["date"] for row in rows})
        packages = ", ".join(f"{package} {number}" for package, number in run["versions"].items())
        minutes = sum(row["seconds"] for row in rows) / 60
        where = ", ".join(run[key] for key in ("processor", "system", "compiler"))
        what = f"{where}, {' to '.join(dict.fromkeys((dates[0], dates[-1])))}; {packages}"
        lines.setdefault((run["commit"], what), []).append((name, minutes))
    return [
        f"Commit {commit}, {what}; {sum(minutes for _, minutes in sections):.0f} minutes"
        + (f" ({', '.join(heading(name) for name, _ in sections)})." if len(lines) > 1 else ".")
        for (commit, what), sections in lines.items()
    ]


def page(topic):
    """Markdown of the page of a topic."""
    path, title = path_of(topic), inspect.getdoc(module_of(topic)).split("\n")[0].rstrip(".")
    lines = [f"# {title}", "", *inspect.getdoc(module_of(topic)).split("\n")[2:], ""]
    found = functions(topic)
    viewed = {section for f in found.values() if getattr(f, "page", False) for section in f.sections}
    for name, function in found.items():
        if name not in viewed and getattr(function, "page", True):
            text = inspect.getdoc(function) or inspect.getdoc(found[function.sections[0]])
            lines += [f"## {heading(name)}", "", text, "", shown(topic, name, path), ""]
    lines += ["---", "", f"Written by `python -m bench report` from `python -m bench run {topic}`. {STATISTIC}", ""]
    return "\n".join([*lines, *provenance(topic)]).rstrip() + "\n"


def fill(path):
    """Fill the marked places of a page with measurements."""
    text = path.read_text(encoding="utf-8")
    filled = PLACE.sub(lambda m: f"{m[1]}{shown(m[2], m[3], path)}\n{m[4]}", text)
    if filled != text:
        path.write_text(filled, encoding="utf-8")


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
    FOLDER.mkdir(parents=True, exist_ok=True)
    for topic in topics():
        path_of(topic).write_text(page(topic), encoding="utf-8")
    (DOCS / "measured" / "index.md").write_text(index(), encoding="utf-8")
    for path in [ROOT / "README.md", *DOCS.rglob("*.md")]:
        if path not in map(path_of, topics()):
            fill(path)
