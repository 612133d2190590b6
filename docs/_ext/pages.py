"""Adds captions of pictures and a description to each page, and excludes the text of appendices from the search.

A picture in a separate paragraph gets its alternative text as a caption, and one from the gallery also a link to its
code. The description, which search engines and messengers show, is the first paragraph. Only the titles of appendices
are searched.
"""

import re
from html import escape

from docutils import nodes
from sphinx import addnodes

APPENDICES = (
    "measured/",
    "performance",
    "results/",
    "about/changelog",
    "gallery/sg_execution_times",
    "sg_execution_times",
)
_FOR_SCREEN_READERS = """addEventListener("DOMContentLoaded", () => {  // missing in the theme and in docutils
  document.querySelectorAll(".toctree-toggle").forEach(e => e.parentElement.ariaLabel = "Show or hide the pages below");
  document.querySelectorAll("[role=doc-biblioentry]").forEach(e => e.role = "listitem");
  document.querySelectorAll("table").forEach(e => { if (e.scrollWidth > e.clientWidth) e.tabIndex = 0; });
})"""
_OF_GALLERY = re.compile(r"sphx_glr_(\w+)_\d+\.png$")


def caption(image, page):
    """Returns the caption of an image: its alternative text, and a link to its code."""
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


def _caption_all(doctree, page):
    for image in list(doctree.findall(nodes.image)):
        paragraph = image.parent
        alone = isinstance(paragraph, nodes.paragraph) and len(paragraph) == 1
        if alone and image.get("alt") and "plots/" not in image["uri"]:  # plots of benches have a heading
            figure = nodes.figure("", image, caption(image, page), align="center")
            doctree.set_id(figure)
            paragraph.replace_self(figure)


def description(doctree):
    """Returns the beginning of the first paragraph with a sentence, as plain text; notes do not count."""
    for paragraph in doctree.findall(nodes.paragraph):
        text = " ".join(paragraph.astext().split())
        if len(text) > 30 and not isinstance(paragraph.parent, nodes.note):
            return text if len(text) <= 160 else text[:157].rsplit(" ", 1)[0] + " ..."
    return None


def _read(app, doctree):
    page, metadata = app.env.docname, app.env.metadata[app.env.docname]
    if not page.startswith(("gallery/", "reference/")):
        _caption_all(doctree, page)
    for head in doctree.findall(nodes.thead):  # an empty head gets a name for screen readers
        for entry in [entry for entry in head.findall(nodes.entry) if not entry.astext().strip()]:
            name = "Value" if entry.parent.index(entry) else "Row"
            entry += nodes.paragraph("", "", nodes.inline("", name, classes=["visually-hidden"]))
    if page.startswith(APPENDICES):
        metadata["nosearch"] = True
    for text in list(doctree.findall(nodes.Text)):
        if " ± " in text:  # a number and its error stay on one line
            text.parent.replace(text, nodes.Text(text.replace(" ± ", "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}")))


def _describe(app, page, template, context, doctree):
    text = (doctree and description(doctree)) or app.config.html_context["description"]
    found = {"name=description": text, "property=og:title": context.get("title"), "property=og:description": text}
    if app.config.html_baseurl:  # a social card needs an absolute address
        found["property=og:image"] = f"{app.config.html_baseurl}/_static/card.png"
    tags = []
    for name, content in found.items():
        kind, _, value = name.partition("=")
        tags.append(f'<meta {kind}="{value}" content="{escape(content or page, quote=True)}" />')
    context["metatags"] = context.get("metatags", "") + "\n".join(tags)
    if page.startswith("reference/generated/"):  # a function and its counterpart on Dask have the same heading
        context["title"] = page.rpartition("/")[2]
    if page == app.config.root_doc:
        context["docstitle"] = None  # the page has this title already


def setup(app):
    app.connect("doctree-read", _read)
    app.add_js_file(None, body=_FOR_SCREEN_READERS)
    app.connect("html-page-context", _describe)
    return {"parallel_read_safe": True}
