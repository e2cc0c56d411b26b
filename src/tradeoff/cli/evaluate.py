"""`tradeoff evaluate`: one model against real data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from tradeoff._text import printable
from tradeoff.cli.kept import Kept  # noqa: TC001, Typer reads annotations
from tradeoff.cli.options import (
    ALL,
    ANY,
    Address,
    BothPaths,
    Config,
    EngineName,
    FailOn,
    FailOver,
    FailUnder,
    Generated,
    Json,
    LedgerFolder,
    NoSamples,
    Out,
    Overwrite,
    Plot,
    Quiet,
    Real,
    Report,
    Train,
    Verbose,
    Workers,
    check_output,
    explained_settings,
    find_engine,
    inputs_of,
    parse_findings,
    parse_gates,
    placed_output,
    placed_sources,
    repeating,
    take_sources,
    take_training,
    with_settings,
)

if TYPE_CHECKING:
    from tradeoff.evaluation import Evaluation

__all__ = ["run"]


@with_settings(*ALL)
def run(
    samples: BothPaths = None,
    *,
    real: Real = None,
    generated: Generated = None,
    train: Train = None,
    config: Config = None,
    json: Json = False,
    plot: Plot = None,
    report: Report = None,
    no_samples: NoSamples = False,
    out: Out = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    fail_under: FailUnder = None,
    fail_over: FailOver = None,
    fail_on: FailOn = None,
    engine: EngineName = None,
    address: Address = None,
    workers: Workers = None,
    ledger: LedgerFolder = None,
    chosen: dict[str, Any],
    kept: Kept,
) -> None:
    """Measure one model against real data."""
    from tradeoff.cli.output import print_result, print_verdict, print_warnings, write_result
    from tradeoff.evaluation.pipeline import evaluate_sources
    from tradeoff.evaluation.result import evaluation_files
    from tradeoff.report import EvaluationDisplay
    from tradeoff.settings import write_config

    real, generated = placed_sources(samples or [], real=real, generated=generated, json=json)
    out, report, document = placed_output(out, report)
    sources = take_sources(chosen, real=real, generated=generated)
    sources |= take_training(chosen, train)
    runner = find_engine(engine, chosen, address=address, workers=workers)
    settings = explained_settings(chosen, plot=plot, report=report)
    under = parse_gates(fail_under, "--fail-under")
    over = parse_gates(fail_over, "--fail-over")
    names = parse_findings(fail_on)
    check_gates((*under, *over), settings, train="train" in sources)
    _check_findings(names, settings, train="train" in sources)
    files = [] if out is None else evaluation_files(out)
    check_output(
        inputs_of(chosen, sources, config),
        out=out,
        results=[] if out is None else [*files, out / "run.toml"],
        files=[plot, report, document],
        overwrite=overwrite,
    )
    result = evaluate_sources(
        **sources, settings=settings, engine=runner, ledger=ledger, progress=not quiet
    )
    if json:
        typer.echo(result.to_json(curves=False))
    elif quiet:
        print_verdict(result)
        print_warnings(result)
    else:
        print_result(result, page=report, verbose=verbose)
    write_result(
        result,
        EvaluationDisplay,
        out=out,
        document=document,
        files=files,
        plot=plot,
        report=report,
        samples=not no_samples,
        config=write_config(repeating(settings, result.provenance["encoder"]), **sources),
        kept=kept,
    )
    passes = _passes(result, under, over)
    if not (_is_free_of(result, names) and passes):
        raise typer.Exit(1)


def _passes(result: Evaluation, under: dict[str, float], over: dict[str, float]) -> bool:
    """Whether all gates are passed, which are told one by one."""
    failed = False
    for word, gates in (("below", under), ("above", over)):
        for key, limit in gates.items():
            score = result[key]
            fails = not (score.value >= limit if word == "below" else score.value <= limit)
            text = score.text
            told = f"{text} is {word} {limit:g}" if fails else f"{text} is not {word} {limit:g}"
            if not score.is_known:
                fails, told = True, f"{text} could not be estimated"
            failed = failed or fails
            typer.echo(f"gate {'failed' if fails else 'passed'}: {key} = {told}", err=True)
    return not failed


def _is_free_of(result: Evaluation, names: tuple[str, ...]) -> bool:
    """Whether no finding has one of these names, which are told one by one.

    What a run could not find, such as columns of images, is not known to be absent.
    """
    from tradeoff.evaluation.findings import findable

    tested = findable(result.verdict, result.scores, result.training, result.table, result.prompts)
    failed = False
    for name in names:
        found = [one for one in result.findings if name in (ANY, one.name)]
        is_tested = name == ANY or name in tested
        failed = failed or bool(found) or not is_tested
        for one in found:
            typer.echo(printable(f"gate failed: {one.name}: {one.sentence}"), err=True)
        if not is_tested:
            typer.echo(f"gate failed: {name}: this run could not test it", err=True)
        elif not found:
            typer.echo(f"gate passed: {name}: nothing was found", err=True)
    return not failed


def _check_findings(names: tuple[str, ...], settings: Any, *, train: bool) -> None:
    """A gate on what only a training set or prompts can show would always be passed without."""
    from tradeoff.evaluation.findings import OF_PROMPTS, OF_TRAINING
    from tradeoff.exceptions import InvalidInputError

    for name in names:
        if name in OF_TRAINING and not train:
            raise InvalidInputError(
                f"`--fail-on {name}` requires the training samples of the model: pass --train, or "
                "leave it out."
            )
        if name in OF_PROMPTS and settings.prompt is None:
            raise InvalidInputError(
                f"`--fail-on {name}` requires the prompts of the samples: pass --prompt, or leave "
                "it out."
            )


def check_gates(keys: tuple[str, ...], settings: Any, *, train: bool = False) -> None:
    """A gate on a score that will not be measured is a mistake, and told before the work."""
    from tradeoff._validation import check_choice
    from tradeoff.exceptions import InvalidInputError
    from tradeoff.metrics.registry import resolve_keys
    from tradeoff.protocols import PROTOCOLS

    if not keys:
        return
    if settings.protocol is None:
        resolve_keys(keys)  # an unknown name is told with the known ones
        found = resolve_keys(settings.metrics, train=train or None)
        measured, way_out = found, "one of them, or add it to --metrics"
    else:
        check_choice("protocol", settings.protocol, PROTOCOLS)
        measured, way_out = PROTOCOLS[settings.protocol].recipe.keys, "one of them"
    for key in keys:
        if key not in measured:
            raise InvalidInputError(
                f"A gate must name a score of this run. `{key}` is not among "
                f"{', '.join(measured)}: choose {way_out}."
            )
