"""Every script in `examples/` runs with `--quick`."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.name)
def test_example_runs(script, tmp_path):
    command = [sys.executable, str(script), "--quick", "--output", str(tmp_path / "out.png")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out.png").stat().st_size > 10_000


def test_first_picture_shows_what_the_readme_says(tmp_path):
    """Dropping costs recall, inventing costs precision, blurring both."""
    command = [sys.executable, str(EXAMPLES[0]), "--quick", "--output", str(tmp_path / "out.png")]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = {line[:20].strip(): line.split() for line in printed.splitlines()}
    numbers = {name: (float(row[-3]), float(row[-1])) for name, row in rows.items()}
    assert numbers["drops three modes"] == pytest.approx((1.0, 0.625), abs=0.01)
    assert numbers["invents the center"] == pytest.approx((8 / 11, 1.0), abs=0.01)
    assert max(numbers["blurs"]) < 0.8
    assert min(numbers["close to the data"]) > 0.99
