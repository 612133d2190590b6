"""Descriptions that several docstrings share, written once."""

import inspect
import re
import textwrap
from collections.abc import Callable

_PLACE = re.compile(r"^( *)%\((\w+)\)s$", re.MULTILINE)
_HEADING = re.compile(r"\n\n(?=[A-Z][A-Za-z ]+\n---)")


def fill(docstring: str, describe: Callable[[str], str]) -> str:
    """Replace each line ``%(name)s`` by ``describe(name)``, indented like the line."""

    def described(place):
        lines = textwrap.dedent(describe(place[2])).strip().splitlines()
        return "\n".join((place[1] + line).rstrip() for line in lines)

    return _PLACE.sub(described, docstring)


def sections(docstring: str, *titles: str) -> str:
    """The sections of these titles, in the order of the docstring."""
    parts = _HEADING.split(inspect.cleandoc(docstring))
    return "\n\n".join(part for part in parts if part.partition("\n")[0] in titles)
