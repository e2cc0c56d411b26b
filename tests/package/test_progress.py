"""Progress is one line for a run on a watched terminal, and a line every ten seconds in a pipe."""

import contextvars
import gc
import io
import threading
import time

import pytest

from tradeoff import _progress
from tradeoff._progress import Step, expect, step, track, whole_run


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def in_no_notebook(monkeypatch):
    monkeypatch.delitem(_progress.sys.modules, "ipykernel", raising=False)  # of other tests


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(_progress, "_QUIET_SECONDS", 0.0)
    monkeypatch.setattr(_progress, "_DRAW_SECONDS", 0.01)
    monkeypatch.setattr(_progress, "_LINE_SECONDS", 0.01)


def run(monkeypatch, stream, steps, **options):
    monkeypatch.setattr(_progress.sys, "stderr", stream)
    assert list(track(steps, "counting", **options)) == list(range(8))
    return stream.getvalue()


def slow(steps=8):
    for each in range(steps):
        time.sleep(0.03)
        yield each


@pytest.mark.usefixtures("at_once")
def test_shows_steps_and_clears_the_line(monkeypatch):
    shown = run(monkeypatch, Terminal(), slow(), total=8)
    assert "counting: 4 of 8" in shown
    assert "\n" not in shown
    assert shown.endswith(" \x1b[K\r")


@pytest.mark.usefixtures("at_once")
def test_counts_without_a_total_and_by_size(monkeypatch):
    assert "counting: 4\n" in run(monkeypatch, io.StringIO(), slow())
    sized = run(monkeypatch, io.StringIO(), slow(), total=80, size=lambda _: 10)
    assert "counting: 40 of 80\n" in sized


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("stream", [io.StringIO(), Terminal()])
def test_is_silent_on_request(monkeypatch, stream):
    assert run(monkeypatch, stream, slow(), progress=False) == ""
    with whole_run(progress=False), step("all"):  # whatever is inside says
        assert run(monkeypatch, stream, slow()) == ""


@pytest.mark.parametrize("stream", [io.StringIO(), Terminal()])
def test_is_silent_for_two_seconds(monkeypatch, stream):
    assert run(monkeypatch, stream, slow()) == ""


@pytest.fixture
def clock(monkeypatch):
    """Time that passes only when a test says so."""
    now = [0.0]
    monkeypatch.setattr(_progress.time, "monotonic", lambda: now[0])
    return now


def texts_of(steps, clock, seconds):
    """What is shown before each of the steps, which take so many seconds."""
    found = []
    for _ in track(range(steps), "fitting"):
        found.append(_progress._active().text())
        clock[0] += seconds
    return found


def test_a_run_counts_its_steps_and_tells_the_time_left_in_all(clock):
    with whole_run():
        expect([Step("embedding real", "embedding", 400), Step("embedding made", "embedding", 100)])
        expect([Step("curve"), Step("controls", weight=0.5), Step("scores", weight=0.1)])
        active = _progress._active()
        for done in track([100, 300], "embedding real", total=400, size=lambda size: size):
            if done == 300:
                assert active.text() == (
                    "[1/5] embedding real: 100 of 400, about 30 s left in this step"
                )
            clock[0] += done / 10
        for _ in track([100], "embedding made", total=100, size=lambda size: size):
            assert "[2/5] embedding made: 0 of 100, about 10 s left in this" in active.text()
            clock[0] += 10
        with step("curve"):
            assert texts_of(2, clock, 20.0) == [
                "[3/5] curve: 0 of 2",
                "[3/5] curve: 1 of 2, about 44 s left",  # 20 of the curve, and 0.6 times 40
            ]
            clock[0] += 10.0
            assert active.text() == "[3/5] curve"  # what follows the fits has no count
        with step("scores"):  # the controls were not needed
            assert active.text() == "[5/5] scores, about 5 s left"
        assert active.text() == ""


def test_a_step_that_was_not_expected_and_steps_inside_of_others(clock):
    with whole_run():
        expect([Step("first"), Step("second")])
        active = _progress._active()
        with step("another"):
            assert active.text() == "[1/2] another"
            with step("first"):
                assert active.text() == "[1/2] first"
            assert active.text() == "[2/2] another"
        with whole_run(progress=False), step("second"):  # a part of the run around it
            assert _progress._active() is active


def test_a_run_belongs_to_its_context(monkeypatch):
    """Neither a thread, nor a generator that was not used up, nor an error leaves a run behind."""
    steps = track(range(3), "fitting")
    next(steps)
    assert _progress._active() is None
    del steps
    gc.collect()
    seen = []
    with whole_run():
        other = threading.Thread(target=lambda: seen.append(_progress._active()))
        other.start()
        other.join()
    with pytest.raises(ZeroDivisionError), whole_run():
        _ = 1 / 0
    assert seen == [None]
    assert _progress._active() is None
    assert not [one for one in threading.enumerate() if one.name == "tradeoff progress"]
    with whole_run():
        monkeypatch.setattr(_progress.os, "getpid", lambda: -1)  # a process that was forked
        assert contextvars.copy_context().run(_progress._active) is None


@pytest.mark.usefixtures("at_once")
def test_the_line_fits_a_narrow_terminal_and_shows_no_rest_of_a_longer_one(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    shown = Terminal()
    monkeypatch.setattr(_progress.sys, "stderr", shown)
    with whole_run():
        with step("x" * 70):
            time.sleep(0.05)
        with step("short"):
            time.sleep(0.05)
    parts = shown.getvalue().replace("\x1b[K", "").split("\r")
    assert max(map(len, parts)) == 59
    assert parts[-3].strip() == "short"


@pytest.mark.usefixtures("at_once")
def test_a_stream_that_was_closed_does_not_end_the_run(monkeypatch):
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(_progress.sys, "stderr", closed)
    assert list(track(slow(), "counting")) == list(range(8))


def test_an_evaluation_is_one_run_of_the_steps_that_it_expects(monkeypatch):
    import numpy as np

    from tradeoff import compare

    seen = []
    inside = _progress._Run.inside

    def noted(self, label, total, *, is_named):
        seen.append((label, label in [one.label for one in self.expected[self.passed :]], self))
        return inside(self, label, total, is_named=is_named)

    monkeypatch.setattr(_progress._Run, "inside", noted)
    rng = np.random.default_rng(0)
    real, first, second = rng.normal(size=(3, 240, 2))
    compare(real=real, generated={"a": first, "b": second}, metrics="curve", estimator="logistic")
    assert all(expected for _, expected, _ in seen)
    assert len({id(run) for _, _, run in seen}) == 1
    assert [label for label, _, _ in seen] == [
        *("reading real", "reading a", "reading b", "fitting the curve"),
        *("baseline, real against real", "first control", "second control"),
        *("fitting on one half", "expected values"),
        *("fitting the curve", "fitting on one half", "expected values"),
    ]


def test_the_time_left_goes_down_until_a_count_is_late(clock):
    with whole_run():
        active = _progress._active()
        shown = []
        for number in track([1, 1, 1, 1], "embedding", total=40, size=lambda _: 10):
            if number and active.place.done == 10:
                for seconds in (0.0, 5.0, 5.0, 10.0):
                    clock[0] += seconds
                    shown.append(active.text().rpartition(", ")[2])
            clock[0] += 10.0
    # The second count was expected after 10 s, and the others take as long as both have by then.
    assert shown == ["about 30 s left", "about 25 s left", "about 20 s left", "about 30 s left"]


def test_before_its_first_step_a_run_is_starting(clock):
    with whole_run():
        active = _progress._active()
        assert active.text() == "starting"
        with step("reading"):
            assert active.text() == "reading"
        assert active.text() == ""


def test_counts_are_left_out_where_they_do_not_fit(clock):
    with whole_run():
        expect([Step("baseline, real against real")])
        for number in track(range(4), "baseline, real against real"):
            if number == 1:
                text = _progress._active().text(48)
            clock[0] += 10.0
    assert text == "baseline, real against real, about 30 s left"
