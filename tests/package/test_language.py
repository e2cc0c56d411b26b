"""Words that readers had to decode stay out of what users read: pages, docstrings and messages."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "api").glob("*.md")),
    *sorted((ROOT / "docs" / "tutorials").glob("*.py")),
]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
EXAMPLES = sorted((ROOT / "examples").rglob("*.py"))

INSTEAD = {
    r"laws?": "distribution",
    r"mend(s|ed|ing)?": "fix",
    r"houses?": "architecture",
    r"rooms?": "package",
    r"doors?": "entry point",
    r"clothes": "Fashion-MNIST images",
    r"stands?( beside)?": "is, is next to",
    # "There is no curve" is plain English; "`sede` is no setting" is not.
    r"(?<!there )(is|are) no(?! longer)": "is not a, must be",
    r"(loss|gap|share|difference|probability) of at least": "at least, in front of the number",
    r"beside": "next to, with",
    r"speaks?": "show",
    r"(is|are) heard": "count",
    r"nobody|anybody|somebody": "a person that the reader knows, or the passive",
    r"and (its|their) kin": "and similar",
    r"but for a chance of": "with probability",
    r"is made of whole cloth": "is invented",
    r"honest (curve|estimate|one|interval|error bars?)": "held-out, valid",
    r"(will|would) buy|budget buys": "brings",
    r"carr(y|ies) no": "contain no, have no",
    r"wants?": "requires",
    r"paid for|is paid": "is drawn, costs",
    r"very same": "same",
}
"""Patterns of words, and what to write."""

ALLOWED = {
    "tests/laws": "a folder of the tests",
    "`laws/`": "a folder of the tests",
    "all laws then run": "properties in that folder",
    "runs every law": "properties in that folder",
    "log_ratios, laws": "an attribute of profiles",
    ".laws.": "an attribute of profiles, in examples",
    "core.law ": "a module, in examples",
    "LogRatioLaw": "a class, in examples",
    "carry no gradient": "a term of automatic differentiation",
    "that t stands for": "notation: a symbol stands for a value",
    "output stands for": "notation: a symbol stands for a value",
    "wanted": "what the reader asks for",
    "I want to": "the reader",
    "trade-off you want": "the reader",
    "carries no ratio": "a message; its wording is part of tests",
}
"""Where a word has another meaning, and which one."""


def bad_words(text):
    """Words in a text that have a better one."""
    text = " ".join(text.split())
    for allowed in ALLOWED:
        text = text.replace(allowed, "")
    return {
        found[0]: better
        for pattern, better in INSTEAD.items()
        if (found := re.search(rf"\b(?:{pattern})\b", text, re.IGNORECASE))
    }


def texts(path):
    """Docstrings and messages of a source file, each with its line."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_use_the_words_of_the_field(page):
    found = bad_words(page.read_text(encoding="utf-8"))
    assert not found, f"write {found}"


@pytest.mark.slow
@pytest.mark.parametrize("files", [SOURCES, EXAMPLES], ids=["src", "examples"])
def test_docstrings_and_messages_use_the_words_of_the_field(files):
    found = {
        f"{path.relative_to(ROOT)}:{line}": bad
        for path in files
        for line, text in texts(path)
        if (bad := bad_words(text))
    }
    assert not found


@pytest.mark.slow
def test_exceptions_are_used():
    everything = " ".join(
        [page.read_text(encoding="utf-8") for page in PAGES]
        + [text for path in [*SOURCES, *EXAMPLES] for _, text in texts(path)]
    )
    everything = " ".join(everything.split())
    assert [allowed for allowed in ALLOWED if allowed not in everything] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("`sede` is no setting.", "is no"),
        ("There is no curve to draw.", None),
        ("a loss of at least 3%", "loss of at least"),
        ("a whole number of at least 1", None),
        ("the\nlaw of the data", "law"),
    ],
)
def test_patterns(text, expected):
    assert (list(bad_words(text)) or [None]) == [expected]
