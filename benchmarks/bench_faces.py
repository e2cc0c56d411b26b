"""A GAN of faces that others trained: truncation by its latents, and rejection that undoes it.

The real side are faces of `gan-face-generate` (PyPI) itself, so what is lost by scaled latents is
known: the overlap of two Gaussians bounds that of the faces from below, and the mean square of a
latent tells how much of the truncation is left. Rejection keeps faces of latents scaled by 0.9 by a
discriminator that is trained on other faces; *exact* is the ratio of the latents. All rows are five
seeds of sampling, and changes are paired over seeds.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import joblib
import numpy as np

from benchmarks import drawn_faces
from benchmarks.bench_guidance import SEEDS, change, mean_row
from benchmarks.drawn_faces import CUT, EXACT, METHODS, PLAIN, TRUNCATIONS, WHOLE
from benchmarks.generators import face_overlap
from benchmarks.harness import Row, Summary, run

if TYPE_CHECKING:
    from collections.abc import Callable

KEYS = {"area": 1, "overlap": 1, "recall": 1, "k-NN recall": 1, "mean square of latents": 1}
TRUNCATED = {"area": -1, "recall": -1, "k-NN precision": 1, "k-NN recall": -1}
PAIRS = {
    **{(CUT, f"OBRS, K = {k}"): KEYS for k in (2, 4)},
    **{(f"{way}, K = {k}", f"OBRS, K = {k}"): KEYS for k in (2, 4) for way in ("DRS", "MH")},
    **{(f"OBRS, K = {k}", f"{EXACT}, K = {k}"): KEYS for k in (2, 4)},
    **{(PLAIN, cut): TRUNCATED for cut in TRUNCATIONS if cut != PLAIN},
}


def measured(setting: str, seed: int) -> Row:
    """Faces of a setting, judged."""
    found = drawn_faces.judged(setting, seed)
    if setting in TRUNCATIONS and setting != PLAIN:
        found["overlap of latents"] = face_overlap(TRUNCATIONS[setting])
    return found


def prepared() -> Row:
    """Faces of all seeds, drawn and embedded on all cores."""
    wanted = drawn_faces.wanted(SEEDS)
    joblib.Parallel(n_jobs=-1)(joblib.delayed(drawn_faces.faces)(*one) for one in wanted)
    return {"faces": int(np.sum([count for _, count, _ in wanted]))}


def cases() -> dict[str, Callable[[], Row] | Summary]:
    """All seeds and settings, then what follows from them."""
    settings = (*TRUNCATIONS, *METHODS)
    made: dict[str, Callable[[], Row] | Summary] = {"faces drawn": prepared}
    for seed in SEEDS:
        for setting in settings:
            made[f"faces, {setting}, seed {seed}"] = partial(measured, setting, seed)
    for setting in settings:
        made[f"faces, {setting}, mean"] = Summary(partial(mean_row, data="faces", setting=setting))
    for (before, after), signs in PAIRS.items():
        for key, sign in signs.items():
            made[f"faces, {before} to {after}: {key}"] = Summary(
                partial(change, data="faces", before=before, after=after, key=key, sign=sign)
            )
    return made


CASES = cases()

if __name__ == "__main__":
    run("faces", f"A published GAN of faces, N = {WHOLE:,}: truncation, and rejection", CASES)
