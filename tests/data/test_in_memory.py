"""Samples that are in memory already: DataFrames, PyTorch datasets, tensors, lists."""

import numpy as np
import pytest

from tradeoff import InvalidInputError, evaluate, frechet_distance, pr_curve
from tradeoff._validation import check_numbers
from tradeoff.data import open_source
from tradeoff.data.base import Broken

OPTIONS = {"estimator": "logistic", "metrics": ("curve",), "diagnose": False, "progress": False}


def tables():
    """Two tables whose only difference is the mean of one column."""
    rng = np.random.default_rng(0)
    real = {"age": rng.normal(0, 1, 400), "color": rng.choice(["red", "blue"], 400)}
    generated = {"age": rng.normal(3, 1, 400), "color": rng.choice(["red", "blue"], 400)}
    return real, generated


def frames():
    pandas = pytest.importorskip("pandas")
    arrow = pytest.importorskip("pyarrow")
    return {"pandas": pandas.DataFrame, "arrow": arrow.table}


@pytest.mark.parametrize("library", ["pandas", "arrow"])
def test_a_data_frame_is_a_table(library):
    """Its column names used to be embedded as texts, with precision and recall 1."""
    make = frames()[library]
    real, generated = tables()
    rows = [[dict(zip(t, row, strict=True)) for row in zip(*t.values(), strict=True)]
            for t in (real, generated)]  # fmt: skip
    found = evaluate(real=make(real), generated=make(generated), **OPTIONS)
    expected = evaluate(real=rows[0], generated=rows[1], **OPTIONS)
    assert found.scores == expected.scores
    assert found["curve.precision"].value < 0.9


def test_a_data_frame_of_numbers_is_an_array_for_functions_of_features():
    pandas = pytest.importorskip("pandas")
    real, generated = np.random.default_rng(0).normal(size=(2, 100, 3))
    expected = frechet_distance(real=real, generated=generated)
    assert frechet_distance(real=pandas.DataFrame(real), generated=generated) == expected
    mixed = pandas.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})
    with pytest.raises(InvalidInputError, match="`real` must be an array of numbers. Got objects"):
        frechet_distance(real=mixed, generated=generated)


def test_a_text_column_or_a_series_of_texts_is_text():
    pandas = pytest.importorskip("pandas")
    texts = ["A rose.", "Another."]
    for value in (pandas.DataFrame({"text": texts}), pandas.Series(texts), np.array(texts)):
        source = open_source(value)
        assert source.kind == "text"
        assert [sample.content for sample in source] == texts


def test_a_pair_of_texts_is_refused():
    """A data set of reviews with "good" and "bad" would have been read as these two words."""
    reviews = [("A fine film.", "good"), ("A dull film.", "bad")]
    with pytest.raises(InvalidInputError, match="A pair of texts can be .*: pass dict"):
        list(open_source(reviews))
    rows = [{"text": text, "class": label} for text, label in reviews]
    assert [sample.label for sample in open_source(rows, label="class")] == ["good", "bad"]


def test_columns_of_mixed_types_are_refused():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(InvalidInputError, match="must have columns of one type each"):
        open_source(pandas.DataFrame({"a": pandas.Series([1, "x", 2.5], dtype=object)}))


@pytest.mark.parametrize("value", [{"a": [1.0]}, {1.0, 2.0}, b"bytes"])
def test_what_would_be_guessed_wrong_is_refused(value):
    with pytest.raises(InvalidInputError, match="must be a list of samples"):
        open_source(value, name="real")


def test_single_numbers_are_not_samples():
    with pytest.raises(InvalidInputError, match="got single numbers: pass features of shape"):
        open_source([1.0, 2.0, 3.0])


def test_empty_texts_in_a_list_are_broken():
    good, broken = open_source(["A rose.", "  "])
    assert good.content == "A rose."
    assert broken.reason == "The text is empty."


def test_rows_of_dictionaries_follow_the_rules_of_files():
    (sample,) = open_source([{"text": "A rose.", "score": 3}])
    assert sample.content == "A rose."


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (np.ma.masked_array([[1.0, 2.0]], [[False, True]]), "must not have masked entries"),
        (np.array([[1 + 2j]]), "Got complex numbers"),
        (np.array([["2020-01-01"]], "datetime64[D]"), "Got dates"),
        (np.array([["1.5"]]), "Got texts"),
        ([[None]], "Got objects"),
    ],
)
def test_numbers_are_not_made_of_something_else(values, found):
    for check in (lambda: check_numbers("real", values), lambda: open_source(values, name="real")):
        with pytest.raises(InvalidInputError, match=found):
            check()


def test_a_mask_without_masked_entries_is_fine():
    values = np.ma.masked_array([[1.0, 2.0]], [[False, False]])
    assert open_source(values).values.tolist() == [[1.0, 2.0]]


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16", "int64"])
def test_tensors_of_every_precision_and_with_gradients(dtype):
    torch = pytest.importorskip("torch")
    rng = torch.Generator().manual_seed(0)
    tensors = [(4 * torch.randn(200, 2, generator=rng)).to(getattr(torch, dtype)) for _ in "ab"]
    arrays = [tensor.double().numpy() for tensor in tensors]
    if tensors[0].is_floating_point():
        tensors = [tensor.requires_grad_() for tensor in tensors]
    sides, expected = ({"real": s[0], "generated": s[1]} for s in (tensors, arrays))
    assert frechet_distance(**sides) == frechet_distance(**expected)
    curves = [pr_curve(**s, estimator="logistic", progress=False).curve for s in (sides, expected)]
    assert curves[0].area == curves[1].area
    found, same = (evaluate(**s, **OPTIONS) for s in (sides, expected))
    assert found.scores == same.scores


@pytest.mark.torch
def test_pytorch_datasets_and_loaders_of_features():
    torch = pytest.importorskip("torch")
    from torch.utils.data import DataLoader, Dataset, TensorDataset

    x, y = torch.randn(10, 3, generator=torch.Generator().manual_seed(0)), torch.arange(10) % 2

    class Endless(Dataset):
        """Never raises IndexError, like many that people write."""

        def __len__(self):
            return 10

        def __getitem__(self, i):
            return x[i % 10]

    labeled = TensorDataset(x, y)
    for value in (TensorDataset(x), Endless(), labeled, DataLoader(labeled, batch_size=4)):
        samples = list(open_source(value))
        np.testing.assert_array_equal(np.stack([s.content for s in samples]), x.numpy())
    assert [sample.label for sample in samples] == [str(int(label)) for label in y]


@pytest.mark.torch
def test_pytorch_datasets_of_images():
    """Channels first, whole numbers or floats from 0 to 1; normalized ones are refused."""
    torch = pytest.importorskip("torch")
    from torch.utils.data import DataLoader, TensorDataset

    pixels = np.random.default_rng(0).integers(0, 256, (6, 8, 9, 3), dtype=np.uint8)
    first = torch.from_numpy(pixels).permute(0, 3, 1, 2)
    for tensor in (first, first.float() / 255):
        for value in (tensor, TensorDataset(tensor), DataLoader(tensor, batch_size=4)):
            source = open_source(value)
            assert source.kind == "image"
            found = np.stack([sample.content for sample in source])
            np.testing.assert_array_equal(found, pixels)
    with pytest.raises(InvalidInputError, match="leave out the normalization"):
        list(open_source(first.float() / 127.5 - 1))


def test_pillow_images_are_those_of_their_files(tmp_path):
    """Transparency lies on white and EXIF turns the picture, from memory as from a file."""
    Image = pytest.importorskip("PIL.Image")  # noqa: N806

    from tradeoff.features.images import Pixels

    rng = np.random.default_rng(0)
    clear = Image.fromarray(rng.integers(0, 256, (6, 8, 4), dtype=np.uint8))
    clear.save(tmp_path / "clear.png")
    turned = Image.fromarray(rng.integers(0, 256, (6, 8, 3), dtype=np.uint8))
    exif = Image.Exif()
    exif[0x0112] = 6
    turned.save(tmp_path / "turned.png", exif=exif)
    pixels = Pixels(height=8, width=6)
    files = [pixels.of(sample) for sample in open_source(tmp_path)]
    opened = [Image.open(path) for path in sorted(tmp_path.iterdir())]
    for ours, other in zip(files, open_source(opened), strict=True):
        np.testing.assert_array_equal(ours, pixels.of(other))


def test_a_tuple_that_cannot_be_understood_is_refused():
    with pytest.raises(InvalidInputError, match=r"\(id, sample\) or \(sample, label\)"):
        open_source([("a", "b", "c")])


@pytest.mark.slow
def test_a_bomb_in_an_npz_is_refused(tmp_path):
    np.savez_compressed(tmp_path / "bomb.npz", np.zeros((1 << 14, 1 << 14), np.float64))
    with pytest.raises(InvalidInputError, match="more than 100 times its compressed size"):
        open_source(tmp_path / "bomb.npz")


def test_a_row_that_is_not_a_mapping_is_broken_and_pixels_of_a_column_are_read(tmp_path):
    rows = list(open_source([{"age": 1.0}, 5, {"age": 2.0}]))
    assert [isinstance(row, Broken) for row in rows] == [False, True, False]
    pa, pq = (pytest.importorskip(name) for name in ("pyarrow", "pyarrow.parquet"))
    pixels = np.arange(48).reshape(1, 4, 4, 3).tolist()
    pq.write_table(pa.table({"pixels": pixels}), tmp_path / "a.parquet")
    (found,) = open_source(tmp_path / "a.parquet", kind="image", column="pixels")
    assert found.content.dtype == np.uint8


def test_a_kind_that_is_not_theirs_is_refused(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"text": "a"}\n', encoding="utf-8")
    for value in (np.zeros((3, 4)), tmp_path / "rows.jsonl"):
        with pytest.raises(InvalidInputError, match="must hold table samples, as `kind` says"):
            open_source(value, kind="table")


@pytest.mark.parametrize(
    "make",
    [
        lambda pixels: pixels / 255,
        lambda pixels: (pixels / 255).astype(np.float32),
        lambda pixels: list(pixels / 255),
    ],
)
def test_float_images_are_those_of_whole_numbers(make):
    pixels = np.random.default_rng(0).integers(0, 256, (3, 8, 6, 3)).astype(np.uint8)
    source = open_source(make(pixels))
    assert source.kind == "image"
    for sample, expected in zip(source, pixels, strict=True):
        np.testing.assert_array_equal(sample.content, expected)


@pytest.mark.parametrize("make", [lambda x: x, lambda x: x / 255, list, lambda x: list(x / 255)])
def test_gray_images_have_one_channel(make):
    pixels = np.random.default_rng(0).integers(0, 256, (3, 8, 6)).astype(np.uint8)
    source = open_source(make(pixels))
    assert source.kind == "image"
    for sample, expected in zip(source, pixels, strict=True):
        np.testing.assert_array_equal(sample.content, expected[..., None])


def test_what_a_pipeline_of_diffusers_returns_holds_images():
    output = pytest.importorskip("diffusers").pipelines.ImagePipelineOutput
    pixels = np.random.default_rng(0).integers(0, 256, (2, 8, 8, 3)).astype(np.uint8)
    pictures = [pytest.importorskip("PIL.Image").fromarray(image) for image in pixels]
    for images in (pictures, pixels / 255):
        samples = list(open_source(output(images=images)))
        np.testing.assert_array_equal([sample.content for sample in samples], pixels)
