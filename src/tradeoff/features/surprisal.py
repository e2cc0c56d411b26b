r"""How probable a text is under a causal language model, token by token.

With :math:`\ell_t = \log p(x_t \mid x_{<t})` and the entropy :math:`H_t` of the same prediction,
the features are statistics of :math:`\ell_t`, :math:`H_t`, of :math:`\ell_t + H_t`, which is the
derivative of the log-likelihood by inverse temperature at 1, and of the ranks of the tokens.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from tradeoff._extras import import_extra
from tradeoff._validation import check_count
from tradeoff.exceptions import InvalidInputError, UnreadableError
from tradeoff.features.hub import HubModel
from tradeoff.features.hub_files import one_sentence, quietly
from tradeoff.features.network import in_batches
from tradeoff.features.trust import refuse_code

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from tradeoff.data.base import Kind, Sample

    Array = npt.NDArray[np.float32]

__all__ = ["Surprisal"]

_VERSION = 1
_SAFELY = {"local_files_only": True, "trust_remote_code": False}
_SHORTEST = 16
_TOKENS = 1024  # of a batch: predictions for each of them lie in memory together
_LEAST = -100.0  # a log-probability below it counts as this one
_QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95)
_RANKS = (1, 10, 100)
_ROUNDING = 1e-3  # of logarithms of ranks in single precision
_ROWS = 256  # predictions that are turned into probabilities together
_MOMENTS = ("mean", "deviation")
_COLUMNS = (
    "length: tokens",
    "length: characters",
    *(f"log-probability: {name}" for name in ("sum", "mean of a character", *_MOMENTS)),
    *(f"log-probability: {share:.0%} quantile" for share in _QUANTILES),
    "log-probability: first half minus second",
    *(f"entropy: {name}" for name in _MOMENTS),
    *(f"log-probability plus entropy: {name}" for name in ("scaled sum", *_MOMENTS)),
    *(f"log rank: {name}" for name in (*_MOMENTS, "largest")),
    *(f"rank: {most} or less" for most in _RANKS),
)


@dataclass(frozen=True)
class Surprisal(HubModel):
    """Probabilities, ranks and entropies of the tokens of a text under a causal language model.

    By name it is ``surprisal:MODEL``. Each token is predicted from the ones before it, the first
    from the token that begins or ends texts, if the tokenizer has one. Texts are padded to 16, 32,
    64 … tokens, in batches of a size that depends on nothing else, so that features do not depend
    on the other texts. Code that comes with a model is never run.

    Args:
        model: Id on the hub, or a folder.
        longest: Number of tokens at which a text is cut, if the model does not end before.
        device: Device of the network; "auto" is a GPU if there is one.
        dtype: Precision of products inside the network.

    Example:
        >>> from tradeoff.features import open_encoder
        >>> encoder = open_encoder("surprisal:HuggingFaceTB/SmolLM2-135M", kind="text")
        >>> encoder.name, encoder.model
        ('surprisal:HuggingFaceTB/SmolLM2-135M', 'HuggingFaceTB/SmolLM2-135M')
        >>> len(encoder.columns)
        24
    """

    kind: ClassVar[Kind] = "text"
    columns: ClassVar[tuple[str, ...]] = _COLUMNS
    longest: int = 1024

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("longest", self.longest)

    @property
    def name(self) -> str:
        """The word and the id, or the name of the folder."""
        return f"surprisal:{super().name}"

    @property
    def preprocessing(self) -> str:
        """In words, with the version of the definition."""
        return (
            f"statistics of token probabilities, version {_VERSION}; texts cut at "
            f"{self._most} tokens{self.in_precision}"
        )

    def prepare(self, sample: Sample) -> Tokens:
        """The tokens of a text."""
        if not isinstance(sample.content, str):
            raise UnreadableError("A text was expected.")
        # Tokenizers stop at lone surrogates, which are not characters.
        text = sample.content.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        with one_sentence(self._fails):
            tokenizer = self._tokenizer
            found = list(tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])
            first = tokenizer.bos_token_id
            first = tokenizer.eos_token_id if first is None else first
            start = [] if first is None else [first]
            kept = (start + found)[: self._most]
        share = (len(kept) - len(start)) / max(len(found), 1)
        return Tokens(kept, len(text), share * len(text))

    def embed(self, prepared: Sequence[Tokens]) -> Array:
        """Features of prepared texts, shape (n, d)."""
        lengths = [max(len(tokens.ids), _SHORTEST) for tokens in prepared]
        sizes = np.array([min(1 << (length - 1).bit_length(), self._most) for length in lengths])
        rows = np.empty((len(prepared), len(_COLUMNS)), np.float32)
        with one_sentence(self._fails):
            for size in np.unique(sizes).tolist():
                chosen = np.flatnonzero(sizes == size).tolist()
                texts = [prepared[i] for i in chosen]
                rows[chosen] = in_batches(partial(self._run, size), texts, max(1, _TOKENS // size))
        if not np.isfinite(rows).all():
            raise InvalidInputError(
                f"`{self.name}` must predict finite probabilities. Got NaN: check the files of the "
                "model, or use float32."
            )
        return rows

    def _run(self, size: int, texts: Sequence[Tokens]) -> Array:
        """Features of texts, filled up to a number of tokens that no earlier one looks at."""
        import torch

        ids = torch.zeros((len(texts), size), dtype=torch.int64)
        for row, text in zip(ids, texts, strict=True):
            row[: len(text.ids)] = torch.tensor(text.ids, dtype=torch.int64)
        ids = ids.to(self.torch_device)
        # Libraries choose algorithms by the mask, so it is the same for every batch.
        with self.running():
            logits = self._network(input_ids=ids, attention_mask=torch.ones_like(ids)).logits
            scores = [
                torch.cat(list(map(_scores, values.split(_ROWS), tokens[1:].split(_ROWS))), dim=1)
                for values, tokens in zip(logits[:, :-1], ids, strict=True)
            ]
        found = [values.cpu().numpy().astype(np.float64) for values in scores]
        return np.stack([_statistics(text, x) for text, x in zip(texts, found, strict=True)])

    @cached_property
    def _most(self) -> int:
        """Tokens that are read, the one that begins a text included."""
        context = getattr(self._config, "max_position_embeddings", None)
        return min(self.longest, context) if isinstance(context, int) else self.longest

    @cached_property
    def _config(self) -> Any:
        with self._reading() as package:
            return package.AutoConfig.from_pretrained(self._folder, **_SAFELY)

    @cached_property
    def _tokenizer(self) -> Any:
        with self._reading() as package:
            return package.AutoTokenizer.from_pretrained(self._folder, **_SAFELY)

    @contextmanager
    def _reading(self) -> Iterator[Any]:
        """The library that reads what is needed before the network is."""
        package = import_extra("transformers", extra="hub", purpose="A language model")
        with quietly(), one_sentence(f"`{self.name}` must be a model in the format of the hub"):
            refuse_code(self.name, self._folder)
            yield package

    def _load(self) -> Any:
        import torch

        package = import_extra("transformers", extra="hub", purpose="A language model")
        network, loading = package.AutoModelForCausalLM.from_pretrained(
            self._folder, **_SAFELY, output_loading_info=True
        )
        missing = loading["missing_keys"]
        if missing:
            raise InvalidInputError(
                f"`{self.name}` must hold all weights of its network. "
                f"{len(missing)} are missing, {min(missing)} among them."
            )
        network = network.eval().to(self.torch_device)
        ids = torch.zeros((2, 4), dtype=torch.int64, device=self.torch_device)
        ids[1, -1] = 1
        with torch.inference_mode():
            first, second = network(input_ids=ids).logits[:, 0].float()
        if not torch.allclose(first, second, rtol=1e-3, atol=1e-3, equal_nan=True):
            raise InvalidInputError(
                f"`{self.name}` must be a causal language model. Its predictions depend on later "
                "tokens: choose a model that generates text."
            )
        return network


class Tokens(NamedTuple):
    """A text as a language model reads it.

    Args:
        ids: Numbers of the tokens, after the one that begins a text.
        characters: Number of characters of the text.
        read: Number of characters of the tokens, about, if the text was cut.

    Example:
        >>> from tradeoff.features.surprisal import Tokens
        >>> Tokens([0, 31, 7], characters=9, read=9.0).ids
        [0, 31, 7]
    """

    ids: list[int]
    characters: int
    read: float


def _scores(logits: Any, tokens: Any) -> Any:
    """Log-probability and log rank of tokens, and entropy of their predictions, shape (3, n)."""
    import torch

    predicted = logits.float().log_softmax(-1)
    found = predicted.gather(-1, tokens[:, None])
    ranks = (predicted > found).sum(-1) + 1
    entropy = torch.special.entr(predicted.exp()).sum(-1)
    return torch.stack([found[:, 0], ranks.float().log(), entropy])


def _statistics(text: Tokens, scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The features of a text; all but its length are 0 if no token is predicted."""
    number = max(len(text.ids) - 1, 0)
    lengths = np.log1p([number, text.characters])
    if number == 0:
        return np.concatenate((lengths, np.zeros(len(_COLUMNS) - 2)))
    log_probability, log_rank, entropy = scores[:, :number]
    log_probability = np.maximum(log_probability, _LEAST)
    typical = log_probability + entropy
    first, second = np.array_split(log_probability, [(number + 1) // 2])
    return np.array(
        [
            *lengths,
            log_probability.sum(),
            log_probability.sum() / max(text.read, 1.0),
            *_moments(log_probability),
            *np.quantile(log_probability, _QUANTILES),
            first.mean() - second.mean() if second.size else 0.0,
            *_moments(entropy),
            typical.sum() / np.sqrt(number),
            *_moments(typical),
            *_moments(log_rank),
            log_rank.max(),
            *((log_rank <= np.log(most) + _ROUNDING).mean() for most in _RANKS),
        ]
    )


def _moments(values: npt.NDArray[np.float64]) -> tuple[np.float64, np.float64]:
    return values.mean(), values.std()
