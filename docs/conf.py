"""Configuration of the documentation site."""

import sys
from pathlib import Path

from tradeoff import __version__

sys.path.insert(0, str(Path(__file__).parent / "_ext"))
sys.path.insert(0, str(Path(__file__).parents[1]))

project = "tradeoff"
author = "The tradeoff developers"
copyright = "The tradeoff developers"
release = version = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "sphinxcontrib.bibtex",
    "bench_table",
]

myst_enable_extensions = ["dollarmath", "amsmath", "deflist", "colon_fence"]
myst_heading_anchors = 3
bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "unsrt"
bibtex_reference_style = "author_year"

autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_class_signature = "mixed"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_rtype = False
napoleon_custom_sections = [("References", "notes_style")]

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_title = f"tradeoff {version}"
html_static_path = ["_static"]
exclude_patterns = ["_build"]
nitpick_ignore_regex = [
    ("py:class", r"(np|npt|numpy)\..*|FloatArray|optional|abc\.ABC|Divergence|PRCurve|Scaled"),
]
