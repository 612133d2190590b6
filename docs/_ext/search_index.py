"""What the search of the site reads: the guide, the gallery and the reference, of the appendices only the titles."""

APPENDICES = ("measured/", "results/", "about/changelog", "gallery/sg_execution_times", "sg_execution_times")


def leave_out(app, doctree):
    """Mark an appendix as one whose text is not searched."""
    if app.env.docname.startswith(APPENDICES):
        app.env.metadata[app.env.docname]["nosearch"] = True


def setup(app):
    app.connect("doctree-read", leave_out)
    return {"parallel_read_safe": True}
