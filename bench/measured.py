"""Pages of measurements: ``python -m bench.measured TOPIC REPORT.json ...`` writes docs/measured/TOPIC.md.

The reports are those of ``pytest bench/bench_....py --benchmark-json=REPORT.json``. Every bench function becomes a
section: its docstring, and a row for each run with what it was called with and what it put into ``extra_info``.
Rows are kept in docs/measured/TOPIC.json, so that a later report replaces its own rows only; the page itself holds
nothing that a run did not print. Without a report the page is written anew.
"""

import argparse
import importlib
import inspect
import json
from pathlib import Path

from bench.page import cell, machine, table

FOLDER = Path(__file__).parents[1] / "docs" / "measured"
SPELLED = {"arpack": "ARPACK", "kdepy": "KDEpy", "knn": "k-NN", "pca": "PCA", "scipy": "SciPy", "svm": "SVM"}


def rows_of(report):
    """Rows of one report by the name of the run, e.g. ``bench/bench_perturbo.py::test_letter[...]``."""
    return {
        run["fullname"]: {
            "machine": machine(),
            "parameters": run["params"] or {},
            "seconds": run["stats"]["median"],
            "results": run["extra_info"],
        }
        for run in report["benchmarks"]
    }


def page(topic, rows):
    """The Markdown page of all rows."""
    lines = [
        f"# Measured: {topic.replace('_', ' ')}",
        "",
        f"Written by `python -m bench.measured {topic} REPORT.json` from the reports of the benches named below. Times",
        "are seconds, medians of what was run in turns in one process.",
    ]
    for function in dict.fromkeys(name.split("[")[0] for name in rows):
        mine = [row for name, row in rows.items() if name.split("[")[0] == function]
        lines += ["", f"## {title(function)}", "", docstring(function), ""]
        lines.append(shown([row["parameters"] | {"seconds": row["seconds"]} | row["results"] for row in mine]))
        lines += ["", f"`{function}`; {'; '.join(dict.fromkeys(row['machine'] for row in mine))}."]
    return "\n".join(lines) + "\n"


def title(function):
    """The name of a bench as a heading."""
    first, *words = (SPELLED.get(word, word) for word in function.split("::test_")[1].split("_"))
    return " ".join([first[0].upper() + first[1:] if first.islower() else first, *words])


def docstring(function):
    path, name = function.split("::")
    module = importlib.import_module(path.removesuffix(".py").replace("/", "."))
    return inspect.getdoc(getattr(module, name)) or ""


def shown(rows):
    """A table; a single row is turned, since it may have many columns."""
    if len(rows) > 1:
        return table(rows, digits=4)
    return "\n".join(["| | |", "|---|---|"] + [f"| {key} | {cell(value, 4)} |" for key, value in rows[0].items()])


def main():
    parser = argparse.ArgumentParser(prog="python -m bench.measured", description=__doc__.splitlines()[0])
    parser.add_argument("topic")
    parser.add_argument("reports", nargs="*", type=Path, help="none: only write the page anew")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    arguments = parser.parse_args()
    stored = arguments.folder / f"{arguments.topic}.json"
    rows = json.loads(stored.read_text(encoding="utf-8")) if stored.exists() else {}
    for report in arguments.reports:
        rows |= rows_of(json.loads(report.read_text(encoding="utf-8")))
    arguments.folder.mkdir(parents=True, exist_ok=True)
    stored.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    stored.with_suffix(".md").write_text(page(arguments.topic, rows), encoding="utf-8")


if __name__ == "__main__":
    main()
