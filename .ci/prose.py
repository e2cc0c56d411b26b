"""Check the prose of the pages with proselint: code, formulas and tables' rules are left out.

Lines keep their numbers. Prints what is found, and exits with 1 if there is anything.
"""

import itertools
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md")
TUTORIALS = "docs/tutorials/*.py"
IGNORED = {
    "typography.": "straight quotes and three dots are what Sphinx turns into typographic ones",
    "dates_times.am_pm": "takes 'am' in other contexts for a time of day",
    "misc.phrasal_adjectives": "adverbs in -ly with a hyphen in names",
    "weasel_words.very": "a style that is not ours to enforce",
    "hedging.misc": "hedges are wanted where a claim is an estimate",
}
"""Checks that do not apply, and why."""
CODE = re.compile(
    r"^```.*?^```|\$\$.*?\$\$|\$[^$\n]*\$|`[^`]*`|\]\([^)]*\)", re.DOTALL | re.MULTILINE
)


def prose(text: str) -> str:
    """The text with code, formulas and links replaced by a word of their own and empty lines."""
    number = itertools.count()
    return CODE.sub(lambda found: f"X{next(number)}y" + "\n" * found[0].count("\n"), text)


def written(page: Path) -> str:
    """The text of a page; of a tutorial, the comments, in which its prose is."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".md":
        return text
    return "\n".join(
        re.sub("^# ?", "", line) if line[:1] == "#" else "" for line in text.split("\n")
    )


def applies(finding: str) -> bool:
    """Whether a finding is to be looked at."""
    if ": lexical_illusions" in finding and not finding.endswith("repeated."):
        return False  # a heading and the first words below it
    return not any(f": {check}" in finding for check in IGNORED)


def main() -> int:
    """Run proselint on all pages."""
    pages = [path for pattern in (*PAGES, TUTORIALS) for path in sorted(ROOT.glob(pattern))]
    with tempfile.TemporaryDirectory() as folder:
        for page in pages:
            name = page.relative_to(ROOT).with_suffix(".md").as_posix().replace("/", "_")
            Path(folder, name).write_text(prose(written(page)), encoding="utf-8")
        command = [sys.executable, "-m", "proselint", "check", folder]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = [line.rpartition("/")[2] for line in done.stdout.splitlines() if ".md:" in line]
    left = [line for line in found if applies(line)]
    print("\n".join([*left, f"proselint: {len(pages)} pages, {len(left)} findings"]))
    if not found and done.returncode not in (0, 1):
        print(done.stderr)
        return 2
    return int(bool(left))


if __name__ == "__main__":
    sys.exit(main())
