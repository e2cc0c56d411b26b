"""Do what README and quickstart show a newcomer, in a clean environment, and compare the output.

The quickstart includes the transcript of the README. Commands without an output are run as well.
"""

import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.scenarios import cifar_models
from tests.known.scenarios import write_folder

ROOT = Path(__file__).parents[1]
RELATIVE, ABSOLUTE = 0.1, 0.01  # other processors round otherwise
NUMBER = re.compile(r"-?\d+(?:[.,]\d+)*(?:e-?\d+)?")


def quickstart() -> str:
    """The page as a reader sees it, with the part of the README that it includes."""
    readme = (ROOT / "README.md").read_text()
    shown = readme.partition("<!-- transcript -->")[2].partition("<!-- end of transcript -->")[0]
    page = (ROOT / "docs" / "quickstart.md").read_text()
    found, count = re.subn(r"```{include}.*?```", lambda _: shown, page, flags=re.DOTALL)
    assert count == 1, "the quickstart does not include the README"
    return found


def transcript() -> list[tuple[list[str], str]]:
    """Commands of the page that begin with `tradeoff`, and what they print."""
    blocks = re.findall(r"```console\n(.*?)```", quickstart(), re.DOTALL)
    steps = [step for block in blocks for step in re.split(r"^\$ ", block, flags=re.MULTILINE)]
    found = [step.partition("\n") for step in steps if step.startswith("tradeoff ")]
    return [(shlex.split(command), output.strip()) for command, _, output in found]


def values(text: str) -> list[float]:
    """All numbers of a text."""
    return [float(number.replace(",", "")) for number in NUMBER.findall(text)]


def words(text: str) -> list[str]:
    """Everything else, however lines are broken."""
    return NUMBER.sub("#", text).split()


real, models = cifar_models(600)
with tempfile.TemporaryDirectory() as folder:
    write_folder(real, Path(folder, "photos"))
    write_folder(models["another data set"].samples, Path(folder, "samples"))
    steps = transcript()
    assert len(steps) > 1, "the quickstart shows too few commands"
    for command, expected in steps:
        program = [str(Path(sys.executable).with_name(command[0])), *command[1:]]
        done = subprocess.run(program, cwd=folder, capture_output=True, text=True, check=False)
        print(f"$ {shlex.join(command)}\n{done.stdout}{done.stderr}")
        assert done.returncode == 0, done.returncode
        shown = done.stdout.strip()
        if not expected:
            continue
        assert words(shown) == words(expected), "the page prints other words"
        for one, other in zip(values(shown), values(expected), strict=True):
            assert abs(one - other) <= RELATIVE * abs(other) + ABSOLUTE, (one, other)
