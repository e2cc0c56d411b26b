"""Progress shows on a watched terminal after two seconds, and in a pipe every ten seconds."""

import io
import time

import pytest

from tradeoff import _progress
from tradeoff._progress import track


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(_progress, "_QUIET_SECONDS", 1e-9)


def run(monkeypatch, stream, steps, **options):
    monkeypatch.delitem(_progress.sys.modules, "ipykernel", raising=False)  # of other tests
    monkeypatch.setattr(_progress.sys, "stderr", stream)
    assert list(track(steps, "counting", **options)) == list(range(8))
    return stream.getvalue()


def slow(steps=8):
    for step in range(steps):
        time.sleep(0.03)
        yield step


@pytest.mark.usefixtures("at_once")
def test_shows_steps_and_clears_the_line(monkeypatch):
    shown = run(monkeypatch, Terminal(), slow(), total=8)
    assert "counting:" in shown
    assert "/8 [" in shown
    assert shown.endswith("\r")


@pytest.mark.usefixtures("at_once")
def test_counts_without_a_total_and_by_size(monkeypatch):
    assert "counting: " in run(monkeypatch, Terminal(), slow())
    sized = run(monkeypatch, Terminal(), slow(), total=80, size=lambda _: 10)
    assert "/80 [" in sized


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("stream", [io.StringIO(), Terminal()])
def test_is_silent_on_request(monkeypatch, stream):
    assert run(monkeypatch, stream, slow(), progress=False) == ""


@pytest.mark.parametrize("stream", [io.StringIO(), Terminal()])
def test_is_silent_for_two_seconds(monkeypatch, stream):
    assert run(monkeypatch, stream, slow()) == ""


def test_adds_lines_in_a_pipe(monkeypatch):
    seconds = iter(range(0, 100, 5))
    monkeypatch.setattr(_progress.time, "monotonic", lambda: next(seconds))
    shown = run(monkeypatch, io.StringIO(), range(8))
    assert shown.splitlines() == [
        "counting: 2 of 8, about 30 s left",
        "counting: 4 of 8, about 20 s left",
        "counting: 6 of 8, about 10 s left",
        "counting: 8 of 8, about 0 s left",
    ]
    seconds = iter(range(0, 1000, 60))
    lines = run(monkeypatch, io.StringIO(), iter(range(8)), total=800, size=lambda _: 10)
    assert lines.splitlines()[0] == "counting: 10 of 800, about 79 min left"
    seconds = iter(range(0, 100, 11))
    assert run(monkeypatch, io.StringIO(), iter(range(8))).startswith("counting: 1\n")
