"""The code: rooms, names, lines, mutants and speed, now and before duplicates were removed

*Before* is commit 205aa86. Both versions are counted and timed by the same code. The timings need a checkout of that
commit with its core built in place; the environment variable ``SPECTRALCLS_BEFORE`` names its folder.
"""

import ast
import io
import json
import os
import subprocess
import sys
import tarfile
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from bench import hot_spots
from bench.measure import QUICK
from bench.mutants import MUTANTS, killer
from bench.pages import heading, view
from bench.record import ROOT, git_bytes

BEFORE = "205aa86"
COMMITS = {"before": "HEAD" if QUICK else BEFORE, "now": "HEAD"}
TREES = {"before": ROOT if QUICK else os.environ.get("SPECTRALCLS_BEFORE"), "now": ROOT}
TURNS = 2
SPOTS = [name.removeprefix("test_") for name in vars(hot_spots) if name.startswith("test_")]
AS_BEFORE = 1.03  # largest ratio that counts as no slower


def house_of(tree):
    """The module that lists the rooms, applied to the package in this tree."""
    spec = spec_from_file_location("house_of_tree", ROOT / "docs" / "_ext" / "house.py")
    house = module_from_spec(spec)
    spec.loader.exec_module(house)
    house.PACKAGE = tree / "src" / "spectralcls"
    return house


def counted(tree):
    """Every figure of a tree, by its name."""
    house = house_of(tree)
    classes = [
        (node.name, parts[0])
        for parts, module in house.sources().items()
        for node in module.body
        if isinstance(node, ast.ClassDef)
    ]
    elsewhere = {name for name, room in classes if room != "dask"}
    estimators = ("Classifier", "Regressor", "Kernel")
    twins = {name for name, room in classes if room == "dask" and name in elsewhere and name.endswith(estimators)}
    lines = house.lines_of_rooms()
    of = {kind: sum(room[kind] for room in lines.values()) for kind in ("code", "docstring", "comment", "blank")}
    bench = [path for path in (tree / "bench").rglob("*.py") if "reproduce" not in path.parts]
    return {
        "estimators written again for Dask": len(twins),
        "classes named Column": sum(name == "Column" for name, _ in classes),
        "rooms": len(house.rooms()),
        "imports between rooms": len(house.arrows()),
        "lines of the package": sum(of.values()),
        **{f"of these {kind}": count for kind, count in of.items()},
        "lines of records": length((tree / "docs" / "measured").glob("*.json")),
        "lines of the benches, without the papers": length(bench),
        "lines of the tests": length((tree / "tests").rglob("*.py")),
        "lines of the core": length(path for path in (tree / "cpp").rglob("*") if path.suffix in (".cpp", ".hpp")),
    }


def length(paths):
    return sum(path.read_text(encoding="utf-8").count("\n") for path in paths)


@pytest.mark.parametrize("when", list(COMMITS))
def test_counts(record, when):
    """Lines of code are all lines except blank lines, comments and docstrings."""
    archive = git_bytes("archive", COMMITS[when], "src", "bench", "docs/measured", "tests", "cpp")
    if not archive:
        pytest.skip("needs the history")
    with TemporaryDirectory() as folder:
        tarfile.open(fileobj=io.BytesIO(archive)).extractall(folder, filter="data")
        record(counted(Path(folder)))


@view("counts")
def before_and_now(rows):
    """The table counts the package, the benches, the tests and the records. A *room* is a folder of `src/spectralcls`.
    Lines of code are all lines except blank lines, comments and docstrings. Since that commit, the package has gained
    regression, the methods of the papers, ONNX, and the reading of unusual files.
    """
    by_time = {row["when"]: row for row in rows}
    counts = [key for key in rows[0] if key not in ("when", "isa")]
    return [[{"count": key} | {when: row[key] for when, row in by_time.items()} for key in counts]]


@pytest.mark.parametrize("mutant", list(MUTANTS)[: 1 if QUICK else None])
def test_mutants(record, mutant):
    """The tests nearest to a mutant run with it. The first that fails must pass without the mutant."""
    failed = killer(MUTANTS[mutant])
    record(
        {"module": MUTANTS[mutant].module, "killed by": failed and failed.rpartition("::")[2], "killed": bool(failed)}
    )


@view("mutants")
def mutants_and_their_tests(rows):
    """Each mutant changes one formula or constant of the package (`bench/mutants.py`); then the tests of the changed
    part run. A mutant is killed if a test that passes without the change fails with it.
    """
    killed = sum(row["killed"] for row in rows)
    found = [{"mutant": row["mutant"], "killed by": (row["killed by"] or "").partition("[")[0]} for row in rows]
    return [f"The tests kill {killed} of {len(rows)} mutants.", found]


def least_seconds(tree, spot):
    """The least processor seconds of each case of a hot spot, with the package of a tree."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "seconds.json"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--benchmark-only"]
        command += [f"--benchmark-json={path}", f"bench/hot_spots.py::test_{spot}"]
        environment = os.environ | {"PYTHONPATH": str(Path(tree) / "src")}
        subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False)  # cases may be missing
        found = json.loads(path.read_text(encoding="utf-8"))["benchmarks"]
    return {case["param"] or "": case["stats"]["min"] for case in found}


@pytest.mark.parametrize("spot", SPOTS[: 1 if QUICK else None])
def test_speed(record, spot):
    """Hot spots (`bench/hot_spots.py`) with both packages in turns, on one thread: least processor seconds."""
    if TREES["before"] is None:
        pytest.skip("SPECTRALCLS_BEFORE does not name a built checkout")
    least = {when: {} for when in TREES}
    for turn in range(TURNS):
        for when in list(TREES)[:: 1 if turn % 2 == 0 else -1]:
            for case, seconds in least_seconds(TREES[when], spot).items():
                least[when][case] = min(seconds, least[when].get(case, np.inf))
    both = [case for case in least["now"] if case in least["before"]]
    record({"cases": {case: {when: least[when][case] for when in least} for case in both}})


@view("speed")
def hot_spots_before_and_now(rows):
    """The hot spots of `bench/hot_spots.py` that exist in both versions are timed in turns on one thread. Each number
    is the least processor time over the rounds of two turns.
    """
    found = [
        {"hot spot": heading(row["spot"]), "case": case, "now, s": taken["now"]}
        | {"now / before": taken["now"] / taken["before"]}
        for row in rows
        for case, taken in row["cases"].items()
    ]
    ratios = np.array([row["now / before"] for row in found])
    slower = np.count_nonzero(ratios > AS_BEFORE)
    text = (
        f"Of {len(ratios)} cases, {slower} take more than {AS_BEFORE - 1:.0%} longer than before. The median ratio is "
        f"{np.median(ratios):.2f}, the geometric mean {np.exp(np.log(ratios).mean()):.2f}."
    )
    return [text, found]
