"""The comparison as one self-contained HTML file: table with pictures, advice, confusion matrix, importances."""

import html
import warnings
from datetime import date

import numpy as np

from .. import __version__
from . import report
from .evaluation import fitted, scores_of, splits_of
from .significance import METRICS, advice, ranked, recommended, standings

_STYLE = """
:root { color-scheme: light dark; --accent: #0072b2; --other: #d55e00; --line: #8884; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: 0; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
.take { border-left: 4px solid var(--accent); padding: .4rem 1rem; background: #0072b214; }
.wide { overflow-x: auto; }
.key { color: var(--accent); } .key + .key { color: var(--other); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .7rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } tr.taken td:first-child { font-weight: 700; }
td.failed { text-align: left; white-space: normal; color: var(--other); }
td svg { display: block; width: 9rem; height: auto; }
pre, code { font: 13px/1.45 ui-monospace, monospace; } pre { overflow-x: auto; } small { opacity: .75; }
@media (max-width: 40rem) {
.more { display: none; } td svg { width: 4.5rem; } th, td { padding: .3rem .25rem; font-size: 13px; } }
"""
_WIDTH, _HEIGHT = 150, 18  # size of the picture in a table row
_SIDE = 400  # width and height of the plot of predictions
_MOST_CLASSES, _MOST_FEATURES, _MOST_ROWS, _SHUFFLES = 12, 15, 1000, 5
_NEARLY_ALL = 0.8  # a column is reported if its share of all importances is larger than this
_MOST_SHUFFLED = 500  # limit on the columns to shuffle: more would take longer than the comparison


def page(data, entries, results, metrics, arguments, command):
    """The page as text."""
    metric = metrics[0]
    title, *settings = report.heading(data, results[0].n_train, results[0].n_test, arguments).strip().split("\n")
    taken = recommended(results, metric)
    parts = [
        f"<h1>{html.escape(title)}</h1>",
        *(f"<p>{html.escape(line)}</p>" for line in settings),
        f'<p class="take">{html.escape(advice(results, metric))}</p>',
        *_table(results, metrics, taken),
        '<p><small><b class="key">●</b> this package, <b class="key">●</b> others; '
        "lines and ± are a standard deviation over the splits</small></p>",
        *(
            f"<p><small>{html.escape(line)}</small></p>"
            for line in report.conclusions(results, metrics, arguments.repeats)
            if line != advice(results, metric)
        ),
    ]
    if taken is not None:
        entry = next(entry for entry in entries if entry.name == taken.name)
        mistakes = _confusion if data.classes is not None else _scatter
        parts += [*mistakes(data, taken, arguments), *_importances(data, entry, metric, arguments)]
    if data.notes:
        parts += ["<h2>Warnings</h2><ul>", *(f"<li>{html.escape(note)}</li>" for note in data.notes), "</ul>"]
    if data.description:
        parts += ["<h2>How the file was read</h2>", f"<pre>{html.escape(data.description)}</pre>"]
    written = f"{date.today().isoformat()}, spectralcls {__version__}"
    parts.append(f"<p><small>{written}: <code>{html.escape(command)}</code></small></p>")
    head = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(data.name)}: {report.kind_of(metrics)}s compared</title><style>{_STYLE}</style></head>"
        "<body>"
    )
    return "\n".join([head, *parts, "</body></html>\n"])


def _table(results, metrics, taken):
    """Table rows with pictures: a dot for the mean, and a line of one standard deviation to each side."""
    names, marks = report.columns(metrics), standings(results, metrics[0])
    good = [result for result in ranked(results, metrics[0]) if result.error is None]
    more = [index > 1 for index in range(len(names))]
    head = [f"<th{' class=more' * hide}>{html.escape(name)}</th>" for name, hide in zip(names, more, strict=True)]
    head.insert(1, "<th></th>")
    yield f'<div class="wide"><table><thead><tr>{"".join(head)}</tr></thead><tbody>'
    place = _axis(good, metrics[0])
    for result in good:
        texts = report.cells(result, metrics, marks.get(result.name))
        row = [f"<td{' class=more' * hide}>{html.escape(text)}</td>" for text, hide in zip(texts, more, strict=True)]
        row.insert(1, f"<td>{_dot(result, metrics[0], place)}</td>")
        yield f"<tr{' class=taken' * (result is taken)}>{''.join(row)}</tr>"
    for result in results:
        if result.error is not None:
            why = html.escape(" ".join(result.error.split()))
            yield f"<tr><td>{html.escape(result.name)}</td>"
            yield f'<td class="failed" colspan="{len(names)}">failed: {why}</td></tr>'
    yield "</tbody></table></div>"


def _axis(results, metric):
    """A map from values of a metric to positions in the picture."""
    means = np.array([result.mean(metric) for result in results])
    spread = np.nan_to_num([result.deviation(metric) for result in results])
    low, high = np.nanmin(means - spread, initial=np.inf), np.nanmax(means + spread, initial=-np.inf)
    return lambda value: 6 + (_WIDTH - 12) * (value - low) / ((high - low) or 1.0)


def _dot(result, metric, place):
    mean, spread = result.mean(metric), np.nan_to_num(result.deviation(metric))
    if np.isnan(mean):
        return ""
    color, middle = "var(--other)" if result.baseline else "var(--accent)", _HEIGHT / 2
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{METRICS[metric][2](mean)}">'
        f'<line x1="0" x2="{_WIDTH}" y1="{middle}" y2="{middle}" stroke="var(--line)"/>'
        f'<line x1="{place(mean - spread):.1f}" x2="{place(mean + spread):.1f}" y1="{middle}" y2="{middle}" '
        f'stroke="{color}" stroke-width="2"/>'
        f'<circle cx="{place(mean):.1f}" cy="{middle}" r="4.5" fill="{color}"/></svg>'
    )


def _confusion(data, taken, arguments):
    """Confusion matrix of the classes over all splits."""
    n = len(data.classes)
    if n > _MOST_CLASSES:
        return
    counts = np.zeros((n, n), dtype=np.int64)
    splits = splits_of(data, arguments.repeats, arguments.test_size, arguments.seed)
    for (_, test), outcome in zip(splits, taken.ordered, strict=True):
        np.add.at(counts, (data.y[test], outcome.predicted), 1)
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    yield f"<h2>{html.escape(taken.name)}: which classes it confuses</h2><p>Rows are the true classes, columns the "
    yield "predictions, in % of the row.</p>"
    names = [html.escape(str(name)) for name in data.classes]
    yield f'<div class="wide"><table><tr><th></th>{"".join(f"<th>{name}</th>" for name in names)}</tr>'
    for name, row in zip(names, share, strict=True):
        shown = "".join(f'<td style="background: rgb(0 114 178 / {0.6 * v:.2f})">{100 * v:.1f}</td>' for v in row)
        yield f"<tr><td>{name}</td>{shown}</tr>"
    yield "</table></div>"


def _scatter(data, taken, arguments):
    """Predictions against the truth, for at most `_MOST_ROWS` samples over all splits."""
    splits = splits_of(data, arguments.repeats, arguments.test_size, arguments.seed)
    truth = np.concatenate([data.y[test] for _, test in splits[: len(taken.ordered)]])
    predicted = np.concatenate([outcome.predicted for outcome in taken.ordered])
    some = np.linspace(0, len(truth) - 1, min(len(truth), _MOST_ROWS)).astype(int)
    truth, predicted = truth[some], predicted[some]
    low, high = truth.min(), truth.max()
    place = [_SIDE * np.clip((values - low) / ((high - low) or 1.0), -0.02, 1.02) for values in (truth, predicted)]
    yield f"<h2>{html.escape(taken.name)}: predictions against the truth</h2>"
    yield "<p>On the line they are equal.</p>"
    yield f'<svg viewBox="-30 -10 {_SIDE + 40} {_SIDE + 40}" style="max-width: 28rem" role="img" font-size="13">'
    yield f'<path d="M0 {_SIDE}L{_SIDE} 0M0 0V{_SIDE}H{_SIDE}" fill="none" stroke="var(--line)"/>'
    texts = [(0, "start", f"{low:.6g}"), (_SIDE, "end", f"{high:.6g}")]
    for name, turn in (("truth", f"translate(0 {_SIDE + 20})"), ("prediction", f"translate(-14 {_SIDE}) rotate(-90)")):
        yield f'<g fill="currentColor" transform="{turn}">'
        for x, anchor, text in (*texts, (_SIDE / 2, "middle", name)):
            yield f'<text x="{x:g}" text-anchor="{anchor}">{text}</text>'
        yield "</g>"
    dots = zip(*place, strict=True)
    yield "".join(f'<circle cx="{x:.1f}" cy="{_SIDE - y:.1f}" r="2" fill="var(--accent)"/>' for x, y in dots)
    yield "</svg>"


def _importances(data, entry, metric, arguments):
    """Decrease of the score on the first split if a column is shuffled."""
    from sklearn.inspection import permutation_importance

    if data.X.shape[1] > _MOST_SHUFFLED:
        yield f"<p>More than {_MOST_SHUFFLED} columns: their importances are not computed.</p>"
        return
    train, test = splits_of(data, 1, arguments.test_size, arguments.seed)[0]
    test = test[:_MOST_ROWS]
    sign, title, _ = METRICS[metric]

    def score(model, X, y):
        return sign * scores_of(model, X, y, model.predict(X), [metric])[metric]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the comparison has already shown them
        _, model = fitted(entry, data, train, arguments.scale, seed=arguments.seed, n_jobs=arguments.n_jobs)
        found = permutation_importance(
            model, data.X[test], data.y[test], scoring=score, n_repeats=_SHUFFLES, random_state=arguments.seed
        )
    order = np.argsort(-found.importances_mean)[:_MOST_FEATURES]
    largest = max(found.importances_mean.max(), 1e-12)
    yield f"<h2>{html.escape(entry.name)}: which columns it needs</h2>"
    change = "Loss in" if sign > 0 else "Increase of"
    yield f"<p>{change} {html.escape(title.removesuffix(' %'))} if the values of a column are shuffled.</p>"
    decimals = int(np.clip(2 - np.floor(np.log10(largest)), 0, 12))  # the largest has three significant digits
    yield '<div class="wide"><table>'
    for column in order:
        mean, deviation = found.importances_mean[column], found.importances_std[column]
        width = max(mean, 0) / largest * _WIDTH
        bar = f'<svg viewBox="0 0 {_WIDTH} 12"><rect width="{width:.1f}" height="12" fill="var(--accent)"/></svg>'
        name, loss = html.escape(data.feature_names[column]), f"{mean:.{decimals}f} ± {deviation:.{decimals}f}"
        yield f"<tr><td>{name}</td><td>{bar}</td><td>{loss}</td></tr>"
    yield "</table></div>"
    gains = np.maximum(found.importances_mean, 0)
    if len(gains) > 1 and gains.max() > _NEARLY_ALL * gains.sum():
        name = html.escape(data.feature_names[order[0]])
        yield f"<p>Nearly all of this is due to the column {name}: is it known before the target is?</p>"
