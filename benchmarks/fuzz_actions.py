"""Functions that read a damaged file and use it as an evaluation would.

Each returns `VALUE` or `BROKEN`, or raises. `SilentError` is raised for a wrong value that was
returned without an error.
"""

from __future__ import annotations

import contextlib
import io
import json
import warnings
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tradeoff.comparison import Comparison, compare
from tradeoff.core import PRCurve
from tradeoff.counting import CountingPlan, CountingState
from tradeoff.counting.ledger import Ledger
from tradeoff.data import Sample, open_source
from tradeoff.embedding import Embedded, embed_source
from tradeoff.evaluation import Evaluation, Reference, evaluate
from tradeoff.evaluation.pipeline import evaluate_sources
from tradeoff.features import Function, NetworkFile
from tradeoff.features.hub import HubImages, HubTexts
from tradeoff.features.images import Pixels
from tradeoff.features.plain import Identity
from tradeoff.features.store import FeatureStore
from tradeoff.features.table import TableEncoder
from tradeoff.settings import Settings, read_config

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tradeoff.data import Source
    from tradeoff.features import Encoder

VALUE = "value"
BROKEN = "broken item"
TEXTS = [f"{'e' * (i % 7)} poem {i}" for i in range(12)]


class SilentError(AssertionError):
    """A wrong value was returned without an error."""


class Thumbnails:
    """A cheap image encoder with the preprocessing of a real one."""

    name: ClassVar[str] = "thumbnails"
    kind: ClassVar[str] = "image"
    preprocessing: ClassVar[str] = "8 × 8"
    weights: ClassVar[str] = "1"
    pixels = Pixels(height=8, width=8, shorter=10)

    def prepare(self, sample: Sample) -> Any:
        """Resized and cropped pixels."""
        return self.pixels.of(sample)

    def embed(self, prepared: Sequence[Any]) -> Any:
        """Mean color of each image."""
        return np.stack(prepared).mean((1, 2))


LENGTHS = Function(lambda texts: [[len(t), t.count("e")] for t in texts], "length", "text", "1")


def read_file(folder: Path, **options: Any) -> str:
    """Embed the samples of the only file."""
    return read_source(next(iter(sorted(folder.iterdir())), folder / "gone.npy"), **options)


def read_folder(folder: Path, **options: Any) -> str:
    """Embed the samples of the whole folder."""
    return read_source(folder, **options)


def read_source(path: Any, **options: Any) -> str:
    """Embed the samples of a path or a list with a cheap encoder."""
    source = open_source(path, **options)
    embedded = embed_source(source, _embedder(source), broken="skip", progress=False)
    return checked(embedded)


def checked(embedded: Embedded) -> str:
    """`VALUE` or `BROKEN`; raises unless there is a row of finite features per sample."""
    features = embedded.features
    if features.ndim != 2 or len(features) != len(embedded.ids) or not np.isfinite(features).all():
        raise SilentError(f"features of shape {features.shape} that are wrong or not finite")
    return BROKEN if embedded.broken else VALUE


def _embedder(source: Source) -> Encoder:
    if source.kind == "table":
        rows = (item.content for item in source if isinstance(item, Sample))
        return TableEncoder.fit(row for row in rows if isinstance(row, Mapping))
    found: Any = {"image": Thumbnails(), "text": LENGTHS, "features": Identity()}[source.kind]
    return found


def fill_store(folder: Path) -> None:
    """Write a store of two shards."""
    for texts in (TEXTS[:8], TEXTS[8:]):
        embed_source(open_source(texts), LENGTHS, store=FeatureStore(folder), progress=False)


def use_store(folder: Path) -> str:
    """Embed through a store twice, where features must be unchanged, and list its contents."""
    store, expected = FeatureStore(folder), LENGTHS.embed(TEXTS)
    for _ in range(2):
        embedded = embed_source(open_source(TEXTS), LENGTHS, store=store, progress=False)
        if not np.array_equal(embedded.features, expected):
            raise SilentError("the store returned features that differ from the stored ones")
    store.contents()
    return VALUE


def evaluate_config(folder: Path) -> str:
    """Run the evaluation that a TOML file describes, and write the result."""
    chosen = read_config(folder / "run.toml")
    real, generated = (chosen.pop(side, folder / f"{side}.npy") for side in ("real", "generated"))
    result = evaluate_sources(real, generated, Settings.of(chosen), progress=False)
    result.to_json()
    return BROKEN if any(result.broken.values()) else VALUE


def _sides(size: int = 24) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(size, 2)), rng.normal(0.3, size=(size, 2))


def _options() -> dict[str, Any]:
    metrics = ("curve", "frechet", "copies")
    return {"metrics": metrics, "estimator": "logistic", "diagnose": False, "progress": False}


def save_curve(folder: Path) -> None:
    """Write a curve with its band."""
    real, generated = _sides()
    curve = evaluate(real=real, generated=generated, **_options()).curve
    (folder / "curve.json").write_text("" if curve is None else curve.to_json())


def load_curve(folder: Path) -> str:
    """Read a curve, ask it for numbers, and write it."""
    curve = PRCurve.from_json(_text(folder, "curve.json"))
    for one in (curve, curve.lower, curve.upper):
        if one is not None and not np.isfinite(one.precision([0.0, 0.5, 1.0, 20.0])).all():
            raise SilentError("a curve whose precision is not finite")
    PRCurve.from_json(curve.to_json())
    return VALUE


def save_result(folder: Path) -> None:
    """Write an evaluation with the values of its samples."""
    real, generated = _sides()
    evaluate(real=real, generated=generated, **_options()).save(folder)


def load_result(folder: Path) -> str:
    """Read an evaluation, print it, and write it."""
    result = Evaluation.load(folder)
    str(result)
    Evaluation.from_json(result.to_json())
    for side in (result.samples or {}).values():
        if "log_ratio" in side.values:
            side.lowest("log_ratio", 3)
    return VALUE


def save_comparison(folder: Path) -> None:
    """Write a comparison of two models."""
    real, generated = _sides()
    models = {"one": generated, "other": generated * 2}
    compared = compare(real=real, generated=models, **_options())
    (folder / "comparison.json").write_text(compared.to_json())


def load_comparison(folder: Path) -> str:
    """Read a comparison, print it, and write it."""
    compared = Comparison.from_json(_text(folder, "comparison.json"))
    str(compared)
    Comparison.from_json(compared.to_json())
    return VALUE


def _rows(shift: float) -> list[dict[str, Any]]:
    values = np.random.default_rng(0).normal(shift, size=24).tolist()
    return [{"size": value, "color": "red" if value > 0 else "blue"} for value in values]


def save_reference(folder: Path) -> None:
    """Write a reference of a table, with the neighbors of its rows."""
    reference = Reference.make(_rows(0.0), progress=False)
    reference.prepare(progress=False)
    reference.save(folder)


def load_reference(folder: Path) -> str:
    """Read a reference, and measure a model against it."""
    metrics = ("frechet", "knn")
    real = Reference.load(folder)
    evaluate(real=real, generated=_rows(0.3), metrics=metrics, progress=False).to_json()
    return BROKEN if real.broken else VALUE


def load_same_reference(folder: Path) -> str:
    """Read a reference in which a bit was flipped: what it says must be refused or unchanged."""
    expected = Reference.make(_rows(0.0), progress=False)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = Reference.load(folder)
    same = (found.table, found.kind, found.encoder) == (
        expected.table,
        expected.kind,
        expected.encoder,
    )
    if not told and not (same and np.array_equal(found.side.features, expected.side.features)):
        raise SilentError("a reference that says something else")
    return VALUE


@cache
def _plan() -> CountingPlan:
    real, generated = _sides(400)
    return CountingPlan.of(real=real, generated=generated, estimator="gaussians", moments=True)


def save_state(folder: Path) -> None:
    """Write the state of both sides."""
    real, generated = _sides(400)
    state = CountingState(_plan())
    state.update("real", real, labels=["a"] * len(real))
    state.update("generated", generated)
    (folder / "state").write_bytes(state.to_bytes())


def load_state(folder: Path) -> str:
    """Read a state and merge it; counts that are accepted must add up."""
    state = CountingState(_plan())
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        part = CountingState.from_bytes(path.read_bytes(), state.plan)
        for side in part.sides:
            if side.counts.min() < 0 or side.counts.sum() != side.rows - side.fitted:
                raise SilentError("impossible counts")
        state.merge(part)
    if all(state.sizes.values()):
        state.result().interval([1.0])
        state.moments()
    return VALUE


_RECORDS = {f"shard {i}": bytes([i]) * (7 * i) for i in range(8)}


def save_ledger(folder: Path) -> None:
    """Write a ledger of some records."""
    with Ledger(folder / "ledger", plan="0123") as ledger:
        for name, content in _RECORDS.items():
            ledger.add(name, content)


def use_ledger(folder: Path) -> str:
    """Read a ledger and add what is missing; records must be those that were written."""
    with Ledger(folder / "ledger", plan="0123") as ledger:
        found = {name: ledger[name] for name in ledger}
        if not found.items() <= _RECORDS.items():
            raise SilentError("a record that was never written")
        for name in _RECORDS.keys() - found.keys():
            ledger.add(name, _RECORDS[name])
    with Ledger(folder / "ledger", plan="0123") as ledger:
        if {name: ledger[name] for name in ledger} != _RECORDS:
            raise SilentError("records that are lost for good")
    return VALUE


def lose_one_record(folder: Path) -> str:
    """Read a ledger in which a bit was flipped, which may cost one record."""
    with Ledger(folder / "ledger", plan="0123") as ledger:
        if len(ledger) < len(_RECORDS) - 1:
            raise SilentError(f"{len(_RECORDS) - len(ledger)} records are lost")
    return use_ledger(folder)


def read_rows(folder: Path) -> str:
    """Embed Pillow images in rows of dictionaries, opened but not loaded."""
    from PIL import Image

    rows = []
    for path in sorted(folder.iterdir()):
        with contextlib.suppress(Exception):  # what Pillow itself refuses to open
            rows.append({"image": Image.open(io.BytesIO(path.read_bytes())), "label": path.name})
    return read_source(rows or [{"image": b""}], label="label" if rows else None)


def _text(folder: Path, name: str) -> str:
    """Text of a file; reading it is up to the caller of `from_json`, and is not tested."""
    try:
        return (folder / name).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def save_onnx(folder: Path) -> None:
    """Write a small convolutional network."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    weight = np.random.default_rng(0).normal(size=(2, 3, 3, 3)).astype(np.float32)
    graph = helper.make_graph(
        [
            helper.make_node("Conv", ["x", "w"], ["c"]),
            helper.make_node("Relu", ["c"], ["r"]),
            helper.make_node("GlobalAveragePool", ["r"], ["y"]),
        ],
        "tiny",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 2, 1, 1])],
        [numpy_helper.from_array(weight, "w")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 9
    onnx.save(model, folder / "network.onnx")


def run_onnx(folder: Path) -> str:
    """Embed two images with the only file of the folder."""
    path = next(iter(sorted(folder.iterdir())), folder / "gone.onnx")
    return _run_images(NetworkFile(path, 8))


def _run_images(encoder: Encoder) -> str:
    shades = np.stack([np.full((9, 9, 3), shade, np.uint8) for shade in (10, 200)])
    return checked(embed_source(open_source(shades), encoder, progress=False))


def save_vision(folder: Path) -> None:
    """Write a small vision transformer in the format of the Hugging Face hub."""
    import torch
    import transformers

    torch.manual_seed(0)
    config = transformers.ViTConfig(
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=8,
        image_size=8,
        patch_size=4,
    )
    transformers.ViTModel(config, add_pooling_layer=False).save_pretrained(folder)
    preparation = {
        "do_resize": True,
        "size": {"shortest_edge": 10},
        "resample": 3,
        "do_center_crop": True,
        "crop_size": {"height": 8, "width": 8},
        "do_rescale": True,
        "rescale_factor": 1 / 255,
        "do_normalize": True,
        "image_mean": [0.5, 0.5, 0.5],
        "image_std": [0.2, 0.2, 0.2],
    }
    (folder / "preprocessor_config.json").write_text(json.dumps(preparation, indent=1))


def run_vision(folder: Path) -> str:
    """Embed two images."""
    encoder = HubImages(str(folder))
    _ = encoder.weights
    return _run_images(encoder)


def save_text(folder: Path) -> None:
    """Write a small sentence encoder in the format of the Hugging Face hub."""
    import torch
    import transformers
    from sentence_transformers import SentenceTransformer, models

    torch.manual_seed(0)
    bert = transformers.BertConfig(
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=8,
        vocab_size=9,
        max_position_embeddings=24,
    )
    transformers.BertModel(bert).save_pretrained(folder)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "cat", "dog", "house", "tree"]
    (folder / "vocab.txt").write_text("\n".join(words))
    transformers.BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    parts = [models.Transformer(str(folder), max_seq_length=16), models.Pooling(8)]
    SentenceTransformer(modules=parts, device="cpu").save(str(folder), create_model_card=False)


def run_text(folder: Path) -> str:
    """Embed two texts."""
    encoder = HubTexts(str(folder))
    _ = encoder.weights, encoder.preprocessing
    return checked(embed_source(open_source(["a cat", "the dog"]), encoder, progress=False))
