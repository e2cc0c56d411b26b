r"""From two samples to a held-out curve.

A log-ratio is fitted and calibrated on one part of the data and its errors are counted on the
other, rotating over folds until every sample has been held out once. The expectation of the
counted curve is never below the truth, whatever the estimator.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tradeoff._result import Result
from tradeoff._sides import Sides, by_name
from tradeoff._validation import FloatArray, check_seed
from tradeoff.core.held_out import HeldOutLogRatios
from tradeoff.core.profile import RatioProfile
from tradeoff.curves.counted import EstimatedCurve
from tradeoff.curves.folds import Split, cross_fit, place
from tradeoff.curves.repeats import Repeats
from tradeoff.exceptions import UndefinedError
from tradeoff.inference.paired import Counted
from tradeoff.provenance import software_versions
from tradeoff.ratio.registry import find_estimator
from tradeoff.ratio.stack import projected_columns, row_caps
from tradeoff.samples import Pair

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tradeoff.core.curve import PRCurve
    from tradeoff.curves.folds import Placed
    from tradeoff.ratio.base import Estimator

__all__ = ["CurveEstimate", "HeldOut", "estimate_curve", "pr_curve"]


@dataclass(frozen=True, eq=False, kw_only=True)
class HeldOut(Result):
    """Samples of one side as a curve was counted from them.

    Args:
        log_ratios: Held-out log p/q of every sample, shape (n,); NaN for samples that were never
            held out, in a single split.
        folds: Part of the data in which each sample is, shape (n,); 0 is the one that a single
            split holds out.
        groups: Number of the group of each sample, shape (n,); None if each sample is its own.
        training_log_ratios: In a single split, log p/q of samples of the training half by fits
            that have seen neither them nor the other half, shape (n,), NaN in the other half; None
            with several folds.

    Example:
        >>> import numpy as np
        >>> from tradeoff.curves.estimate import HeldOut
        >>> side = HeldOut(log_ratios=np.array([0.5, np.nan]), folds=np.array([0, 1]))
        >>> side.counted
        array([ True, False])
    """

    log_ratios: FloatArray
    folds: npt.NDArray[np.int64]
    groups: npt.NDArray[np.intp] | None = None
    training_log_ratios: FloatArray | None = None

    @property
    def counted(self) -> npt.NDArray[np.bool_]:
        """Whether each sample was held out, shape (n,)."""
        return ~np.isnan(self.log_ratios)

    def counting(
        self, rows: FloatArray, counted: npt.NDArray[np.bool_], scale: FloatArray | float = 1.0
    ) -> Counted:
        """Values of the counted samples with their folds and groups, see `Counted`."""
        groups = None if self.groups is None else self.groups[counted]
        return Counted(rows[counted], self.folds[counted], groups, scale)


@dataclass(frozen=True, eq=False, kw_only=True)
class CurveEstimate(EstimatedCurve):
    """An estimated precision-recall curve with what it was counted from.

    Args:
        raw: the curve as counted; its expectation is never below the truth.
        curve: the curve as shown, clipped at min(1, λ) and made monotone.
        real: Real samples with their held-out log-ratios.
        generated: Generated samples with theirs.
        provenance: estimator, folds, seed, sizes and versions.
        views: For samples with several views, the curve that each view alone shows, by its name.
        without: The curve that all other views show, by the name of the view that is left out.

    Example:
        >>> import numpy as np
        >>> from tradeoff import pr_curve
        >>> rng = np.random.default_rng(0)
        >>> estimate = pr_curve(
        ...     real=rng.normal(0, 1, (500, 2)),
        ...     generated=rng.normal(0, 1, (500, 2)),
        ...     estimator="logistic",
        ... )
        >>> estimate.real.log_ratios.shape, estimate.provenance["folds"]
        ((500,), 5)
    """

    _unsaved = ("views", "without")

    real: HeldOut
    generated: HeldOut
    views: Mapping[str, CurveEstimate] = field(default_factory=dict)
    without: Mapping[str, CurveEstimate] = field(default_factory=dict)

    @property
    def held_out(self) -> HeldOutLogRatios:
        """The held-out log-ratios of both sides, from which the curve was counted."""
        real, generated = (side.log_ratios[side.counted] for side in self.sides)
        return HeldOutLogRatios(real=real, generated=generated)

    @property
    def sides(self) -> Sides[HeldOut]:
        """Both sides."""
        return Sides(self.real, self.generated)

    @property
    def is_grouped(self) -> bool:
        """Whether samples of a side are counted in groups, or are copies."""
        repeats = self.provenance.get("repeats", {"assumed": "draws"})
        has_copies = repeats["assumed"] == "copies" and max(repeats["real"], repeats["generated"])
        return bool(has_copies) or any(side.groups is not None for side in self.sides)

    @property
    def groups(self) -> Sides[npt.NDArray[Any] | None]:
        """Group of each counted sample of both sides; None where all are independent."""
        return self.sides.map(
            lambda side: None if side.groups is None else side.groups[side.counted]
        )

    def certificate(self, *, level: float = 0.95) -> PRCurve:
        """An upper bound of the true curve that holds at all slopes at once.

        It can show that a model is bad, but not that it is good; see
        :func:`~tradeoff.inference.certify`. It requires a single split, `folds=1`, and
        independent samples.

        Args:
            level: Probability, at least, with which the true curve lies below the bound everywhere.
        """
        if self.provenance["folds"] != 1:
            raise UndefinedError(
                "A certificate must come from a single split, since rules of several folds depend "
                "on each other's samples: call pr_curve with folds=1."
            )
        return super().certificate(level=level)

    def plug_in_profile(self) -> RatioProfile:
        """The profile that trusts the held-out ratios, for frontiers and MAUVE.

        A sample weighs 1/(1 + r) among generated and r/(1 + r) among real ones. Unlike the curve
        and the divergences it has no guarantee.
        """
        log_ratios = self.held_out.log_ratios
        log_ratio = np.concatenate(log_ratios)
        weight = np.concatenate([np.full(side.size, 1.0 / side.size) for side in log_ratios])
        p, q = (weight / (1.0 + np.exp(sign * log_ratio)) for sign in (-1.0, 1.0))
        return RatioProfile.from_masses(p / p.sum(), q / q.sum())


@by_name
def pr_curve(
    *,
    real: npt.ArrayLike,
    generated: npt.ArrayLike,
    estimator: Estimator | str = "stack",
    folds: int = 5,
    seed: int = 0,
    repeats: str = "auto",
    real_groups: Sequence[object] | None = None,
    generated_groups: Sequence[object] | None = None,
    views: Mapping[str, int] | None = None,
    progress: bool = True,
) -> CurveEstimate:
    """Estimated precision-recall curve of two sets of samples, counted on held-out samples.

    Args:
        real: Features of real samples, shape (n, d).
        generated: Features of generated samples, shape (m, d).
        estimator: Estimator of log p/q, by name or as a configuration.
        folds: Number of cross-fitting folds, at least 3; 1 is a single split, one half for
            training and the other for counting.
        seed: Seed of the folds and of the estimator.
        repeats: What equal rows are: "copies" of one sample, kept together like a group, or
            independent "draws" of one value (categories, counts, rounded numbers), divided among
            folds. "auto" takes them for draws if at least half of the rows of each side repeat,
            and on one side at least a third of those repeat on the other side too.
        real_groups: Group of each real sample, kept together in one fold (frames of a video,
            augmentations of an image), length n; each distinct sample on its own if not given.
        generated_groups: The same for generated samples, length m.
        views: Number of columns of each view by name, in the order of the columns, if features of
            several encoders are joined side by side. A stack fits its members on each view.
        progress: Whether to show progress lines.

    Example:
        A model that never makes the second of two modes:

        >>> import numpy as np
        >>> from tradeoff import pr_curve
        >>> rng = np.random.default_rng(0)
        >>> real = rng.choice([-3.0, 3.0], (1000, 1)) + rng.normal(0, 1, (1000, 1))
        >>> generated = rng.normal(-3, 1, (1000, 1))
        >>> estimate = pr_curve(real=real, generated=generated, estimator="logistic")
        >>> {name: round(value, 1) for name, value in estimate.headline.items()}
        {'curve.precision': 1.0, 'curve.recall': 0.5, 'curve.overlap': 0.5}
    """
    pair = Pair.of(
        real=real,
        generated=generated,
        real_groups=real_groups,
        generated_groups=generated_groups,
        views=views,
    )
    return estimate_curve(
        pair, estimator=estimator, folds=folds, seed=seed, repeats=repeats, progress=progress
    )


def estimate_curve(
    pair: Pair,
    *,
    estimator: Any = "stack",
    folds: int = 5,
    seed: int = 0,
    repeats: str = "auto",
    every_pair: bool = True,
    jobs: int | None = None,
    progress: bool = True,
) -> CurveEstimate:
    """The curve of a pair; see `pr_curve`.

    Without `every_pair`, a stack too leaves out neighboring folds only: half of the fits, and a
    slightly higher curve.
    """
    model, seed = find_estimator(estimator), check_seed(seed)
    equal = Repeats.of(pair, repeats)
    if equal.are_draws:
        model = model.counting_values()
    split = Split.of(folds, every_pair=every_pair and model.combines)
    placed = place(pair, split, equal, seed=seed)
    fitted = cross_fit(model, placed, split, seed=seed, jobs=jobs, progress=progress)
    about: dict[str, Any] = {
        "measured": "precision-recall curve, errors of a held-out log-ratio",
        "estimator": repr(model),
        "folds": split.folds,
        "seed": seed,
        "samples": pair.sizes,
        "columns": pair.columns,
        "components": projected_columns(model, pair.columns),
        "row_caps": row_caps(model),
        "grouped": any(side.is_grouped for side in placed),
        "repeats": asdict(equal),
        "digest": pair.real.digest_for(seed),
        "versions": software_versions(),
    }
    if pair.views:
        about["views"] = {view.name: view.width for view in pair.views}
    found = {
        seen: _estimate(split, placed, log_ratios, provenance=about | {"seen": list(seen)})
        for seen, log_ratios in fitted.items()
    }
    names = next(iter(found))
    return replace(
        found[names],
        provenance=about,
        views={name: found[name,] for name in names},
        without={name: found[tuple(one for one in names if one != name)] for name in names},
    )


def _estimate(
    split: Split,
    placed: Sides[Placed],
    log_ratios: Sides[FloatArray],
    *,
    provenance: Mapping[str, Any],
) -> CurveEstimate:
    """The curve of held-out log-ratios."""
    real, generated = map(partial(_held_out, split), placed, log_ratios)
    counted = {
        "real": real.log_ratios[real.counted],
        "generated": generated.log_ratios[generated.counted],
    }
    raw = HeldOutLogRatios(**counted).curve()
    return CurveEstimate(
        raw=raw, curve=raw.clipped(), real=real, generated=generated, provenance=provenance
    )


def _held_out(split: Split, placed: Placed, log_ratios: FloatArray) -> HeldOut:
    folds = split.parts(placed.fold_keys)
    counted = np.isin(folds, split.held_out)
    return HeldOut(
        log_ratios=np.where(counted, log_ratios, np.nan),
        folds=folds,
        groups=placed.groups,
        training_log_ratios=None if counted.all() else np.where(counted, np.nan, log_ratios),
    )
