"""A GAN of MNIST that others trained and published with its discriminator.

Its files are read for a record and never kept in this repository. They are in the folder
`mnist_gan_mlp/weights` of the public GitHub repository named here; put both into
`benchmarks/cache/gan-vae-pretrained-pytorch`.
"""

from __future__ import annotations

import hashlib
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import nn

from benchmarks.datasets import CACHE

REPOSITORY = "csinva/gan-vae-pretrained-pytorch"
COMMIT = "9b6401e122fa186a3a57f97c5df57e3603121fba"
FILES = {
    "G--300.ckpt": "3163c6503c144d35fe44bb0247bbc61cd8e49c50ea3d84c1b7c080dc18fbf84c",
    "D--300.ckpt": "5ccc1cee6b036477a4f4c5f789f370b4ed9405dba5a16298291d355f6d50836a",
}
"""SHA-256 of both files at this commit."""
FOLDER = CACHE / "gan-vae-pretrained-pytorch"
LATENTS, _HIDDEN, _PIXELS = 64, 256, 784


class PublishedGAN(NamedTuple):
    """Both networks, on images of 784 pixels between -1 and 1.

    Args:
        generator: From latents of shape (n, 64) to images of shape (n, 784).
        discriminator: From images to outputs of shape (n, 1), before the sigmoid.
    """

    generator: nn.Module
    discriminator: nn.Module

    @torch.inference_mode()
    def draw(self, n: int, scale: float = 1.0) -> torch.Tensor:
        """Images of n latents of this standard deviation, from PyTorch's global generator."""
        found: torch.Tensor = self.generator(scale * torch.randn(n, LATENTS))
        return found


def digits_gan() -> PublishedGAN:
    """The published networks; raises OSError if a file is missing or another one."""
    generator = _layers((LATENTS, _HIDDEN, _HIDDEN, _PIXELS), nn.ReLU(), nn.Tanh())
    discriminator = _layers((_PIXELS, _HIDDEN, _HIDDEN, 1), nn.LeakyReLU(0.2))
    for network, name in zip((generator, discriminator), FILES, strict=True):
        network.load_state_dict(_weights(name))
    return PublishedGAN(generator.eval(), discriminator.eval())


def _layers(widths: tuple[int, ...], between: nn.Module, *last: nn.Module) -> nn.Sequential:
    first, *rest = (nn.Linear(a, b) for a, b in pairwise(widths))
    return nn.Sequential(first, *(layer for one in rest for layer in (between, one)), *last)


def _weights(name: str) -> dict[str, torch.Tensor]:
    path = FOLDER / name
    if not path.exists():
        raise FileNotFoundError(
            f"{path} is missing. It is a file of the GitHub repository {REPOSITORY} at commit "
            f"{COMMIT}, folder mnist_gan_mlp/weights."
        )
    if hashlib.sha256(path.read_bytes()).hexdigest() != FILES[name]:
        raise OSError(f"{path} is not the file of commit {COMMIT}: its SHA-256 is another one.")
    kept: dict[str, torch.Tensor] = torch.load(path, weights_only=True, map_location="cpu")
    return kept
