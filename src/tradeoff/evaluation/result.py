"""The result of an evaluation: scores, curve, findings, and the values of single samples."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from tradeoff._codec import decode, decoding, write_document
from tradeoff._extras import import_extra
from tradeoff._files import check_local, check_outputs, missing, replacing, replacing_files
from tradeoff._registry import resolve
from tradeoff._result import Result
from tradeoff.core.curve import PRCurve
from tradeoff.data.base import Broken
from tradeoff.data.records import OWN_METADATA
from tradeoff.evaluation.copied import Copied, CopiedPair
from tradeoff.evaluation.findings import Finding
from tradeoff.evaluation.training import TrainingOutcome
from tradeoff.evaluation.verdict import Verdict
from tradeoff.exceptions import InvalidInputError
from tradeoff.explain import Explanation
from tradeoff.metrics.registry import all_metrics, full_key
from tradeoff.metrics.score import Score
from tradeoff.prompts import PromptReport
from tradeoff.settings import Settings
from tradeoff.tables import TableReport

__all__ = ["Evaluation", "SampleValues"]

_EXPLANATION = "explanation.json"
_COPIED = "copied.json"
_SIDES = ("real", "generated")
# What reports show of the provenance.
_PROVENANCE: dict[str, Any] = {"samples": dict[str, int], "encoder": str, "estimator": str}
_REPEATS: dict[str, Any] = {
    **dict.fromkeys(_SIDES, float),
    "assumed": Literal["copies", "draws"],
}
_MEANT = {
    "to_html": "report(path)",
    "save_html": "report(path)",
    "html": "report(path)",
    "write_report": "report(path)",
    "to_pandas": "to_frame()",
    "to_df": "to_frame()",
    "show": "plot()",
    "print": "summary()",
    "describe": "summary()",
}
"""Methods that results of other packages have, and ours that mean the same."""
EVALUATION_FILES = (
    "evaluation.json",
    "comparison.json",
    _EXPLANATION,
    _COPIED,
    *(f"{side}.parquet" for side in _SIDES),
)
"""Names of the files of a result in its folder."""


@dataclass(frozen=True, eq=False)
class SampleValues(Result):
    """What is known of every single sample of a side.

    Args:
        ids: Name of each sample.
        labels: Class of each sample, None where it has none.
        values: Held-out log p/q (`log_ratio`), its fold, and values of neighbor metrics by key,
            each of shape (n,).

    Example:
        >>> import numpy as np
        >>> from tradeoff.evaluation import SampleValues
        >>> side = SampleValues(("a", "b"), (None, None), {"log_ratio": np.array([0.3, -2.0])})
        >>> side.lowest("log_ratio", 1)
        ('b',)
    """

    ids: tuple[str, ...]
    labels: tuple[str | None, ...]
    values: Mapping[str, npt.NDArray[Any]]

    def lowest(self, key: str, count: int) -> tuple[str, ...]:
        """Ids of the samples with the lowest values: of generated ones, the least realistic."""
        if key not in self.values:
            raise InvalidInputError(f"`key` must be one of {', '.join(self.values)}. Got {key!r}.")
        order = np.argsort(self.values[key], kind="stable")[:count]
        return tuple(self.ids[i] for i in order)

    def write_parquet(self, path: str | Path) -> None:
        """One row per sample."""
        arrow = import_extra("pyarrow", extra="images", purpose="Writing Parquet")
        parquet = import_extra("pyarrow.parquet", extra="images", purpose="Writing Parquet")
        columns = {"id": list(self.ids), "label": arrow.array(self.labels, arrow.string())}
        table = arrow.table(columns | dict(self.values), metadata=OWN_METADATA)
        with replacing(path) as fresh:
            parquet.write_table(table, fresh)

    @classmethod
    def read_parquet(cls, path: str | Path) -> SampleValues:
        """Read what `write_parquet` wrote."""
        parquet = import_extra("pyarrow.parquet", extra="images", purpose="Reading Parquet")
        with decoding(f"`{path}`"), parquet.ParquetFile(path) as file:
            table = file.read()
            table.validate(full=True)
            ids, labels = (tuple(table.column(name).to_pylist()) for name in ("id", "label"))
            decode(list(ids), tuple[str, ...])
            decode(list(labels), tuple[str | None, ...])
            names = [name for name in table.column_names if name not in ("id", "label")]
            return cls(ids, labels, {name: _values(table.column(name)) for name in names})


class Paged:
    """A result that has a picture and a page."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        """Fail with the name that was meant."""
        sentence = f"`{type(self).__name__}` has no attribute `{name}`."
        if not name.startswith("_"):  # which notebooks and copies ask for
            own = [known for known in dir(type(self)) if not known.startswith("_")]
            meant = _MEANT.get(name, "")
            close = [meant] if meant.partition("(")[0] in own else get_close_matches(name, own, n=1)
            sentence += f" Did you mean `{close[0]}`?" if close else ""
        raise AttributeError(sentence)

    def plot(self, ax: Any = None) -> Any:
        """Draw the result, as its display does, and return that display.

        Args:
            ax: Matplotlib axes, or the path of a picture that is written; a new figure if not
                given.
        """
        display = resolve("tradeoff.report.evaluation:display_of")(self)
        if isinstance(ax, (str, Path)):
            display.save(ax)
            return display
        return display.plot(ax)

    def report(self, path: str | Path, *, samples: bool = True, overwrite: bool = False) -> None:
        """Write a page that shows the result: one HTML file that needs nothing else.

        With an explanation (``explain=True``) it shows what models miss and invent.

        Args:
            path: File that is written, ending in .html.
            samples: Whether the page shows samples, their names, and words and rules from them.
            overwrite: Whether a file of this name is replaced.
        """
        resolve("tradeoff.report.page:write_page")(self, path, samples=samples, overwrite=overwrite)

    def _saved_as_file(self, path: Path, *, overwrite: bool) -> bool:
        """Write a page (.html) or all that JSON holds (.json); False if it is another name."""
        if path.suffix == ".html":
            self.report(path, overwrite=overwrite)
        elif path.suffix == ".json":
            check_outputs([path], overwrite=overwrite)
            self.to_json(path)
        return path.suffix in (".html", ".json")


@dataclass(frozen=True, eq=False, kw_only=True)
class Evaluation(Paged, Result):
    """Result of an evaluation: scores, verdict, findings and curve.

    Args:
        scores: Every score, by its key.
        verdict: What is established of precision and recall; None without a curve, and if so few
            distinct samples repeat that it cannot be trusted.
        findings: What was found to be wrong.
        warnings: Limits of what these samples can show.
        curve: The trade-off with its band; None if it was not asked for.
        certificate: Upper bound of the true curve at the confidence level; None if not computed.
        broken: Items that could not be read, by side.
        explanation: What the model misses and invents, if it was asked for; in a result read from
            JSON alone, None.
        samples: Values of single samples, by side; None in a result read from JSON alone.
        training: What the comparison with the training set establishes; None without one.
        copied: Generated samples next to the training samples that they resemble most; None without
            a training set, and in a result read from JSON alone.
        table: What is established of columns and of pairs of columns; None without a table.
        prompts: What is established of samples and their prompts; None without prompts.
        settings: Settings of the measurement.
        provenance: Features, weights, sizes, estimator and versions.

    Example:
        >>> import numpy as np
        >>> from tradeoff import evaluate
        >>> rng = np.random.default_rng(0)
        >>> real, half = rng.normal(size=(1000, 1)), np.abs(rng.normal(size=(1000, 1)))
        >>> options = {"estimator": "trees", "diagnose": False, "progress": False}
        >>> result = evaluate(real=real, generated=half, metrics=("curve",), **options)
        >>> [finding.name for finding in result.findings]
        ['recall lost']
        >>> round(result.recall.value, 1), result.recall.high < 0.6
        (0.5, True)
        >>> result["recall"] is result["curve.recall"] is result.recall
        True
        >>> [key for key, score in result.items() if score.value > 0.9]
        ['curve.precision']
        >>> result.to_html("page.html")
        Traceback (most recent call last):
        ...
        AttributeError: `Evaluation` has no attribute `to_html`. Did you mean `report(path)`?
        >>> result.to_dict()["scores"]["curve.recall"]["expected"]
        1.0
        >>> result["knn.recall"]
        Traceback (most recent call last):
        ...
        tradeoff.exceptions.InvalidInputError: `knn.recall` was not measured. Measured scores:
        curve.precision, curve.recall, curve.overlap, curve.f_score, curve.area.
    """

    _version = 9
    _unsaved = ("samples", "explanation", "copied")

    scores: Mapping[str, Score]
    verdict: Verdict | None
    findings: tuple[Finding, ...]
    warnings: tuple[str, ...]
    curve: PRCurve | None
    certificate: PRCurve | None
    broken: Mapping[str, tuple[Broken, ...]]
    settings: Settings
    provenance: Mapping[str, Any]
    samples: Mapping[str, SampleValues] | None = None
    explanation: Explanation | None = None
    training: TrainingOutcome | None = None
    copied: Copied | None = None
    table: TableReport | None = None
    prompts: PromptReport | None = None

    @property
    def copied_pairs(self) -> tuple[CopiedPair, ...]:
        """Generated samples next to the training samples that they resemble most, at most 50."""
        return () if self.copied is None else self.copied.pairs

    @property
    def precision(self) -> Score:
        """Share of the generated samples that are realistic, ``curve.precision``."""
        return self["curve.precision"]

    @property
    def recall(self) -> Score:
        """Share of the real data that the model covers, ``curve.recall``."""
        return self["curve.recall"]

    @property
    def overlap(self) -> Score:
        """What both sets have in common, ``curve.overlap``."""
        return self["curve.overlap"]

    @property
    def f_score(self) -> Score:
        """Highest F-score on the curve, ``curve.f_score``."""
        return self["curve.f_score"]

    @property
    def area(self) -> Score:
        """Area under the whole curve, ``curve.area``."""
        return self["curve.area"]

    def keys(self) -> KeysView[str]:
        """Keys of all scores."""
        return self.scores.keys()

    def items(self) -> ItemsView[str, Score]:
        """All scores with their keys."""
        return self.scores.items()

    def __iter__(self) -> Iterator[str]:
        return iter(self.scores)

    def __len__(self) -> int:
        return len(self.scores)

    def __contains__(self, key: object) -> bool:
        return key in self.scores or full_key(str(key)) in self.scores

    def __getattr__(self, name: str) -> Any:
        """A score by a short name such as `coverage`, or a failure with the name that was meant."""
        scores = vars(self).get("scores", {})
        if not name.startswith("_") and (key := full_key(name)) in scores:
            return scores[key]
        return super().__getattr__(name)

    def __getitem__(self, key: str) -> Score:
        """A score by its key, or by a name that :func:`~tradeoff.evaluate` accepts as a metric."""
        for full in (key, full_key(key)):
            if full in self.scores:
                return self.scores[full]
        if full_key(key) not in all_metrics():
            names = [*self.scores, *(name.rpartition(".")[2] for name in self.scores)]
            if close := get_close_matches(key, names, n=1, cutoff=0.75):
                raise InvalidInputError(f"Unknown score `{key}`. Did you mean `{close[0]}`?")
        raise InvalidInputError(
            f"`{key}` was not measured. Measured scores: {', '.join(self.scores)}."
        )

    def __str__(self) -> str:
        return self.summary()

    def summary(self, *, exact: bool = False) -> str:
        """The text that `print` shows.

        Args:
            exact: Whether it has the exact statements behind the verdict, too, like --verbose.
        """
        text_of = resolve("tradeoff.report.blocks:text_of")  # the report draws results
        return str(text_of(self, exact=exact))

    def _repr_html_(self) -> str:
        return str(resolve("tradeoff.report.blocks:html_of")(self))

    def to_json(self, path: str | Path | None = None, *, curves: bool = True) -> str:
        """Everything but the values of single samples and the explanation, without loss.

        Args:
            path: File to which the text is written as well.
            curves: Whether the curve and the certificate are included.
        """
        return also_written(write_document(self if curves else self.without_curves()), path)

    def to_frame(self) -> Any:
        """Scores as a DataFrame of pandas, one row for each key."""
        pandas = import_extra("pandas", extra="datasets", purpose="A DataFrame")
        columns = ("value", "low", "high", "expected", "expected_low", "expected_high")
        rows = [[getattr(score, column) for column in columns] for score in self.scores.values()]
        return pandas.DataFrame(rows, index=list(self.scores), columns=columns, dtype=float)

    def without_curves(self) -> Evaluation:
        """The same without the curve and the certificate."""
        return replace(self, curve=None, certificate=None)

    @classmethod
    def _from_fields(cls, **fields: Any) -> Evaluation:
        about = fields["provenance"]
        for name, hint in _PROVENANCE.items():
            decode(about[name], hint)
        if about["samples"].keys() != set(_SIDES):
            raise ValueError("provenance: not the sizes of both sides")
        if (repeats := about.get("curve", {}).get("repeats")) is not None:
            for name, hint in _REPEATS.items():
                decode(repeats[name], hint)
        return cls(**fields)

    def save(self, folder: str | Path, *, overwrite: bool = False) -> None:
        """Write ``evaluation.json``, and ``real.parquet`` and ``generated.parquet`` by id.

        If there is an explanation, it is written to ``explanation.json``, with the samples that
        it shows; closest pairs of generated and training samples to ``copied.json``.

        Args:
            folder: Folder of the files, created if needed. A name that ends in .html is a page, see
                `report`, and one in .json a file with what `to_json` writes.
            overwrite: Whether files of these names that exist already are replaced.
        """
        folder = check_local("folder", folder)
        if self._saved_as_file(folder, overwrite=overwrite):
            return
        check_outputs(evaluation_files(folder), overwrite=overwrite)
        with replacing_files(folder, EVALUATION_FILES) as fresh:
            self.write(fresh)

    def write(self, folder: Path) -> None:
        """Write the files of `save` into a folder that has none of them."""
        (folder / "evaluation.json").write_text(self.to_json(), encoding="utf-8")
        if self.explanation is not None:
            text = self.explanation.to_json()
            (folder / _EXPLANATION).write_text(text, encoding="utf-8")
        if self.copied is not None:
            (folder / _COPIED).write_text(self.copied.to_json(), encoding="utf-8")
        for side, values in (self.samples or {}).items():
            values.write_parquet(folder / f"{side}.parquet")

    @classmethod
    def load(cls, folder: str | Path) -> Evaluation:
        """Read what `save` wrote."""
        folder = Path(folder)
        if folder.is_file():
            return cls.from_json(read_saved(folder.parent, folder.name, "an evaluation"))
        text = read_saved(folder, "evaluation.json", "an evaluation")
        return cls.from_json(text).completed(folder)

    def completed(self, folder: Path) -> Evaluation:
        """The result with what its folder holds besides."""
        return replace(
            self,
            samples=read_samples(folder),
            explanation=read_explanation(folder),
            copied=_read_copied(folder),
        )


def also_written(text: str, path: str | Path | None) -> str:
    """The text, which is written to a file if one is named."""
    if path is not None:
        with replacing(check_local("path", path)) as fresh:
            fresh.write_text(text, encoding="utf-8")
    return text


def read_saved(folder: Path, name: str, what: str) -> str:
    """Text of a file in a folder that must hold a result."""
    try:
        content = (folder / name).read_bytes()
    except OSError as error:
        if not folder.exists():
            raise InvalidInputError(missing(folder)) from None
        raise InvalidInputError(f"`{folder}` must hold {what}. {error.strerror}: {name}.") from None
    with decoding(f"`{folder / name}`"):
        return content.decode("utf-8")


def read_samples(folder: Path) -> dict[str, SampleValues] | None:
    """Values of single samples that :meth:`Evaluation.save` wrote; None if there are none."""
    paths = {side: folder / f"{side}.parquet" for side in _SIDES}
    found = {s: SampleValues.read_parquet(path) for s, path in paths.items() if path.exists()}
    return found or None


def read_explanation(folder: Path) -> Explanation | None:
    """The explanation that :meth:`Evaluation.save` wrote; None if there is none."""
    if not (folder / _EXPLANATION).exists():
        return None
    return Explanation.from_json(read_saved(folder, _EXPLANATION, "an explanation"))


def _read_copied(folder: Path) -> Copied | None:
    """Closest pairs that :meth:`Evaluation.save` wrote; None if there are none."""
    if not (folder / _COPIED).exists():
        return None
    return Copied.from_json(read_saved(folder, _COPIED, "closest pairs"))


def evaluation_files(folder: Path) -> list[Path]:
    """Files of a result in a folder, which holds one evaluation or one comparison."""
    return [folder / name for name in EVALUATION_FILES]


def _values(column: Any) -> npt.NDArray[Any]:
    """Numbers, or ids of other samples."""
    values: npt.NDArray[Any] = column.to_numpy()
    if values.dtype.kind not in "fiub" and not all(isinstance(one, str) for one in values):
        raise TypeError("values of samples must be numbers or texts")
    return values
