"""Progress shows on a watched terminal, after two seconds, and nowhere else."""

import io
import itertools

import pytest

from tradeoff import _progress
from tradeoff._progress import track


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """A clock that moves on by one second at each look."""
    seconds = itertools.count()
    monkeypatch.setattr(_progress.time, "monotonic", lambda: float(next(seconds)))


def run(monkeypatch, stream, **options):
    monkeypatch.setattr(_progress.sys, "stderr", stream)
    assert list(track(range(8), "counting", **options)) == list(range(8))
    return stream.getvalue()


@pytest.mark.usefixtures("clock")
def test_shows_steps_and_time_left_and_clears_the_line(monkeypatch):
    shown = run(monkeypatch, Terminal())
    assert "counting [" in shown
    assert "4/8, 1.25 s each, 5 s left" in shown
    assert shown.endswith("\r\x1b[K")


@pytest.mark.usefixtures("clock")
def test_counts_without_a_total(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(_progress.sys, "stderr", stream)
    assert list(track(iter(range(8)), "counting")) == list(range(8))
    assert "counting: 4 in 5 s" in stream.getvalue()


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize(
    ("stream", "options"), [(io.StringIO(), {}), (Terminal(), {"progress": False})]
)
def test_is_silent_in_pipes_and_on_request(monkeypatch, stream, options):
    assert run(monkeypatch, stream, **options) == ""


def test_is_silent_for_two_seconds(monkeypatch):
    assert run(monkeypatch, Terminal()) == ""
