"""Writes the pages of the API reference from ``__all__``, so that they list every public name."""

import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import spectralcls

NOT_LIBRARY = {"cli"}  # the command line has a separate page
TASKS = {  # task: names; a module stands for those of its names that are listed nowhere else
    "Classify a table": [
        "ensemble.AutoClassifier",
        "regression.KernelRidgeClassifier",
        "perturbo.PerTurboClassifier",
        "kernel_mean.ParzenClassifier",
    ],
    "Doubt and explanations": ["inspection"],
    "Predict a number": ["ensemble", "regression.KernelRidgeRegressor", "regression"],
    "Densities and novelties": ["density"],
    "Texts and several labels": ["spectral.SpectralKernelClassifier", "spectral.SpectralKernel"],
    "New features and learned metrics": [
        "spectral.KernelMap",
        "metric",
        "ccdr.CCDR",
    ],
    "Methods of the papers": [
        "kernel_mean.ISEClassifier",
        "kernel_mean.LaplacianISEClassifier",
        "kernel_mean.CauchySchwarzClassifier",
        "spectral.LaplacianSpectralClassifier",
        "spectral.SpectralISEClassifier",
        "spectral.SpectralLaplacianISEClassifier",
        "ccdr.CCDRClassifier",
        "papers",
    ],
    "Ask for the next label": ["perturbo"],
    "Read a table, keep a model": ["datasets.read_table", "datasets.Schema", "datasets.table_parts", "storage"],
    "Pictures": ["plotting"],
    "Entropies, divergences and tests": ["information"],
    "Kernel sums, neighbors and eigenpairs": ["kernels", "neighbors", "linalg", "kernel_mean", "spectral"],
    "More than one machine": ["dask"],
    "Data sets": ["datasets"],
}
FIRST = list(dict.fromkeys(each.partition(".")[0] for names in TASKS.values() for each in names))  # modules


def modules():
    """Returns the names of the public modules, without the package's."""
    found = [
        info.name
        for info in pkgutil.iter_modules(spectralcls.__path__)
        if not info.name.startswith("_") and info.name not in NOT_LIBRARY
    ]
    return sorted(found, key=lambda name: (FIRST.index(name) if name in FIRST else len(FIRST), name))


def public_names(module):
    """Returns the ``__all__`` of a module, or the public functions and classes that it defines."""
    declared = getattr(module, "__all__", None)
    if declared is not None:
        return list(declared)
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and getattr(value, "__module__", "").startswith(module.__name__)
        and (inspect.isclass(value) or inspect.isfunction(value))
    ]


def documented(name):
    """Returns the public classes and functions of a module."""
    module = importlib.import_module(f"spectralcls.{name}")
    return [public for public in public_names(module) if callable(getattr(module, public))]


def summary(module):
    """Returns the first paragraph of a module's docstring."""
    return inspect.cleandoc(module.__doc__ or "").split("\n\n")[0]


def autosummary(names, option):
    return ["", ".. autosummary::", f"   {option}", "", *(f"   {name}" for name in names), ""]


def page(name):
    """Returns the reference page of a module."""
    module = importlib.import_module(f"spectralcls.{name}")
    title = f"spectralcls.{name}"
    names = documented(name)
    lines = [title, "=" * len(title), "", f".. module:: {title}", "", summary(module)]
    lines += autosummary(names, ":toctree: generated")
    for constant in sorted(set(public_names(module)) - set(names)):
        lines += [f".. data:: {constant}", "", f"   ``{getattr(module, constant)!r}``", ""]
    return "\n".join(lines)


def by_task():
    """Returns {task: [(module, name), ...]} with every public name once, and those without a task last."""
    left = {(name, public): None for name in modules() for public in documented(name)}
    named = {tuple(each.split(".")) for names in TASKS.values() for each in names if "." in each}
    if unknown := named - set(left):
        raise ValueError(f"TASKS has names that are not public: {sorted(unknown)}.")
    found = {}
    for task, names in TASKS.items():
        found[task] = []
        for each in names:
            module, _, public = each.partition(".")
            chosen = [(module, public)] if public else [key for key in left if key[0] == module and key not in named]
            found[task] += chosen
            for key in chosen:
                left.pop(key)
    return found | ({"More": list(left)} if left else {})


def index(names):
    """Returns the page that lists every name by task, as users import it."""
    lines = [
        "API reference",
        "=============",
        "",
        "This page lists every public name by task. Import names without a module from ``spectralcls``, and all others",
        "from the module shown. The menu has one page per module.",
        "",
        ".. currentmodule:: spectralcls",
        "",
        ".. toctree::",
        "   :maxdepth: 2",
        "   :hidden:",
        "",
        *(f"   {name}" for name in ["top_level", *names]),
        "",
    ]
    for task, chosen in by_task().items():
        names = []
        for name, public in chosen:
            value = getattr(importlib.import_module(f"spectralcls.{name}"), public)
            names.append(public if getattr(spectralcls, public, None) is value else f"{name}.{public}")
        lines += [task, "-" * len(task), *autosummary(names, ":nosignatures:")]
    return "\n".join(lines)


def top_level():
    """Returns the page of the names in ``spectralcls`` itself."""
    lines = ["spectralcls", "===========", "", ".. module:: spectralcls", "", summary(spectralcls)]
    only_here = [name for name in spectralcls.__all__ if documented_as(name) == f"spectralcls.{name}"]
    lines += autosummary(spectralcls.__all__, ":nosignatures:")
    return "\n".join(lines + [f".. autofunction:: {name}" for name in only_here])


def _home(name, value):
    """Returns the public module that documents a name of the package."""
    for module in modules():
        loaded = importlib.import_module(f"spectralcls.{module}")
        if name in public_names(loaded) and getattr(loaded, name) is value:
            return f"spectralcls.{module}.{name}"
    return f"spectralcls.{name}"


def documented_as(target):
    """Returns where a name imported from the package, or a member of it, is documented; None for other names."""
    name, dot, member = target.removeprefix("spectralcls.").partition(".")
    return _home(name, getattr(spectralcls, name)) + dot + member if name in spectralcls.__all__ else None


def link_short_name(app, env, node, text):
    """Resolves references by the names that users import."""
    if node.get("refdomain") == "py" and (target := documented_as(node["reftarget"])):
        options = node["refdoc"], app.builder, node["reftype"], target, node, text
        return env.get_domain("py").resolve_xref(env, *options)


def source_of(app, module, name):
    """Finds the source of an inherited method with its class."""
    return getattr(getattr(importlib.import_module(module), name.partition(".")[0], None), "__module__", None)


def write(app):
    folder = Path(app.srcdir) / "reference"
    folder.mkdir(exist_ok=True)
    names = modules()
    pages = {"index": index(names), "top_level": top_level()} | {name: page(name) for name in names}
    for name, text in pages.items():
        path = folder / f"{name}.rst"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def skip_inherited(app, what, name, member, skip, options):
    """Skips members that scikit-learn and SciPy define, and document."""
    home = getattr(getattr(member, "fget", member), "__module__", None) or "spectralcls"
    return True if not home.startswith("spectralcls") else None


_LITERAL = re.compile(r"(``.+?``|`[^`]+`)")
_MARKUP = re.compile(r"(?<!\\)\||\b(\w+)_(?!\w)")


def plain(text):
    """Escapes |x| and n_components_, which are no references; literals are kept."""
    pieces = _LITERAL.split(text)
    pieces[::2] = [_MARKUP.sub(lambda m: f"{m[1]}\\_" if m[1] else r"\|", piece) for piece in pieces[::2]]
    return "".join(pieces)


def plain_docstring(app, what, name, obj, options, lines):
    """Escapes docstrings, which are plain text for the terminal."""
    for i, line in enumerate(lines):
        parameter, colon, rest = line.rpartition(" : ") if " : " in line else ("", "", line)
        if not rest.lstrip().startswith((">>>", "...")) and " " in rest.strip() + colon:
            lines[i] = parameter + colon + plain(rest)


FAILURES = {  # number and description of the picture in examples/plot_failures.py
    "AutoClassifier": (1, "A rare class that overlaps a frequent one is overlooked without class_weight."),
    "KernelRidgeClassifier": (2, "Columns that say nothing about the class hide those that do."),
    "ParzenClassifier": (3, "With many columns, no bandwidth suits both a narrow and a wide class."),
    "PerTurboClassifier": (3, "With many columns, no bandwidth suits both a narrow and a wide class."),
    "ParzenDensity": (4, "The density extends beyond a limit that the data cannot cross."),
    "ParzenOutlierDetector": (5, "A cluster of outliers is not detected."),
    "KernelRegressor": (
        6,
        "No bandwidth suits both a jump and its surroundings; nothing is known beyond the data.",
    ),
    "KernelMap": (7, "Classes that are not clusters of the data overlap."),
    "SpectralKernelClassifier": (8, "All texts with only new words get the same prediction."),
}


SECONDS = ("AutoClassifier", "KernelRidgeClassifier", "PerTurboClassifier", "ParzenClassifier")  # on the page Choose


def cost(lines):
    """Removes the paragraph about the cost from the notes of a docstring, and returns it."""
    start = next((i for i, line in enumerate(lines) if line.startswith("Cost: ")), len(lines))
    paragraph = lines[start : lines.index("", start)] if start < len(lines) else []
    del lines[start : start + len(paragraph)]  # the empty line stays, since it ends the section
    return [paragraph[0].replace("Cost:", "**Cost:**", 1), *paragraph[1:], ""] if paragraph else []


def show_examples(app, what, name, obj, options, lines):
    """Inserts the gallery's examples, a picture of a failure, and the cost before the parameters."""
    if what in ("class", "function") and "Parameters" in lines:
        short = name.rpartition(".")[2]  # most examples import it from the package
        same = getattr(spectralcls, short, None) is obj
        names = [name, f"spectralcls.{short}"] if same else [name]
        shown = [f".. minigallery:: {' '.join(names)}", ""]
        if same and short in FAILURES:
            number, failure = FAILURES[short]
            shown += [
                f".. figure:: /gallery/images/sphx_glr_plot_failures_{number:03}.png",
                f"   :alt: {failure}",
                "   :width: 420",
                "",
                f"   When it fails: {failure[0].lower()}{failure[1:]} :doc:`What helps </gallery/plot_failures>`.",
                "",
            ]
        shown += cost(lines)
        if same and short in SECONDS:
            shown.insert(-1, ":ref:`Seconds of a fit <seconds-of-one-fit>`.")
        start = lines.index("Parameters")
        lines[start:start] = shown


def signature_of_init(app, what, name, value, options, signature, returned):
    """Replaces the signature of SciPy's operators, whose ``__new__`` takes any arguments."""
    return (str(inspect.signature(value)), returned) if signature == "(*args, **kwargs)" else None


def setup(app):
    app.connect("config-inited", lambda app, config: write(app), priority=400)
    app.connect("missing-reference", link_short_name)
    app.connect("viewcode-follow-imported", source_of)
    app.connect("autodoc-skip-member", skip_inherited)
    app.connect("autodoc-process-signature", signature_of_init)
    app.connect("autodoc-process-docstring", plain_docstring, priority=100)  # before numpydoc's
    app.connect("autodoc-process-docstring", show_examples, priority=100)
    return {"parallel_read_safe": True}
