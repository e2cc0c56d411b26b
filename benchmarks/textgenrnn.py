"""A character model of titles with exact probabilities: textgenrnn 2.0.0, weights from its package.

The model reads the last 40 characters: an embedding, two LSTM layers, an average of all three over
positions with learned weights, and a softmax. Texts are drawn at a temperature, optionally among
the most probable characters only, up to a length. Their probability is known at every setting.
"""

from __future__ import annotations

import json
import tarfile
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks.datasets import fetch_package

if TYPE_CHECKING:
    import torch

CONTEXT, LONGEST = 40, 60
_START = "<s>"
_UNITS = 128


@dataclass(frozen=True)
class Knob:
    """How a character is drawn.

    Args:
        temperature: What log-probabilities are divided by.
        most: Number of the most probable characters among which it is drawn; all if 0.
    """

    temperature: float = 1.0
    most: int = 0

    def log_probabilities(self, logits: torch.Tensor) -> torch.Tensor:
        """Of every character, from scores of shape (n, characters)."""
        import torch

        scaled = logits / self.temperature
        if self.most:
            least = scaled.topk(self.most, dim=1).values[:, -1:]
            scaled = torch.where(scaled >= least, scaled, -torch.inf)
        return torch.log_softmax(scaled, dim=1)


class Drawn(NamedTuple):
    """Texts, and the log-probability of each character at several settings.

    Args:
        texts: The texts.
        log_probabilities: For each setting, shape (n, characters); 0 after the end of a text.
        lengths: Number of characters of each text, its end included.
    """

    texts: list[str]
    log_probabilities: list[np.ndarray]
    lengths: np.ndarray


def draw(count: int, knob: Knob, others: tuple[Knob, ...], seed: int) -> Drawn:
    """Texts at a setting, with their log-probabilities at it and at other settings."""
    import torch

    network, characters = _network(), _characters()
    generator = torch.Generator().manual_seed(seed)
    window = torch.zeros((count, CONTEXT), dtype=torch.long)
    window[:, -1] = end = characters.index(_START)
    open_, drawn, scores = torch.ones(count, dtype=torch.bool), [], []
    with torch.inference_mode():
        for _ in range(LONGEST):
            logits = torch.full((count, len(characters)), -torch.inf)
            logits[open_] = network(window[open_])
            logits[~open_, end] = 0.0
            logits[:, 0] = -torch.inf  # filling is no character
            own, *rest = (one.log_probabilities(logits) for one in (knob, *others))
            chosen = torch.multinomial(own.exp(), 1, generator=generator)
            scores.append([one.gather(1, chosen)[:, 0].numpy() for one in (own, *rest)])
            drawn.append(torch.where(open_, chosen[:, 0], 0).numpy())
            window = torch.cat((window[:, 1:], chosen), dim=1)
            open_ &= chosen[:, 0] != end
            if not open_.any():
                break
    codes = np.stack(drawn, axis=1)
    texts = ["".join(characters[i] for i in row if i not in (0, end)) for row in codes]
    columns = [np.stack([step[i] for step in scores], axis=1) for i in range(1 + len(others))]
    return Drawn(texts, columns, (codes > 0).sum(axis=1))


def log_ratio(drawn: Drawn, real: int, generated: int) -> np.ndarray:
    """Log p/q of texts, of which p and q are the settings with these numbers."""
    p, q = (drawn.log_probabilities[i].astype(float).sum(axis=1) for i in (real, generated))
    with np.errstate(invalid="ignore"):
        return np.where(np.isneginf(q), np.inf, p - q)


@cache
def _characters() -> list[str]:
    """Characters by their numbers; 0 fills the context."""
    numbers = json.loads(_member("textgenrnn_vocab.json"))
    return ["", *(sorted(numbers, key=lambda one: numbers[one]))]


@cache
def _network() -> torch.nn.Module:
    import io

    import h5py
    import torch

    arrays: dict[str, torch.Tensor] = {}
    with h5py.File(io.BytesIO(_member("textgenrnn_weights.hdf5"))) as file:

        def keep(name: str, item: object) -> None:
            if isinstance(item, h5py.Dataset):
                layer, _, part = name.rpartition("/")
                short = f"{layer.partition('/')[0]}.{part.partition(':')[0]}"
                arrays[short] = torch.from_numpy(np.asarray(item))

        file.visititems(keep)

    class Network(torch.nn.Module):
        """Scores of the next character, from numbers of characters of shape (n, context)."""

        def __init__(self) -> None:
            super().__init__()
            self.embed = torch.nn.Embedding.from_pretrained(arrays["embedding.embeddings"])
            self.layers = torch.nn.ModuleList(_lstm(arrays, f"rnn_{number}") for number in (1, 2))

        def forward(self, codes: torch.Tensor) -> torch.Tensor:
            found = [self.embed(codes)]
            for layer in self.layers:
                found.append(layer(found[-1])[0])
            together = torch.cat(found, dim=2)
            weight = torch.softmax(together @ arrays["attention.attention_W"], dim=1)
            return (together * weight).sum(1) @ arrays["output.kernel"] + arrays["output.bias"]

    return Network().eval()


def _lstm(arrays: dict[str, torch.Tensor], name: str) -> torch.nn.LSTM:
    """A layer from weights in the layout of CuDNN: gates side by side, transposed in memory."""
    import torch

    kernel, recurrent = arrays[f"{name}.kernel"], arrays[f"{name}.recurrent_kernel"]
    layer = torch.nn.LSTM(kernel.shape[0], _UNITS, batch_first=True)
    bias = arrays[f"{name}.bias"].reshape(2, -1)
    inputs = [gate.reshape(_UNITS, -1) for gate in kernel.split(_UNITS, dim=1)]
    states = recurrent.split(_UNITS, dim=1)
    with torch.no_grad():
        layer.weight_ih_l0.copy_(torch.cat(inputs))
        layer.weight_hh_l0.copy_(torch.cat(states))
        layer.bias_ih_l0.copy_(bias[0])
        layer.bias_hh_l0.copy_(bias[1])
    return layer


def _member(name: str) -> bytes:
    """A file of the package, which is not installed."""
    archive = fetch_package("textgenrnn==2.0.0", "textgenrnn-2.0.0.tar.gz")
    with tarfile.open(archive) as packed:
        member = packed.extractfile(f"textgenrnn-2.0.0/textgenrnn/{name}")
        assert member is not None
        return member.read()
