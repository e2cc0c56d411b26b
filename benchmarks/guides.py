"""The commands with which guides begin: their samples, what they print, and their pictures.

``python -m benchmarks.guides NAME`` runs the commands of ``docs/NAME.md`` that show an output, on
samples made for them, and prints what they print. With ``--picture`` it also draws the picture
below the output: what ``--plot`` writes, or a section of the page that ``--report`` writes.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from benchmarks import datasets
from benchmarks.scenarios import cifar_models
from tests.known.distributions import Mixture, ring_mixture
from tests.known.scenarios import Images, write_folder
from tradeoff import load

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["GUIDES", "differences", "draw", "outputs", "transcript"]

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
RELATIVE, ABSOLUTE = 0.1, 0.01  # other processors round otherwise
NUMBER = re.compile(r"-?\d+(?:[.,]\d+)*(?:e-?\d+)?")
SIZE = 600  # images of each side
SECTIONS = {"tables": "columns", "prompts": "prompts", "memorization": "copied"}
"""Sections of the page that are shown as pictures."""
HIGHEST = 760  # pixels


def transcript(page: Path) -> list[tuple[list[str], str]]:
    """Commands of the page that begin with `tradeoff`, and what they print."""
    blocks = re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    steps = [step for block in blocks for step in re.split(r"^\$ ", block, flags=re.MULTILINE)]
    found = [step.replace("\\\n", "").partition("\n") for step in steps]
    return [
        (shlex.split(command), output.strip())
        for command, _, output in found
        if command.startswith("tradeoff ")
    ]


def differences(printed: str, shown: str) -> str:
    """Where a page shows something else than is printed; empty if only numbers differ a little."""
    if words(printed) != words(shown):
        return "other words"
    for one, other in zip(values(printed), values(shown), strict=True):
        if abs(one - other) > RELATIVE * abs(other) + ABSOLUTE:
            return f"{one} instead of {other}"
    return ""


def values(text: str) -> list[float]:
    """All numbers of a text."""
    return [float(number.replace(",", "")) for number in NUMBER.findall(text)]


def words(text: str) -> list[str]:
    """Everything else, however lines are broken."""
    return NUMBER.sub("#", text).split()


def outputs(name: str, folder: Path) -> list[tuple[list[str], str, str]]:
    """Commands of a guide that have an output, with what they print and what the page shows."""
    GUIDES[name](folder)
    steps = [step for step in transcript(DOCS / f"{name}.md") if step[1]]
    return [(command, run(command, folder), shown) for command, shown in steps]


def run(command: list[str], folder: Path) -> str:
    """What a command prints."""
    done = subprocess.run(
        [sys.executable, "-m", "tradeoff", *command[1:]],
        cwd=folder,
        env=os.environ | {"COLUMNS": "100", "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{shlex.join(command)}\n{done.stderr}")
    return done.stdout.strip()


def images(folder: Path) -> None:
    """CIFAR-10, and models that drop classes or invent foreign images."""
    real, models = cifar_models(SIZE)
    write_folder(real, folder / "photos")
    write_folder(models["another data set"].samples, folder / "samples")
    write_folder(models["two classes dropped"].samples, folder / "v1")
    write_folder(models["all classes"].samples, folder / "v2")


def copied(folder: Path) -> None:
    """Images of three equal parts, of which the generated ones hold noisy training images."""
    rng = np.random.default_rng(0)
    pixels, _ = datasets.cifar_pixels().test
    order = rng.permutation(len(pixels))[: 3 * 400]
    train, held_out, made = pixels[order].reshape(3, 400, *pixels.shape[1:])
    noisy = (train[:40] + rng.normal(0, 1, train[:40].shape)).clip(0, 255).astype(np.uint8)
    made = np.concatenate((noisy, made[40:]))
    for name, part in (("train", train), ("held-out", held_out), ("samples", made)):
        write_folder(Images(part, np.zeros(len(part), int)), folder / name)


def heated(temperature: float) -> Mixture:
    """A model of eight modes whose temperature evens out their weights and widens them."""
    modes = ring_mixture(8, 0.5)
    weights = np.array((0.22, 0.03) * 4) ** (1.0 / temperature)
    sds = np.array(modes.sds) * temperature**0.5
    return Mixture(tuple(weights / weights.sum()), modes.means, tuple(sds))


def temperatures(folder: Path) -> None:
    """Points in the plane: eight modes, and a model at three temperatures."""
    rng = np.random.default_rng(0)
    np.save(folder / "real.npy", ring_mixture(8, 0.5)(rng, 2000))
    for value in (0.5, 1.0, 1.5, 2.0, 3.0):
        np.save(folder / f"t{value}.npy", heated(value)(rng, 2000))


def half(folder: Path) -> None:
    """Points in the plane, and a model of half of them."""
    rng = np.random.default_rng(0)
    real, model = rng.normal(size=(2, 8000, 2))
    np.save(folder / "real.npy", real)
    model[:, 0] = np.abs(model[:, 0])
    np.save(folder / "model.npy", model)


def people(folder: Path) -> None:
    """Customers, and a table in which income does not follow age."""
    rng = np.random.default_rng(0)
    for name, follows in (("customers", True), ("synthetic", False)):
        age = rng.normal(40, 10, 1000).round()
        base = age if follows else rng.permutation(age)
        income = (800 * base + rng.normal(0, 9000, 1000)).round()
        city = rng.choice(["Oslo", "Rome", "Lima"], 1000, p=[0.5, 0.3, 0.2])
        rows = [f"{a:.0f},{i:.0f},{c}" for a, i, c in zip(age, income, city, strict=True)]
        (folder / f"{name}.csv").write_text("\n".join(["age,income,city", *rows]) + "\n")


def answers(folder: Path) -> None:
    """Answers to three questions, and a model that answers another question now and then."""
    rng = np.random.default_rng(0)
    does = {
        "a cat": ("It purrs", "It meows", "It hunts mice"),
        "a dog": ("It barks", "It fetches sticks", "It guards the house"),
        "a hen": ("It clucks", "It lays eggs", "It pecks at corn"),
    }
    when = ("every day.", "at night.", "in spring.", "for its owner.", "now and then.")
    for name, wrong in (("people", 0.0), ("model", 0.3)):
        lines = []
        for _ in range(400):
            animal = asked = rng.choice(list(does))
            if rng.random() < wrong:
                asked = rng.choice(list(does))
            text = f"{rng.choice(does[animal])} {rng.choice(when)}"
            lines.append(json.dumps({"prompt": f"What does {asked} do?", "response": text}))
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n")


def shards(folder: Path) -> None:
    """Features in several Parquet files."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    for side, shift in (("real", 0.0), ("model", 0.5)):
        (folder / "features" / side).mkdir(parents=True)
        for part in range(4):
            rows = rng.normal(shift, 1, (20_000, 8)).astype(np.float32)
            table = pa.table({"features": list(rows)})
            pq.write_table(table, folder / "features" / side / f"{part}.parquet")


def draw(name: str, folder: Path) -> None:
    """Write the picture of a guide from what its commands wrote to a folder."""
    target = DOCS / "_static" / f"{name}.png"
    if name not in SECTIONS:
        (plot,) = folder.glob("*.png")
        shutil.copy(plot, target)
        return
    if name == "memorization":  # one of the example pages has more kinds of copies
        load(DOCS / "results" / "copies").report(folder / "page.html", overwrite=True)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        binary = shutil.which("chromium")
        browser = driver.chromium.launch(executable_path=binary, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 900, "height": 1600})
        page.goto((folder / "page.html").as_uri())
        top, bottom = page.evaluate(
            """name => {
                const titles = [...document.querySelectorAll("h2")];
                const place = titles.findIndex(title => title.id == name);
                return [place, place + 1].map(i =>
                    titles[i].getBoundingClientRect().top + window.scrollY);
            }""",
            SECTIONS[name],
        )
        height = min(bottom - top - 40, HIGHEST)
        shot = page.screenshot(
            full_page=True, clip={"x": 0, "y": top - 10, "width": 900, "height": height}
        )
        browser.close()
    picture = Image.open(io.BytesIO(shot)).convert("RGB")
    picture.quantize(256, dither=Image.Dither.NONE).save(target, optimize=True)


GUIDES: dict[str, Callable[[Path], None]] = {
    "evaluate": images,
    "compare": images,
    "sweep": temperatures,
    "decide": half,
    "filter": images,
    "tables": people,
    "prompts": answers,
    "memorization": copied,
    "scale": shards,
}
"""What makes the samples of a guide."""


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", nargs="*", default=[*GUIDES], help="guides")
    parser.add_argument("--picture", action="store_true", help="draw the pictures, too")
    given = parser.parse_args()
    for guide in given.name:
        with tempfile.TemporaryDirectory() as made:
            for command, printed, _ in outputs(guide, Path(made)):
                print(f"$ {shlex.join(command)}\n{printed}\n")
            if given.picture:
                draw(guide, Path(made))
