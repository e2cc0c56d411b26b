"""What a run costs: memory of a process, time of the command's help, first paint of a page."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Any

BARE = """
import typer
app = typer.Typer()
@app.command()
def one(name: str = "a"):
    "Say a name."
@app.command()
def two(name: str = "a"):
    "Say another."
app()
"""


def peak_memory(path: Path, store: Path) -> float:
    """Megabytes of a fresh process that embeds a folder of images by a tiny encoder."""
    script = """
    import json, sys
    import numpy as np
    from tradeoff.data.images import ImageFolder
    from tradeoff.embedding import embed_source
    from tradeoff.features import Function
    from tradeoff.features.store import FeatureStore

    def tiny(images):
        return [np.asarray(image).mean((0, 1)) for image in images]

    source, encoder = ImageFolder(sys.argv[1]), Function(tiny, "tiny", "image", "1")
    found = embed_source(source, encoder, store=FeatureStore(sys.argv[2]))
    with open("/proc/self/status") as status:
        (peak,) = (int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    print(json.dumps([len(found.ids), peak / 1024]))
    """
    command = [sys.executable, "-c", textwrap.dedent(script), str(path), str(store)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout)[1])


def help_time(repeats: int = 12) -> dict[str, Any]:
    """Seconds of both, the best of several turns."""
    with tempfile.TemporaryDirectory() as folder:
        bare = Path(folder, "bare.py")
        bare.write_text(BARE)
        ours, theirs = [], []
        for _ in range(repeats):
            theirs.append(_seconds(str(bare)))
            ours.append(_seconds("-m", "tradeoff"))
    ratio = min(ours) / min(theirs)
    return {"seconds": min(ours), "bare": min(theirs), "ratio": ratio, "bar": 1.5}


def _seconds(*command: str) -> float:
    """Of the processor: a clock on the wall also measures what else runs."""
    start = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *command, "--help"], capture_output=True, check=True)
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    return end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime


def first_paint(page: Any) -> float:
    """Seconds from the start of loading until an open page shows something."""
    for _ in range(50):
        found = page.evaluate("performance.getEntriesByName('first-contentful-paint')")
        if found:
            return float(found[0]["startTime"]) / 1000.0
        page.wait_for_timeout(20)  # a function that waits inside the page would be refused by it
    raise TimeoutError("The page shows nothing.")
