"""Pictures that stand alone get their alternative text as a caption, and those of the gallery a link to their code."""

import re

from docutils import nodes
from sphinx import addnodes

_OF_GALLERY = re.compile(r"sphx_glr_(\w+)_\d+\.png$")


def caption(image, page):
    """The caption of an image: its alternative text, and where its code is."""
    text = nodes.caption("", image["alt"].rstrip(".") + ".")
    example = _OF_GALLERY.search(image["uri"])
    if example:
        code = addnodes.pending_xref(
            "",
            nodes.inline("", "Code"),
            refdomain="std",
            reftype="doc",
            reftarget=f"/gallery/{example[1]}",
            refdoc=page,
            refexplicit=True,
            refwarn=True,
        )
        text += [nodes.Text(" "), code, nodes.Text(".")]
    return text


def _caption_all(app, doctree):
    page = app.env.docname
    if page.startswith(("gallery/", "reference/")):
        return
    for image in list(doctree.findall(nodes.image)):
        paragraph = image.parent
        alone = isinstance(paragraph, nodes.paragraph) and len(paragraph) == 1
        if alone and image.get("alt") and "plots/" not in image["uri"]:  # those of benches have a heading
            figure = nodes.figure("", image, caption(image, page), align="center")
            doctree.set_id(figure)
            paragraph.replace_self(figure)


def setup(app):
    app.connect("doctree-read", _caption_all)
    return {"parallel_read_safe": True}
