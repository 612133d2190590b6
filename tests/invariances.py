"""Changes of the data that do not affect an estimator's choices, and the exceptions with their reasons.

`tests/promises` tests each promise for each estimator, and fails if an exception has become unnecessary. ``python -m
tests.invariances`` writes both into the page about reliability.
"""

from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "reliability.md"
BEGIN, END = "<!-- invariances -->\n", "<!-- end -->"

PROMISES = {
    "unit of a column": "One column is multiplied by 1000, 2^-20 or 1e6: held-out points are predicted equally well.",
    "unit of the data": "All columns are multiplied by a factor: predictions stay the same (densities are rescaled).",
    "offset": "1e6 is added to a float64 column: predictions stay the same.",
    "unit of weights": "All sample weights are multiplied by 1.5, 0.9 or 1e-6: predictions stay the same.",
    "weights as copies": "Rows get a weight instead of being repeated, in any unit: predictions stay the same.",
    "copies": "Every row, or the first fifth of the rows, is repeated: held-out points are predicted equally well.",
    "far cell": "A training cell is set to -9999, 1e6 or 1e30: held-out points are predicted equally well.",
    "order": "Rows and columns are reordered: predictions stay the same.",
    "names": "Classes get other names, in another order: the labels stay the same.",
    "constant column": "A column is added that is constant up to rounding: held-out points are predicted equally well.",
    "ties": "All cells are rounded to whole numbers or to one decimal: held-out points are predicted equally well.",
    "3000 features": "40 samples have 3000 features: predictions are finite and much better than chance.",
}

_SINGLE_ROWS = (
    "tuning leaves out one copy of a repeated row, but all of a weighted one. A given bandwidth is not affected."
)

EXCEPTIONS = {
    "weights as copies": {
        "AutoClassifier": "the trees do not treat a weight of two as a repeated row.",
        "AutoRegressor": "the trees do not treat a weight of two as a repeated row.",
        "ParzenDensity": _SINGLE_ROWS,
        "ParzenOutlierDetector": _SINGLE_ROWS,
    },
    "copies": {"KernelMap": "repeated rows weigh more in the map, whose few coordinates may then be other ones."},
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
