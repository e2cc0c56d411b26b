"""Check that a tag, the package and its recipes agree on the version, and print what it brings.

python .ci/release.py v0.1.0 > notes.md
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
STATED = {
    "src/tradeoff/_version.py": r'__version__ = "(.*)"',
    "conda/recipe.yaml": r'version: "(.*)"',
    "CITATION.cff": r"^version: (.*)",
}
"""Files that state the version, and where."""


def notes(tag: str) -> str:
    """The entry of the changelog of a version; every file must state this version."""
    version = tag.removeprefix("v")
    for name, pattern in STATED.items():
        found = re.search(pattern, (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
        if found is None or found[1] != version:
            sys.exit(f"{name} must state version {version}. Got {found and found[1]}.")
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    entry = re.search(rf"^## {re.escape(version)} \((.*)\)\n(.*?)(?=^## |\Z)", changes, re.M | re.S)
    if entry is None:
        sys.exit(f"CHANGELOG.md must have an entry `## {version} (date)`.")
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", entry[1]):
        sys.exit(f"The entry of {version} in CHANGELOG.md must state its date. Got: {entry[1]}.")
    return entry[2].strip()


if __name__ == "__main__":
    print(notes(sys.argv[1]))
