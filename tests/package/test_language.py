"""Words that readers had to decode stay out of the pages."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
# Where a word has another meaning: a folder of the tests, and titles that papers have.
ALLOWED = ("tests/laws", "`laws/`", "all laws then run", "runs every law")
INSTEAD = {
    "law": "distribution",
    "laws": "distributions",
    "mend": "fix",
    "mends": "fixes",
    "mended": "fixed",
    "house": "architecture",
    "room": "package",
    "rooms": "packages",
    "door": "entry point",
    "doors": "entry points",
    "clothes": "Fashion-MNIST images",
    "stands beside": "is next to",
    "speak": "show",
    "speaks": "shows",
    "is heard": "counts",
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_use_the_words_of_the_field(page):
    text = page.read_text(encoding="utf-8")
    for allowed in ALLOWED:
        text = text.replace(allowed, "")
    found = {
        word: better
        for word, better in INSTEAD.items()
        if re.search(rf"\b{word}\b", text, re.IGNORECASE)
    }
    assert not found, f"write {found}"
