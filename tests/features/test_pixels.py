"""Statistics of pixels: what they see, and what must not enter."""

import io

import numpy as np
import pytest

from tradeoff import InvalidInputError, evaluate
from tradeoff.data import Sample
from tradeoff.exceptions import UnreadableError
from tradeoff.features import open_encoder
from tradeoff.features.pixels import PixelStatistics

Image = pytest.importorskip("PIL.Image")


def scene(seed, height=64, width=64):
    """A smooth random image with the spectrum of photographs, about."""
    rng = np.random.default_rng(seed)
    y, x = np.fft.fftfreq(height)[:, None], np.fft.rfftfreq(width)
    falloff = 1 / np.maximum(np.hypot(y, x), 1 / max(height, width))
    fields = []
    for strength in (40, 15, 15):
        noise = rng.normal(size=(2, *falloff.shape))
        field = np.fft.irfft2((noise[0] + 1j * noise[1]) * falloff, s=(height, width))
        fields.append(strength * field / max(field.std(), 1e-12))
    gray, red, blue = fields
    pixels = np.stack([gray + red, gray, gray + blue], axis=2) + rng.uniform(90, 160, 3)
    return np.clip(pixels, 0, 255).astype(np.uint8)


SCENES = [scene(seed) for seed in range(20)]


def features_of(contents, encoder=None):
    encoder = encoder or PixelStatistics()
    return encoder.embed([encoder.prepare(Sample(str(i), c)) for i, c in enumerate(contents)])


def saved(pixels, kind, **options):
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, kind, **options)
    return file.getvalue()


def column(name):
    return PixelStatistics().columns.index(name)


def shifts(before, after):
    """Mean change of each column, in units of its spread over images."""
    return np.abs((after - before).mean(0)) / (before.std(0) + 1e-3)


def test_shape_names_and_identity():
    encoder = PixelStatistics()
    found = features_of(SCENES)
    assert found.shape == (20, len(encoder.columns))
    assert found.dtype == np.float32
    assert len(set(encoder.columns)) == len(encoder.columns)
    assert "version 1" in encoder.preprocessing
    without = PixelStatistics(traces=False)
    assert without.preprocessing != encoder.preprocessing
    np.testing.assert_array_equal(features_of(SCENES, without), found[:, : len(without.columns)])
    assert open_encoder("pixels", kind="image", size=32).size == 32


def test_features_depend_on_nothing_but_the_sample():
    contents = [scene(seed, 20 + 3 * (seed % 5), 50) for seed in range(21)]
    whole = features_of(contents)
    alone = np.concatenate([features_of([content]) for content in contents])
    np.testing.assert_array_equal(alone, whole)
    np.testing.assert_array_equal(features_of(contents[::-1])[::-1], whole)


@pytest.mark.parametrize(
    "shape", [(1, 1), (1, 1, 3), (2, 300, 3), (300, 2, 3), (17, 9, 1), (15, 16, 4), (33, 70, 3)]
)
@pytest.mark.parametrize("value", [0, 127, 255])
def test_every_image_has_finite_features(shape, value):
    assert np.isfinite(features_of([np.full(shape, value, np.uint8)])).all()


def test_what_is_no_image_is_refused():
    for content in (b"", b"nothing", np.zeros((8, 8, 3)), np.zeros((0, 4, 3), np.uint8), "text"):
        with pytest.raises(UnreadableError):
            features_of([content])
    for size in (0, 8, 40):
        with pytest.raises(InvalidInputError, match="`size` must be"):
            PixelStatistics(size=size)


def test_the_format_of_a_lossless_file_does_not_enter():
    pixels = SCENES[0]
    sixteen = Image.fromarray(pixels[..., 0].astype(np.uint16) * 257)
    file = io.BytesIO()
    sixteen.save(file, "PNG")
    opaque = np.concatenate([pixels, np.full_like(pixels[..., :1], 255)], axis=2)
    same = [pixels, opaque, saved(pixels, "PNG"), saved(pixels, "BMP"), saved(opaque, "PNG")]
    same.append(saved(pixels, "WEBP", lossless=True))
    found = features_of(same)
    np.testing.assert_array_equal(found, np.tile(found[0], (len(same), 1)))
    gray = features_of([pixels[..., 0], saved(pixels[..., 0], "PNG"), file.getvalue()])
    np.testing.assert_array_equal(gray, np.tile(gray[0], (3, 1)))


def test_a_good_jpeg_looks_like_a_png_and_a_bad_one_does_not():
    png = features_of(SCENES)
    bad = features_of([saved(pixels, "JPEG", quality=10) for pixels in SCENES])
    assert shifts(png, bad)[column("blocks: steps at the borders of JPEG")] > 3
    for quality in (95, 90):
        good = features_of([saved(pixels, "JPEG", quality=quality) for pixels in SCENES])
        assert np.median(shifts(png, good)) < 0.1
        assert shifts(png, good).max() < 1.2


def test_the_size_does_not_enter_colors_and_texture():
    encoder = PixelStatistics(traces=False)
    large = [scene(seed, 256, 256) for seed in range(12)]
    small = [
        np.asarray(Image.fromarray(pixels).resize((128, 128), Image.Resampling.BICUBIC))
        for pixels in large
    ]
    assert shifts(features_of(large, encoder), features_of(small, encoder)).max() < 0.5


def checkerboard(pixels):
    """As of a transposed convolution with stride 2 whose kernel overlaps unevenly."""
    odd = np.indices(pixels.shape[:2]).sum(0) % 2
    return np.clip(pixels * (1 + 0.03 * (odd - 0.5))[..., None], 0, 255).astype(np.uint8)


def blurred(pixels):
    from PIL import ImageFilter

    return np.asarray(Image.fromarray(pixels).filter(ImageFilter.GaussianBlur(1)))


FAULTS = {
    "checkerboard": (checkerboard, "checkerboard: period 2, fields"),
    "five bits": (lambda x: x & 0xF8, "levels: share of the range"),
    "blur": (blurred, "brightness: power in band 8 of 12"),
    "color cast": (
        lambda x: np.clip(x * [1.4, 1, 0.6], 0, 255).astype(np.uint8),
        "red-green: mean",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_of_texture_are_seen(name):
    fault, seen = FAULTS[name]
    changed = shifts(features_of(SCENES), features_of([fault(pixels) for pixels in SCENES]))
    assert changed[column(seen)] > 1


def test_an_evaluation_sees_texture():
    real = np.stack([scene(seed, 32, 32) for seed in range(100)])
    generated = np.stack([scene(seed, 32, 32) for seed in range(100, 200)]) & 0xF0
    result = evaluate(
        real=real,
        generated=generated,
        encoder="pixels",
        metrics="curve",
        estimator="fast",
        diagnose=False,
        progress=False,
    )
    assert result["curve.overlap"].value < 0.1
