"""The gallery: its first page, the examples that cannot run here, and the style of the examples.

sphinx-gallery makes sections from folders. Here all examples are in one folder, so that the address of an example does
not change when it moves to another section.

An example that needs files or packages that may be absent names them in a comment, which the site removes:
``# sphinx_gallery_needs = ["letter.npz"]``. A name that ends in ``.npz`` is a file in the folder ``SPECTRALCLS_DATA``,
any other name a package. If one is absent, the example is shown but not run; its text says what to install. With
``SPECTRALCLS_REQUIRE_DATA``, examples run even if files are absent, and fail.
"""

import ast
import os
import re
import sys
from importlib.util import find_spec
from pathlib import Path

COMMENT = re.compile(r"^# sphinx_gallery_needs = (.+)$", re.MULTILINE)
SECTIONS = {  # names of files in examples; those that do not exist are left out
    "Real problems": "organelles cells coffee land_cover wrong_labels",
    "Classify": "first_steps boundaries vote comparison kde_classifier learned_metric perturbo "
    "bandwidth bandwidth_path failures",
    "Doubt and probabilities": "doubt calibration imbalance sample_weights",
    "Tables as they are": "mixed_table missing_values",
    "Numbers and their intervals": "houses spectra kernel_regression",
    "Densities and novelty": "density novelty information",
    "Large data": "million_rows reduced_training_set dask grid_search_dask",
    "Text": "spectral_kernel_text",
    "Maps and dimension reduction": "ccdr_plane ccdr_held_out spectral_map clusters ccdr_satimage",
    "Few labels": "active_learning ccdr_semi_supervised scikit_activeml",
}


PANELS = {
    "bandwidth": 1,
    "ccdr_plane": 2,
    "land_cover": 2,
    "perturbo": 2,
    "spectral_map": 1,
}  # of a thumbnail, if not the first
NUMBER = re.compile(r"^# sphinx_gallery_thumbnail_number = (\d+)$", re.MULTILINE)


def sections(names):
    """Returns {title: names of its existing examples}, with "More" for those that no section lists."""
    found = {}
    for title, words in SECTIONS.items():
        listed = [name for word in words.split() if (name := f"plot_{word}") in names]
        found[title] = listed
    found["More"] = sorted(set(names) - {name for listed in found.values() for name in listed})
    return {title: listed for title, listed in found.items() if listed}


def order(path):
    """Sort key of all small galleries: the order of the first page."""
    word = Path(path).stem.removeprefix("plot_")
    words = " ".join(SECTIONS.values()).split()
    return words.index(word) if word in words else len(words)


def page(header, names):
    """Returns the first page: the header, and for every section its thumbnails and toctree."""
    lines = [":orphan:", "", header]
    for title, listed in sections(names).items():
        lines += [title, "-" * len(title), "", ".. minigallery::", ""]
        lines += [*(f"   ../examples/{name}.py" for name in listed), ""]
        lines += [".. toctree::", "   :hidden:", f"   :caption: {title}", "", *(f"   {name}" for name in listed), ""]
    return "\n".join(lines)


def write(app):
    from sphinx_gallery.utils import scale_image

    examples = Path(app.srcdir) / app.config.sphinx_gallery_conf["examples_dirs"]
    header = (examples / "GALLERY_HEADER.rst").read_text(encoding="utf-8")
    text = page(header, {path.stem for path in examples.glob("*.py")})
    gallery = Path(app.srcdir) / "gallery"
    (gallery / "index.rst").write_text(text, encoding="utf-8")
    for path in examples.glob("*.py"):
        number = NUMBER.search(path.read_text(encoding="utf-8"))
        picture = gallery / "images" / f"sphx_glr_{path.stem}_{int(number[1]) if number else 1:03}.png"
        if (panel := _panel(picture)).exists():
            scale_image(panel, picture.parent / "thumb" / f"sphx_glr_{path.stem}_thumb.png", 400, 280)


def _panel(picture):
    return Path(picture).with_suffix(".panel.png")


def figures(block, block_vars, gallery_conf):
    """Saves the figures of a block, and one panel of each for the thumbnail."""
    import matplotlib.pyplot as plt
    from sphinx_gallery.scrapers import matplotlib_scraper

    paths = block_vars["image_path_iterator"]
    number = PANELS.get(Path(block_vars["src_file"]).stem.removeprefix("plot_"), 0)
    for place, figure in enumerate(map(plt.figure, plt.get_fignums()), len(paths) + 1):
        figure.draw_without_rendering()
        axes = figure.axes[min(number, len(figure.axes) - 1)]
        box = axes.get_tightbbox().transformed(figure.dpi_scale_trans.inverted()).padded(0.05)
        figure.savefig(_panel(paths.image_path.format(place)), bbox_inches=box, dpi=150)
    return matplotlib_scraper(block, block_vars, gallery_conf)


def needs(example):
    """Returns the files and packages that the comment of an example names."""
    found = COMMENT.search(example.read_text(encoding="utf-8"))
    return ast.literal_eval(found[1]) if found else []


def absent(example):
    """Returns the needs of an example that are absent on this machine."""
    folder = Path(os.environ.get("SPECTRALCLS_DATA", os.devnull))
    excused = not os.environ.get("SPECTRALCLS_REQUIRE_DATA")
    return [
        name
        for name in needs(example)
        if (excused and not (folder / name).exists() if name.endswith(".npz") else find_spec(name) is None)
    ]


def can_run(folder):
    """Returns a pattern of the examples whose needs are present, and reports all others on standard error."""
    lacking = {path: absent(path) for path in sorted(folder.glob("plot_*.py"))}
    for path, names in lacking.items():
        if names:
            print(f"NOT EXECUTED: {path.name} needs {', '.join(names)}", file=sys.stderr)
    return rf"/({'|'.join(path.stem for path, names in lacking.items() if not names)})\.py$"


def reset(gallery_conf, fname):
    """Every example starts from the package's style."""
    import matplotlib.pyplot as plt

    plt.style.use(["default", "spectralcls.plotting.spectralcls"])


def setup(app):
    app.connect("builder-inited", write, priority=900)  # after sphinx-gallery, whose page it replaces
    return {"parallel_read_safe": True}
