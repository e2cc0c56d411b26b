"""Counts of blocks on the workers of an engine equal those of one process."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

from tradeoff import support_metrics  # noqa: E402
from tradeoff.engines import LocalEngine, RayEngine  # noqa: E402
from tradeoff.exceptions import UnavailableError  # noqa: E402
from tradeoff.metrics.neighbors.metrics import METRICS  # noqa: E402

RAY = pytest.param(RayEngine(workers=2), marks=[pytest.mark.slow, pytest.mark.ray])


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(
        "tradeoff.metrics.neighbors.blocks.sweep_blocks.__kwdefaults__", {"rows": 70}
    )


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(0)
    real, generated = rng.integers(0, 6, (300, 3)), rng.integers(0, 6, (240, 3))  # many ties
    return {"real": real.astype(np.float32), "generated": generated.astype(np.float32)}


def assert_same(found, wanted):
    for name in METRICS:
        np.testing.assert_array_equal(found[name].samples, wanted[name].samples)
        assert (found[name].value, found[name].error) == (wanted[name].value, wanted[name].error)
    np.testing.assert_array_equal(found.nearest_index, wanted.nearest_index)
    np.testing.assert_array_equal(found.nearest_distance, wanted.nearest_distance)


@pytest.mark.slow
@pytest.mark.parametrize("engine", [LocalEngine(1), LocalEngine(2), RAY])
@pytest.mark.usefixtures("small_blocks")
def test_every_metric_is_the_same_to_the_last_bit(samples, engine):
    options = {"metrics": tuple(METRICS), "k": 3, "cover": 2, "progress": False}
    wanted = support_metrics(**samples, **options)
    assert_same(support_metrics(**samples, **options, engine=engine), wanted)
    continuous = {
        side: x + np.random.default_rng(1).normal(size=x.shape) for side, x in samples.items()
    }
    assert_same(
        support_metrics(**continuous, **options, engine=engine),
        support_metrics(**continuous, **options),
    )


@pytest.mark.slow
@pytest.mark.usefixtures("small_blocks")
def test_files_are_mapped_by_workers(samples, tmp_path):
    options = {"metrics": tuple(METRICS), "k": 3, "cover": 2, "progress": False}
    mapped = {}
    for side, x in samples.items():
        np.save(tmp_path / f"{side}.npy", x)
        mapped[side] = np.load(tmp_path / f"{side}.npy", mmap_mode="r")[10:]
    found = support_metrics(**mapped, **options, engine=LocalEngine(2))
    assert_same(found, support_metrics(**{s: x[10:] for s, x in samples.items()}, **options))


class Dying(LocalEngine):
    """An engine whose workers always die."""

    def run(self, task, shared, items, *, stays=False):
        from tradeoff.engines import Failure

        yield 0, Failure("its worker died 3 times, perhaps for lack of memory.")


def test_a_failure_is_a_sentence(samples):
    with pytest.raises(UnavailableError, match="could not be counted: its worker died"):
        support_metrics(**samples, engine=Dying(), progress=False)
