"""How many samples a network sees at once: what is found, what is kept, and what it changes."""

import json

import numpy as np
import pytest

from tests.known.scenarios import Images, write_folder
from tradeoff import InvalidInputError, evaluate
from tradeoff.data import Sample
from tradeoff.embedding import batches
from tradeoff.embedding.batches import find_batch_sizes, throughputs, with_batch_sizes
from tradeoff.embedding.files import suit_workers
from tradeoff.engines import LocalEngine, RayEngine
from tradeoff.features import open_encoder
from tradeoff.features.network import BATCH, BatchedNetwork
from tradeoff.features.views import parts_of, with_low_level
from tradeoff.settings import EmbedSettings

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
]
ENCODER = "efficientnet-lite0"


def clock(monkeypatch, seconds):
    """Time that passes as a list says, for each size in turn."""
    now = [0.0]
    monkeypatch.setattr(batches.time, "perf_counter", lambda: now[0])

    def embed(size, prepared):
        assert len(prepared) == size
        if isinstance(seconds[size], Exception):
            raise seconds[size]
        now[0] += seconds[size]

    return embed


def test_sizes_are_doubled_until_that_stops_to_pay(monkeypatch):
    embed = clock(monkeypatch, {32: 0.32, 64: 0.34, 128: 0.36, 256: 0.71})
    found = dict(throughputs(embed, [np.zeros(8)] * 5))
    assert list(found) == [32, 64, 128, 256]
    assert found[32] == pytest.approx(100)
    assert max(found, key=found.get) == 256


def test_memory_ends_the_search(monkeypatch):
    embed = clock(monkeypatch, {32: 0.32, 64: torch.OutOfMemoryError("CUDA out of memory")})
    assert list(throughputs(embed, [np.zeros(8)])) == [(32, pytest.approx(100)), (64, None)]
    large = np.zeros((batches._MOST_BYTES // 100,), np.uint8)
    embed = clock(monkeypatch, {32: 0.32, 64: 0.32})
    assert list(dict(throughputs(embed, [large]))) == [32, 64]


def test_each_network_has_its_own_size(monkeypatch):
    monkeypatch.setattr(
        batches, "throughputs", lambda embed, prepared: iter([(32, 9.0), (64, 12.0), (128, None)])
    )
    encoder = with_low_level(open_encoder(ENCODER, kind="image", size=32, runtime="torch"))
    gray = Sample("gray", np.full((8, 8, 3), 127, np.uint8))
    broken = Sample("broken", b"no image")
    assert find_batch_sizes(encoder, [broken, gray]) == {ENCODER: 64}
    assert find_batch_sizes(encoder, [broken]) == {}
    found = with_batch_sizes(encoder, {ENCODER: 64})
    assert "in batches of 64" in found.preprocessing
    assert [one.batch_size for _, one in parts_of(found) if isinstance(one, BatchedNetwork)] == [64]


@pytest.mark.parametrize("name", [ENCODER, "all-minilm-l6-v2"])
def test_other_batches_have_another_identity_and_nearly_the_same_features(name):
    kind = "image" if name == ENCODER else "text"
    rng = np.random.default_rng(0)
    samples = [
        Sample(str(i), rng.integers(0, 256, (16, 16, 3), np.uint8) if kind == "image" else text)
        for i, text in enumerate(["A rose.", "Two roses.", "No rose at all."] * 3)
    ]
    options = {"size": 32} if kind == "image" else {}
    encoders = [
        open_encoder(name, kind=kind, batch_size=size, **options) for size in (None, BATCH, 4)
    ]
    usual, same, four = (
        encoder.embed([encoder.prepare(one) for one in samples]) for encoder in encoders
    )
    np.testing.assert_array_equal(usual, same)
    np.testing.assert_allclose(usual, four, atol=1e-4 * np.abs(usual).max())
    assert encoders[0].preprocessing == encoders[1].preprocessing
    assert encoders[2].preprocessing.replace(", in batches of 4", "") == encoders[0].preprocessing
    assert ", in batches of 4" in encoders[2].preprocessing


def test_mistakes_get_a_sentence():
    with pytest.raises(InvalidInputError, match="`batch_size` must be"):
        open_encoder(ENCODER, kind="image", batch_size=0)
    with pytest.raises(InvalidInputError, match="`pixels` does not accept `batch_size`"):
        open_encoder("pixels", kind="image", batch_size=8)
    with pytest.raises(InvalidInputError, match="`batch_size` must be"):
        evaluate([[1.0]] * 40, [[2.0]] * 40, batch_size=-1, progress=False)


@pytest.mark.slow
@pytest.mark.ray
def test_workers_with_a_gpu_find_a_size_once_and_keep_it_with_the_run(tmp_path):
    """Four cores and one GPU, which is only declared: the network runs on the CPU."""
    ray = pytest.importorskip("ray")
    rng = np.random.default_rng(0)
    sides = {}
    for side in ("real", "generated"):
        pixels = rng.integers(0, 256, (150, 12, 12, 3), np.uint8)
        sides[side] = str(write_folder(Images(pixels, np.zeros(150, int)), tmp_path / side))
    ray.shutdown()
    options = {"include_dashboard": False, "log_to_driver": False, "logging_level": "ERROR"}
    ray.init(address="local", num_cpus=4, num_gpus=1, object_store_memory=100_000_000, **options)

    def preprocessing(ledger):
        found = evaluate(
            **sides,
            encoder=ENCODER,
            size=32,
            low_level=False,
            estimator="logistic",
            rule="frozen",
            engine=RayEngine(gpus=1),
            ledger=str(ledger),
            progress=False,
        )
        return found.provenance["preprocessing"]

    try:
        preprocessing(tmp_path / "found")
        kept = json.loads((tmp_path / "found" / "batches.json").read_text())
        assert kept.keys() == {ENCODER}
        assert kept[ENCODER] % 32 == 0

        (tmp_path / "resumed").mkdir()
        (tmp_path / "resumed" / "batches.json").write_text(json.dumps({ENCODER: 48}))
        assert "in batches of 48" in preprocessing(tmp_path / "resumed")
    finally:
        ray.shutdown()


def test_sizes_are_only_found_for_gpus_and_where_none_is_given(tmp_path):
    encoder = open_encoder(ENCODER, kind="image")
    for engine, settings in (
        (RayEngine(), EmbedSettings()),
        (LocalEngine(), EmbedSettings()),
        (RayEngine(gpus=1), EmbedSettings(batch_size=24)),
    ):
        assert suit_workers(encoder, "none", settings, engine, tmp_path, progress=False) is encoder
    assert not list(tmp_path.iterdir())


def test_a_damaged_file_of_sizes_gets_a_sentence(tmp_path):
    (tmp_path / "batches.json").write_text('{"a": "many"}')
    with pytest.raises(InvalidInputError, match=r"batches.json` is not a result"):
        suit_workers(None, "none", EmbedSettings(), RayEngine(gpus=1), tmp_path, progress=False)
