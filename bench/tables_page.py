"""The page of tables, docs/measured/tables.md, from stored results of `bench.tables`."""

import json

import numpy as np

from bench.page import table


def filled_first(results):
    """The classifiers that also see gaps filled, and the ways to fill them."""
    ways = {}
    for key in next(iter(results.values())):
        kind, way = key.split(", ")
        if way not in ("complete", "as they are"):
            ways.setdefault(kind, []).append(way)
    return ways


def losses(results):
    """What the gaps cost each way: percentage points of accuracy, and the share of what mean imputation costs."""
    rows = []
    for kind, ways in filled_first(results).items():
        lost = {
            way: np.mean([run[f"{kind}, complete"] - run[f"{kind}, {way}"] for run in results.values()])
            for way in ("as they are", *ways)
        }
        rows.append(
            {
                "loss, points": kind,
                **{way: f"{value:.1f}" for way, value in lost.items()},
                "as they are / mean": f"{lost['as they are'] / lost['mean']:.2f}",
            }
        )
    boosting = np.mean([run["boosting, complete"] - run["boosting, as they are"] for run in results.values()])
    rows.append({"loss, points": "boosting", "as they are": f"{boosting:.1f}"})
    return rows


def accuracy_rows(results, first, mean=True):
    rows = [{first: _name(name), **{k: f"{v:.1f}" for k, v in run.items()}} for name, run in results.items()]
    if mean:
        keys = next(iter(results.values()))
        rows.append({first: "**mean**"} | {k: f"**{np.mean([run[k] for run in results.values()]):.1f}**" for k in keys})
    return rows


def _name(key):
    return ", ".join(json.loads(key)) if key.startswith('["') else key


def page(stored):
    lines = [
        "# Measured: tables with gaps and categories",
        "",
        f"Written by `python -m bench.tables` ({stored['machine']}). A third of the rows is for testing. Nothing is "
        "tuned by hand: each classifier tunes itself.",
        "",
    ]
    sections = {"gaps": _gaps, "bound": _bound, "mixed": _mixed, "scale": _scale, "times": _times, "peer": _peer}
    for part, section in sections.items():
        if stored["results"].get(part):
            lines += section(stored["results"])
            if part in ("gaps", "bound", "mixed", "scale"):
                splits, samples = stored["settings"][part]
                lines += [f"{splits} splits, at most {samples} rows of each set.", ""]
    return "\n".join(lines)


def _gaps(found):
    return [
        "## 30 % of the entries removed",
        "",
        "At random, from the training and the test part. *As they are*: the classifier sees the gaps. Otherwise they "
        "are filled first. Accuracy in per cent.",
        "",
        table(accuracy_rows(found["gaps"], "set")),
        "",
        "What the gaps cost, on average over the sets:",
        "",
        table(losses(found["gaps"])),
        "",
        f"The goal is 0.50 in the last column. What binds: {_largest_loss(found['gaps'])}, and the next section shows "
        "that the true density loses what is gone, too. Completing training points by the class mean, by the nearest "
        "point, by one drawn at random, twice over, or with other bandwidths, tried on other splits, changed the mean "
        "losses by less than splits do, and lost more where features are correlated (letter, satimage).",
        "",
    ]


def _largest_loss(results):
    """Where most of the loss is, on average over our classifiers."""
    lost = {
        name: np.mean([run[f"{kind}, complete"] - run[f"{kind}, as they are"] for kind in filled_first(results)])
        for name, run in results.items()
    }
    name = max(lost, key=lost.get)
    return f"{100 * lost[name] / sum(lost.values()):.0f} % of the loss of ours is that of {name}"


def _bound(found):
    rows = [
        {"features": json.loads(name)[0], "correlation": json.loads(name)[1], **{k: f"{v:.1f}" for k, v in run.items()}}
        for name, run in found["bound"].items()
    ]
    for row in rows:
        lost = {way: float(row["Parzen, complete"]) - float(row[f"Parzen, {way}"]) for way in ("as they are", "mean")}
        lost_by_truth = float(row["true density, complete"]) - float(row["true density, gaps"])
        row["lost by the true density"] = f"{lost_by_truth:.1f}"
        row |= {f"lost {way}": f"{value:.1f}" for way, value in lost.items()}
        row["true density / mean"] = f"{lost_by_truth / lost['mean']:.2f}"
    return [
        "## What no method can keep",
        "",
        "Two classes of normal features, all correlated alike. The true posterior, with what is missing integrated out "
        "under the true density, loses accuracy too: the least that gaps cost, whoever fills them. Where that "
        "is more than half of what mean imputation loses (the last column), no classifier can halve it.",
        "",
        table(rows),
        "",
    ]


def _mixed(found):
    by_share = {f"{100 * float(share):.0f} % missing": run for share, run in found["mixed"].items()}
    rows = accuracy_rows(by_share, "entries", mean=False)
    lines = [
        "## Mixed tables",
        "",
        "Generated: four numbers in different units, two of them noise, three categories, an ordered category and a "
        "truth value; independent within each of three classes, so that the best posterior is known. *One-hot*: "
        "imputation, indicators and a scaler in front of the Parzen classifier.",
        "",
        table(rows),
        "",
    ]
    if found.get("mixed_file"):
        rows = accuracy_rows(found["mixed_file"], "set", mean=False)
        lines += ["Tables in their original form:", "", table(rows), ""]
    return lines


def _scale(found):
    return [
        "## Scales",
        "",
        'Complete data as they are (`scale=None`), and with `scale="auto"`, the default.',
        "",
        table(accuracy_rows(found["scale"], "set")),
        "",
    ]


def _times(found):
    rows = []
    for key, run in found["times"].items():
        name, what, kind = json.loads(key)
        run = {k: f"{v:.2g}" if isinstance(v, float) else v for k, v in run.items()}
        rows.append({"set": name, "rule": kind, "gaps in": what, **run})
    return [
        "## Time",
        "",
        "30 % of the entries missing: processor seconds, and their ratio to those of the complete data. A tuned fit "
        "with gaps completes the points once for the folds and once for all, and scores each fold in one pass for all "
        "bandwidths.",
        "",
        table(rows),
        "",
        "What binds: a feature with gaps takes two columns in the place of one, which counts most where there are many "
        "features; a rule that weighs points by their density takes a call for each number of gaps; and a few "
        "milliseconds that do not depend on the data are more than a fit of two hundred complete points takes.",
        "",
    ]


def _peer(found):
    rows = [{"points": n, **run} for n, run in found["peer"].items()]
    return [
        "## Compared with statsmodels",
        "",
        "A bandwidth for each of four features by leave-one-out likelihood, and `KDEMultivariate` of statsmodels:",
        "",
        table(rows),
        "",
        "Both search the same likelihood. A search of ours of so few points takes milliseconds, most of them outside "
        "the sums, so that the ratio grows with the points.",
        "",
    ]
