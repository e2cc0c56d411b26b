"""Options of commands: every setting is one, with the words of its documentation."""

from __future__ import annotations

import functools
import inspect
import math
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer

from tradeoff._files import missing
from tradeoff._progress import clear_line, whole_run
from tradeoff._registry import suggestion
from tradeoff._text import printable
from tradeoff.cli.command import INTERRUPTED
from tradeoff.cli.kept import Kept
from tradeoff.exceptions import InvalidInputError
from tradeoff.metrics.registry import default_metrics
from tradeoff.settings import EmbedSettings, Settings, help_of, read_config

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tradeoff.embedding import Embedded
    from tradeoff.evaluation import Reference

EMBEDDING = tuple(field.name for field in fields(EmbedSettings))
"""Names of the settings of reading and embedding."""
ALL = tuple(field.name for field in fields(Settings))
"""Names of all settings."""
CROSS_FITTED = tuple(name for name in ALL if name != "rule")
"""Names of the settings of commands that know no frozen rule."""

ANY = "any"
"""What a gate calls all findings together."""

__all__ = [
    "ALL",
    "ANY",
    "CROSS_FITTED",
    "EMBEDDING",
    "Address",
    "BothPaths",
    "Config",
    "EngineName",
    "FailOn",
    "FailOver",
    "FailUnder",
    "Generated",
    "Json",
    "LedgerFolder",
    "LooksReport",
    "MoreModels",
    "NoSamples",
    "Out",
    "Overwrite",
    "Plot",
    "Quiet",
    "Real",
    "Report",
    "Train",
    "Verbose",
    "Workers",
    "check_output",
    "embed_sources",
    "explained_settings",
    "find_engine",
    "inputs_of",
    "parse_findings",
    "parse_gates",
    "placed_output",
    "placed_real",
    "placed_sources",
    "repeating",
    "take_source",
    "take_sources",
    "take_training",
    "tell_warnings",
    "with_settings",
]

_PICTURES = (".png", ".pdf", ".svg")
_PAGES = (".html", ".htm")
_PATTERN = ("*", "://")  # of paths that are not those of one file


def _check_picture(path: Path | None) -> Path | None:
    if path is not None and path.suffix.lower() not in _PICTURES:
        raise InvalidInputError(f"`{path}` must end in {', '.join(_PICTURES)}.")
    return path


def _check_page(path: Path | None) -> Path | None:
    if path is not None and path.suffix.lower() not in _PAGES:
        raise InvalidInputError(f"`{path}` must end in {', '.join(_PAGES)}.")
    return path


Real = Annotated[str | None, typer.Option("--real", "-r", help="Real samples: a path.")]
Generated = Annotated[
    str | None, typer.Option("--generated", "-g", help="Samples of the model: a path.")
]
Train = Annotated[
    str | None,
    typer.Option(
        "--train",
        help="Training samples of the model: a path. Tests whether it copies them; the real "
        "samples must be held-out data.",
    ),
]
MoreModels = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[REAL] [NAME=PATH]...",
        help="Further models, as NAME=PATH, after the real samples if there is no --real.",
    ),
]
BothPaths = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="REAL GENERATED", help="Both paths, in place of --real and --generated."
    ),
]
Config = Annotated[
    Path | None,
    typer.Option("--config", help="TOML file with sources and settings; options override it."),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON, and nothing else.")]
Plot = Annotated[
    Path | None,
    typer.Option(
        "--plot",
        help="Draw the result to this file (.png, .pdf, .svg).",
        callback=_check_picture,
    ),
]
Report = Annotated[
    Path | None,
    typer.Option(
        "--report",
        help="Write a page with what the model misses and invents to this file (.html).",
        callback=_check_page,
    ),
]
LooksReport = Annotated[
    Path | None,
    typer.Option(
        "--report", help="Write a page with all looks to this file (.html).", callback=_check_page
    ),
]
NoSamples = Annotated[
    bool,
    typer.Option(
        "--no-samples", help="Leave samples, file names, words and rules out of the report."
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        help="Folder for the result, values of samples, and run.toml; PAGE.html is like --report, "
        "and FILE.json holds the result alone.",
    ),
]
Overwrite = Annotated[
    bool,
    typer.Option(
        "--overwrite", help="Replace files of an earlier run; inputs are never overwritten."
    ),
]
Verbose = Annotated[
    bool, typer.Option("--verbose", help="Print the exact statements behind the verdict, too.")
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="No progress; print the verdict; warnings on stderr."),
]
EngineName = Annotated[
    Literal["local", "ray"] | None,
    typer.Option(
        "--engine",
        help="Where samples in many files are counted, with a frozen rule: local processes or a "
        "Ray cluster.",
    ),
]
Address = Annotated[
    str | None,
    typer.Option("--address", help="Address of a running Ray cluster; one is started if missing."),
]
Workers = Annotated[
    int | None,
    typer.Option("--workers", help="Number of parallel tasks [default: number of cores]."),
]
LedgerFolder = Annotated[
    str | None,
    typer.Option(
        "--ledger",
        help="Folder or address for intermediate results, so that an interrupted run can resume.",
    ),
]
FailUnder = Annotated[
    list[str] | None,
    typer.Option("--fail-under", metavar="KEY=NUMBER", help="Exit with 1 if that score is lower."),
]
FailOver = Annotated[
    list[str] | None,
    typer.Option("--fail-over", metavar="KEY=NUMBER", help="Exit with 1 if that score is higher."),
]
FailOn = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-on",
        metavar="NAME",
        help="Exit with 1 if a finding of that name is established, such as columns or "
        "recall-lost, or any at all (any). Separated by commas.",
    ),
]


def with_settings(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command an option for each of these settings, and the values that were chosen.

    The command takes `chosen`, a dictionary of settings and sources from the options and from a
    TOML file, in which options come first, and `kept`, to which it adds the files that it writes.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True)

        @functools.wraps(command)
        def run(**values: Any) -> None:
            given = {name: values.pop(name) for name in names}
            chosen = {name: value for name, value in given.items() if value not in (None, [])}
            if isinstance(chosen.get("encoder"), list) and len(chosen["encoder"]) == 1:
                (chosen["encoder"],) = chosen["encoder"]
            chosen = _configured(values.get("config"), names) | chosen
            _check_names(chosen, values)
            kept = Kept.of(chosen, values)
            try:
                with whole_run(progress=not values.get("quiet")):
                    command(chosen=chosen, kept=kept, **values)
            except KeyboardInterrupt:
                kept.tell_interrupted()
                raise typer.Exit(INTERRUPTED) from None
            except typer.Exit:  # a gate that failed
                kept.tell()
                raise
            kept.tell()

        parameters = [p for p in own.parameters.values() if p.name not in ("chosen", "kept")]
        keyword = inspect.Parameter.KEYWORD_ONLY
        settings = [
            inspect.Parameter(name, keyword, default=None, annotation=_annotation(name))
            for name in names
        ]
        vars(run)["__signature__"] = own.replace(parameters=[*parameters, *settings])
        run.__annotations__ = {p.name: p.annotation for p in (*parameters, *settings)}
        return run

    return decorate


def _check_names(chosen: dict[str, Any], values: dict[str, Any]) -> None:
    """Report a mistyped path or encoder at once, before what measures is imported."""
    from tradeoff.features.open import check_spelling

    encoders = chosen.get("encoder") or []
    for encoder in [encoders] if isinstance(encoders, str) else encoders:
        if isinstance(encoder, str):
            check_spelling(encoder)
    for name in ("real", "generated", "train", "samples", "models"):
        given = values.get(name) or []
        for text in [given] if isinstance(given, str) else given:
            path = Path(text)
            if path.exists() or path.suffix == ".json" or any(mark in text for mark in _PATTERN):
                continue
            label, equals, named = text.partition("=")
            if not (label and equals):
                raise InvalidInputError(missing(path))
            if named and not Path(named).exists():
                raise InvalidInputError(missing(named))


def _configured(config: Path | None, names: Iterable[str]) -> dict[str, Any]:
    """What a TOML file says, none of which a command may ignore."""
    found = read_config(config) if config else {}
    known = {field.name for field in fields(Settings)}
    for name in found:
        if name in known and name not in names:
            raise InvalidInputError(
                f"This command has no setting `{name}`: remove it from `{config}`."
            )
    return found


@functools.cache
def _hints() -> dict[str, Any]:
    """Types of the settings, which take long to find and are needed for every option."""
    return get_type_hints(Settings)


def _annotation(name: str) -> Any:
    """The option of a setting, with the words that the setting was declared with."""
    (setting,) = (field for field in fields(Settings) if field.name == name)
    kind = list[str] if name == "encoder" else _plain(_hints()[name])
    words = help_of(setting)
    if kind is bool:
        flag = name.replace("_", "-")
        return Annotated[kind | None, typer.Option(f"--{flag}/--no-{flag}", help=words)]
    default = default_metrics() if name == "metrics" else setting.default
    shown = ",".join(default) if isinstance(default, tuple) else default
    words += "" if shown is None else f" [default: {shown}]"
    return Annotated[kind | None, typer.Option(f"--{name}", help=words)]


def _plain(hint: Any) -> Any:
    """The type of an option: choices stay choices, lists of words are one word with commas."""
    choices = [part for part in (hint, *get_args(hint)) if get_origin(part) is Literal]
    if choices:
        return choices[0]
    kinds = [part for part in (get_args(hint) or (hint,)) if part in (int, float, bool, str)]
    return kinds[0] if len(kinds) == 1 else str


def parse_gates(texts: list[str] | None, flag: str) -> dict[str, float]:
    """Limits by key."""
    gates = {}
    for text in texts or ():
        key, _, number = text.partition("=")
        try:
            gates[key.strip()] = limit = float(number)
        except ValueError:
            limit = math.nan
        if not math.isfinite(limit):
            raise InvalidInputError(
                f"`{flag}` must be a key and a number, such as curve.recall=0.6. Got {text!r}."
            )
    return gates


def parse_findings(texts: list[str] | None) -> tuple[str, ...]:
    """Names of findings, each once; words can be joined by hyphens."""
    from tradeoff.evaluation.findings import FINDINGS

    names = [name.strip() for text in texts or () for name in text.split(",")]
    found = dict.fromkeys(" ".join(name.lower().replace("-", " ").split()) for name in names)
    for name in found:
        if name not in (ANY, *FINDINGS):
            raise InvalidInputError(
                f"`--fail-on` must name findings. Unknown finding `{name}`. "
                f"{suggestion(name, (*FINDINGS, ANY))}"
            )
    return tuple(found)


def find_engine(
    name: str | None, chosen: dict[str, Any], *, address: str | None, workers: int | None
) -> Any:
    """The engine that options ask for, which counts with a frozen rule; None without one."""
    if name is None:
        if address is not None or workers is not None:
            raise InvalidInputError(
                "`--address` and `--workers` require `--engine`: pass --engine local or --engine "
                "ray."
            )
        return None
    from tradeoff.engines import open_engine

    chosen.setdefault("rule", "frozen")
    return open_engine(name, address=address, workers=workers)


def inputs_of(
    chosen: dict[str, Any], sources: dict[str, Any], config: Path | None
) -> list[str | Path]:
    """Paths that a command reads: sources, a TOML file, a schema and an encoder."""
    encoder = chosen.get("encoder")
    found: list[Any] = [*(encoder if isinstance(encoder, list) else [encoder]), config]
    found.append(chosen.get("schema"))
    for source in sources.values():
        found += source.values() if isinstance(source, dict) else [source]
    return [path for path in found if isinstance(path, (str, Path))]


def check_output(
    inputs: Iterable[str | Path],
    *,
    out: Path | None = None,
    results: Iterable[Path] = (),
    files: Iterable[Path | None] = (),
    overwrite: bool = False,
) -> None:
    """Report what cannot be written before the work, not after it.

    Args:
        inputs: What the command reads.
        out: Folder for a result.
        results: Files of the result in it.
        files: Other files; pictures among them have a suffix of their own.
        overwrite: Whether earlier files are replaced.
    """
    from tradeoff._extras import import_extra
    from tradeoff._files import check_local, check_outputs

    single = [file for file in files if file is not None]
    for file in (*single, *results):
        check_local("output", file)
    for file in single:
        if not file.absolute().parent.is_dir():
            raise InvalidInputError(f"The folder of `{file}` does not exist: create it first.")
    if len({file.resolve() for file in single}) < len(single):
        raise InvalidInputError(
            "Each output must have its own path. Two options name the same file."
        )
    check_outputs([*single, *results], inputs=inputs, overwrite=overwrite)
    if out is not None:
        import_extra("pyarrow", extra="images", purpose="Writing values of samples")
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidInputError(f"`{out}` cannot be created: {error.strerror}.") from None


def explained_settings(
    chosen: dict[str, Any], *, plot: Path | None, report: Path | None
) -> Settings:
    """Settings of a run; a page explains the curve where there is one, unless told not to."""
    found = Settings.of(chosen)
    if plot is not None and found.protocol is None and not found.has_curve:
        raise InvalidInputError("`--plot` draws the curve: add curve to the metrics.")
    if report is not None and "explain" not in chosen and found.has_curve:
        return replace(found, explain=True)
    return found


def placed_output(
    out: Path | None, report: Path | None
) -> tuple[Path | None, Path | None, Path | None]:
    """The folder, the page and the JSON file of a run, of which `--out` can be each."""
    if out is None or out.suffix not in (".html", ".json"):
        return out, report, None
    if out.suffix == ".json":
        return None, report, out
    if report is not None:
        raise InvalidInputError(f"`--out` and `--report` are two pages: {out} and {report}.")
    return None, out, None


def repeating(settings: Settings, encoder: str) -> Settings:
    """Settings that repeat a run, also on a machine where another encoder would be used."""
    from tradeoff.features.default import default_warnings
    from tradeoff.features.views import first_name

    stood_in = bool(default_warnings(settings.encoder, encoder))
    return replace(settings, encoder=first_name(encoder)) if stood_in else settings


def embed_sources(
    chosen: dict[str, Any], sources: dict[str, Any], *, progress: bool
) -> tuple[Settings, Embedded, Reference]:
    """Settings, samples of the model and real samples, of a command that makes no evaluation."""
    from tradeoff.evaluation.pipeline import open_both

    settings = Settings.of(chosen | {"metrics": "curve"})
    opened = open_both(
        sources["real"], {"generated": sources["generated"]}, settings, progress=progress
    )
    tell_warnings(opened.reference.warnings)
    return opened.settings, opened.embed("generated"), opened.reference


def tell_warnings(warnings: Iterable[str]) -> None:
    """Say on stderr what a command's result has no place for."""
    for warning in warnings:
        clear_line()
        typer.echo(printable(f"warning: {warning}"), err=True)


def take_sources(chosen: dict[str, Any], *, real: Any, generated: Any) -> dict[str, Any]:
    """Both sources, from options or else from the TOML file, taken out of what was chosen."""
    given = {"real": real, "generated": generated}
    return {name: take_source(chosen, name, value) for name, value in given.items()}


def placed_real(
    paths: list[str] | None, chosen: dict[str, Any], *, real: str | None
) -> tuple[str | None, list[str]]:
    """The real samples and the rest; the first path is theirs if nothing else names them."""
    found = paths or []
    if real is not None or "real" in chosen or not found:
        return real, found
    is_named = "=" in found[0] and not Path(found[0]).exists()
    return (None, found) if is_named else (found[0], found[1:])


def placed_sources(
    samples: list[str], *, real: str | None, generated: str | None, json: bool = False
) -> tuple[str | None, str | None]:
    """Both sources, by position or by name, but not by both."""
    if not samples:
        return real, generated
    if json and len(samples) == 1 and samples[0].endswith(".json"):
        raise InvalidInputError(
            f"`--json` prints the result: write `--json > {samples[0]}`, or keep everything with "
            "`--out FOLDER`."
        )
    if len(samples) != 2 or real is not None or generated is not None:
        raise InvalidInputError(
            "The samples must be given as two paths, REAL GENERATED, or as --real PATH --generated "
            f"PATH. Got {' '.join(samples)!r}."
        )
    return samples[0], samples[1]


def take_training(chosen: dict[str, Any], train: Any) -> dict[str, Any]:
    """The training set, if one is given, from its option or else from the TOML file."""
    source = chosen.pop("train", None)
    found = source if train is None else train
    return {} if found is None else {"train": found}


def take_source(chosen: dict[str, Any], name: str, value: Any) -> Any:
    """One source, from its option or else from the TOML file, taken out of what was chosen."""
    source = chosen.pop(name, None)
    found = source if value is None else value
    if found is None:
        raise InvalidInputError(f"`--{name}` must be given, as an option or in a TOML file.")
    return found
