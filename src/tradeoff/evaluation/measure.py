"""Every family of metrics on two matrices of features: scores, and values of single samples."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from tradeoff.core.headline import HEADLINE_PRECISION_LAM, HEADLINE_RECALL_LAM
from tradeoff.evaluation.keys import KEYS, NEIGHBOR_METRICS
from tradeoff.evaluation.score import Score
from tradeoff.exceptions import UndefinedError
from tradeoff.inference.shares import wilson_distances
from tradeoff.moments import frechet_distance, kernel_distance
from tradeoff.neighbors import support_metrics
from tradeoff.protocols import reproduce
from tradeoff.ratio.diagnosis import FEWEST_SAMPLES, diagnose
from tradeoff.ratio.estimate import pr_curve
from tradeoff.ratio.folds import content_halves, content_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from tradeoff._validation import FloatArray
    from tradeoff.core.curve import PRCurve
    from tradeoff.ratio.diagnosis import Diagnosis
    from tradeoff.ratio.estimate import CurveEstimate
    from tradeoff.settings import Settings

__all__ = ["Measured", "measure"]

_SUBSET = 1000
_FEWEST_GROUPS = 20
_COVER = 3  # neighbors that PR-cover reaches, in multiples of k


@dataclass
class Measured:
    """What was measured: scores, values of single samples, and what the curve is worth."""

    scores: dict[str, Score] = field(default_factory=dict)
    real: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    generated: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    provenance: dict[str, Any] = field(default_factory=dict)
    curve: PRCurve | None = None
    estimate: CurveEstimate | None = None
    diagnosis: Diagnosis | None = None
    certificate: PRCurve | None = None
    has_few_values: bool = False

    @property
    def comparable(self) -> CurveEstimate | None:
        """The estimate, unless it rests on too few distinct samples to have an error."""
        return None if self.has_few_values else self.estimate


def measure(
    real: npt.NDArray[Any],
    generated: npt.NDArray[Any],
    keys: Sequence[str],
    settings: Settings,
    *,
    progress: bool,
) -> Measured:
    """Everything that was asked for, on features of shape (n, d) and (m, d)."""
    meter = _Meter(real, generated, settings, progress)
    if settings.protocol is not None:
        meter.protocol(settings.protocol)
        return meter.found
    families: dict[tuple[str, ...], Callable[[Sequence[str]], None]] = {
        ("curve",): meter.curve,
        ("knn", "clipped", "cover"): meter.neighbors,
        ("frechet",): meter.frechet,
        ("kernel",): meter.kernel,
        ("copies",): meter.copies,
    }
    for family, run in families.items():
        if wanted := [key for key in keys if key.partition(".")[0] in family]:
            run(wanted)
    meter.found.scores = {key: meter.found.scores[key] for key in keys}
    return meter.found


class _Meter:
    def __init__(
        self,
        real: npt.NDArray[Any],
        generated: npt.NDArray[Any],
        settings: Settings,
        progress: bool,
    ) -> None:
        self.real, self.generated = real, generated
        self.settings, self.progress = settings, progress
        self.found = Measured()

    @cached_property
    def halves(self) -> tuple[FloatArray, FloatArray]:
        """Real against real: what a perfect model would be worth at that size."""
        half, rest = content_halves(np.asarray(self.real, np.float64), self.settings.seed)
        return half, rest

    def protocol(self, name: str) -> None:
        result = reproduce(
            name,
            real=self.real,
            generated=self.generated,
            seed=self.settings.seed,
            progress=self.progress,
        )
        self.found.scores = {key: Score(value=value) for key, value in result.scores.items()}
        self.found.curve = result.curve
        self.found.provenance["recipe"] = dict(result.provenance)

    def curve(self, keys: Sequence[str]) -> None:
        found, settings = self.found, self.settings
        options: dict[str, Any] = {
            "real": self.real,
            "generated": self.generated,
            "estimator": settings.estimator,
            "seed": settings.seed,
            "progress": self.progress,
        }
        (real_groups, few_real), (generated_groups, few_generated) = (
            _copies_of(side) for side in (self.real, self.generated)
        )
        found.has_few_values = few_real or few_generated
        estimate = found.estimate = pr_curve(
            folds=settings.folds,
            real_groups=real_groups,
            generated_groups=generated_groups,
            **options,
        )
        band = estimate.with_band(level=settings.level)
        found.curve = None if found.has_few_values else band
        enough = min(len(self.real), len(self.generated)) >= FEWEST_SAMPLES
        if settings.diagnose and enough and not found.has_few_values:
            found.diagnosis = diagnose(folds=settings.folds, **options)
            if real_groups is None and generated_groups is None:  # it counts independent samples
                single = pr_curve(folds=1, **options)
                found.certificate = single.certificate(miss=1.0 - settings.level)
        ceiling = None if found.diagnosis is None else found.diagnosis.ceiling.curve
        for key in keys:
            score = _curve_score(key, estimate, band, ceiling, settings.level)
            found.scores[key] = replace(score, low=0.0, high=1.0) if found.has_few_values else score
        found.real |= {"log_ratio": estimate.real_log_ratios, "fold": estimate.real_folds}
        found.generated |= {
            "log_ratio": estimate.generated_log_ratios,
            "fold": estimate.generated_folds,
        }
        found.provenance["curve"] = dict(estimate.provenance)

    def neighbors(self, keys: Sequence[str]) -> None:
        found = self.found
        metrics = [NEIGHBOR_METRICS[key] for key in keys]
        options: dict[str, Any] = {
            "k": self.settings.k,
            "metrics": metrics,
            "progress": self.progress,
        }
        result = support_metrics(real=self.real, generated=self.generated, **options)
        half, rest = self.halves
        ranks = self.settings.k * (_COVER if any("cover_" in name for name in metrics) else 1)
        perfect = (
            support_metrics(real=half, generated=rest, **options) if len(rest) > ranks + 1 else None
        )
        for key, name in zip(keys, metrics, strict=True):
            score = result[name]
            limits: tuple[float | None, float | None] = (None, None)
            with contextlib.suppress(UndefinedError):
                limits = score.interval(self.settings.level)
            expected = score.expected
            if expected is None and perfect is not None:
                expected = perfect[name].value
            found.scores[key] = Score(
                value=score.value, low=limits[0], high=limits[1], expected=expected
            )
            side = found.real if KEYS[key].side == "real" else found.generated
            side[key] = score.samples
        if result.nearest_index is not None and result.nearest_distance is not None:
            found.generated["nearest_real"] = result.nearest_index
            found.generated["nearest_distance"] = result.nearest_distance
        found.provenance["knn"] = dict(result.provenance)

    def frechet(self, keys: Sequence[str]) -> None:
        half, rest = self.halves
        self.found.scores["frechet.distance"] = Score(
            value=frechet_distance(real=self.real, generated=self.generated),
            expected=frechet_distance(real=half, generated=rest) if len(rest) > 1 else None,
        )

    def kernel(self, keys: Sequence[str]) -> None:
        values = [
            kernel_distance(
                real=one,
                generated=other,
                subset_size=min(_SUBSET, len(one), len(other)),
                seed=self.settings.seed,
                progress=self.progress,
            ).mean
            for one, other in ((self.real, self.generated), self.halves)
            if len(other) > 1
        ]
        self.found.scores["kernel.distance"] = Score(
            value=values[0], expected=values[1] if len(values) > 1 else None
        )

    def copies(self, keys: Sequence[str]) -> None:
        """Shares of samples with the same features, and what they are among real samples.

        A real sample looks for its copy among the other real ones; repeats are counted among as
        many samples of each side, since their share grows with the number of samples.
        """
        real, made = (
            content_keys(np.asarray(side, np.float64), seed=0)
            for side in (self.real, self.generated)
        )
        _, place, counts = np.unique(real, return_inverse=True, return_counts=True)
        of_real, within = np.isin(made, real), _is_repeated(made)
        size = min(real.size, made.size)
        rng = np.random.default_rng(self.settings.seed)
        alike, perfect = (side[rng.permutation(side.size)[:size]] for side in (made, real))
        repeated = _is_repeated(alike).mean()
        share = of_real.mean()
        z = float(ndtri(0.5 + 0.5 * self.settings.level))
        below, above = wilson_distances(share, np.array(float(made.size)), z)
        error = z * _error_of_repeats(alike)
        known, usual = float((counts[place] > 1).mean()), float(_is_repeated(perfect).mean())
        scores = {
            "copies.of_real": Score(
                value=float(share),
                low=float(max(share - below, 0.0)),
                high=float(min(share + above, 1.0)),
                expected=known,
                # A pair of copies counts twice, hence the root of 2.
                expected_high=known + z * float(np.sqrt(2 * known * (1 - known) / real.size)),
            ),
            "copies.within": Score(
                value=float(repeated),
                low=float(max(repeated - error, 0.0)),
                high=float(min(repeated + error, 1.0)),
                expected=usual,
                expected_high=usual + z * _error_of_repeats(perfect),
            ),
        }
        values = {"copies.of_real": of_real, "copies.within": within}
        self.found.scores |= {key: scores[key] for key in keys}
        self.found.generated |= {key: values[key] for key in keys}


def _curve_score(
    key: str, estimate: CurveEstimate, band: PRCurve, ceiling: PRCurve | None, level: float
) -> Score:
    """Precision and recall have intervals of their own; of the rest, the ends of the band."""
    if key in ("curve.area", "curve.f_score"):
        value, low, high, expected = (
            None if curve is None else curve.area if key == "curve.area" else curve.f_score(1.0)
            for curve in (band, band.lower, band.upper, ceiling)
        )
    else:
        name = key.partition(".")[2]
        lam = HEADLINE_PRECISION_LAM if name == "precision" else HEADLINE_RECALL_LAM
        low, high = getattr(estimate.interval([lam], level=level), name)[0]
        value, expected = (
            None if curve is None else getattr(curve, name)(lam) for curve in (band, ceiling)
        )
    low, high = (None if limit is None else min(float(limit), 1.0) for limit in (low, high))
    return Score(value=float(value or 0.0), low=low, high=high, expected=expected)


def _copies_of(x: npt.NDArray[Any]) -> tuple[Sequence[object] | None, bool]:
    """Copies as groups, so that intervals do not take them for independent samples.

    And whether they are too few distinct samples for that: copies stay in one fold, so a few values
    that repeat are as many samples, and no more.
    """
    keys = content_keys(np.asarray(x, np.float64), seed=0)
    distinct = np.unique(keys).size
    few = distinct < min(FEWEST_SAMPLES, 0.5 * keys.size)
    grouped = _FEWEST_GROUPS <= distinct < keys.size and not few
    return (keys.tolist() if grouped else None), few


def _is_repeated(keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
    """Whether each key has come before."""
    repeated = np.ones(keys.size, bool)
    repeated[np.unique(keys, return_index=True)[1]] = False
    return repeated


def _error_of_repeats(keys: npt.NDArray[np.uint64]) -> float:
    """Standard error of the share of repeats, at most, by Efron and Stein.

    Leaving out a sample changes the number of distinct ones by 1 if it is single, and the number
    of repeats by 1 if it is not: the variance of both, which is one, is at most either number.
    """
    _, counts = np.unique(keys, return_counts=True)
    single = int((counts == 1).sum())
    return float(np.sqrt(min(single, keys.size - single) + 1.0) / keys.size)
