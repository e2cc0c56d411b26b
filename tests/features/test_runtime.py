"""A packaged network in ONNX Runtime: features of PyTorch, faster, and never mixed with them."""

import pickle
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from tradeoff import InvalidInputError, evaluate
from tradeoff.data import Sample
from tradeoff.evaluation import Reference
from tradeoff.exceptions import MissingExtraError, UnavailableError
from tradeoff.features import open_encoder, runtime
from tradeoff.features.offline import EfficientNetLite0
from tradeoff.features.store import FeatureStore

pytest.importorskip("onnxruntime")
pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
]

SIZE = 48
TORCH = EfficientNetLite0(size=SIZE, runtime="torch")


@pytest.fixture(scope="module")
def images():
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (40, 60, 50, 3), dtype=np.uint8)
    return [Sample(str(i), one) for i, one in enumerate(pixels)]


def features_of(encoder, images):
    return encoder.embed([encoder.prepare(one) for one in images])


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "tradeoff" / "networks"


def tiny():
    import torch

    torch.manual_seed(0)
    layers = torch.nn.Conv2d(3, 5, 3), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1)
    return torch.nn.Sequential(*layers, torch.nn.Flatten()).eval()


def export_tiny(module=tiny):
    import torch

    return runtime.exported_network("Tiny net", "hash", module, torch.randn(4, 3, 8, 8))


def test_features_are_those_of_pytorch(images):
    found = features_of(EfficientNetLite0(size=SIZE, runtime="onnx"), images)
    expected = features_of(TORCH, images)
    assert found.dtype == expected.dtype == np.float32
    assert 0 < np.abs(found - expected).max() <= 1e-4 * np.abs(expected).max()


def test_it_is_the_default_on_a_cpu_and_part_of_the_identity(images, tmp_path):
    encoder = EfficientNetLite0(size=SIZE, device="cpu")
    assert encoder.preprocessing == f"{TORCH.preprocessing}, by ONNX Runtime"
    store = FeatureStore(tmp_path)
    with store.shelf(encoder) as shelf:
        shelf.add(images[0], features_of(encoder, images[:1])[0])
    assert images[0].digest in store.shelf(encoder)
    assert images[0].digest not in store.shelf(TORCH)


def test_the_same_bits_for_other_batches_threads_and_processes(images):
    import torch

    encoder = EfficientNetLite0(size=SIZE, runtime="onnx")
    expected = features_of(encoder, images)
    np.testing.assert_array_equal(features_of(encoder, images[::-1])[::-1], expected)
    np.testing.assert_array_equal(features_of(encoder, images[7:8]), expected[7:8])
    run = encoder._exported
    batch = np.random.default_rng(1).normal(size=(32, 3, SIZE, SIZE)).astype(np.float32)
    one_thread = run(batch)
    np.testing.assert_array_equal(run(batch[:5]), one_thread[:5])
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        np.testing.assert_array_equal(
            EfficientNetLite0(size=SIZE, runtime="onnx")._exported(batch), one_thread
        )
    finally:
        torch.set_num_threads(before)
    sent = pickle.loads(pickle.dumps(EfficientNetLite0(size=SIZE, device="cpu")))
    assert sent.runtime == "auto"
    sent = pickle.loads(pickle.dumps(encoder))
    np.testing.assert_array_equal(features_of(sent, images), expected)


def test_another_process_keeps_the_runtime_that_was_chosen(monkeypatch):
    encoder = EfficientNetLite0(size=SIZE, device="cpu")
    assert "ONNX" in encoder.preprocessing
    monkeypatch.setattr(runtime, "find_spec", lambda _: None)
    sent = pickle.loads(pickle.dumps(encoder))
    with pytest.raises(
        MissingExtraError, match=r"onnxruntime and onnx: pip install 'tradeoff\[offline"
    ):
        _ = sent.preprocessing
    assert EfficientNetLite0(size=SIZE, device="cpu").preprocessing == TORCH.preprocessing


def test_exported_once_and_again_if_the_file_is_damaged(cache):
    batch = np.ones((2, 3, 8, 8), np.float32)
    expected = export_tiny()(batch)
    (path,) = cache.iterdir()
    assert path.name.startswith("tiny-net-")
    np.testing.assert_array_equal(export_tiny(pytest.fail)(batch), expected)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    np.testing.assert_array_equal(export_tiny()(batch), expected)
    assert list(cache.iterdir()) == [path]
    assert path.read_bytes() != content


def test_processes_may_export_at_the_same_time(cache):
    batch = np.ones((2, 3, 8, 8), np.float32)
    with ThreadPoolExecutor(1) as pool:  # PyTorch exports in one thread at a time
        runs = list(pool.map(lambda _: export_tiny(), range(3)))
    np.testing.assert_array_equal(runs[0](batch), runs[2](batch))
    assert [path.suffix for path in cache.iterdir()] == [".onnx"]


def test_without_a_cache_it_still_runs(tmp_path, monkeypatch):
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert export_tiny()(np.ones((2, 3, 8, 8), np.float32)).shape == (2, 5)


def test_other_features_are_refused(cache, monkeypatch):
    opened = runtime.open_network
    monkeypatch.setattr(runtime, "open_network", lambda n: lambda x: 1.001 * opened(n)(x))
    with pytest.raises(UnavailableError, match=r"the same features .* differ by 0\.001"):
        export_tiny()
    assert not cache.exists()


def test_what_cannot_be_exported_runs_in_pytorch(cache, images, monkeypatch):
    monkeypatch.setattr(runtime, "_export", lambda module, batch: b"")
    encoder = EfficientNetLite0(size=SIZE, device="cpu")
    with pytest.warns(UserWarning, match="cannot be exported .* PyTorch is used instead"):
        assert encoder.preprocessing == TORCH.preprocessing
    np.testing.assert_array_equal(features_of(encoder, images[:1]), features_of(TORCH, images[:1]))
    with pytest.raises(UnavailableError, match="cannot be exported"):
        _ = EfficientNetLite0(size=SIZE, runtime="onnx").preprocessing


def test_a_reference_keeps_its_runtime(images, tmp_path):
    """One that PyTorch made is measured by PyTorch, whatever is the default now."""
    pixels = np.stack([one.content for one in images])
    options = {"encoder": "efficientnet-lite0", "size": SIZE, "low_level": False}
    for name in ("torch", "onnx"):
        made = Reference.make(pixels, runtime=name, **options, progress=False)
        made.save(tmp_path / name)
        loaded = Reference.load(tmp_path / name)
        assert ("ONNX" in loaded.opened.preprocessing) == (name == "onnx")
        result = evaluate(loaded, pixels[::-1], metrics="copies.of_real", progress=False)
        assert result["copies.of_real"].value == 1.0
        other = {"torch": "onnx", "onnx": "torch"}[name]
        with pytest.raises(InvalidInputError, match="preprocessing of the encoder must be that"):
            evaluate(loaded, pixels, runtime=other, progress=False)


def test_options_that_do_not_fit_are_refused():
    with pytest.raises(InvalidInputError, match="`runtime` must be one of auto, torch, onnx"):
        EfficientNetLite0(runtime="tensorrt")
    for options in ({"device": "cuda"}, {"dtype": "bfloat16"}):
        with pytest.raises(InvalidInputError, match="onnx runs on the CPU, in float32"):
            EfficientNetLite0(runtime="onnx", **options)
    with pytest.raises(InvalidInputError, match="`all-minilm-l6-v2` does not accept `runtime`"):
        open_encoder("all-minilm-l6-v2", kind="text", runtime="onnx")
    assert open_encoder("facebook/dinov2-base", kind="image", runtime="torch")
    views = open_encoder(["efficientnet-lite0", "pixels"], kind="image", runtime="torch")
    assert views.encoders[0][1].runtime == "torch"


def test_other_precisions_and_devices_stay_in_pytorch():
    assert EfficientNetLite0(size=SIZE, dtype="bfloat16")._exported is None
    assert EfficientNetLite0(size=SIZE, device="meta")._exported is None


@pytest.mark.slow
def test_it_is_much_faster_than_pytorch():
    """CPU time of one thread, batches of 32; 4 to 6 times is usual."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        x = torch.randn(32, 3, 128, 128)
        seconds = {}
        for name in ("torch", "onnx"):
            run = EfficientNetLite0(size=128, runtime=name).run
            run(x)
            times = []
            for _ in range(3):
                start = time.process_time()
                run(x)
                times.append(time.process_time() - start)
            seconds[name] = min(times)
    finally:
        torch.set_num_threads(before)
    assert seconds["torch"] > 2.5 * seconds["onnx"], seconds
