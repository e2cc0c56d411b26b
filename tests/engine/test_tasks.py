"""Engines give every result once, name what fails, and survive workers that die."""

import os
import signal
from pathlib import Path

import joblib
import pytest

from tradeoff.engines import Background, Failure, LocalEngine, RayEngine, open_engine
from tradeoff.exceptions import InvalidInputError, UnreadableError


def add(shared, item):
    return shared + item


def fail_at_three(shared, item):
    if item == 3:
        raise UnreadableError("`three` cannot be read.")
    return shared + item


def defect(shared, item):
    raise ZeroDivisionError


def die_once(folder, item):
    """The worker that takes item 2 kills itself, unless it has done so before."""
    mark = Path(folder) / "died"
    if item == 2 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return item


def always_die(shared, item):
    if item == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return item


ENGINES = [
    LocalEngine(1),
    LocalEngine(2),
    pytest.param(RayEngine(workers=2), marks=[pytest.mark.slow, pytest.mark.ray]),
]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("stays", [False, True])
def test_every_item_has_one_result(engine, stays):
    found = list(engine.run(add, 10, range(20), stays=stays))
    assert sorted(found) == [(i, 10 + i) for i in range(20)]
    assert list(engine.run(add, 10, [])) == []


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_a_task_that_fails_on_its_data_stops_no_other(engine):
    found = dict(engine.run(fail_at_three, 10, range(6)))
    assert found.pop(3) == Failure("`three` cannot be read.")
    assert found == {i: 10 + i for i in range(6) if i != 3}


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_a_defect_is_not_hidden(engine):
    with pytest.raises(ZeroDivisionError):
        list(engine.run(defect, None, range(3)))


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES[1:])
@pytest.mark.parametrize("stays", [False, True])
def test_a_killed_worker_costs_nothing(engine, tmp_path, stays):
    found = list(engine.run(die_once, str(tmp_path), range(6), stays=stays))
    assert sorted(found) == [(i, i) for i in range(6)]
    assert (tmp_path / "died").exists()


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES[1:])
def test_a_task_that_kills_every_worker_is_given_up(engine):
    found = dict(engine.run(always_die, None, range(6)))
    assert "its worker died" in found[2].sentence
    assert all(found[i] == i for i in range(6) if i != 2)


@pytest.mark.slow
@pytest.mark.ray
def test_a_new_cluster_joins_no_other(monkeypatch):
    import ray

    ray.shutdown()
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    assert dict(RayEngine(workers=2).run(add, 10, [1])) == {0: 11}


def test_engines_by_name():
    assert open_engine("local", workers=3) == LocalEngine(3)
    assert open_engine("ray", address="auto") == RayEngine("auto")
    for mistake in ({"engine": "spark"}, {"engine": "local", "address": "auto"}):
        with pytest.raises(InvalidInputError):
            open_engine(**mistake)
    with pytest.raises(InvalidInputError, match="`workers` must be"):
        list(LocalEngine(0).run(add, 1, [1]))


def test_no_cores_are_refused_before_ray_starts(monkeypatch):
    monkeypatch.setattr(RayEngine, "connect", lambda self: pytest.fail("started"))
    with pytest.raises(InvalidInputError, match="`cpus`"):
        next(RayEngine(cpus=0).run(lambda shared, item: item, None, [1]))


def cores(shared, item):
    return joblib.cpu_count()


def test_a_worker_in_the_background_has_one_core_for_its_fits(monkeypatch):
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "2")
    background = Background(None, workers=1)
    assert background.give(cores, None)() == 1
    background.close()
