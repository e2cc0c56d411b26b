"""A result as one HTML file: offline, without requests, readable without scripts."""

from __future__ import annotations

import base64
import hashlib
import json
import shlex
from dataclasses import replace
from functools import cache
from importlib import resources
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tradeoff._files import check_local, check_outputs, replacing
from tradeoff._text import in_percent, percent, percent_up, printable
from tradeoff._version import __version__
from tradeoff.comparison.models import Comparison
from tradeoff.comparison.sweep import Sweep
from tradeoff.evaluation.findings import findings_of
from tradeoff.evaluation.verdict import rounded_factor, rounded_inverse
from tradeoff.exceptions import InvalidInputError
from tradeoff.report.base import COLORS, balanced_of
from tradeoff.report.cards import LEFT as STRIP_LEFT
from tradeoff.report.cards import RIGHT as STRIP_RIGHT
from tradeoff.report.cards import cards_of
from tradeoff.report.columns import BARS, column_bars, pair_map
from tradeoff.report.drawing import (
    LEFT,
    SIZE,
    TOP,
    curve_data,
    curve_plot,
    looks_plot,
    model_plot,
    path_plot,
)
from tradeoff.report.headline import (
    headline_of,
    headline_of_comparison,
    headline_of_sentences,
)
from tradeoff.report.lists import list_of
from tradeoff.report.text import (
    HEADER,
    exact_of,
    leaderboard_of,
    named_advice_of,
    notes_of,
    rows_of,
    sweep_rows_of,
    title_of,
    views_of,
)
from tradeoff.sequential.questions import Decision

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from jinja2 import Environment

    from tradeoff.comparison.models import Difference
    from tradeoff.evaluation import Evaluation
    from tradeoff.explain.result import ClosePair, Group, GroupedLoss
    from tradeoff.tables import ColumnDifference, PairDifference

__all__ = ["about_of", "page_of", "provenance_of", "write_page"]


_SMALLEST_P = 0.001
_IN_PAGE = " (--report page.html)"
_ADVISED = {
    "precision lost": "invented",
    "recall lost": "missed",
    "no overlap": "missed",
    "proportions": "classes",
    "columns": "columns",
    "unfit": "prompts",
    "variety": "prompts",
    "copies": "copied",
    "depends on its training set": "copied",
}
"""Sections that show what advice is about, by the name of the finding."""


def write_page(
    result: Evaluation | Comparison | Sweep | Decision,
    path: str | Path,
    *,
    samples: bool = True,
    overwrite: bool = False,
) -> None:
    """Write the page of a result; see `Evaluation.report`."""
    path = check_local("path", path)
    if path.suffix.lower() not in (".html", ".htm"):
        raise InvalidInputError(f"`{path}` must end in .html.")
    check_outputs([path], overwrite=overwrite)
    text = page_of(result, samples=samples)
    with replacing(path) as fresh:
        fresh.write_text(text, encoding="utf-8")


def page_of(result: Evaluation | Comparison | Sweep | Decision, *, samples: bool = True) -> str:
    """The page of a result as text."""
    style, script = _asset("page.css"), _asset("page.js")
    if isinstance(result, Sweep):
        view = _sweep_view(result, samples)
    elif isinstance(result, Comparison):
        view = _comparison_view(result, samples)
    elif isinstance(result, Decision):
        view = _decision_view(result)
    else:
        view = _view(result, samples)
    return (
        _environment()
        .get_template("page.html")
        .render(
            style=style,
            script=script,
            style_hash=_hash(style),
            script_hash=_hash(script),
            version=__version__,
            plot_size={"left": LEFT, "top": TOP, "size": SIZE},
            strip={"left": STRIP_LEFT, "right": STRIP_RIGHT},
            **view,
        )
    )


_MODELS = {
    "many": "Models",
    "each": "Each model",
    "points": "Each model as a point",
    "some": "Classes that some model misses",
}
_VALUES = {
    "many": "Values",
    "each": "Each value",
    "points": "The path of the knob, a point for each value (hollow if another value has more of "
    "both, bold if recommended)",
    "some": "Classes that are missed at some value",
}


def _sweep_view(sweep: Sweep, samples: bool) -> dict[str, Any]:
    header, rows = sweep_rows_of(sweep)
    return _comparison_view(sweep.comparison, samples) | {
        "words": _VALUES,
        "headline": headline_of_sentences(
            (*sweep.sentences, *(f"{value}: {reason}" for value, reason in sweep.failed.items()))
        ),
        "leaderboard": [header, *rows],
        "points": path_plot(sweep),
        "provenance": provenance_of(
            next(iter(sweep.comparison.evaluations.values())), "sweep", goal=str(sweep.goal)
        ),
    }


def _decision_view(decision: Decision) -> dict[str, Any]:
    bar = decision.goal.bar
    looks: dict[str, Any] = {"along": f"{decision.goal.quantity} →", "rows": []}
    if decision.looks:
        looks["plot"] = looks_plot(decision, bar or 0.0, "no difference" if bar is None else "bar")
        looks["rows"] = [
            (f"{o.samples:,}", f"{o.value:.3f}", f"[{o.low:.3f}, {o.high:.3f}]", f"{o.capital:.3g}")
            for o in decision.looks
        ]
    return {
        "headline": headline_of_sentences(decision.sentences),
        "next": [],
        "subtitle": f"Goal: {decision.goal}",
        "looks": looks,
        "level": in_percent(decision.level),
        "has_samples": False,
        "provenance": about_of(decision.provenance),
    }


def _comparison_view(comparison: Comparison, samples: bool) -> dict[str, Any]:
    models = comparison.evaluations
    header, rows = leaderboard_of(comparison)
    printed = {printable(name): one for name, one in models.items()}
    curves = {name: one.curve for name, one in printed.items() if one.curve is not None}
    first = next(iter(models.values()))
    views = [(printable(n), _view(e, samples)) for n, e in models.items()]
    return {
        "words": _MODELS,
        "headline": headline_of_comparison(comparison),
        "next": [
            advice | {"about": name, "prefix": f"m{number}-"}
            for number, (name, view) in enumerate(views, 1)
            for advice in view["next"]
        ],
        "subtitle": title_of(*models.values()),
        "models": views,
        "leaderboard": [header, *rows],
        "differences": [
            _difference(one, 1.0 - first.settings.level) for one in comparison.differences
        ],
        "curves": curve_plot(curves, balanced_of(printed)) if curves else None,
        "points": model_plot(models),
        "by_class": _classes_of_models(models),
        "provenance": provenance_of(first, "compare"),
        "has_samples": samples and any(_shows_samples(e) for e in models.values()),
        "level": in_percent(first.settings.level),
    }


def _difference(found: Difference, risk: float) -> tuple[str, ...]:
    """First minus second, with its sign, and which of the two is better."""
    first, second = printable(found.first), printable(found.second)
    low, high = max(found.low, -1.0), min(found.high, 1.0)
    p_value = f"{found.p_value:.2g}" if found.p_value >= _SMALLEST_P else f"< {_SMALLEST_P:g}"
    better = "not told apart"
    if found.p_value < risk:
        better = f"{first if found.value > 0 else second} is better"
    return (
        f"{first} minus {second}",
        found.key.removeprefix("curve."),
        _signed(found.value),
        f"[{_signed(low)}, {_signed(high)}]",
        p_value,
        better,
    )


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "−")


def _classes_of_models(models: Mapping[str, Evaluation]) -> dict[str, Any] | None:
    """How much of each class every model misses, where one of them surely misses some."""
    explained = {n: e.explanation for n, e in models.items() if e.explanation is not None}
    of_models = {n: {c.name: c for c in found.classes} for n, found in explained.items()}
    names = dict.fromkeys(
        name
        for classes in of_models.values()
        for name, one in classes.items()
        if name and one.missed_at_least > 0
    )
    if not names:
        return None
    rows = [
        (printable(name), [_class_cell(of_models[model].get(name)) for model in of_models])
        for name in names
    ]
    return {"models": [printable(name) for name in of_models], "rows": rows}


def _class_cell(found: Any) -> dict[str, Any]:
    if found is None:
        return {"text": "", "established": False}
    established = found.missed_at_least > 0
    return {"text": f"{max(found.missed_within, 0.0):.0%}", "established": established}


class Section(NamedTuple):
    """A part of the page of a model.

    Args:
        name: Its anchor, and its template in `sections`.
        title: Its name in the list of sections.
        view: Function of an evaluation that returns what the template shows as `found`; None if
            there is nothing to show.
    """

    name: str
    title: str
    view: Callable[[Evaluation], Any]


SECTIONS: list[Section] = []
"""The sections in their order."""


def section(name: str, title: str) -> Callable[[Callable[[Evaluation], Any]], Any]:
    """Make a function the view of a section, after those that are there already."""

    def register(view: Callable[[Evaluation], Any]) -> Callable[[Evaluation], Any]:
        SECTIONS.append(Section(name, title, view))
        return view

    return register


def _view(evaluation: Evaluation, samples: bool) -> dict[str, Any]:
    shown = evaluation if samples else _without_samples(evaluation)
    found = [(one, one.view(shown)) for one in SECTIONS]
    return {
        "headline": headline_of(shown),
        "next": _next(shown),
        "exact": exact_of(evaluation),
        "subtitle": title_of(evaluation),
        "cards": cards_of(evaluation),
        "sections": [
            {"name": one.name, "title": one.title, "found": view}
            for one, view in found
            if view is not None
        ],
        "provenance": provenance_of(evaluation, "evaluate"),
        "has_samples": samples and _shows_samples(evaluation),
        "level": in_percent(evaluation.settings.level),
    }


def _without_samples(evaluation: Evaluation) -> Evaluation:
    explanation, verdict = evaluation.explanation, evaluation.verdict
    table = evaluation.table and evaluation.table.without_values()
    prompts = evaluation.prompts and evaluation.prompts.without_values()
    if explanation is not None:
        explanation = explanation.without_samples()
        verdict = verdict and verdict.named(explanation.established)
    return replace(
        evaluation,
        explanation=explanation,
        verdict=verdict,
        findings=findings_of(verdict, evaluation.scores, evaluation.training, table, prompts),
        copied=None,
        table=table,
        prompts=prompts,
        broken={},
    )


def _next(evaluation: Evaluation) -> list[dict[str, Any]]:
    """What to do next: parts of each advice, of which every second one is code, and where."""
    found: list[dict[str, Any]] = []
    explanation = evaluation.explanation
    shown = {
        "missed": explanation and explanation.missed,
        "invented": explanation and explanation.invented,
        "classes": explanation and explanation.classes,
        "copied": evaluation.copied_pairs,
        "columns": evaluation.table and evaluation.table.columns,
        "prompts": evaluation.prompts,
    }
    titles = {one.name: one.title for one in SECTIONS}
    for name, advice in named_advice_of(evaluation):
        text = advice.replace(_IN_PAGE, " (`--explain`)" if explanation is None else "")
        target = _ADVISED.get(name, "")
        found.append(
            {
                "about": name if name.startswith("to ") else "",
                "text": f"{text[0].upper()}{text[1:]}",
                "target": target if shown.get(target) else "",
                "title": titles.get(target, ""),
                "prefix": "",
            }
        )
    return found


@section("copied", "Closest training samples")
def _copied(evaluation: Evaluation) -> dict[str, Any] | None:
    found = evaluation.copied
    if found is None or not found.pairs:
        return None
    shown = [pair for pair in found.pairs if pair.generated.has_content]
    return {
        "shown": shown,
        "has_images": all(pair.generated.image and pair.training.image for pair in shown),
        "rows": [
            (
                pair.generated.id,
                pair.training.id,
                pair.held_out.id,
                f"{pair.distance:.3g}",
                f"{pair.to_held_out:.3g}",
                f"{pair.ratio:.2f}",
                f"{pair.votes:,}",
            )
            for pair in found.pairs
        ],
        "often": found.often[0].votes if found.often else 0,
    }


_MOST_COLUMNS = 15
"""Columns that are listed at once, unless more of them differ."""


@section("columns", "Columns and pairs")
def _columns(evaluation: Evaluation) -> dict[str, Any] | None:
    found = evaluation.table
    if found is None or not found.columns:
        return None
    return {
        "columns": [
            {
                "name": printable(one.name),
                "bars": column_bars(one.real, one.generated),
                "cells": [printable(cell) for cell in one.cells],
                "value": f"{one.value:.0%}",
                "at_least": _limit(one),
                "statistic": f"{one.statistic:.2f}",
            }
            for one in found.columns
        ],
        "bars": BARS,
        "most": max(_MOST_COLUMNS, len(found.different)),
        "map": pair_map(found.pairs),
        "pairs": [
            (
                f"{printable(one.first)} and {printable(one.second)}",
                f"{one.value:.0%}",
                _limit(one),
                f"{one.real:.2f}",
                f"{one.generated:.2f}",
                one.change if one.is_established else "",
            )
            for one in found.pairs
        ],
    }


def _limit(one: ColumnDifference | PairDifference) -> str:
    """A lower limit, rounded down; empty if no difference is established."""
    return percent(one.at_least) if one.is_established else ""


@section("prompts", "Prompts")
def _prompts(evaluation: Evaluation) -> dict[str, Any] | None:
    found = evaluation.prompts
    if found is None:
        return None
    parts = {"prompts": found.of_prompts, "samples": found.of_samples, "both": found.of_pairs}
    return {
        "unit": found.unit,
        "counts": found.prompts,
        "parts": [
            (
                name,
                *(
                    text
                    for kind in ("overlap", "precision", "recall")
                    for text in _limited(getattr(one, kind), getattr(one, f"{kind}_at_most"))
                ),
            )
            for name, one in parts.items()
            if one is not None
        ],
        "mismatched": found.mismatched,
        "worst": found.worst,
        "variety": [
            (one.prompt, f"{one.variety:.0%}", f"{one.low:.0%} to {one.high:.0%}")
            for one in (found.variety.prompts if found.variety else ())
        ],
    }


def _limited(value: float, at_most: float) -> tuple[str, str]:
    """A value, and its limit where a loss is established."""
    return f"{value:.3f}", percent_up(at_most) if at_most < 1.0 else ""


@section("missed", "What it misses")
def _missed(evaluation: Evaluation) -> dict[str, Any] | None:
    found = evaluation.explanation
    return None if found is None else _grouped(found.missed, "recall", evaluation)


@section("invented", "What it invents")
def _invented(evaluation: Evaluation) -> dict[str, Any] | None:
    found = evaluation.explanation
    return None if found is None else _grouped(found.invented, "precision", evaluation)


@section("classes", "Classes")
def _classes(evaluation: Evaluation) -> dict[str, Any] | None:
    found = evaluation.explanation
    if found is None or not found.classes:
        return None
    return {"by": found.classes_by, "rows": [_class_row(one) for one in found.classes]}


@section("curve", "Trade-off")
def _curve(evaluation: Evaluation) -> dict[str, Any] | None:
    curve = evaluation.curve
    if curve is None:
        return None
    data = _as_json(curve_data(curve))
    plot = curve_plot({"": curve}, balanced_of({"": evaluation}))
    return {"curves": plot, "data": data, "numbers": _numbers(evaluation)}


@section("views", "Views")
def _views(evaluation: Evaluation) -> dict[str, Any] | None:
    header, rows = views_of(evaluation)
    return {"header": header, "rows": rows} if rows else None


@section("filtering", "Filtering")
def _filtering(evaluation: Evaluation) -> dict[str, Any] | None:
    found = evaluation.explanation
    if found is None or not (found.invented and found.filtering):
        return None
    if not found.filtering[0].precision_low > 0:
        return None
    return {
        "precision_lam": f"{found.invented.lam:.2g}",
        "recall_lam": f"{found.missed.lam:.2g}" if found.missed else "",
        "rows": [
            (
                f"{one.dropped:.0%}",
                _loss(one.precision_loss, one.precision_low),
                _loss(one.recall_loss, one.recall_low),
            )
            for one in found.filtering
        ],
    }


@section("pairs", "Closest pairs")
def _pairs(evaluation: Evaluation) -> Sequence[ClosePair] | None:
    found = evaluation.explanation
    return (found.closest or None) if found is not None else None


@section("all-scores", "Scores")
def _scores(evaluation: Evaluation) -> dict[str, Any]:
    return {
        "table": (HEADER, rows_of(evaluation)),
        "notes": notes_of(evaluation),
    }


def _shows_samples(evaluation: Evaluation) -> bool:
    found = evaluation.explanation
    if evaluation.copied_pairs:
        return True
    if found is None:
        return False
    return bool(found.closest) or any(
        loss and loss.groups for loss in (found.missed, found.invented)
    )


def _numbers(evaluation: Evaluation) -> list[tuple[str, str, str]]:
    """The curve as a table, for readers without a picture."""
    curve = evaluation.curve
    assert curve is not None
    rows = []
    for lam in (0.05, 0.1, 0.2, 0.4, 1.0, 2.5, 5.0, 10.0, 20.0):
        cells = []
        for kind in ("precision", "recall"):
            value = min(float(getattr(curve, kind)(lam)), 1.0)
            limits = [getattr(line, kind)(lam) for line in (curve.lower, curve.upper) if line]
            ends = ", ".join(f"{min(float(limit), 1.0):.3f}" for limit in limits)
            cells.append(f"{value:.3f} [{ends}]" if limits else f"{value:.3f}")
        rows.append((f"{lam:g}", cells[0], cells[1]))
    return rows


def _grouped(loss: GroupedLoss | None, kind: str, evaluation: Evaluation) -> dict[str, Any]:
    outcome = getattr(evaluation.verdict, kind, None)
    is_open = outcome is not None and outcome.state == "inconclusive"
    if loss is None or evaluation.explanation is None:
        return {"groups": [], "is_open": is_open}
    sizes = evaluation.provenance["samples"]
    named = evaluation.explanation.established[loss.kind]
    positive = sum(max(group.share, 0.0) for group in loss.groups) or 1.0
    groups, start = [], 0.0
    for number, group in enumerate(loss.groups):
        width = 600.0 * max(group.share, 0.0) / positive
        groups.append(
            {
                "group": group,
                "name": _group_name(group),
                "share": f"{group.share:.1%}",
                "at_least": percent(group.at_least),
                "class": next((c for c in named if group.name.startswith(f"{c} (")), "")
                if group.kind == "classes"
                else "",
                "needed": _needed(group.times_needed, sizes),
                "opacity": round(max(0.25, 1.0 - 0.18 * number), 2),
                "x": round(start, 1),
                "width": round(max(width - 2.0, 1.0), 1),
            }
        )
        start += width
    return {
        "groups": groups,
        "is_open": is_open,
        "list": list_of(loss),
        "color": COLORS[0 if loss.kind == "recall" else 1],
        "loss": f"{loss.loss:.1%}",
        "at_least": percent(max(loss.low, 0.0)),
        "overall": f"{loss.overall:.1%}",
        "times": rounded_factor(loss.factor),
        "share": rounded_inverse(loss.factor),
        "lam": f"{loss.lam:.2g}",
    }


def _group_name(group: Group) -> str:
    """Name of a group; of classes it holds their shares of the group."""
    name = printable(group.name)
    return f"{name[:-1]} of the group)" if group.kind == "classes" and name.endswith("%)") else name


def _needed(times: float | None, sizes: Mapping[str, int]) -> str:
    """With how many samples a group would be established, in words; empty if not known."""
    if times is None:
        return ""
    needed = f"About {times:.1f} times as many samples"
    if len(set(sizes.values())) == 1:
        count = times * next(iter(sizes.values()))
        step = 10 ** max(0, len(f"{count:.0f}") - 2)
        needed += f" ({ceil(count / step) * step:,} on each side)"
    return needed


def _class_row(one: Any) -> dict[str, Any]:
    def within(value: float, at_least: float, of: float) -> dict[str, Any]:
        share, low = (max(v, 0.0) / of if of else 0.0 for v in (value, at_least))
        return {
            "text": f"{share:.0%}" if of else "",
            "at_least": percent(low) if low > 0 else "",
            "width": round(160 * min(share, 1.0), 1),
            "low": round(160 * min(low, 1.0), 1),
        }

    return {
        "name": printable(one.name) or "no class",
        "real": f"{one.real:.1%}",
        "generated": f"{one.generated:.1%}",
        "missed": within(one.missed, one.missed_at_least, one.real),
        "invented": within(one.invented, one.invented_at_least, one.generated),
        "points": f"{100 * one.missed:+.1f}".replace("-", "−"),
    }


def _loss(value: float, low: float) -> str:
    return f"{value:.1%} (at least {percent(low)})" if low > 0 else f"{value:.1%}"


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("tradeoff.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: printable(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["printable"] = printable
    return environment


def _asset(name: str) -> Any:
    """A file of the page that is part of the package, and needs no escaping."""
    from markupsafe import Markup

    return Markup(resources.files("tradeoff.report").joinpath("templates", name).read_text("utf-8"))


def _as_json(data: Any) -> Any:
    """JSON that cannot end the element that holds it."""
    from markupsafe import Markup

    text = json.dumps(data, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace("&", "\\u0026"))


def _hash(text: str) -> str:
    digest = hashlib.sha256(str(text).encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def provenance_of(evaluation: Evaluation, command: str, **options: Any) -> list[tuple[str, str]]:
    """What an evaluation was made of and with, and the command with options that repeats it."""
    about, settings = evaluation.provenance, evaluation.settings.to_dict() | options
    generated = {"compare": "NAME=GENERATED …", "sweep": "VALUE=GENERATED …"}.get(
        command, "GENERATED"
    )
    given = "".join(_option(name, value) for name, value in settings.items())
    train = " --train TRAIN" if evaluation.training else ""
    written = f"tradeoff {command} --real REAL --generated {generated}{train}{given}"
    return [*about_of(about), ("command", written)]


def about_of(about: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What a result was made of and with, a row for each part that is known."""
    versions = about.get("versions", {})
    rows = [
        ("samples", ", ".join(f"{n:,} {side}" for side, n in about.get("samples", {}).items())),
        ("encoder", printable(str(about.get("encoder", "")))),
        ("columns", f"{about.get('columns', '')}"),
        ("estimator", printable(str(about.get("estimator", "")))),
        ("seed", str(about.get("seed", 0))),
        ("versions", ", ".join(f"{name} {version}" for name, version in versions.items())),
    ]
    return [(name, text) for name, text in rows if text]


def _option(name: str, value: Any) -> str:
    if value is True or value is False:
        return f" --{'' if value else 'no-'}{name.replace('_', '-')}"
    if name == "store":
        return ""
    if isinstance(value, dict):
        return f" --{name} …"  # an estimator with its fields, which only a file can name
    text = ",".join(value) if isinstance(value, list) else str(value)
    text = Path(text).name if name == "schema" else text  # its folder is nobody else's business
    return f" --{name} {shlex.quote(printable(text))}"
