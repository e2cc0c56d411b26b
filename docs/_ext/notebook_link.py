"""Adds a link below the title of each tutorial, from which its notebook can be downloaded.

The notebook itself has no such link, which would lead nowhere in Jupyter.
"""

import json
from pathlib import Path

LINK = "{{download}}`Download this page as a notebook <{name}.ipynb>`, for Jupyter or Colab."


def add_link(app, docname, source):
    """Insert the line after the first line of a notebook."""
    if Path(app.env.doc2path(docname)).suffix != ".ipynb":
        return
    notebook = json.loads(source[0])
    first = notebook["cells"][0]
    title, _, rest = "".join(first["source"]).partition("\n")
    first["source"] = f"{title}\n\n{LINK.format(name=docname.rpartition('/')[2])}\n{rest}"
    source[0] = json.dumps(notebook)


def setup(app):
    app.connect("source-read", add_link)
    return {"parallel_read_safe": True}
