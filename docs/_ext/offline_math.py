"""Copies MathJax into the site, so that formulas are rendered without a network.

The file comes from the package `sphinx-mathjax-offline`. It is used only if it is, byte for byte,
`es5/tex-svg.js` of MathJax 3.2.2 as npm has it. Formulas become SVG, so no fonts are loaded.
"""

import hashlib
from importlib.metadata import distribution
from pathlib import Path

from sphinx.errors import ExtensionError

PLACE = "sphinx-mathjax-offline/static/mathjax/tex-svg.js"
SHA256 = "d4295dc33744836935c1399feece5159577b34c5c8ffb9f1c6324cd82e03a882"
TARGET = "mathjax/tex-svg.js"


def mathjax() -> bytes:
    """The script, after a check of its hash."""
    package = distribution("sphinx-mathjax-offline")
    script = Path(str(package.locate_file(PLACE))).read_bytes()
    if hashlib.sha256(script).hexdigest() != SHA256:
        raise ExtensionError(f"{PLACE} is not the file of MathJax 3.2.2 that docs/_ext expects.")
    return script


def copy_script(app, error):
    if error is None and app.builder.format == "html":
        target = Path(app.outdir) / "_static" / TARGET
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(mathjax())


def setup(app):
    app.setup_extension("sphinx.ext.mathjax")
    app.config.mathjax_path = TARGET
    # The menu would load further scripts of MathJax, which the site does not have.
    app.config.mathjax3_config = {"options": {"enableMenu": False}}
    app.connect("build-finished", copy_script)
    return {"parallel_read_safe": True}
