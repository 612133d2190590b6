"""The architecture as the imports show it: a picture, and how many lines each family has and had.

``python -m bench.architecture`` draws ``docs/images/architecture.png`` and fills the table of ``docs/architecture.md``.
Lines of code are those that are neither empty, nor comment, nor docstring.
"""

import argparse
import ast
import io
import re
import subprocess
import tokenize
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "spectralcls"
BEFORE = "9d241ba"  # the commit before all families shared one fitted form, one tuner and one skeleton
LAYERS = {  # from the ground up; what is not named is a primitive
    "core": ("_core", "spectralcls"),
    "primitives": (),
    "fitted form, tuning, skeleton": ("_model", "_tuning", "_table", "_estimator"),
    "families": (
        "kernel_mean", "spectral", "spectral_kernel", "perturbo", "ccdr", "kernel_ridge", "metric", "density",
        "regression", "modes",
    ),
    "built on families": ("active", "auto", "datasets", "dimension", "graph", "information", "reduction"),
    "interfaces": ("cli", "dask", "plotting", "__main__"),
}
FAMILIES = {  # name: files now, files before
    "kernel means": (["kernel_mean"], [
        f"kernel_mean/{name}.py" for name in ("__init__", "base", "cauchy_schwarz", "ise", "laplacian_ise", "parzen")
    ]),
    "spectral": (["spectral"], [
        f"spectral/{name}.py" for name in ("__init__", "kernel_map", "laplacian_spectral", "spectral_ise")
    ]),
    "spectral kernel": (["spectral_kernel"], [
        f"spectral/{name}.py" for name in ("similarity", "spectral_kernel", "spectral_kernel_classifier")
    ]),
    "PerTurbo": (["perturbo"], ["perturbo"]),
    "CCDR": (["ccdr"], ["ccdr"]),
    "on Dask": (["dask"], ["dask"]),
    "fitted form, tuning, skeleton": (["_model", "_tuning", "_estimator", "_validation.py"], [
        *(f"kernel_mean/{name}.py" for name in ("engine", "points", "rule", "folds", "search", "nearest", "tuning")),
        *(f"spectral/{name}.py" for name in ("centers", "low_rank", "search", "spectrum")), "_validation.py",
    ]),
}


@cache
def modules():
    """{dotted name: path} of all modules of the package."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def top(name):
    """The part of the package that a module belongs to."""
    return name.split(".")[1] if "." in name else name


def layer_of(name):
    """The layer of a module."""
    for layer, parts in LAYERS.items():
        if top(name) in parts:
            return layer
    return "primitives"


@cache
def imports(name):
    """Modules of the package that a module imports, anywhere in its code."""
    path = modules()[name]
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*base, *([node.module] if node.module else [])])
            found |= {full if (full := f"{base}.{alias.name}") in modules() else base for alias in node.names}
    return frozenset(found & set(modules()) - {name})


def code_lines(source):
    """Lines that are neither empty, nor comment, nor docstring."""
    docstrings = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            docstrings |= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
        elif isinstance(node, ast.Assign) and any(getattr(t, "id", "") == "__doc__" for t in node.targets):
            docstrings |= set(range(node.lineno, node.end_lineno + 1))
    skipped = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in skipped:
            lines |= set(range(token.start[0], token.end[0] + 1))
    return len(lines - docstrings)


def sources_now(entry):
    path = PACKAGE / entry
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
    return [file.read_text(encoding="utf-8") for file in files]


def sources_before(entry):
    def git(*arguments):
        return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout

    names = git("ls-tree", "-r", "--name-only", BEFORE, f"src/spectralcls/{entry}").split()
    return [git("show", f"{BEFORE}:{name}") for name in names if name.endswith(".py")]


def table():
    """Lines of each family, before and after, as Markdown."""
    lines = ["| | lines before | lines now | of code before | of code now |", "|---|---|---|---|---|"]
    totals = [0, 0, 0, 0]
    for family, (now, before) in FAMILIES.items():
        old = [source for entry in before for source in sources_before(entry)]
        new = [source for entry in now for source in sources_now(entry)]
        row = [sum(source.count("\n") for source in old), sum(source.count("\n") for source in new)]
        row += [sum(map(code_lines, old)), sum(map(code_lines, new))]
        totals = [a + b for a, b in zip(totals, row, strict=True)]
        lines.append(f"| {family} | " + " | ".join(f"{n:,}" for n in row) + " |")
    lines.append("| **all of these** | " + " | ".join(f"**{n:,}**" for n in totals) + " |")
    return "\n".join(lines)


def draw(path):
    """The layers, what stands on each, and who imports whom."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    parts = {}
    for name in modules():
        if name != "spectralcls":
            parts.setdefault(top(name), []).append(name)
    shown = {layer: [] for layer in LAYERS}
    for part in sorted(parts):
        if part != "__main__" and not (layer_of(f"spectralcls.{part}") == "primitives" and part.startswith("_")):
            shown[layer_of(f"spectralcls.{part}")].append(part)
    places = {
        part: ((i + 0.5) / len(row), level)
        for level, row in enumerate(shown.values()) for i, part in enumerate(row)
    }
    figure, ax = plt.subplots(figsize=(11, 6.4), layout="constrained")
    for level, layer in enumerate(LAYERS):
        ax.axhspan(level - 0.32, level + 0.32, color="#0072B2", alpha=0.06, lw=0)
        ax.text(-0.02, level, layer.replace(", ", ",\n"), ha="right", va="center", fontsize=9, style="italic")
    for part, names in parts.items():
        targets = {top(target) for name in names for target in imports(name)} - {part, "spectralcls"}
        for target in targets:
            if part in places and target in places and places[part][1] != places[target][1]:
                ax.plot(*zip(places[part], places[target], strict=True), color="#56606b", alpha=0.28, lw=0.8, zorder=0)
    for part, (x, y) in places.items():
        lines = sum(code_lines(modules()[name].read_text(encoding="utf-8")) for name in parts[part])
        ax.text(
            x, y, f"{part}\n{lines}", ha="center", va="center", fontsize=8.5, linespacing=1.3,
            bbox={"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": "#0072B2"},
        )
    ax.set(xlim=(-0.17, 1.02), ylim=(-0.5, len(LAYERS) - 0.5))
    ax.axis("off")
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.parse_args(arguments)
    draw(ROOT / "docs" / "images" / "architecture.png")
    page = ROOT / "docs" / "architecture.md"
    text = page.read_text(encoding="utf-8")
    text = re.sub(r"(<!-- lines -->\n).*?(<!-- end -->)", lambda m: f"{m[1]}{table()}\n{m[2]}", text, flags=re.S)
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
