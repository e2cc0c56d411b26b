"""Runs the examples of the README and the documentation pages."""

from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

# Importing a tutorial would run it; `tests/examples/test_tutorials.py` runs them, in small.
collect_ignore_glob = ["docs/tutorials/*"]

pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser(), SkipParser()],
    patterns=["README.md", "CONTRIBUTING.md", "docs/*.md", "docs/howto/*.md"],
    excludes=["docs/_build/**"],
).pytest()
