"""Draws the rooms of the package on their floors, with their imports, for the site.

A room is a folder or a file directly below ``src/spectralcls``. It imports only from rooms on lower floors, as
import-linter checks by the contract in ``pyproject.toml``, and no private module or attribute of another room.
"""

import ast
import re
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "spectralcls"
TITLES = (  # of the floors, from the ground up
    "compiled code, threads, configuration",
    "validation and conversion",
    "kernel sums, matrices, neighbors, bandwidths",
    "eigenpairs, low rank, Cholesky",
    "folds, grids, search, temperature",
    "conversion of tables to coordinates",
    "the fitted form of classifiers",
    "what left-out samples tell",
    "the skeleton of an estimator",
    "learned metrics",
    "families",
    "built on families",
    "inspection of fitted models",
    "interfaces",
    "command line",
    "python -m spectralcls",
)
_CONTRACT, *_ = tomllib.loads((PACKAGE.parents[1] / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
FLOORS = tuple(
    (title, tuple(layer.split(" | "))) for title, layer in zip(TITLES, reversed(_CONTRACT["layers"]), strict=True)
)

CORE = Path(__file__).parents[2] / "cpp"
CORE_FLOORS = (  # of the C++ sources, from the ground up
    ("infrastructure",),
    ("geometry",),
    ("sums",),
    ("gridding", "neighbors", "krylov", "trees"),
    ("isa",),
    ("bindings", "tests"),
)


@cache
def sources():
    """Returns {path below the package, as parts: syntax tree} of all modules."""
    return {
        path.relative_to(PACKAGE).parts: ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def room_of(parts):
    """Returns the room of a module; None for the package's own ``__init__``."""
    room = parts[0].removesuffix(".py")
    return None if room == "__init__" else room


def includes():
    """Returns {path of a C++ source: folders whose headers it includes}."""
    sources = (path for ending in "ch" for path in sorted(CORE.glob(f"*/*.{ending}pp")))
    return {path: re.findall(r'#include "(\w+)/', path.read_text(encoding="utf-8")) for path in sources}


def rooms():
    """Returns all existing rooms."""
    return sorted({room for parts in sources() if (room := room_of(parts)) is not None})


@cache
def imports(parts):
    """Returns the dotted names below the package that a module imports anywhere in its code."""
    package, found = ["spectralcls", *parts[:-1]], set()
    for node in ast.walk(sources()[parts]):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1] + (node.module.split(".") if node.module else [])
            found |= {".".join([*base, alias.name][1:]) for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {
                alias.name.removeprefix("spectralcls.") for alias in node.names if alias.name.startswith("spectralcls.")
            }
    return frozenset(found)


def arrows():
    """Returns {(room, imported room): number of importing modules}."""
    counted = {}
    for parts in sources():
        room = room_of(parts)
        for target in {name.split(".")[0] for name in imports(parts)} & set(rooms()) - {room}:
            if room is not None:
                counted[room, target] = counted.get((room, target), 0) + 1
    return counted


def lines(parts):
    """Counts the lines of a module that are docstring, comment, blank and code."""
    source = (PACKAGE / Path(*parts)).read_text(encoding="utf-8").splitlines()
    documents = set()
    for node in ast.walk(sources()[parts]):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            documents |= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    found = Counter(docstring=0, comment=0, blank=0, code=0)
    for number, line in enumerate(source, 1):
        text = line.strip()
        kind = "docstring" if number in documents else "blank" if not text else "comment" if text[0] == "#" else "code"
        found[kind] += 1
    return found


def lines_of_rooms():
    """Returns {room: its lines by kind}, the largest first."""
    found = {}
    for parts in sources():
        found.setdefault(room_of(parts) or "__init__", Counter()).update(lines(parts))
    return dict(sorted(found.items(), key=lambda item: -item[1].total()))


def draw(path):
    """Draws every room on its floor with its lines of code, and a line for every pair of rooms with an import."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    place = {
        room: ((i + 0.5) / len(on_floor), floor)
        for floor, (_, on_floor) in enumerate(FLOORS)
        for i, room in enumerate(on_floor)
    }
    counted = lines_of_rooms()
    figure, ax = plt.subplots(figsize=(11, 8.5), layout="constrained")
    for floor, (title, _) in enumerate(FLOORS):
        ax.axhspan(floor - 0.36, floor + 0.36, color="#0072B2", alpha=0.06, lw=0)
        ax.text(-0.01, floor, title, ha="right", va="center", fontsize=9, style="italic")
    for room, target in arrows():
        ax.plot(*zip(place[room], place[target], strict=True), color="#56606b", alpha=0.25, lw=0.8, zorder=0)
    for room, (x, y) in place.items():
        ax.text(
            x,
            y,
            f"{room}\n{counted[room]['code']:,}",
            ha="center",
            va="center",
            fontsize=8.5,
            linespacing=1.25,
            bbox={"boxstyle": "round,pad=0.3", "facecolor": "white", "edgecolor": "#0072B2"},
        )
    ax.set(xlim=(-0.3, 1.02), ylim=(-0.6, len(FLOORS) - 0.4))
    ax.axis("off")
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path)
    plt.close(figure)


def setup(app):
    """Draws the picture for every build."""
    app.connect("builder-inited", lambda app: draw(Path(app.srcdir) / "images" / "architecture.svg"))
    return {"parallel_read_safe": True}


if __name__ == "__main__":  # python docs/_ext/house.py prints the lines by room
    counted = lines_of_rooms()
    counted["all"] = sum(counted.values(), Counter())
    for room, kinds in counted.items():
        print(
            f"{room:16}{kinds.total():7}",
            *(f"{kind} {kinds[kind]:6}" for kind in ("docstring", "comment", "blank", "code")),
        )
