"""The pages of the documentation: few and short, in sections, with links that lead somewhere."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
sys.path.insert(0, str(ROOT / ".ci"))

from words import CODE, PAGES, WORDS, counts, words  # noqa: E402

WRITTEN = sorted([*DOCS.glob("*.md"), *DOCS.glob("api/*.md"), *DOCS.glob("tutorials/*.py")])
REPOSITORY = sorted(ROOT.glob("*.md"))
FENCE = re.compile(r"^```(\S+)\n(.*?)^```", re.DOTALL | re.MULTILINE)

SEARCHED = {
    "FID": "metrics",
    "mode collapse": "report",
    "overfitting": "memorization",
    "synthetic data": "tables",
    "temperature": "sweep",
}
"""What a reader may search for, and the page that is to be found."""


def read(page):
    return page.read_text(encoding="utf-8")


def section(caption):
    """Names of the pages of a section, in order."""
    found = re.search(rf":caption: {caption}\n(.*?)```", read(DOCS / "index.md"), re.DOTALL)
    return found[1].split()


def headings(page):
    """Titles of a page, without code."""
    text = CODE.sub("", read(page))
    return re.findall(r"^#{1,3} (.+)$", text, re.MULTILINE)


def slug(heading):
    """The anchor of a heading, as myst-parser makes it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def links(page):
    """Targets of links to Markdown files, without those of code."""
    return re.findall(r"\]\(((?!https?:)[^)#\s]*\.md)?(#[^)\s]+)?\)", CODE.sub("", read(page)))


def test_there_are_few_pages_with_few_words():
    found = counts()
    assert len(found) <= PAGES
    assert sum(found.values()) <= WORDS


def test_words_are_those_that_a_reader_reads():
    table = "| a | b |\n|---|---|\n| 1 | {record}`x > y > z` |\n"
    assert words(f"# One two\n\n{table}\n```\ncode\n```\n[x](y.md)\n") == 7


@pytest.mark.parametrize("page", [*WRITTEN, *REPOSITORY], ids=lambda page: page.name)
def test_links_lead_to_a_heading(page):
    for file, anchor in links(page):
        target = (page.parent / file).resolve() if file else page
        assert target.is_file(), file
        own = {f"#{slug(heading)}" for heading in headings(target)}
        own |= {f"#{label}" for label in re.findall(r"^\((.+)\)=$", read(target), re.MULTILINE)}
        made = "{cli-reference}" in read(target)
        assert not anchor or made or anchor in own, f"{file}{anchor}"


def test_every_page_is_in_a_section():
    listed = {name for caption in ("Start", "Do", "Understand", "Research", "Reference")
              for name in section(caption)}  # fmt: skip
    assert {page.stem for page in DOCS.glob("*.md")} - {"index"} == listed - {"api/index"}


@pytest.mark.parametrize(("query", "page"), SEARCHED.items())
def test_what_readers_search_for_is_in_the_index(query, page):
    """The search of the site shows entries of the index first; `test_site.py` asks it."""
    entries = re.findall(r"^```\{index\} (.*)$", read(DOCS / f"{page}.md"), re.MULTILINE)
    assert f"! {query}" in ", ".join(entries).split(", ")
