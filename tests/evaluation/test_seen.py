"""Planted faults that one view sees and another does not, and the words and tables that say so."""

import io

import numpy as np
import pytest
from PIL import Image

from tests.known.real import images
from tradeoff import evaluate
from tradeoff.features import Function
from tradeoff.features.surface import SurfaceStatistics
from tradeoff.report.blocks import text_of
from tradeoff.report.page import page_of

FAST = {"metrics": "curve", "diagnose": False, "progress": False}
TOPICS = (
    "river lake fish boat water shore wave swim rain cloud",
    "court judge law trial lawyer witness jury verdict crime prison",
)


def sentences(seed, topics, count=300):
    rng = np.random.default_rng(seed)
    found = []
    for topic in rng.choice(topics, count):
        words = rng.choice(TOPICS[topic].split(), rng.integers(5, 12))
        text = " ".join(words)
        found.append(f"{text.capitalize()}{rng.choice(['.', '!', ', and so on.'])}")
    return found


def plain(texts):
    """Lower case without punctuation."""
    return ["".join(c for c in text.lower() if c.isalnum() or c == " ") for text in texts]


def topic(texts):
    """Share of the words that belong to the first topic: blind to case and punctuation."""
    first = set(TOPICS[0].split())
    return [[np.mean([word in first for word in text.split()])] for text in plain(texts)]


ENCODER = Function(topic, "topic", "text", "1")


def seen(real, made, encoder):
    found = evaluate(real=real, generated=made, encoder=encoder, **FAST)
    return found, {view.name: view for view in found.verdict.views}


@pytest.mark.slow
def test_style_is_seen_in_the_surface():
    found, views = seen(sentences(0, [0, 1]), plain(sentences(1, [0, 1])), ENCODER)
    assert views["surface"].sees
    assert views["topic"].is_blind
    assert any(one.startswith("Seen in surface (") for one in found.verdict.sentences)


@pytest.mark.slow
def test_a_missing_topic_is_seen_by_the_encoder():
    found, views = seen(sentences(0, [0, 1]), sentences(1, [0]), ENCODER)
    assert views["topic"].sees
    assert not views["topic"].is_blind
    assert found["curve.overlap"].value < 0.6  # in truth 0.5


def style(texts):
    """Share of capital letters, and exclamation marks."""
    return [[np.mean([c.isupper() for c in text]), text.count("!")] for text in texts]


@pytest.mark.slow
def test_groups_are_formed_in_the_view_that_sees_most():
    """Two styles are missing; in the view of topics they would be one mixture."""
    rng = np.random.default_rng(0)
    real, made = plain(sentences(0, [0, 1], 600)), plain(sentences(1, [0, 1], 600))
    kinds = rng.integers(3, size=len(real))
    real = [
        (text, text.upper(), f"{text}!!!")[kind] for text, kind in zip(real, kinds, strict=True)
    ]
    views = {"topic": topic, "style": style}
    found = evaluate(real=real, generated=made, encoder=views, explain=True, **FAST)
    kind_of = {f"real[{i}]": kind for i, kind in enumerate(kinds)}
    groups = found.explanation.missed.groups
    assert len(groups) >= 2
    for group in groups:
        assert len({kind_of[name] for name in group.members}) == 1


def thumbnails(pictures):
    """Mean color of each quarter of an image: content, as far as it is seen by a weak encoder."""
    small = [np.asarray(one, float).reshape(2, 16, 2, 16, 3).mean((1, 3)) for one in pictures]
    return np.stack(small).reshape(len(small), -1)


def compressed(image):
    file = io.BytesIO()
    Image.fromarray(image).save(file, "JPEG", quality=20)
    return np.array(Image.open(file))


@pytest.mark.slow
def test_compression_is_seen_in_pixels():
    order = np.random.default_rng(0).permutation(len(images().pixels))
    real, made = (images().pixels[part] for part in np.split(order, 2))
    made = np.stack([compressed(one) for one in made])
    found, views = seen(real, made, Function(thumbnails, "thumbnails", "image", "1"))
    assert views["pixels"].sees
    assert views["thumbnails"].is_blind
    said = "Seen in pixels (color, sharpness, compression), not in thumbnails."
    assert said in found.verdict.sentences


def rows_of_views(text):
    """Rows of the table of views by their first word."""
    lines = text.partition("What each view sees")[2].splitlines()
    return {line.split()[0]: line for line in lines if line.strip()}


@pytest.mark.slow
def test_the_page_and_the_long_output_say_what_each_view_sees():
    found, views = seen(sentences(0, [0, 1], 150), plain(sentences(1, [0, 1], 150)), ENCODER)
    rows = rows_of_views(text_of(found, exact=True))
    assert "no difference established" in rows["topic"]
    assert f"{views['surface'].overlap:.3f}" in rows["surface"]
    assert "at least" in rows["topic"]  # what it hides
    page = page_of(found)
    assert "What each view sees" in page
    assert "no difference established" in page
    assert "What each view sees" not in text_of(found)
    one = evaluate(
        real=sentences(0, [0, 1], 60),
        generated=sentences(1, [0, 1], 60),
        encoder=SurfaceStatistics(),
        **FAST,
    )
    assert "What each view sees" not in page_of(one)
