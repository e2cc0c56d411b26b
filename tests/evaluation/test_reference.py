"""Real data embedded once: the same numbers to the bit, and nothing that does not belong."""

import json
import re

import numpy as np
import pytest

from tests.cli.run import tradeoff
from tradeoff import InvalidInputError, compare, evaluate
from tradeoff.evaluation import Reference
from tradeoff.features import Function

pytest.importorskip("pyarrow")

RNG = np.random.default_rng(0)
REAL = RNG.normal(size=(300, 3)).astype(np.float32)
MADE = RNG.normal(0.4, 1.2, (280, 3)).astype(np.float32)
QUICK = {"estimator": "logistic", "progress": False}
LIGHT = QUICK | {"metrics": ("frechet", "copies")}  # which need no PyTorch
TEXTS = [f"{'rose ' * (i % 7)}number {i}" for i in range(60)]


class Counting:
    """An encoder of texts that counts the samples it embeds."""

    name, kind, preprocessing, weights = "counting", "text", "none", "1"

    def __init__(self, weights="1", preprocessing="none"):
        self.weights, self.preprocessing, self.embedded = weights, preprocessing, 0

    def prepare(self, sample):
        return sample.content

    def embed(self, prepared):
        self.embedded += len(prepared)
        return np.array([[len(text), text.count("o")] for text in prepared], float)


def assert_same(one, other):
    assert one.scores == other.scores
    for side in ("real", "generated"):
        ours, theirs = one.samples[side], other.samples[side]
        assert (ours.ids, ours.labels) == (theirs.ids, theirs.labels)
        for key, values in ours.values.items():
            np.testing.assert_array_equal(values, theirs.values[key])


@pytest.mark.slow
@pytest.mark.torch
def test_a_reference_gives_the_same_numbers_to_the_bit(tmp_path):
    plain = evaluate(real=REAL, generated=MADE, **QUICK)
    reference = Reference.make(REAL, progress=False)
    assert_same(evaluate(real=reference, generated=MADE, **QUICK), plain)
    reference.save(tmp_path / "ref")
    loaded = Reference.load(tmp_path / "ref")
    assert loaded.side.features.dtype == reference.side.features.dtype
    assert loaded.side.remembered("neighbors") is not None
    assert_same(evaluate(real=loaded, generated=MADE, **QUICK), plain)
    assert_same(evaluate(real=tmp_path / "ref", generated=MADE, **QUICK), plain)


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
def test_a_saved_reference_does_not_grant_trust(tmp_path):
    """Whoever wrote the folder would else choose a file whose loading can run any code."""
    torch = pytest.importorskip("torch")
    network = torch.jit.trace(torch.nn.Flatten(), torch.zeros(1, 3, 8, 8))
    network.save(tmp_path / "network.pt")
    images = np.random.default_rng(0).integers(0, 255, (20, 8, 8, 3)).astype(np.uint8)
    options = {"encoder": str(tmp_path / "network.pt"), "size": 8, "progress": False}
    Reference.make(images, trusted=True, **options).save(tmp_path / "ref")
    with pytest.raises(InvalidInputError, match="can run any code"):
        evaluate(real=tmp_path / "ref", generated=images, progress=False)


@pytest.mark.parametrize("kind", ["table", "text"])
def test_references_of_other_kinds_survive(tmp_path, kind):
    if kind == "table":
        real, made = (
            [{"a": float(i % 9 + shift), "b": "xyz"[i % 3]} for i in range(60)] for shift in (0, 2)
        )
        real[7] = {"a": 1.0}  # a column that not every row has
        made[3] = {"a": 2.0}
        options = {}
    else:
        real, made, options = TEXTS, TEXTS[10:50], {"encoder": Counting()}
    options |= QUICK | {"metrics": ("frechet", "copies")}
    plain = evaluate(real=real, generated=made, **options)
    encoder = {key: value for key, value in options.items() if key == "encoder"}
    Reference.make(real, progress=False, **encoder).save(tmp_path)
    assert_same(evaluate(real=Reference.load(tmp_path), generated=made, **options), plain)


@pytest.mark.parametrize(
    ("encoder", "message"),
    [
        (
            Counting(weights="2"),
            "The weights of the encoder must be that of the reference, 'counting: 1'",
        ),
        (Counting(preprocessing="lower"), "The preprocessing of the encoder must be that of"),
        (
            Function(lambda texts: [[len(t)] for t in texts], "length", "text", "1"),
            r"The name of the encoder must be that of the reference, 'counting \+ surface'",
        ),
    ],
)
def test_another_encoder_is_refused(tmp_path, encoder, message):
    Reference.make(TEXTS, encoder=Counting(), progress=False).save(tmp_path)
    with pytest.raises(InvalidInputError, match=message):
        evaluate(real=Reference.load(tmp_path), generated=TEXTS, encoder=encoder, **LIGHT)


@pytest.mark.parametrize("file", ["samples.parquet", "derived.npz", "reference.json"])
def test_damage_is_named(tmp_path, file):
    Reference.make(REAL, progress=False).save(tmp_path)
    content = bytearray((tmp_path / file).read_bytes())
    if file == "reference.json":
        content = content[: len(content) // 2]
    else:
        content[len(content) // 2] ^= 1
    (tmp_path / file).write_bytes(content)
    with pytest.raises(InvalidInputError, match=f"{file}` is damaged"):
        Reference.load(tmp_path)
    (tmp_path / file).unlink()
    with pytest.raises(InvalidInputError, match=rf"{file}` is damaged|No such file .*: {file}"):
        Reference.load(tmp_path)


def test_an_earlier_reference_is_replaced_only_if_asked(tmp_path):
    reference = Reference.make(REAL, progress=False)
    reference.save(tmp_path)
    with pytest.raises(InvalidInputError, match="exists already"):
        reference.save(tmp_path)
    reference.save(tmp_path, overwrite=True)


@pytest.mark.torch
def test_five_models_embed_the_real_side_once_and_find_its_neighbors_once(monkeypatch):
    from tradeoff.metrics.neighbors import baselines

    calls = []
    find = baselines.own_neighbors

    def counting(samples, **options):
        calls.append(len(samples))
        return find(samples, **options)

    monkeypatch.setattr(baselines, "own_neighbors", counting)
    encoder = Counting()
    models = {f"model {i}": TEXTS[i : i + 50] for i in range(5)}
    compare(real=TEXTS, generated=models, encoder=encoder, metrics=("knn", "frechet"), **QUICK)
    assert encoder.embedded == 60 + 5 * 50
    assert sorted(calls) == [51, 60]  # the real samples, and a part for the baseline of recall


@pytest.mark.parametrize(
    ("generated", "message"),
    [
        ("nowhere", "`nowhere` does not exist"),
        ([], "`generated` must hold samples, got none"),
        (np.zeros((40, 2)), "`generated` must hold text samples, like the real ones. Got features"),
    ],
)
def test_a_wrong_model_is_told_before_anything_is_embedded(generated, message):
    encoder = Counting()
    with pytest.raises(InvalidInputError, match=message):
        evaluate(real=TEXTS, generated=generated, encoder=encoder, **LIGHT)
    with pytest.raises(InvalidInputError, match=message.replace("`generated`", "`bad`")):
        compare(real=TEXTS, generated={"good": TEXTS, "bad": generated}, encoder=encoder, **LIGHT)
    assert encoder.embedded == 0


def test_an_empty_folder_is_told_before_anything_is_embedded(tmp_path):
    """It used to be reported only after the whole real side was embedded."""
    from PIL import Image

    for name in ("real", "generated"):
        (tmp_path / name).mkdir()
    Image.new("RGB", (8, 8)).save(tmp_path / "real" / "1.png")
    calls = []

    def encode(images):
        calls.append(len(images))
        return np.zeros((len(images), 2))

    with pytest.raises(InvalidInputError, match="must hold images"):
        evaluate(real=tmp_path / "real", generated=tmp_path / "generated", encoder=encode, **LIGHT)
    assert calls == []


@pytest.mark.torch
def test_the_command_line(tmp_path):
    for name, x in (("real", REAL), ("made", MADE)):
        np.save(tmp_path / f"{name}.npy", x)
    folder = tmp_path / "ref"
    made = tradeoff("reference", "make", "--real", tmp_path / "real.npy", "--out", folder)
    assert made.exit_code == 0
    assert made.stderr.startswith(f"Written: {folder} (")
    assert made.stdout == "300 real samples by identity, 3 columns, 0 broken\n"
    shown = tradeoff("reference", "show", folder).stdout
    assert "samples\t300 features" in shown
    assert "neighbors\tup to rank 6" in shown
    sources = ("--generated", tmp_path / "made.npy", "--metrics", "knn,frechet", "--json")
    with_reference = tradeoff("evaluate", "--real", folder, *sources)
    without = tradeoff("evaluate", "--real", tmp_path / "real.npy", *sources)
    one, other = (json.loads(done.stdout)["scores"] for done in (with_reference, without))
    assert one == other
    again = tradeoff("reference", "make", "--real", tmp_path / "real.npy", "--out", folder)
    assert (again.exit_code, again.stdout) == (2, "")
    inside = tradeoff("reference", "make", "--real", folder, "--out", folder, "--overwrite")
    assert inside.exit_code == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("budget", "--metrics", "nonsense"),
        ("budget", "--k", "77"),
        ("filter", "--folds", "7"),
        ("embed", "--level", "0.9"),
        ("reference", "make", "--protocol", "adm"),
    ],
)
def test_commands_have_no_option_that_they_ignore(arguments):
    done = tradeoff(*arguments)
    assert done.exit_code == 2
    assert re.search(f"has no option `{arguments[-2]}`", done.stderr)


def test_a_file_may_not_hold_what_a_command_ignores(tmp_path):
    np.save(tmp_path / "x.npy", REAL)
    config = tmp_path / "run.toml"
    config.write_text('real = "x.npy"\ngenerated = "x.npy"\nk = 7\n')
    done = tradeoff("budget", "--config", config)
    assert done.exit_code == 2
    assert "This command has no setting `k`: remove it from" in done.stderr


def test_a_function_is_recognized_or_refused(tmp_path):
    """Two functions of one name used to be taken for one, with silent wrong numbers."""

    def encoder_of(scale):
        def encode(texts):
            return [[scale * len(text), 1.0] for text in texts]

        return encode

    first, second = encoder_of(1.0), encoder_of(2.0)
    reference = Reference.make(TEXTS, encoder=first, progress=False)
    options = QUICK | {"metrics": "frechet"}
    same = evaluate(real=reference, generated=TEXTS, encoder=first, **options)
    assert same["frechet.distance"].value == pytest.approx(0.0, abs=1e-9)
    with pytest.raises(InvalidInputError, match="must be the very function"):
        evaluate(real=reference, generated=TEXTS, encoder=second, **options)
    with pytest.raises(InvalidInputError, match="wrap the function as Function"):
        reference.save(tmp_path)
    lengths = Function(first, "length", "text", "1")
    Reference.make(TEXTS, encoder=lengths, progress=False).save(tmp_path)
    loaded = Reference.load(tmp_path)
    assert loaded.settings.encoder == "length"
    assert evaluate(real=loaded, generated=TEXTS, encoder=lengths, **options).scores == same.scores


def test_a_file_of_a_whole_run_makes_a_reference(tmp_path):
    np.save(tmp_path / "x.npy", REAL)
    config = tmp_path / "run.toml"
    config.write_text('real = "x.npy"\ngenerated = "y.npy"\nseed = 3\n')
    made = tradeoff("reference", "make", "--config", config, "--out", tmp_path / "ref")
    assert made.exit_code == 0, made.stderr
    config.write_text('real = "x.npy"\nsede = 3\n')
    wrong = tradeoff("reference", "make", "--config", config, "--out", tmp_path / "other")
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    assert "Unknown setting `sede`" in wrong.stderr
