"""Pages mark the figures that were measured with other code."""

import importlib
import json
import sys
from pathlib import Path

import pytest

from benchmarks import stale

pytest.importorskip("sphinx")
pytest.importorskip("myst_parser")
from sphinx.application import Sphinx

PAGE = """# Page

Fresh {record}`demo > new > ratio > .1f`, stale {record}`demo > old > ratio > .1f`.

```{bench-table} demo
```

```{bench-table} demo
:rows: ^new
:brief:
```
"""


@pytest.fixture
def page(tmp_path, monkeypatch):
    """HTML of a page with figures of a record, one of whose two rows is stale."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "docs" / "_ext"))
    rows = [{"case": "new", "ratio": 1.5, "code": "a"}, {"case": "old", "ratio": 2.5, "code": "b"}]
    about = {"name": "demo", "title": "T", "commit": "abc", "date": "2026-01-02", "machine": "M"}
    (tmp_path / "demo.json").write_text(json.dumps(about | {"versions": {}, "rows": rows}))
    for module in (stale, *map(importlib.import_module, ("bench_table", "record_value"))):
        monkeypatch.setattr(module, "RESULTS", tmp_path)
    monkeypatch.setattr(stale, "code_now", {"demo": "a"}.get)
    source, built = tmp_path / "source", tmp_path / "built"
    source.mkdir()
    (source / "index.md").write_text(PAGE)
    settings = {"extensions": ["myst_parser", "bench_table", "record_value"]}
    app = Sphinx(source, None, built, built, "html", settings, status=None, warning=sys.stderr)
    app.build()
    return (built / "index.html").read_text()


def test_stale_figures_and_rows_are_marked(page):
    mark = '<abbr title="measured with an earlier version of the code">†</abbr>'
    assert f"Fresh 1.5, stale 2.5{mark}." in page
    assert page.count("old †") == 1
    assert "new †" not in page
    assert page.count("† measured with an earlier version of the code") == 1
    assert "Dated note, 2026-01-02: measured on M" in page
