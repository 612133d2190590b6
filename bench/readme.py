"""Run the README's commands and put what they print into the README: no figure there is typed by hand.

Each place is a pair of comments, ``<!-- COMMAND -->`` and ``<!-- end -->``, where COMMAND is a command line
of ``spectralcls``; what is between them is replaced. Usage: ``python bench/readme.py [README.md]``.
"""

import os
import platform
import re
import shlex
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

_PLACE = re.compile(r"(<!-- (compare [^>]*?) -->\n).*?(<!-- end -->)", re.DOTALL)


def block(command):
    """The command's output as a Markdown block, with what it ran on."""
    arguments = [sys.executable, "-m", "spectralcls", *shlex.split(command)]
    run = subprocess.run(arguments, stdout=subprocess.PIPE, text=True, check=True)
    libraries = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn"))
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, {libraries}"
    return f"```\n{run.stdout.rstrip()}\n```\n\n{machine}.\n"


def main(path):
    text = path.read_text(encoding="utf-8")
    filled, count = _PLACE.subn(lambda place: place[1] + block(place[2]) + place[3], text)
    if not count:
        sys.exit(f"{path} has no place <!-- compare NAME --> ... <!-- end -->")
    path.write_text(filled, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "README.md"))
