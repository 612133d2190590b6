"""The notes of a release, out of ``CHANGELOG.md``: ``python -m release.notes [VERSION]``, by default the topmost."""

import re
import sys
from pathlib import Path

CHANGELOG = Path(__file__).parents[1] / "CHANGELOG.md"


def sections(text):
    """Text of the sections by their version, newest first."""
    parts = re.split(r"^## (\S+).*\n", text, flags=re.MULTILINE)[1:]
    return {version: body.strip() for version, body in zip(parts[::2], parts[1::2], strict=True)}


def notes(text, version=None):
    found = sections(text)
    version = version or next(iter(found))
    if version not in found:
        raise SystemExit(f"CHANGELOG.md has no section {version!r}, but {', '.join(found)}.")
    return found[version]


if __name__ == "__main__":
    print(notes(CHANGELOG.read_text(encoding="utf-8"), *sys.argv[1:]))
