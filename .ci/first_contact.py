"""Do what README and quickstart show a newcomer, in a clean environment, and compare the output.

Commands without an output are run as well, and so is the Python of both pages. This process only
prepares the data: everything else runs from the wheel, in a folder and a home of its own, without
the checkout and without a network.
"""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.guides import differences, transcript
from benchmarks.scenarios import cifar_models
from tests.known.scenarios import write_folder

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md", ROOT / "docs" / "quickstart.md")


def without_network() -> list[str]:
    """What a command begins with to run in a namespace without routes; nothing if none is allowed.

    Then a proxy that does not exist has to do, see `surroundings`.
    """
    for prefix in (["unshare", "--net"], ["unshare", "--map-root-user", "--net"]):
        if shutil.which("unshare"):
            tried = subprocess.run([*prefix, "true"], capture_output=True, check=False)
            if tried.returncode == 0:
                return prefix
    return []


def surroundings(home: Path) -> dict[str, str]:
    """Environment of a newcomer: nothing of the checkout, no cache, no proxy that answers."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    nowhere = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), "http://127.0.0.1:9")
    proxies = nowhere | {name.lower(): place for name, place in nowhere.items()}
    return {**kept, **proxies, "HOME": str(home), "COLUMNS": "80"}


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command of the environment of this interpreter, and show what it prints."""
    program = str(Path(sys.executable).with_name(command[0]))
    done = subprocess.run(
        [*PREFIX, program, *command[1:]],
        cwd=folder,
        env=surroundings(folder / "home"),
        capture_output=True,
        text=True,
        check=False,
    )
    print(f"$ {shlex.join(command)}\n{done.stdout}{done.stderr}", flush=True)
    assert done.returncode == 0, done.returncode
    return done


PREFIX = without_network()
print(f"without a network: {shlex.join(PREFIX) or 'by a proxy that does not exist'}")
real, models = cifar_models(600)
with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    (folder / "home").mkdir()
    write_folder(real, folder / "photos")
    write_folder(models["another data set"].samples, folder / "samples")
    steps = [step for page in PAGES for step in transcript(page)]
    assert len(steps) > 2, "the pages show too few commands"
    for command, expected in steps:
        done = run(command, folder)
        shown = done.stdout.strip()
        if not expected:
            continue
        assert not (found := differences(shown, expected)), f"the page shows other output: {found}"
    named = ["--limit", "60", "--metrics", "copies"]
    done = run(["tradeoff", "evaluate", "photos", "samples", *named], folder)  # without --encoder
    assert "warning: the encoder is efficientnet-lite0, because" in done.stdout, "no word of it"
    for page in PAGES:
        shutil.copy(page, folder)
        run(["python", "-m", "doctest", "-o", "ELLIPSIS", page.name], folder)
