"""What a new user tries first, on real texts: verdicts that used to be wrong."""

import numpy as np
import pytest

from tests.known.real import text_features
from tradeoff import evaluate
from tradeoff.cli.output import trade_off_table
from tradeoff.sampling import filter_pool

REVIEWS, TWEETS = 0, 2


def texts(seed, *counts):
    """Features of film reviews, and of tweets, without repetition."""
    found = text_features()
    rng = np.random.default_rng(seed)
    rows = {label: rng.permutation(np.flatnonzero(found.labels == label)) for label in (0, 2)}
    parts = []
    for reviews, tweets in counts:
        parts.append(np.concatenate((rows[REVIEWS][:reviews], rows[TWEETS][:tweets])))
        rows = {REVIEWS: rows[REVIEWS][reviews:], TWEETS: rows[TWEETS][tweets:]}
    return [found.features[part] for part in parts]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_half_of_the_reviews_are_tweets(seed):
    """In four of eight draws the verdict was "no loss found"."""
    real, generated = texts(seed, (200, 0), (100, 100))
    found = evaluate(
        real=real, generated=generated, metrics="curve", diagnose=False, progress=False
    )
    assert found.verdict.precision.state == "lost"
    assert 0.1 < found.verdict.precision.losses[0].at_least < 0.5
    assert found.verdict.recall.state != "lost"
    assert [finding.name for finding in found.findings] == ["precision lost"]


@pytest.mark.slow
def test_the_same_kind_of_reviews():
    real, generated = texts(0, (190, 0), (190, 0))
    found = evaluate(real=real, generated=generated, metrics="curve", progress=False)
    assert found.findings == ()
    assert found.verdict.recall.state == "inconclusive"
    assert found.verdict.recall.enough > 190


@pytest.mark.slow
def test_advice_on_size_is_never_to_take_what_there_is():
    """About 41 samples were advised to somebody who had 40."""
    real, generated = texts(0, (40, 0), (20, 20))
    found = evaluate(real=real, generated=generated, metrics="curve", progress=False)
    assert found.verdict.recall.enough is None
    assert not any("samples on each side" in warning for warning in found.warnings[1:])
    assert "The check of which losses would be detected was skipped" in found.warnings[0]


def test_real_data_is_not_further_from_itself_than_a_faulty_model():
    """The Fréchet distance of real against real was computed at half the size."""
    real, generated = texts(1, (200, 0), (140, 60))
    score = evaluate(real=real, generated=generated, metrics="frechet", progress=False)[
        "frechet.distance"
    ]
    assert score.value > 1.1 * score.expected


@pytest.mark.slow
def test_filtering_shows_where_it_helps():
    """Precision was 1.000 before and after, although most tweets were removed."""
    real, pool = texts(2, (240, 0), (120, 80))
    found = filter_pool(real=real, generated=pool, budget=1.7, progress=False)
    removed = np.setdiff1d(np.arange(len(pool)), found.index)
    assert (removed >= 120).sum() >= 50
    curves = {
        name: (one.curve, one.losses())
        for name, one in (("before", found.before), ("after", found.after))
    }
    header, rows = trade_off_table(curves)
    assert header == ("", "precision", "recall", "overlap")
    for column in (1, 3):
        before, after = (float(row[column].split()[0]) for row in rows)
        assert before < after - 0.02
