"""Probabilities of texts under small random language models, through the real loading code."""

import json
import shutil

import numpy as np
import pytest

from tradeoff import InvalidInputError
from tradeoff.data import Sample
from tradeoff.exceptions import UnavailableError, UnreadableError
from tradeoff.features import open_encoder
from tradeoff.features.surprisal import Surprisal

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
]

TEXTS = ["", "a", "A cat.", "the house of the dog " * 9, "\ud800 x", "日本語", "ab" * 8] * 6


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A causal model whose tokens are bytes, in the hub's own format; 48 tokens are its most."""
    import torch
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers

    root = tmp_path_factory.mktemp("models") / "bytes"
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {"<|end|>": 0} | {letter: i + 1 for i, letter in enumerate(letters)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="<|end|>"
    ).save_pretrained(root)
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=len(vocabulary),
        n_positions=48,
        n_embd=32,
        n_layer=2,
        n_head=2,
        bos_token_id=0,
        eos_token_id=0,
        initializer_range=0.5,
    )
    transformers.GPT2LMHeadModel(config).save_pretrained(root)
    return root


@pytest.fixture(scope="module")
def encoder(folder):
    return open_encoder(f"surprisal:{folder}", kind="text")


def features_of(encoder, contents):
    return encoder.embed([encoder.prepare(Sample(str(i), c)) for i, c in enumerate(contents)])


def column(name):
    return Surprisal.columns.index(name)


def test_shape_names_and_identity(encoder, folder):
    assert isinstance(encoder, Surprisal)
    assert encoder.name == "surprisal:bytes"
    assert encoder.preprocessing.endswith("version 1; texts cut at 48 tokens")
    assert len(encoder.weights) == 32
    found = features_of(encoder, TEXTS)
    assert found.shape == (len(TEXTS), len(encoder.columns))
    assert found.dtype == np.float32
    assert np.isfinite(found).all()
    assert Surprisal(str(folder), 20).preprocessing.endswith("cut at 20 tokens")


def test_features_depend_on_nothing_but_the_sample(encoder):
    whole = features_of(encoder, TEXTS)
    alone = np.concatenate([features_of(encoder, [text]) for text in TEXTS[:7]])
    np.testing.assert_array_equal(alone, whole[:7])
    np.testing.assert_array_equal(features_of(encoder, TEXTS[::-1])[::-1], whole)


def test_numbers_are_those_of_the_model(encoder, folder):
    import torch
    import transformers

    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    ids = torch.tensor([[0, *tokenizer("A cat.")["input_ids"]]])
    with torch.inference_mode():
        predicted = model(ids).logits[0, :-1].double().log_softmax(-1)
    chosen = predicted.gather(1, ids[0, 1:, None])
    entropy = -(predicted.exp() * predicted).sum(1)
    ranks = (predicted > chosen).sum(1) + 1
    (found,) = features_of(encoder, ["A cat."])
    expected = {
        "length: tokens": np.log1p(6),
        "length: characters": np.log1p(6),
        "log-probability: sum": chosen.sum().item(),
        "log-probability: mean of a character": chosen.mean().item(),
        "log-probability: 0% quantile": chosen.min().item(),
        "entropy: mean": entropy.mean().item(),
        "log-probability plus entropy: mean": (chosen[:, 0] + entropy).mean().item(),
        "log rank: largest": np.log(ranks.max().item()),
        "rank: 100 or less": (ranks <= 100).double().mean().item(),
    }
    for name, value in expected.items():
        assert found[column(name)] == pytest.approx(value, rel=1e-4, abs=1e-5), name


def test_only_the_beginning_of_a_long_text_is_read(encoder):
    long = "the house of the dog " * 9
    one, other = features_of(encoder, [long, long[:47] + "x" * (len(long) - 47)])
    np.testing.assert_array_equal(one, other)
    assert one[column("length: tokens")] == pytest.approx(np.log1p(47))
    assert one[column("length: characters")] == pytest.approx(np.log1p(len(long)))


def test_samples_of_a_lower_temperature_are_seen(encoder, folder):
    """The log-probability plus entropy is 0 in the mean of samples at temperature 1."""
    import torch
    import transformers

    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    name, means = column("log-probability plus entropy: mean"), []
    for temperature in (1.0, 0.7):
        torch.manual_seed(0)
        ids = torch.zeros((60, 1), dtype=torch.int64)
        with torch.inference_mode():
            for _ in range(40):
                logits = model(ids).logits[:, -1] / temperature
                logits[:, 0] = -torch.inf  # a text does not end
                ids = torch.cat([ids, torch.multinomial(logits.softmax(-1), 1)], dim=1)
        prepared = [encoder.prepare(Sample("", ""))._replace(ids=row) for row in ids.tolist()]
        means.append(encoder.embed(prepared)[:, name].mean())
    assert abs(means[0]) < 0.15
    assert means[1] > 0.3


def test_mixed_precision_is_named_and_close(encoder, folder):
    mixed = open_encoder(f"surprisal:{folder}", kind="text", dtype="bfloat16")
    assert mixed.preprocessing.endswith("in bfloat16")
    exact, close = (features_of(one, TEXTS[2:4]) for one in (encoder, mixed))
    name = column("log-probability: mean")
    np.testing.assert_allclose(exact[:, name], close[:, name], rtol=0.1)


def test_a_model_must_be_named():
    with pytest.raises(InvalidInputError, match="must be followed by a model: surprisal:MODEL"):
        open_encoder("surprisal", kind="text")
    with pytest.raises(InvalidInputError, match="embeds text samples"):
        open_encoder("surprisal:gpt2", kind="image")
    with pytest.raises(InvalidInputError, match="`longest` must be"):
        Surprisal("gpt2", 0)


def test_what_is_no_text_is_refused(encoder):
    with pytest.raises(UnreadableError, match="A text was expected"):
        features_of(encoder, [b"bytes"])


def test_a_model_that_sees_later_tokens_is_refused(folder, tmp_path):
    import transformers

    config = transformers.BertConfig(
        vocab_size=300,
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        initializer_range=0.5,
    )
    shutil.copytree(folder, tmp_path / "bert")
    transformers.BertForMaskedLM(config).save_pretrained(tmp_path / "bert")
    with pytest.raises(InvalidInputError, match="must be a causal language model"):
        features_of(Surprisal(str(tmp_path / "bert")), ["a cat"])


def test_damaged_and_hostile_models_are_refused(folder, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    fields = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps(fields | {"trust_remote_code": True}))
    with pytest.raises(InvalidInputError, match="must not bring code of its own"):
        features_of(Surprisal(str(copy)), ["a cat"])
    (copy / "config.json").write_text(json.dumps(fields | {"n_layer": 3}))
    with pytest.raises(InvalidInputError, match="must hold all weights of its network"):
        features_of(Surprisal(str(copy)), ["a cat"])
    (copy / "config.json").write_text("{")
    with pytest.raises(InvalidInputError, match="must be a model in the format of the hub"):
        features_of(Surprisal(str(copy)), ["a cat"])


def test_probabilities_that_are_not_numbers_are_refused(folder, tmp_path):
    import transformers

    shutil.copytree(folder, tmp_path / "nan")
    model = transformers.AutoModelForCausalLM.from_pretrained(folder)
    model.transformer.ln_f.weight.data.fill_(float("nan"))
    model.save_pretrained(tmp_path / "nan")
    with pytest.raises(InvalidInputError, match="must predict finite probabilities"):
        features_of(Surprisal(str(tmp_path / "nan")), ["a cat"])


def test_a_hub_out_of_reach_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(UnavailableError, match=r"Pass the folder of a copy\.$"):
        _ = Surprisal("gpt2").weights
