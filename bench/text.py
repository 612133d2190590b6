"""What the spectral kernel costs on text, and what it reaches: ``python -m bench.text [PART ...]``.

Measures the parts named (embedding, categories, memory, automatic; all by default), keeps what it found in
docs/measured/text.json, and writes the tables between the marks in docs/guide/text.md.
"""

import argparse
import json
from pathlib import Path

from bench.bench_spectral_kernel import (
    ENTRIES_PER_ROW,
    N_DOCUMENTS,
    N_TERMS,
    K,
    measure_categories,
    measure_embedding,
    measure_memory,
)
from bench.page import machine
from bench.reproduce.data import published
from bench.reproduce.paper_002 import reuters_automatic

DOCS = Path(__file__).parents[1] / "docs"
MARKS = "<!-- begin: python -m bench.text -->", "<!-- end: python -m bench.text -->"


def embedding():
    times, cosines = measure_embedding()
    return {name: {"median": taken[0], "least": taken[1], "cosine": cosines[name]} for name, taken in times.items()}


def categories():
    times, f1 = measure_categories()
    return {name: {"seconds": taken[0]} | f1[name] for name, taken in times.items()}


PARTS = {
    "embedding": embedding,
    "categories": categories,
    "memory": measure_memory,
    "automatic": reuters_automatic,
}


def embedding_lines(found):
    ours = found["spectralcls"]["median"]
    rows = [
        f"| {name} | {taken['median']:.2f} | {taken['least']:.2f} | {taken['median'] / ours:.1f} | "
        f"{1 - taken['cosine']:.0e} |"
        for name, taken in found.items()
    ]
    return [
        f"Reuters, the training documents, k = {K}: the first two in turns, then the third once; the last column is "
        "1 minus the cosine of the largest angle between the subspace and ours.",
        "",
        "| embedding | median s | least s | times ours | off by |",
        "|---|---|---|---|---|",
        *rows,
    ]


def categories_lines(found):
    rows = [
        f"| {name} | {value['seconds']:.1f} | {100 * value['micro']:.1f} | {100 * value['macro']:.1f} |"
        for name, value in found.items()
    ]
    return [
        "Tuning, training and predicting all ten categories, 3 folds; the SVMs on raw features search C.",
        "",
        "| | s | micro F1 | macro F1 |",
        "|---|---|---|---|",
        *rows,
    ]


def memory_lines(found):
    return [
        f"{N_DOCUMENTS} synthetic documents ({N_TERMS} terms by Zipf's law, {ENTRIES_PER_ROW} drawn a document), "
        f"k = 100: fit in {found['fit_seconds']:.0f} s; the whole process peaks at {found['peak_gib']:.2f} GiB, "
        f"{found['data_gib']:.2f} GiB of it before the fit.",
    ]


def automatic_lines(found):
    paper = published("002")["3"]["k = 270"]
    ks = ", ".join(f"{name} {k}" for name, k in found["n_components"].items())
    return [
        f"k for each category by 5-fold cross-validation on the training documents: micro F1 "
        f"{100 * found['micro']:.1f}, macro F1 {100 * found['macro']:.1f}, against {paper['micro']:.1f} and "
        f"{paper['macro']:.1f} of the paper's best single k. Chosen: {ks}.",
    ]


LINES = {
    "embedding": embedding_lines,
    "categories": categories_lines,
    "memory": memory_lines,
    "automatic": automatic_lines,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all by default")
    parser.add_argument("--docs", type=Path, default=DOCS)
    arguments = parser.parse_args()
    if unknown := set(arguments.parts) - set(PARTS):
        parser.error(f"there is no part {', '.join(sorted(unknown))}")
    kept = arguments.docs / "measured" / "text.json"
    results = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    for part in arguments.parts or PARTS:
        results[part] = PARTS[part]()
    results["machine"] = machine()
    results.pop("threads", None)  # of earlier runs, which did not keep the machine
    kept.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    lines = [f"Written by `python -m bench.text`; {results['machine']}."]
    for part in PARTS:
        if part in results:
            lines += ["", *LINES[part](results[part])]
    page = arguments.docs / "guide" / "text.md"
    before, rest = page.read_text(encoding="utf-8").split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    page.write_text("\n".join([before + MARKS[0], *lines, MARKS[1] + after]), encoding="utf-8")


if __name__ == "__main__":
    main()
