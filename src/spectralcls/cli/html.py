"""The comparison as one HTML file: table, picture and advice, without anything to load from elsewhere."""

import base64
import html
import io

from . import report
from .significance import indistinguishable

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; }
th, td { padding: .25rem .75rem; text-align: right; border-bottom: 1px solid #8885; }
th:first-child, td:first-child { text-align: left; } tr.equal td { font-weight: 600; }
img { max-width: 100%; background: white; }
"""


def page(problem, records, results, arguments):
    """The page as text."""
    title, *settings = report.heading(problem, results[0], arguments).strip().split("\n")
    equal = indistinguishable(results)
    rows = [_row(record, record["classifier"] in equal) for record in report.ranked(records)]
    picture = _picture(problem, records, results)
    head = "".join(f"<th>{html.escape(name)}</th>" for name in report.COLUMNS)
    remarks = "".join(f"<li>{html.escape(note)}</li>" for note in report.notes(results))
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width">',
            f"<title>{html.escape(problem.name)}</title><style>{_STYLE}</style></head><body>",
            f"<h1>{html.escape(title)}</h1>",
            *(f"<p>{html.escape(setting)}</p>" for setting in settings),
            f"<p><strong>{html.escape(report.advice(records, results))}</strong></p>",
            f"<table><thead><tr>{head}</tr></thead><tbody>",
            *rows,
            "</tbody></table>",
            f"<p>{html.escape(report.LEGEND)}</p>",
            f'<img alt="accuracy and time of each classifier" src="data:image/png;base64,{picture}">',
            f"<ul>{remarks}</ul>" if remarks else "",
            "</body></html>",
            "",
        ]
    )


def _row(record, equal):
    cells = "".join(f"<td>{html.escape(cell)}</td>" for cell in report.cells(record, "=" if equal else ""))
    return f'<tr class="{"equal" if equal else "other"}">{cells}</tr>'


def _picture(problem, records, results):
    buffer = io.BytesIO()
    report.plot(records, results, problem, buffer, kind="png")
    return base64.b64encode(buffer.getvalue()).decode("ascii")
