"""A flow of images is sampled until two questions are answered, instead of 50,000 times.

Is its precision at λ = 1 above a bar? And is it better at temperature 1, 0.8 or 0.6? The rules are
fitted on the first samples, which are not counted; all test images are the real side.

    python -m examples.stop_early --output stop-early.png
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from examples.fashion_tuning import QUICK, Size, begin
from examples.parts.fashion import features_of, load_fashion, train_classifier
from examples.parts.style import neutral
from tradeoff import Above, Best, decide
from tradeoff.report import DecisionDisplay
from tradeoff.sequential import Decision

CUSTOMARY = 50_000
BAR = 0.7
TEMPERATURES = (1.0, 0.8, 0.6)


def samplers(size: Size, seed: int) -> tuple[np.ndarray, dict[str, Callable[[int], np.ndarray]]]:
    """Features of real images, and functions that return those of n generated ones."""
    data = load_fashion()
    autoencoder, _, start = begin(data, size, seed)
    features = features_of(
        train_classifier(data.train, data.train_labels, steps=size.classifier, seed=seed)
    )

    def at(temperature: float) -> Callable[[int], np.ndarray]:
        @torch.inference_mode()
        def sample(n: int) -> np.ndarray:
            return features(autoencoder.decode(start.flow.sample(n, temperature)))

        return sample

    real = features(autoencoder.decode(autoencoder.encode(data.test)))
    return real, {f"T = {value:g}": at(value) for value in TEMPERATURES}


def ask(size: Size, *, seed: int = 0, progress: bool = True) -> dict[str, Decision]:
    """Both questions, with what the answers took."""
    real, models = samplers(size, seed)
    torch.manual_seed(seed)
    options = {
        "real": real,
        "estimator": "kernel-logistic",
        "every": 50,
        "seed": seed,
        "progress": progress,
    }
    begun = time.perf_counter()
    found = {
        "bar": decide(generated=models["T = 1"], goal=Above("precision", BAR, lam=1.0), **options),
        "best": decide(generated=models, goal=Best("precision", lam=1.0), **options),
    }
    taken = time.perf_counter() - begun
    used = sum(sum(decision.samples.values()) for decision in found.values())
    for decision in found.values():
        print(decision)
    whole = CUSTOMARY * sum(len(decision.samples) for decision in found.values())
    print(f"{used:,} samples instead of {whole:,}, {taken:.0f} seconds in all.")
    return found


def picture(decision: Decision) -> Figure:
    """What was known after every look."""
    figure, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
    DecisionDisplay(decision).plot(ax=ax)
    return figure


def main() -> None:
    """Print the answers and draw the picture of the first one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("stop-early.png"))
    parser.add_argument("--quick", action="store_true", help="a short training")
    options = parser.parse_args()
    found = ask(QUICK if options.quick else Size(), progress=False)
    with neutral():
        picture(found["bar"]).savefig(options.output, dpi=130)


if __name__ == "__main__":
    main()
