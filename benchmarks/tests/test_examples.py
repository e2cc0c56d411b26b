"""Every script in `examples/` runs with `--quick`."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(path.stem for path in (ROOT / "examples").glob("*.py"))


def run_example(name, output):
    """Run it as its first lines say, in small."""
    command = [sys.executable, "-m", f"examples.{name}", "--quick", "--output", str(output)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "name",
    [
        name if name == "first_picture" else pytest.param(name, marks=pytest.mark.torch)
        for name in EXAMPLES
    ],
)
def test_example_runs(name, tmp_path):
    assert run_example(name, tmp_path / "out.png")
    assert (tmp_path / "out.png").stat().st_size > 10_000


def test_first_picture_shows_what_the_readme_says(tmp_path):
    """Dropping costs recall, inventing costs precision, blurring both."""
    printed = run_example("first_picture", tmp_path / "out.png")
    rows = {line[:20].strip(): line.split() for line in printed.splitlines()}
    numbers = {name: (float(row[-3]), float(row[-1])) for name, row in rows.items()}
    assert numbers["drops three modes"] == pytest.approx((1.0, 0.625), abs=0.01)
    assert numbers["invents the center"] == pytest.approx((8 / 11, 1.0), abs=0.01)
    assert max(numbers["blurs"]) < 0.8
    assert min(numbers["close to the data"]) > 0.9


@pytest.mark.torch
def test_the_guidance_of_the_real_images_is_recommended(tmp_path):
    printed = run_example("diffusion_guidance", tmp_path / "out.png")
    assert printed.splitlines()[0] == "2.0 has the highest F-score."
