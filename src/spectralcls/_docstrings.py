"""Descriptions that several docstrings share, written once."""

import re
import textwrap
from collections.abc import Callable

_PLACE = re.compile(r"^( *)%\((\w+)\)s$", re.MULTILINE)


def fill(docstring: str, describe: Callable[[str], str]) -> str:
    """Replace each line ``%(name)s`` by ``describe(name)``, indented like the line."""

    def described(place):
        lines = textwrap.dedent(describe(place[2])).strip().splitlines()
        return "\n".join(place[1] + line for line in lines)

    return _PLACE.sub(described, docstring)
