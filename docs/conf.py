"""Configuration of the documentation site."""

import re
import sys
from pathlib import Path

import tradeoff
from tradeoff.comparison import Comparison
from tradeoff.evaluation import Evaluation

sys.path.insert(0, str(Path(__file__).parent / "_ext"))
sys.path.insert(0, str(Path(__file__).parents[1]))

project = "tradeoff"
author = "The tradeoff developers"
copyright = "The tradeoff developers"
release = version = tradeoff.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinxcontrib.bibtex",
    "bench_table",
    "api_glance",
    "packages",
    "registry_tables",
    "offline_math",
    "record_value",
    "cli_pages",
    "notebook_link",
]

myst_enable_extensions = ["dollarmath", "amsmath", "deflist", "colon_fence"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # `make tutorials` executes the notebooks
nb_merge_streams = True
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
html_css_files = ["site.css"]
exclude_patterns = ["_build", "results"]
nitpick_ignore_regex = [
    ("py:class", r"(np|npt|numpy)\..*|FloatArray|optional|abc\.ABC|Divergence|PRCurve|Scaled"),
]


def setup(app):
    app.connect("missing-reference", link_top_level)
    app.connect("html-page-context", drop_dead_links)
    app.connect("build-finished", write_reports)
    app.connect("env-get-outdated", pages_with_index_entries)


def pages_with_index_entries(app, env, added, changed, removed):
    """Pages that are written in every build: the search of others would lose their entries."""
    entries = env.domains.index_domain.entries
    return [page for page, found in entries.items() if any(entry[3] == "main" for entry in found)]


def drop_dead_links(app, pagename, templatename, context, doctree):
    """Remove links from source to documentation that viewcode makes for names that have none."""
    if not pagename.startswith("_modules/"):
        return
    known = app.env.get_domain("py").objects
    context["body"] = re.sub(
        r'<a class="viewcode-back" href="[^"]*#([^"]*)">.*?</a>',
        lambda link: link[0] if link[1] in known else "",
        context["body"],
    )


def write_reports(app, error):
    """Make the example pages from the results in `docs/results`."""
    if error is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir) / "reports"
    folder.mkdir(exist_ok=True)
    for result in sorted((Path(__file__).parent / "results").iterdir()):
        is_comparison = (result / "comparison.json").exists()
        found = (Comparison if is_comparison else Evaluation).load(result)
        found.report(folder / f"{result.name}.html", overwrite=True)


def link_top_level(app, env, node, contnode):
    """Link `tradeoff.evaluate` and the like to the page of the package that defines them."""
    package, _, name = node.get("reftarget", "").rpartition(".")
    if package != "tradeoff" or name not in tradeoff.__all__:
        return None
    defined_in = ".".join(getattr(tradeoff, name).__module__.split(".")[:2])
    python = env.get_domain("py")
    return python.resolve_xref(
        env, node["refdoc"], app.builder, node["reftype"], f"{defined_in}.{name}", node, contnode
    )
