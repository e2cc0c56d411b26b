"""Several models against one reference: which is better, and can this many samples tell?"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from scipy.special import ndtri

from tradeoff._codec import write_document
from tradeoff._files import check_local, check_outputs, replacing_files
from tradeoff._progress import whole_run
from tradeoff._registry import resolve, suggestion
from tradeoff._result import Result
from tradeoff.comparison.curves import compare_curves
from tradeoff.curves.estimate import CurveEstimate
from tradeoff.curves.folds import check_enough
from tradeoff.curves.repeats import check_distinct
from tradeoff.data.open import samples_of
from tradeoff.embedding.sources import open_generated
from tradeoff.evaluation.pipeline import measuring_steps, open_both
from tradeoff.evaluation.result import (
    Evaluation,
    Paged,
    also_written,
    evaluation_files,
    read_saved,
)
from tradeoff.exceptions import InvalidInputError
from tradeoff.settings import Keywords, Settings, with_keywords

__all__ = ["Comparison", "Difference", "compare", "load"]

_COMPARED = {
    "curve.overlap": "a larger overlap",
    "curve.f_score": "a higher F-score",
    "curve.area": "a larger area",
}
"""What is tested, in the order in which it is told: a model's precision and recall are read at its
own balanced slope, so they are shown side by side and not ranked."""
_SHOWN = 0.005  # what two digits show


@dataclass(frozen=True, kw_only=True)
class Difference(Result):
    """A difference between two models in one score, first minus second, paired on real samples.

    Args:
        first: Name of a model.
        second: Name of the other.
        key: Key of the score.
        value: The difference.
        low: Lower limit of the difference; all intervals of a comparison cover together.
        high: Upper limit of the difference.
        p_value: P-value of the hypothesis of no difference, corrected for all comparisons (Holm).
        resolvable: Smallest difference that would be found with probability 0.9 after that
            correction.

    Example:
        >>> from tradeoff.comparison.models import Difference
        >>> found = Difference(
        ...     first="A", second="B", key="curve.overlap",
        ...     value=0.2, low=0.1, high=0.3, p_value=1e-4, resolvable=0.16,
        ... )
        >>> found.value
        0.2
    """

    first: str
    second: str
    key: str
    value: float
    low: float
    high: float
    p_value: float
    resolvable: float


@dataclass(frozen=True, eq=False)
class Comparison(Paged, Result):
    """Models that were measured against the same real samples.

    Args:
        evaluations: Evaluation of each model, by name.
        differences: Differences between every two models, where there are intervals.

    Example:
        >>> import numpy as np
        >>> from tradeoff import compare
        >>> rng = np.random.default_rng(0)
        >>> real = rng.normal(0, 1, (1000, 2))
        >>> models = {"good": rng.normal(0, 1, (1000, 2)), "far": rng.normal(2, 1, (1000, 2))}
        >>> options = {"metrics": ("curve",), "estimator": "logistic", "diagnose": False}
        >>> result = compare(real=real, generated=models, progress=False, **options)
        >>> result.verdicts[0].partition(":")[0]
        'good is better than far'
    """

    _version = 9
    _derived = ("verdicts",)

    evaluations: Mapping[str, Evaluation]
    differences: tuple[Difference, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        encoders = {name: _encoder_of(one) for name, one in self.evaluations.items()}
        (first, one), *others = encoders.items()
        for name, other in others:
            if other != one:
                raise InvalidInputError(
                    "Models must be compared by one encoder with one preprocessing. Got "
                    f"{' and '.join(dict.fromkeys((one[0], other[0])))} for {first} and {name}: "
                    "measure them again with the same `encoder`."
                )

    @property
    def encoder(self) -> str:
        """Name of the encoder, which is that of all models."""
        return _encoder_of(next(iter(self.evaluations.values())))[0]

    def __getitem__(self, name: str) -> Evaluation:
        if name not in self.evaluations:
            raise InvalidInputError(f"Unknown model `{name}`. {suggestion(name, self.evaluations)}")
        return self.evaluations[name]

    @property
    def verdicts(self) -> tuple[str, ...]:
        """A sentence for every two models."""
        level = next(iter(self.evaluations.values())).settings.level
        found = []
        for pair in combinations(self.evaluations, 2):
            both = [d for d in self.differences if (d.first, d.second) == pair]
            found.append(_told(both, 1.0 - level) if both else f"{self._why_not(*pair)}.")
        return tuple(found)

    def _why_not(self, first: str, second: str) -> str:
        for name in (first, second):
            if "curve.recall" in self[name].scores and self[name].curve is None:
                return (
                    f"The curves of {first} and {second} cannot be compared, because {name} "
                    "repeats too few distinct samples"
                )
        return f"{first} and {second} are not compared, because no curve was measured"

    def __str__(self) -> str:
        return str(resolve("tradeoff.report.blocks:text_of")(self))

    def _repr_html_(self) -> str:
        return str(resolve("tradeoff.report.blocks:html_of")(self))

    def to_json(self, path: str | Path | None = None, *, curves: bool = True) -> str:
        """All evaluations and differences, without loss.

        Args:
            path: File to which the text is written as well.
            curves: Whether curves and certificates are included.
        """
        if curves:
            return also_written(write_document(self), path)
        evaluations = {name: one.without_curves() for name, one in self.evaluations.items()}
        return also_written(write_document(replace(self, evaluations=evaluations)), path)

    @classmethod
    def _from_fields(cls, **fields: Any) -> Comparison:
        if len(fields["evaluations"]) < 2:
            raise ValueError("`evaluations` must hold at least two models")
        return cls(**fields)

    def save(self, folder: str | Path, *, overwrite: bool = False) -> None:
        """Write ``comparison.json``, and a folder for each model.

        Args:
            folder: Folder of the files, created if needed. A name that ends in .html is a page, see
                `report`, and one in .json a file with what `to_json` writes.
            overwrite: Whether files of these names that exist already are replaced.
        """
        folder = check_local("folder", folder)
        if self._saved_as_file(folder, overwrite=overwrite):
            return
        files = comparison_files(folder, self.evaluations)
        check_outputs(files, overwrite=overwrite)
        names = ["comparison.json", *(str(file.relative_to(folder)) for file in files)]
        with replacing_files(folder, dict.fromkeys(names)) as fresh:
            (fresh / "comparison.json").write_text(self.to_json(), encoding="utf-8")
            for name, evaluation in self.evaluations.items():
                (fresh / _as_folder(name)).mkdir()
                evaluation.write(fresh / _as_folder(name))

    @classmethod
    def load(cls, folder: str | Path) -> Comparison:
        """Read what `save` wrote.

        Args:
            folder: Folder of the files.
        """
        folder = Path(folder)
        if folder.is_file():
            return cls.from_json(read_saved(folder.parent, folder.name, "a comparison"))
        found = cls.from_json(read_saved(folder, "comparison.json", "a comparison"))
        evaluations = {
            name: evaluation.completed(folder / _as_folder(name))
            for name, evaluation in found.evaluations.items()
        }
        return replace(found, evaluations=evaluations)


def _encoder_of(evaluation: Evaluation) -> tuple[str, ...]:
    """What tells the encoder of an evaluation apart, its name first."""
    about = evaluation.provenance
    return tuple(str(about.get(key, "")) for key in ("encoder", "preprocessing", "weights"))


def comparison_files(folder: Path, models: Iterable[str]) -> list[Path]:
    """Files of results in a folder and in those of the models."""
    places = (folder, *(folder / _as_folder(name) for name in models))
    return [file for place in places for file in evaluation_files(place)]


def load(folder: str | Path) -> Evaluation | Comparison:
    """Read the evaluation or comparison that `save` or the option ``--out`` wrote.

    Args:
        folder: Folder of its files, or the file that `to_json` wrote.

    Example:
        >>> import tempfile
        >>> import numpy as np
        >>> from tradeoff import evaluate, load
        >>> rng = np.random.default_rng(0)
        >>> folder = tempfile.mkdtemp()
        >>> real, generated = rng.normal(size=(2, 200, 2))
        >>> evaluate(real, generated, metrics="copies", progress=False).save(folder)
        >>> load(folder)["copies.of_real"].value
        0.0
    """
    return Comparison.load(folder) if _is_comparison(Path(folder)) else Evaluation.load(folder)


def _is_comparison(place: Path) -> bool:
    """Whether a folder or a file holds a comparison."""
    if not place.is_file():
        return (place / "comparison.json").exists()
    try:
        found = json.loads(place.read_bytes())
    except ValueError:
        return False
    return isinstance(found, dict) and found.get("schema") == "tradeoff.Comparison"


@with_keywords(without=("rule",))
def compare(
    real: Any,
    generated: Mapping[str, Any],
    *,
    train: Any = None,
    progress: bool = True,
    **settings: Unpack[Keywords],
) -> Comparison:
    """Measure several models against the same real samples, and tell them apart where possible.

    Confidence intervals of all differences cover together.

    Args:
        real: Samples of real data, as for :func:`~tradeoff.evaluate`.
        generated: Samples of each model, by its name.
        train: Real samples on which all models were trained, as for :func:`~tradeoff.evaluate`.
        progress: Whether to show progress lines.
        **settings: Settings of the evaluations.

    Example:
        >>> import numpy as np
        >>> from tradeoff import compare
        >>> rng = np.random.default_rng(0)
        >>> modes = rng.choice([-3.0, 3.0], (1500, 1)) + rng.normal(0, 1, (1500, 1))
        >>> models = {"one mode": modes[:500][modes[:500] < 0][:, None], "both": modes[500:1000]}
        >>> options = {"metrics": ("curve",), "estimator": "logistic", "diagnose": False}
        >>> result = compare(real=modes[1000:], generated=models, progress=False, **options)
        >>> [finding.name for finding in result["one mode"].findings]
        ['recall lost']
        >>> result["both"].findings
        ()
    """
    found = Settings.of(settings)
    return compare_sources(real, generated, found, train=train, progress=progress)


def compare_sources(
    real: Any,
    generated: Mapping[str, Any],
    settings: Settings,
    *,
    train: Any = None,
    progress: bool,
) -> Comparison:
    """Several models by complete settings; see `compare`."""
    return compare_measured(real, generated, settings, train=train, progress=progress)[0]


def compare_measured(
    real: Any,
    generated: Mapping[str, Any],
    settings: Settings,
    *,
    train: Any = None,
    failed: dict[str, str] | None = None,
    progress: bool,
) -> tuple[Comparison, dict[str, CurveEstimate]]:
    """The same, and the estimated curves of models that have one.

    With `failed`, models without a curve are left out, and it gets the reason of each.
    """
    if not isinstance(generated, Mapping):
        raise InvalidInputError(
            'Models must be given by name, compare(real, {"a": samples, "b": samples}), or as '
            f"NAME=PATH. Got a {type(generated).__name__}: use `evaluate` for a single model."
        )
    for name in generated:
        if not isinstance(name, str):
            raise InvalidInputError(f"The names in `generated` must be text. Got {name!r}.")
    folders = [_as_folder(name) for name in generated]
    if len(set(folders)) < len(folders):
        raise InvalidInputError(
            "Model names must give different folder names, in which special characters become _. "
            f"Got {', '.join(generated)}."
        )
    if len(generated) < 2:
        raise InvalidInputError(
            f"`generated` must hold at least two models by name. Got {len(generated)}: use "
            "`evaluate` for a single model."
        )
    with whole_run(progress=progress):
        return _compared(real, generated, settings, train, failed, progress=progress)


def _compared(
    real: Any,
    generated: Mapping[str, Any],
    settings: Settings,
    train: Any,
    failed: dict[str, str] | None,
    *,
    progress: bool,
) -> tuple[Comparison, dict[str, CurveEstimate]]:
    if failed is not None:
        generated = _readable(generated, settings, failed)
    opened = open_both(
        real, generated, settings, train=train, then=measuring_steps, progress=progress
    )
    embedded = {}
    for name in generated:  # all of them before the first is measured
        try:
            made = opened.embed(name)
            if opened.settings.has_curve:
                check_enough(name, len(made.features))
            if failed is not None:
                check_distinct(opened.pair_of(made), settings.repeats, generated=name)
        except InvalidInputError as error:
            if failed is None:
                raise
            failed[name] = str(error)
        else:
            embedded[name] = made
    if failed:
        check_left(embedded, failed)
    evaluations, estimates = {}, {}
    for name in list(embedded):
        evaluations[name], measured = opened.evaluate(name, embedded.pop(name))
        if (curve := measured.curve) is not None:
            assert isinstance(curve.estimate, CurveEstimate)
            estimates[name] = curve.estimate
    return Comparison(evaluations, _differences(estimates, opened.settings.level)), estimates


def _readable(
    generated: Mapping[str, Any], settings: Settings, failed: dict[str, str]
) -> dict[str, Any]:
    """Samples of models that hold some at all; of the others, `failed` gets the reason."""
    kept = {}
    for name, samples in generated.items():
        try:
            open_generated(samples_of(samples), name, settings)
            kept[name] = samples
        except InvalidInputError as error:
            failed[name] = str(error)
    check_left(kept, failed)
    return kept


def check_left(kept: Collection[str], failed: Mapping[str, str]) -> None:
    """Check that enough models are left to compare."""
    if len(kept) < 2:
        told = " ".join(f"{name}: {reason}" for name, reason in failed.items())
        raise InvalidInputError(f"Fewer than two values can be measured. {told}")


def _differences(estimates: Mapping[str, CurveEstimate], level: float) -> tuple[Difference, ...]:
    pairs = list(combinations(estimates, 2))
    joint = 1.0 - (1.0 - level) / max(1, len(_COMPARED) * len(pairs))
    z = float(ndtri(0.5 + 0.5 * joint))
    found = []
    for first, second in pairs:
        result = compare_curves(estimates[first], estimates[second], level=joint)
        differences = (result.precision[1.0], result.f_score, result.area)
        for key, difference in zip(_COMPARED, differences, strict=True):
            found.append(
                Difference(
                    first=first,
                    second=second,
                    key=key,
                    value=difference.value,
                    low=difference.value - z * difference.error,
                    high=difference.value + z * difference.error,
                    p_value=difference.p_value,
                    resolvable=difference.resolvable,
                )
            )
    return _corrected(found)


def _corrected(found: list[Difference]) -> tuple[Difference, ...]:
    """P-values that hold for all comparisons together, by Holm's step-down."""
    p_values = np.array([difference.p_value for difference in found])
    order = np.argsort(p_values)
    steps = p_values[order] * (len(found) - np.arange(len(found)))
    corrected = np.empty_like(p_values)
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1.0) if len(found) else steps
    return tuple(
        Difference(**(asdict(one) | {"p_value": float(p)}))
        for one, p in zip(found, corrected, strict=True)
    )


def _told(both: Sequence[Difference], risk: float) -> str:
    """Which of two models is better, and by how much; or that it cannot be told."""
    first, second = both[0].first, both[0].second
    clear = [one for one in both if one.p_value < risk]
    signs = {one.value > 0 for one in clear}
    if not clear:
        return (
            f"{first} and {second} cannot be told apart with this many samples; a difference in "
            f"overlap above {both[0].resolvable:.2g} would be found nine times in ten."
        )
    if len(signs) == 1:
        better, worse = (first, second) if signs.pop() else (second, first)
        parts = [f"{_COMPARED[one.key]}, {_size(one)}" for one in clear]
        return f"{better} is better than {worse}: {'; '.join(parts)}."
    parts = [
        f"{one.first if one.value > 0 else one.second} has {_COMPARED[one.key]}, {_size(one)}"
        for one in clear
    ]
    return f"{'; '.join(parts)}."


def _size(found: Difference) -> str:
    """The size of a difference with its lower limit."""
    low = found.low if found.value > 0 else -found.high
    value = f"{min(abs(found.value), 1.0):.2f}"
    return f"+{value} (at least {low:.2f})" if low >= _SHOWN else f"+{value}"


def _as_folder(name: str) -> str:
    """A name without what file systems do not take."""
    safe = "".join(c if c.isalnum() or c in "-_. " else "_" for c in name).strip().rstrip(".")
    safe = re.sub(r"^\.", "_", safe)
    return "_" if safe in ("", "comparison.json", "run.toml") else safe
