"""Prompts of samples: where they are found, and what is said of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tradeoff._remote import Remote, place_of
from tradeoff._sides import Sides
from tradeoff.data import Sample, open_source
from tradeoff.data.answers import ANSWER_SUFFIXES, Answers, has_answers
from tradeoff.data.images import ImageFolder
from tradeoff.embedding import embed_source
from tradeoff.embedding.sources import encoder_of
from tradeoff.exceptions import InvalidInputError
from tradeoff.explain.previews import contents_of, preview_of
from tradeoff.features.views import parts_of
from tradeoff.inference import policy
from tradeoff.prompts import Prompts, ShownPrompt, compare_prompts

if TYPE_CHECKING:
    import numpy.typing as npt

    from tradeoff.data.base import Source
    from tradeoff.features import Encoder
    from tradeoff.prompts import PromptReport
    from tradeoff.samples import Pair, Side
    from tradeoff.settings import Settings

__all__ = ["Asked", "answers_in", "grouped_by", "prompts_by_id", "report_on"]

_SIDECARS = ("metadata.csv", "metadata.jsonl")
_FILE = "file_name"
_SHOWN = 24  # mismatched samples that are shown
_WORST, _OF_EACH = 5, 4  # prompts that are shown, and samples of each


def answers_in(value: Any, name: str, settings: Settings) -> Any:
    """Answers with prompts, if this is a file or a list of them; else the value as it is."""
    if settings.prompt is None or settings.kind not in (None, "text"):
        return value
    options: dict[str, Any] = {"name": name, "prompt": settings.prompt, "answer": settings.column}
    if isinstance(value, (str, Path)) and Path(value).suffix.lower() in ANSWER_SUFFIXES:
        return Answers(Path(value), **options) if Path(value).exists() else value
    if isinstance(value, (list, tuple)) and value and has_answers(value[0]):
        return Answers(value, **options)
    return value


def prompts_by_id(value: Any, source: Source, name: str, settings: Settings) -> dict[str, str]:
    """The prompt of each sample of a source, by the name of the sample.

    Args:
        value: What was given as the samples.
        source: The source that was opened.
        name: Name of the side in messages.
        settings: Settings of the run, of which one names the prompts.
    """
    assert settings.prompt is not None
    if source.kind == "table":
        raise InvalidInputError(
            "`prompt` belongs to images, texts and features, and these samples are rows of a "
            "table: leave it out."
        )
    if isinstance(value, Iterator):
        raise InvalidInputError(
            f"`{name}` must be read twice where there are prompts, and an iterator can be read "
            "only once: pass a list."
        )
    if isinstance(source, ImageFolder):
        if isinstance(place_of(source.path), Remote):
            raise InvalidInputError(
                f"`{name}` must be on this machine for the prompts of single images: copy it, or "
                "keep images and prompts in Parquet."
            )
        found = _beside(Path(str(source.path)), settings.prompt)
        found = _folders(source) if found is None and settings.prompt == "label" else found or {}
    else:
        if not isinstance(source, Answers):
            source = open_source(
                value,
                name=name,
                kind=settings.kind,
                column=settings.column,
                label=settings.prompt,
            )
        found = {item.id: item.label or "" for item in source if isinstance(item, Sample)}
    if not any(map(str.strip, found.values())):
        raise InvalidInputError(
            f"`{name}` must have prompts under `{settings.prompt}`: name the column that holds "
            "them; for a folder of images, one of metadata.csv in that folder, next to "
            f"`{_FILE}`; and for arrays, pass rows of named fields."
        )
    if isinstance(source, ImageFolder) and settings.limit is None:
        for sample in _folders(source):
            if not found.get(sample, "").strip():
                raise _lacks_prompt(sample, name)
    return found


def _folders(source: ImageFolder) -> dict[str, str]:
    """Subfolders as prompts, without reading images."""
    root = Path(str(source.path))
    names = (one.relative_to(root) for one in source.entries() if isinstance(one, Path))
    return {one.as_posix(): one.parent.as_posix() for one in names}


def _beside(folder: Path, column: str) -> dict[str, str] | None:
    """Prompts in a file next to images; None if there is no such file."""
    path = next((folder / one for one in _SIDECARS if (folder / one).exists()), None)
    if path is None:
        return None
    rows = (
        (item.content, item.label)
        for item in open_source(path, kind="text", column=_FILE, label=column)
        if isinstance(item, Sample)
    )
    return {str(file): label or "" for file, label in rows}


@dataclass(eq=False)
class Asked:
    """Prompts of all samples; each is embedded once, however many models are compared.

    Args:
        prompts: Prompt of each sample by its name, by side or model.
        encoder: Encoder of texts; None if there are so few prompts that they need none.
        known: Features of prompts so far.
    """

    prompts: Mapping[str, Mapping[str, str]]
    encoder: Encoder | None
    known: dict[str, npt.NDArray[Any]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, prompts: Mapping[str, Mapping[str, str]], encoder: Encoder, settings: Settings
    ) -> Asked:
        """With the encoder of texts, which is tried on a prompt before the samples are embedded.

        Args:
            prompts: Prompt of each sample by its name, by side or model.
            encoder: Encoder of the samples, which embeds prompts, too, if it is one of texts.
            settings: Settings of the run.
        """
        distinct = {one.strip() for side in prompts.values() for one in side.values()} - {""}
        if len(distinct) <= policy.FEW_PROMPTS:
            return cls(prompts, None)
        _, first = parts_of(encoder)[0]
        if first.kind != "text":
            plain = replace(settings, encoder=None, low_level=False, size=None)
            first = encoder_of("text", plain)
        asked = cls(prompts, first)
        asked.embed([min(distinct, key=len)], progress=False)
        return asked

    def of_pair(self, pair: Pair, name: str, *, progress: bool) -> Prompts:
        """The prompts of a pair, with features by the encoder of texts.

        Args:
            pair: The samples.
            name: Name of the model, or of its side.
            progress: Whether progress is shown.
        """
        both = Sides(self.prompts["real"], self.prompts[name])
        named = {side.name: _named(side, one) for side, one in zip(pair, both, strict=True)}
        embed = None if self.encoder is None else partial(self.embed, progress=progress)
        return Prompts.of(**named, embed=embed)

    def embed(self, names: Sequence[str], *, progress: bool) -> npt.NDArray[Any]:
        """Features of prompts; those of earlier calls are known."""
        assert self.encoder is not None
        if new := [one for one in names if one not in self.known]:
            source = open_source(new, name="prompts", kind="text")
            found = embed_source(
                source, self.encoder, name="prompts", broken="stop", progress=progress
            )
            self.known |= zip(new, found.features, strict=True)
        return np.stack([self.known[one] for one in names])


def _named(side: Side, prompts: Mapping[str, str]) -> list[str]:
    found = [prompts.get(name, "").strip() for name in side.ids]
    if "" in found:
        raise _lacks_prompt(side.ids[found.index("")], side.name)
    return found


def _lacks_prompt(sample: str, side: str) -> InvalidInputError:
    return InvalidInputError(f"`{sample}` of {side} has no prompt: add one, or remove it.")


def grouped_by(pair: Pair, prompts: Prompts) -> Pair:
    """The pair with groups by prompt, where samples of a prompt are not independent."""
    if prompts.groups.real is None:
        return pair
    real, generated = (
        replace(side, groups=groups, _memo={"keys": side.keys})
        for side, groups in zip(pair, prompts.groups, strict=True)
    )
    return replace(pair, real=real, generated=generated)


def report_on(
    pair: Pair,
    prompts: Prompts,
    settings: Settings,
    *,
    sources: Sides[Source | None],
    progress: bool,
) -> PromptReport:
    """What is said of the prompts of a pair, with some of its samples.

    Args:
        pair: The samples.
        prompts: Their prompts.
        settings: Settings of the run.
        sources: Sources of both sides, from which shown samples are read.
        progress: Whether progress is shown.
    """
    found = compare_prompts(
        pair,
        prompts,
        folds=max(settings.folds, 3),
        level=settings.level,
        seed=settings.seed,
        progress=progress,
    )
    shown = found.mismatched[:_SHOWN]
    worst = {one.prompt: None for one in found.variety.lost} if found.variety else {}
    names = [*worst, *(one for one, _ in Counter(one.prompt for one in shown).most_common())]
    rows = [_rows_of(prompts, name) for name in dict.fromkeys(names[:_WORST])]
    wanted = [
        {side.ids[i] for one in rows for i in one[number]} if side.ids else set()
        for number, side in enumerate(pair)
    ]
    wanted[1] |= {one.sample.id for one in shown}
    contents = [contents_of(*both) for both in zip(sources, wanted, strict=True)]
    place = {name: i for i, name in enumerate(pair.generated.ids)}
    mismatched = tuple(
        replace(one, sample=preview_of(pair.generated, place[one.sample.id], contents[1]))
        if one.sample.id in place
        else one
        for one in shown
    )
    previews = [
        [
            tuple(preview_of(side, i, known) for i in some)
            for side, some, known in zip(pair, one, contents, strict=True)
        ]
        for one in rows
    ]
    listed = tuple(
        ShownPrompt(prompt=name, real=both[0], generated=both[1])
        for name, both in zip(dict.fromkeys(names[:_WORST]), previews, strict=True)
    )
    return replace(found, mismatched=mismatched, worst=listed)


def _rows_of(prompts: Prompts, name: str) -> Sides[list[int]]:
    """The first samples of a prompt on both sides."""
    number = prompts.names.index(name)
    return prompts.sides.map(lambda side: np.flatnonzero(side == number)[:_OF_EACH].tolist())
