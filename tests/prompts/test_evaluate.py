"""Prompts from files, folders and lists, in a whole evaluation."""

import csv
import json
from collections import Counter

import numpy as np
import pytest
from PIL import Image

from tradeoff import Evaluation, compare, evaluate
from tradeoff.exceptions import InvalidInputError, MissingExtraError

LETTERS = "abcd"
QUESTIONS = ("Write a.", "Write b.", "Write c.", "Write d.")
FAST = {"metrics": "curve", "diagnose": False, "progress": False}


def counted(batch):
    """How often each letter occurs."""
    return [[Counter(text)[one] for one in LETTERS] for text in batch]


def written(rng, kind):
    """A word in which one letter is frequent."""
    p = np.full(4, 0.1)
    p[kind] = 0.7
    return "".join(rng.choice(list(LETTERS), 20, p=p))


def rows(rng, wrong=0.0, n=300):
    """Answers to questions, a share of which belongs to the next question."""
    kinds = rng.integers(0, 4, n)
    asked = np.where(rng.random(n) < wrong, (kinds + 1) % 4, kinds)
    return [
        {"prompt": QUESTIONS[one], "response": written(rng, kind)}
        for kind, one in zip(kinds, asked, strict=True)
    ]


@pytest.fixture(scope="module")
def texts():
    rng = np.random.default_rng(0)
    return {"real": rows(rng), "generated": rows(rng, wrong=0.4)}


@pytest.fixture(scope="module")
def unfit(texts):
    return evaluate(**texts, prompt="prompt", encoder=counted, **FAST)


def test_wrong_prompts_are_a_finding_with_examples(unfit):
    found = unfit.prompts
    assert not found.of_samples.differs
    assert 0.2 < found.unfit < 0.45
    finding = next(one for one in unfit.findings if one.name == "unfit")
    assert finding.sentence == found.sentences[0]
    assert " ".join(str(unfit).split()).startswith(found.sentences[0])
    assert "No difference" not in str(unfit)
    shown = found.mismatched
    assert len(shown) > 10
    right = [Counter(one.sample.text).most_common(1)[0][0] in one.better for one in shown]
    assert np.mean(right) > 0.9


def test_prompts_of_a_file_and_of_a_list_are_the_same(texts, unfit, tmp_path):
    paths = {}
    for name, side in texts.items():
        paths[name] = tmp_path / f"{name}.jsonl"
        paths[name].write_text("\n".join(map(json.dumps, side)))
    found = evaluate(**paths, prompt="prompt", encoder=counted, **FAST)
    assert found.scores == unfit.scores
    assert found.prompts.of_pairs == unfit.prompts.of_pairs


def test_json_keeps_what_is_said_and_no_sample(unfit, tmp_path):
    unfit.save(tmp_path / "result.json")
    known = Evaluation.load(tmp_path / "result.json").prompts
    assert known.sentences == unfit.prompts.sentences
    assert (known.mismatched, known.worst) == ((), ())


def test_the_page_shows_mismatched_samples_unless_told_not_to(unfit, tmp_path):
    unfit.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    one = unfit.prompts.mismatched[0]
    assert one.sample.text in page
    assert f"fits “{one.better}”" in page
    unfit.report(tmp_path / "plain.html", samples=False)
    assert one.sample.text not in (tmp_path / "plain.html").read_text()


def test_models_are_compared_with_prompts(texts):
    models = {"good": rows(np.random.default_rng(5)), "bad": texts["generated"]}
    found = compare(texts["real"], models, prompt="prompt", encoder=counted, **FAST)
    assert found.evaluations["good"].prompts.unfit is None
    assert found.evaluations["bad"].prompts.unfit > 0.2


def pictures(folder, rng, wrong=0.0, n=120):
    """Images of two gray values in one folder, with their captions in a file next to them."""
    folder.mkdir()
    listed = []
    for i in range(n):
        kind = i % 2
        pixels = (60 + 100 * kind + rng.normal(0, 15, (8, 8, 3))).clip(0, 255).astype("uint8")
        Image.fromarray(pixels).save(folder / f"{i}.png")
        told = kind if rng.random() >= wrong else 1 - kind
        listed.append((f"{i}.png", ("a dark image", "a light image")[told]))
    return listed


def brightness(batch):
    """Mean and spread of the pixels of each image."""
    values = np.stack([np.asarray(one, float) for one in batch])
    return np.stack([values.mean((1, 2, 3)), values.std((1, 2, 3))], axis=1)


def test_captions_stand_next_to_images(tmp_path):
    rng = np.random.default_rng(0)
    for name, wrong in (("real", 0.0), ("generated", 0.5)):
        listed = pictures(tmp_path / name, rng, wrong)
        with (tmp_path / name / "metadata.csv").open("w", newline="") as file:
            csv.writer(file).writerows([("file_name", "caption"), *listed])
    found = evaluate(
        tmp_path / "real", tmp_path / "generated", prompt="caption", encoder=brightness, **FAST
    )
    assert found.prompts.unfit > 0.2
    assert not found.prompts.of_samples.differs
    assert found.prompts.mismatched[0].sample.image


def test_folders_are_classes(tmp_path):
    rng = np.random.default_rng(0)
    for name, wrong in (("real", 0.0), ("generated", 0.5)):
        for file, told in pictures(tmp_path / name, rng, wrong):
            (tmp_path / name / told).mkdir(exist_ok=True)
            (tmp_path / name / file).rename(tmp_path / name / told / file)
    found = evaluate(
        tmp_path / "real", tmp_path / "generated", prompt="label", encoder=brightness, **FAST
    )
    assert found.prompts.prompts == {"real": 2, "generated": 2}
    assert found.prompts.unfit > 0.2


def many(rng, n=30, each=6):
    """Answers to more questions than are told apart by zeros and ones."""
    return [
        {"prompt": f"Write {LETTERS[i % 4] * (1 + i // 4)}.", "responses": [written(rng, i % 4)]}
        for i in range(n)
        for _ in range(each)
    ]


def test_many_prompts_are_read_by_the_encoder_of_the_texts():
    rng = np.random.default_rng(0)
    seen = []

    def encode(batch):
        seen.extend(batch)
        return counted(batch)

    found = evaluate(many(rng), many(rng), prompt="prompt", encoder=encode, **FAST)
    assert found.prompts.unit == "prompt"
    assert "Write a." in seen
    assert found.prompts.unfit is None
    assert found.prompts.variety.within.low < 1.0 < found.prompts.variety.within.high


def test_prompts_are_embedded_once_for_all_models():
    rng = np.random.default_rng(0)
    seen = Counter()

    def encode(batch):
        seen.update(batch)
        return counted(batch)

    real, models = many(rng), {"one": many(rng), "two": many(rng)}
    compare(real, models, prompt="prompt", encoder=encode, **FAST)
    counts = [seen[row["prompt"]] for row in real]
    assert np.median(counts) == 1  # a few more often, to try the function


def test_an_image_without_a_caption_is_told_before_any_is_embedded(tmp_path):
    rng = np.random.default_rng(0)
    for name, last in (("real", None), ("generated", -1)):
        listed = pictures(tmp_path / name, rng, n=20)[:last]
        with (tmp_path / name / "metadata.csv").open("w", newline="") as file:
            csv.writer(file).writerows([("file_name", "caption"), *listed])
    both = {name: tmp_path / name for name in ("real", "generated")}
    with pytest.raises(InvalidInputError, match=r"`19.png` of generated has no prompt: add one"):
        evaluate(**both, prompt="caption", encoder=lambda _: pytest.fail("embedded"), **FAST)


def test_a_missing_encoder_of_prompts_is_told_before_the_samples_are_embedded(monkeypatch):
    def missing(*_, **__):
        raise MissingExtraError("`all-minilm-l6-v2` is missing")

    monkeypatch.setattr("tradeoff.evaluation.prompted.encoder_of", missing)
    rows = [{"image": np.zeros((8, 8, 3), np.uint8), "prompt": f"image {i}"} for i in range(30)]
    with pytest.raises(MissingExtraError):
        evaluate(
            rows,
            rows,
            prompt="prompt",
            column="image",
            kind="image",
            encoder=lambda _: pytest.fail("embedded"),
            **FAST,
        )


def broken(number):
    """Arguments of a call that cannot work, and what is said."""
    rng = np.random.default_rng(0)
    good = rows(rng, n=20)
    table = [{"a": i, "b": i % 3} for i in range(20)]
    return [
        ({"real": table, "generated": table, "kind": "table"}, "rows of a table"),
        ({"real": good, "generated": iter(good), "kind": "text"}, "can be read only once"),
        ({"real": [one["response"] for one in good], "generated": good}, "must have prompts"),
        ({"real": good, "generated": [*good, {"response": "aab"}], "broken": "stop"}, "no prompt"),
        ({"real": good, "generated": good, "prompt": 3}, "`prompt` must be"),
        ({"real": good, "generated": good, "protocol": "adm"}, "`prompt`"),
    ][number]


@pytest.mark.parametrize("number", range(6))
def test_mistakes_are_said_in_a_sentence(number):
    options, message = broken(number)
    with pytest.raises(InvalidInputError, match=message):
        evaluate(**{"prompt": "prompt", "encoder": counted, **FAST, **options})
