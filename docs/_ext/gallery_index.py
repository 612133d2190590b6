"""The first page of the gallery: examples by task, those that most readers want first.

sphinx-gallery makes sections from folders. Here all examples are in one folder, and their addresses do not change when
an example moves to another section.
"""

from pathlib import Path

SECTIONS = {  # names of files in examples; one that does not exist is left out
    "Real problems": "organelles cells coffee land_cover wrong_labels",
    "Classify": "first_steps boundaries vote comparison kde_classifier learned_metric perturbo "
    "bandwidth bandwidth_path",
    "Doubt and probabilities": "doubt calibration imbalance sample_weights",
    "Tables as they are": "mixed_table missing_values",
    "Densities, novelty and regression": "density novelty kernel_regression mean_shift information",
    "Large data": "million_rows reduced_training_set dask grid_search_dask",
    "Text": "spectral_kernel_text",
    "Maps and dimension reduction": "ccdr_plane ccdr_held_out spectral_map ccdr_satimage",
    "Few labels": "active_learning ccdr_semi_supervised active_scikit_activeml",
    "Data sets": "datasets",
}


def sections(names):
    """{title: names of its examples that exist}, and "More" for those that no section lists."""
    found = {}
    for title, words in SECTIONS.items():
        listed = [name for word in words.split() for name in (f"plot_{word}", word) if name in names]
        found[title] = listed
    found["More"] = sorted(set(names) - {name for listed in found.values() for name in listed})
    return {title: listed for title, listed in found.items() if listed}


def order(path):
    """Key by which every small gallery is sorted: as in the first page."""
    word = Path(path).stem.removeprefix("plot_")
    words = " ".join(SECTIONS.values()).split()
    return words.index(word) if word in words else len(words)


def page(header, names):
    """The header, and for every section its thumbnails and its entries in the table of contents."""
    lines = [":orphan:", "", header]
    for title, listed in sections(names).items():
        lines += [title, "-" * len(title), "", ".. minigallery::", ""]
        lines += [*(f"   ../examples/{name}.py" for name in listed), ""]
        lines += [".. toctree::", "   :hidden:", f"   :caption: {title}", "", *(f"   {name}" for name in listed), ""]
    return "\n".join(lines)


def write(app):
    examples = Path(app.srcdir) / app.config.sphinx_gallery_conf["examples_dirs"]
    header = (examples / "GALLERY_HEADER.rst").read_text(encoding="utf-8")
    text = page(header, {path.stem for path in examples.glob("*.py")})
    (Path(app.srcdir) / "gallery" / "index.rst").write_text(text, encoding="utf-8")


def setup(app):
    app.connect("builder-inited", write, priority=900)  # after sphinx-gallery, whose page it replaces
    return {"parallel_read_safe": True}
