"""Choose the guidance scale of a diffusion pipeline by measurement.

The pipeline is a diffusion transformer with two small layers and random weights, so that the
example takes seconds and downloads nothing. The "real" images are its own at a guidance scale of 2,
and so the right answer is known. With a trained pipeline, replace `tiny_pipeline` by
`DiTPipeline.from_pretrained`, give images of your data as `real`, and name an encoder.

    python -m examples.diffusion_guidance --output guidance.png
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

import numpy as np

from tradeoff import Best, sweep
from tradeoff.report import SweepDisplay

if TYPE_CHECKING:
    from collections.abc import Callable

    from tradeoff.comparison import Sweep

SCALES = (1.0, 2.0, 4.0)
RIGHT = 2.0
CLASSES = 100
BATCH = 100
STEPS = 4


def tiny_pipeline() -> Any:
    """A pipeline that turns classes into images of 16 × 16 pixels."""
    import torch
    from diffusers import AutoencoderKL, DDIMScheduler, DiTPipeline, DiTTransformer2DModel

    torch.manual_seed(0)
    transformer = DiTTransformer2DModel(
        num_attention_heads=2,
        attention_head_dim=8,
        in_channels=4,
        out_channels=8,
        num_layers=2,
        sample_size=8,
        num_embeds_ada_norm=1000,
        norm_type="ada_norm_zero",
    )
    decoder = AutoencoderKL(
        block_out_channels=(8, 8),
        down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2,
        norm_num_groups=4,
    )
    pipeline = DiTPipeline(transformer=transformer, vae=decoder, scheduler=DDIMScheduler())
    pipeline.set_progress_bar_config(disable=True)
    return pipeline


def guided(pipeline: Any, seed: int) -> Callable[[float, int], np.ndarray]:
    """The function that `sweep` calls: images of a guidance scale, the same noise for each."""
    import torch

    def generate(scale: float, n: int) -> np.ndarray:
        noise = torch.Generator().manual_seed(seed)
        batches = []
        for start in range(0, n, BATCH):
            labels = [i % CLASSES for i in range(start, min(start + BATCH, n))]
            made = pipeline(
                class_labels=labels,
                guidance_scale=scale,
                num_inference_steps=STEPS,
                generator=noise,
                output_type="np",
            )
            batches.append(made.images)
        return blocks(np.concatenate(batches))

    return generate


def blocks(images: np.ndarray) -> np.ndarray:
    """Mean colors of 16 parts of each image: features of images without content."""
    n, height, width, colors = images.shape
    parts = images.reshape(n, 4, height // 4, 4, width // 4, colors)
    return parts.mean(axis=(2, 4)).reshape(n, -1)


def choose(n: int = 1000, *, progress: bool = True) -> Sweep:
    """Sweep over the guidance scale."""
    pipeline = tiny_pipeline()
    return sweep(
        real=guided(pipeline, seed=1)(RIGHT, n),
        generate=guided(pipeline, seed=2),
        values=SCALES,
        n=n,
        goal=Best("f_score"),
        progress=progress,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="with fewer images")
    parser.add_argument("--output", default="guidance.png", help="picture of the path")
    given = parser.parse_args()
    found = choose(300 if given.quick else 1000)
    print(found)
    SweepDisplay(found).plot().figure_.savefig(given.output, dpi=150)
