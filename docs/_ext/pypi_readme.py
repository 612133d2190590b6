"""Provides README.md for PyPI, without relative paths: a metadata provider for scikit-build-core."""

import re
from pathlib import Path

_PICTURE = re.compile(r"!\[[^\]]*\]\((?!https?://)[^)\s]+\)\n(?:\n\*[^*\n]+\*\n)?")  # with its caption
_TARGET = re.compile(r"(!?)\[([^\]]*)\]\((?!https?://|#)([^)\s]+)\)")


def dynamic_metadata(field, settings, project=None):
    """Returns the metadata `readme`, with links to the repository in `project.urls`, if there is one."""
    root = Path(__file__).parents[2]
    table = (root / "pyproject.toml").read_text(encoding="utf-8")
    address = re.search(r'^Repository = "([^"]+)"', table, re.MULTILINE)
    release = re.search(r'^version = "([^"]+)"', table, re.MULTILINE)[1]
    text = (root / "README.md").read_text(encoding="utf-8")
    return {"content-type": "text/markdown", "text": absolute(text, address and address[1], f"v{release}")}


def absolute(text, address, revision):
    """Returns Markdown whose links and pictures point to the files of a revision.

    Without an address, links are replaced by their text, and pictures and their captions are left out.
    """

    def target(match):
        is_picture, words, path = match.groups()
        if address:
            return f"{is_picture}[{words}]({address.rstrip('/')}/{'raw' if is_picture else 'blob'}/{revision}/{path})"
        return words

    return _TARGET.sub(target, text if address else _PICTURE.sub("", text))
