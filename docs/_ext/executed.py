"""Runs the Python blocks of the pages below in order and adds their output and plots to the page.

A block that fails stops the build. Blocks run in a folder that contains the tables of `docs/start`.
"""

import ast
import io
import re
import shutil
import tempfile
from contextlib import chdir, redirect_stdout
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt

_PAGES = ("index", "guide/", "start/", "about/alternatives")
_BLOCK = re.compile(r"^```python\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
_SHOWN = "```{{code-block}} none\n:class: output\n\n{}\n```\n"


def with_output(text, page, docs):
    """Returns the Markdown of a page with the output, value or plots of each of its Python blocks."""
    session, images = {"__name__": page}, docs / "images"

    def shown(match):
        printed = _run(match[1], page, session).rstrip()
        parts = [match[0]] + ([_SHOWN.format(printed)] if printed else [])
        for number in plt.get_fignums():
            picture = images / f"{page.replace('/', '_')}_{match.start()}_{number}.svg"
            figure = plt.figure(number)
            figure.savefig(picture, bbox_inches="tight")
            parts.append(f"![{figure.axes[0].get_title() or 'Plot of the block above'}](/images/{picture.name})\n")
        plt.close("all")
        return "\n".join(parts)

    images.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, chdir(folder), matplotlib.rc_context({"backend": "agg"}):
        for table in (docs / "start").glob("*.csv"):
            shutil.copy(table, folder)
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
        source[0] = with_output(source[0], page, Path(app.srcdir))


def setup(app):
    app.connect("source-read", _read)
    return {"parallel_read_safe": True}
