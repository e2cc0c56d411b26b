"""The table "to add X, edit these files" of the architecture page is true."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "architecture.md"


def rows():
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 4 and cells[3].isdigit():
            yield cells


def test_the_counts_of_files_are_right():
    found = list(rows())
    assert {"metric", "estimator", "encoder"} <= {
        word for row in found for word in re.findall(r"\w+", row[0])
    }
    for what, new, edited, count in found:
        files = [re.findall(r"`([^`]+)`", cell) for cell in (new, edited)]
        assert sum(map(len, files)) == int(count) <= 2, what
        for file in files[1]:
            assert (ROOT / file).is_file(), f"{what}: {file}"
        for file in files[0]:
            assert (ROOT / file).parent.is_dir(), f"{what}: {file}"
