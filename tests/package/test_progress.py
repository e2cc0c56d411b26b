"""Progress shows on a watched terminal, after two seconds, and nowhere else."""

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
@pytest.mark.parametrize(
    ("stream", "options"), [(io.StringIO(), {}), (Terminal(), {"progress": False})]
)
def test_is_silent_in_pipes_and_on_request(monkeypatch, stream, options):
    assert run(monkeypatch, stream, slow(), **options) == ""


def test_is_silent_for_two_seconds(monkeypatch):
    assert run(monkeypatch, Terminal(), slow()) == ""
