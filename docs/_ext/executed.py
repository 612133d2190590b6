"""Runs the Python blocks of the pages below, page by page and in order, and shows what each prints.

A block that fails stops the build.
"""

import ast
import io
import re
import tempfile
from contextlib import chdir, redirect_stdout

import matplotlib

_PAGES = ("index", "guide/", "start/", "about/alternatives")
_BLOCK = re.compile(r"^```python\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
_SHOWN = "```{{code-block}} none\n:class: output\n\n{}\n```\n"


def with_output(text, page):
    """The Markdown of a page with a further block for what each of its Python blocks prints, or has as its value."""
    session = {"__name__": page}

    def shown(match):
        printed = _run(match[1], page, session).rstrip()
        return match[0] + (f"\n{_SHOWN.format(printed)}" if printed else "")

    with tempfile.TemporaryDirectory() as folder, chdir(folder), matplotlib.rc_context({"backend": "agg"}):
        return _BLOCK.sub(shown, text)


def _run(code, page, session):
    tree, out = ast.parse(code), io.StringIO()
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    with redirect_stdout(out):
        exec(compile(tree, page, "exec"), session)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), page, "eval"), session)
            if value is not None and " object at 0x" not in repr(value):
                print(repr(value))
    return out.getvalue()


def _read(app, page, source):
    if page.startswith(_PAGES):
        source[0] = with_output(source[0], page)


def setup(app):
    app.connect("source-read", _read)
    return {"parallel_read_safe": True}
