"""Sphinx configuration: ``python -m sphinx -W docs site`` builds the site."""

import sys
from importlib.util import find_spec
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent)]

from gallery import can_run  # noqa: E402

project = "spectralcls"
author = "the spectralcls developers"
copyright = "the spectralcls developers, BSD-3-Clause"
import spectralcls  # noqa: E402
from spectralcls._estimator.base import documents  # noqa: E402

release = spectralcls.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.doctest",
    "sphinx.ext.intersphinx",
    "sphinx.ext.viewcode",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "executed",
    "gallery",
    "house",
    "pages",
    "reference_pages",
]
templates_path = ["_templates"]
exclude_patterns = ["_*", "README.md", "gallery/**/*.ipynb"]
nitpicky = False
default_role = "literal"  # numpydoc's habit: `name` in a docstring is code

# -- Markdown -------------------------------------------------------------------------------------------------
myst_enable_extensions = ["amsmath", "attrs_block", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# -- API reference --------------------------------------------------------------------------------------------
autosummary_generate = True
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False  # the template lists the members
numpydoc_xref_param_type = False
# All checks except those for an extended summary, for "See Also", for an example of each method (tests require one for
# each class and function), and for a bare type in the first line of "Returns", since results have names here.
numpydoc_validation_checks = {"all", "ES01", "SA01", "EX01", "RT02"}

# -- Gallery --------------------------------------------------------------------------------------------------
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": can_run(HERE.parent / "examples"),
    "ignore_pattern": r"__init__\.py",
    "backreferences_dir": "reference/backreferences",
    "doc_module": ("spectralcls",),
    "reference_url": {"spectralcls": None},
    "matplotlib_animations": False,
    "min_reported_time": 1,
    "write_computation_times": False,  # would be a page with foreign scripts
    "parallel": 2,  # processes that run examples
    "remove_config_comments": True,
    "minigallery_sort_order": "gallery.order",
    "show_signature": False,
    "capture_repr": (),
    "download_all_examples": False,
    "image_scrapers": ("gallery.figures",),
    "reset_modules": ("gallery.reset",),
    "default_thumb_file": str(HERE / "_static" / "card.png"),
}


# -- Links to the documentation of other projects; plain text without a network --------------------------------
def _reachable(url):
    try:
        with urlopen(url + "objects.inv", timeout=5):
            return True
    except (URLError, OSError):
        return False


intersphinx_mapping = {
    name: (url, None)
    for name, url in {
        "python": "https://docs.python.org/3/",
        "numpy": "https://numpy.org/doc/stable/",
        "scipy": "https://docs.scipy.org/doc/scipy/",
        "sklearn": "https://scikit-learn.org/stable/",
    }.items()
    if _reachable(url)
}
linkcheck_ignore = [] if intersphinx_mapping else [r"https?://.*"]
linkcheck_anchors = False
linkcheck_timeout = 20
linkcheck_workers = 4

# -- Doctests of the docstrings -------------------------------------------------------------------------------
doctest_test_doctest_blocks = "default"
doctest_global_setup = "import numpy as np; np.set_printoptions(precision=4, suppress=True)"

# -- Pages ----------------------------------------------------------------------------------------------------
html_theme = "pydata_sphinx_theme"
html_title = f"spectralcls {release}"
html_baseurl = documents()  # empty until pyproject.toml names the address of the site
# Formulas are typeset without a network: this package carries the files of MathJax. Its own code is not used.
html_static_path = ["_static", str(Path(find_spec("sphinx-mathjax-offline").origin).parent / "static")]
mathjax_path = "mathjax/tex-chtml.js"
html_css_files = ["site.css"]
html_search_scorer = str(HERE / "_static" / "scorer.js")
html_favicon = "_static/favicon.svg"
html_show_sourcelink = False
html_sidebars = {"index": [], "choose": []}  # pages without siblings
html_theme_options = {
    "logo": {"image_light": "_static/logo.svg", "image_dark": "_static/logo-dark.svg", "text": html_title},
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "back_to_top_button": True,
}
html_context = {
    "default_mode": "auto",
    "description": "Classifiers and densities for tables: scikit-learn estimators that tune themselves.",
}
