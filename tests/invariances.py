"""What no choice of an estimator depends on, and the estimators that are exceptions, with their reasons.

`tests/estimators` tries each promise on each estimator, and fails if an exception no longer is one. ``python -m
tests.invariances`` writes both into the page about reliability.
"""

from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "reliability.md"
BEGIN, END = "<!-- invariances -->\n", "<!-- end -->"

PROMISES = {
    "unit of a column": "One column times 1000, 2^-20 or 1e6: held-out points are answered as well.",
    "unit of the data": "All columns times such a factor: the same answers, densities by the constant.",
    "offset": "A column of float64 plus 1e6: the same answers.",
    "unit of weights": "All sample weights times 1.5, 0.9 or 1e-6: the same answers.",
    "weights as copies": "A weight of two is a row given twice: the same answers.",
    "copies": "Every row, or the first fifth of the rows, given twice: held-out points are answered as well.",
    "far cell": "One cell of the training data is -9999, 1e6 or 1e30: held-out points are answered as well.",
    "order": "Rows and columns in another order: the same answers.",
    "names": "Other names of the classes, in another order: the same labels.",
    "constant column": "One more column, constant but for its last rounding: held-out points are answered as well.",
    "ties": "All cells rounded to whole numbers or to one decimal: held-out points are answered as well.",
    "3000 features": "40 samples of 3000 features: finite answers, much better than chance.",
}

_SINGLE_ROWS = "chosen by leaving out single rows, or all of a weight; a given bandwidth is no exception."

EXCEPTIONS = {
    "weights as copies": {
        "AutoClassifier": "to its trees a weight of two is not a row given twice.",
        "AutoRegressor": "to its trees a weight of two is not a row given twice.",
        "ParzenDensity": _SINGLE_ROWS,
        "ParzenOutlierDetector": _SINGLE_ROWS,
    },
}


def table():
    """Markdown of the promises, with a row for each."""
    lines = ["| promise | exceptions |", "|---|---|"]
    for promise, text in PROMISES.items():
        by_reason = {}
        for name, reason in EXCEPTIONS.get(promise, {}).items():
            by_reason.setdefault(reason, []).append(f"`{name}`")
        exceptions = " ".join(f"{', '.join(found)}: {reason}" for reason, found in by_reason.items())
        lines.append(f"| {text} | {exceptions or 'none'} |")
    return "\n".join(lines) + "\n"


def written(page):
    """The text of the page, with the table between its marks."""
    before, rest = page.split(BEGIN)
    return before + BEGIN + table() + END + rest.split(END, 1)[1]


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
