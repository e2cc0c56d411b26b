"""Ctrl-C in a terminal: exit code 130, no traceback, and the truth about what was kept."""

import os
import pty
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pytestmark = [pytest.mark.slow, pytest.mark.torch]

_PATIENCE = 300.0  # seconds, on a busy machine
RNG = np.random.default_rng(0)


def interrupted(pattern, *arguments):
    """What a terminal shows of a command that is interrupted once it has shown a pattern."""
    terminal, side = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "tradeoff", *map(str, arguments)],
        stdin=side,
        stdout=side,
        stderr=side,
        start_new_session=True,  # the whole group is interrupted, as a terminal does
        env={**os.environ, "TERM": "dumb", "COLUMNS": "200"},
    )
    os.close(side)
    shown, sent, end = "", False, time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        try:
            part = os.read(terminal, 65536).decode(errors="replace")
        except OSError:  # the other end was closed
            break
        if not part:
            break
        shown += part
        if not sent and re.search(pattern, shown):
            os.killpg(process.pid, signal.SIGINT)
            sent = True
    os.close(terminal)
    assert process.wait(timeout=60) == 130, shown
    assert sent
    assert "Traceback" not in shown
    return shown.replace("\r\n", "\n").splitlines()[-1].rpartition("\r")[2]


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    image = pytest.importorskip("PIL.Image")
    folder = tmp_path_factory.mktemp("photos")
    for number, pixels in enumerate(RNG.integers(0, 256, (320, 8, 8, 3), dtype=np.uint8)):
        image.fromarray(pixels).save(folder / f"{number}.png")
    return folder


def test_features_that_were_kept_are_counted_and_reused(photos, tmp_path):
    options = ("--encoder", "efficientnet-lite0", "--store", tmp_path / "store")
    said = interrupted(r"embedding real: [1-9]\d* of 320", "embed", photos, *options)
    found = re.fullmatch(
        r"interrupted\. Features of (\d+) samples were kept: the next run with --store (\S+) "
        r"reuses them\.",
        said,
    )
    assert found, said
    assert found[2] == str(tmp_path / "store")
    again = subprocess.run(
        [sys.executable, "-m", "tradeoff", "embed", photos, *options],
        capture_output=True,
        text=True,
        check=True,
    )
    assert f" {found[1]} found in the store" in again.stdout
    assert again.stderr.splitlines()[-1] == f"Written: {found[2]} (features)"


def test_without_a_store_nothing_is_kept(tmp_path):
    for name in ("real", "generated"):
        np.save(tmp_path / f"{name}.npy", RNG.normal(size=(3000, 64)))
    sources = ("--real", tmp_path / "real.npy", "--generated", tmp_path / "generated.npy")
    said = interrupted("fitting the curve: [0-9]", "evaluate", *sources)
    assert said == (
        "interrupted. Nothing was kept. Use --store DIR to keep features for the next run."
    )


def test_a_ledger_goes_on_where_it_was(tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    for side in ("real", "generated"):
        (tmp_path / side).mkdir()
        for number in range(24):
            values = RNG.normal(size=(500, 64)).astype("float32")
            features = arrow.FixedSizeListArray.from_arrays(arrow.array(values.ravel()), 64)
            table = arrow.table({"features": features})
            parquet.write_table(table, tmp_path / side / f"{number}.parquet")
    ledger = tmp_path / "ledger"
    options = (
        *("--real", tmp_path / "real", "--generated", tmp_path / "generated"),
        *("--engine", "local", "--workers", "1", "--ledger", ledger),
    )
    said = interrupted(r"counting: [1-9]\d* of", "evaluate", *options)
    assert said == (
        f"interrupted. Finished parts were kept: the same command with --ledger {ledger} goes on "
        "from them."
    )
    assert (ledger / "counts.ledger").stat().st_size > 0
