"""The page "defaults before and now": those of an earlier commit and those of today, split by split."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from spectralcls.cli.significance import LEVEL, p_value

from .cells import cell
from .data import Source
from .today import DEFAULTS, TITLES, parts

BEFORE = "9d241ba"  # the commit before all families shared one fitted form, one tuner and one skeleton
SPLITS = 25
NOW = str(Path(__file__).parents[2])


def measure(source: Source, data, trials, checkout):
    """Rates and seconds of all defaults that a checkout has, on the same splits, in a process of its own."""
    parts(source, data, 1)  # says so if the data is missing
    script = Path(__file__).with_name("each_split.py")
    package = os.environ.get("PYTHONPATH", "") if checkout == NOW else f"{checkout}/src"  # now: the one that runs this
    finished = subprocess.run(
        [sys.executable, "-P", script, data, str(trials), source.folder or "", *DEFAULTS],
        env=os.environ | {"PYTHONPATH": os.pathsep.join((checkout, package)), "OMP_NUM_THREADS": "1"},
        cwd=checkout,
        capture_output=True,
        text=True,
    )
    if finished.returncode:
        raise RuntimeError(finished.stderr.strip().splitlines()[-1])
    return json.loads(finished.stdout)


def _cell(data, trials, checkout):
    return cell("defaults.measure", 60, data=data, trials=trials, checkout=str(checkout))


def cells(before, trials):
    """What the page needs; `before` is a checkout of the earlier commit with its core built in place."""
    trials = min(trials, SPLITS)
    return [_cell(data, trials, checkout) for data in TITLES for checkout in (Path(before).resolve(), NOW)]


def write_page(store, out, before, trials):
    """`defaults.md`."""
    trials, before = min(trials, SPLITS), Path(before).resolve()
    found = {data: [store.value(_cell(data, trials, checkout)) for checkout in (before, NOW)] for data in TITLES}
    found = {data: pair for data, pair in found.items() if None not in pair}
    if not found:
        raise SystemExit(f"no result: {store.failure(_cell(next(iter(TITLES)), trials, before))}")
    (out / "defaults.md").write_text("\n".join(compared(found, trials)) + "\n", encoding="utf-8")


def compared(found, trials):
    """Lines of the page from {data: (before, now)}, each as `each_split` prints it."""
    titles = [TITLES[data] for data in found]
    lines = [
        "# Defaults before and now",
        "",
        f"Written by `python -m bench.reproduce defaults --before FOLDER`, FOLDER a checkout of commit {BEFORE}. Test "
        f"rates in per cent, mean of the same {trials} splits for both, features standardized on the training data; "
        "seconds are processor time of tuning and training of one split, added over the sets.",
        "",
        f"| | | {' | '.join(titles)} | mean | seconds |",
        "|---|---|" + "---|" * (len(titles) + 2),
    ]
    for method in DEFAULTS:
        for i, when in enumerate(("before", "now")):
            results = [pair[i].get(method) for pair in found.values()]
            if None in results:
                continue
            means = [np.mean(result["rates"]) for result in results]
            numbers = " | ".join(f"{mean:.1f}" for mean in means)
            title = "" if when == "now" and "before" in lines[-1] else method
            seconds = sum(result["seconds"] for result in results)
            lines.append(f"| {title} | {when} | {numbers} | {np.mean(means):.1f} | {seconds:.2f} |")
    return [*lines, "", *verdict(found)]


def verdict(found):
    """Which differences are more than the splits' own: a corrected resampled t-test for each method and set."""
    lower, higher, level = [], [], 0
    for data, (before, now) in found.items():
        n_train, n_test = now["sizes"]
        for method in DEFAULTS:
            if method not in before:
                continue
            old, new = (np.array(part[method]["rates"]) for part in (before, now))
            if p_value(new - old, n_train, n_test) > LEVEL:
                level += 1
                continue
            where = lower if new.mean() < old.mean() else higher
            where.append(f"{method} on {TITLES[data]} ({old.mean():.1f}, {new.mean():.1f})")
    total = len(lower) + len(higher) + level
    return [
        f"Of {total} pairs of a method and a set, {level} cannot be told apart (corrected resampled t-test, "
        f"{100 * LEVEL:.0f} %; chance alone would tell {LEVEL * total:.0f} of them apart), {len(higher)} are higher "
        f"now and {len(lower)} lower.",
        "",
        f"- Higher: {', '.join(higher) or 'none'}.",
        f"- Lower: {', '.join(lower) or 'none'}.",
    ]
