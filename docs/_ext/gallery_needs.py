"""Examples that need what the package does not ship, and which of them cannot run here.

Such an example names its needs in a comment, which the site removes: ``# sphinx_gallery_needs = ["letter.npz"]``. What
ends in ``.npz`` is a file of the folder ``SPECTRALCLS_DATA``, any other name a package. Where something is absent, the
example still runs, fails with its own exception, and the page shows that; the build goes on. With
``SPECTRALCLS_REQUIRE_DATA`` no absent file is excused.
"""

import ast
import os
import re
import sys
from importlib.util import find_spec
from pathlib import Path

COMMENT = re.compile(r"^# sphinx_gallery_needs = (.+)$", re.MULTILINE)


def needs(example):
    """What an example needs, by its comment."""
    found = COMMENT.search(example.read_text(encoding="utf-8"))
    return ast.literal_eval(found[1]) if found else []


def absent(example):
    """What an example needs and this machine lacks."""
    folder = Path(os.environ.get("SPECTRALCLS_DATA", os.devnull))
    excused = not os.environ.get("SPECTRALCLS_REQUIRE_DATA")
    return [
        name
        for name in needs(example)
        if (excused and not (folder / name).exists() if name.endswith(".npz") else find_spec(name) is None)
    ]


def cannot_run(folder):
    """The examples of a folder that lack something, each with a line on the standard error."""
    lacking = {path: names for path in sorted(folder.glob("plot_*.py")) if (names := absent(path))}
    for path, names in lacking.items():
        print(f"NOT EXECUTED: {path.name} needs {', '.join(names)}", file=sys.stderr)
    return [str(path) for path in lacking]
