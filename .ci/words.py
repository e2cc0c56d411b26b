"""Count the pages of prose and their words, and exit with 1 above the limits.

Pages are those in `docs` except the ones that are made from something else. Words are those that
a reader reads: code, the targets of links and the rules of tables do not count, and a figure from a
record is one word. Tutorials and the API are not counted.
"""

import re
import sys
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
MADE = {"bibliography.md", "changelog.md", "cli.md", "contributing.md"}
"""Pages that show the program, or a file of the repository."""
PAGES, WORDS = 30, 30_000
CODE = re.compile(r"^(`{3,}|:{3,}).*?^\1", re.DOTALL | re.MULTILINE)


def prose(text: str) -> str:
    """The text of a page without code, directives, targets of links and references to records."""
    text = re.sub(r"\{record\}`[^`]*`", "figure", CODE.sub("", text))
    return re.sub(r"\]\([^)]*\)", "]", text)


def words(text: str) -> int:
    """Number of words in a page; what has no letter and no digit, such as a rule, is none."""
    return sum(bool(re.search(r"\w", word)) for word in prose(text).split())


def counts() -> dict[str, int]:
    """Words of every page."""
    pages = sorted(page for page in DOCS.glob("*.md") if page.name not in MADE)
    return {page.name: words(page.read_text(encoding="utf-8")) for page in pages}


if __name__ == "__main__":
    found = counts()
    total = sum(found.values())
    for name, number in found.items():
        print(f"{number:6,}  {name}")
    print(f"{total:6,}  words of {WORDS:,} on {len(found)} pages of {PAGES}")
    sys.exit(len(found) > PAGES or total > WORDS)
