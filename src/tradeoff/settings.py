"""One typed configuration for Python, the command line and TOML files.

It imports nothing heavy, so that the command line can answer at once; what the values mean is
checked where they are used.
"""

from __future__ import annotations

import re
import textwrap
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, cast

from tradeoff._registry import suggestion
from tradeoff.exceptions import InvalidInputError, first_line
from tradeoff.features.registry import ENCODERS
from tradeoff.metrics.registry import FAMILIES, default_metrics, resolve_keys
from tradeoff.ratio.registry import ESTIMATORS, estimator_from_fields, estimator_to_fields

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Settings", "read_config"]

F = TypeVar("F", bound="Callable[..., Any]")

_TEXTS = {"real", "generated", "train", "store", "schema"}
_WIDTH = 100
_ALIASES = {"fake": "generated", "verbose": "progress"}
"""Keywords that other packages have, which are accepted, and ours that mean the same."""
_REFUSED = {
    **dict.fromkeys(
        ("n_jobs", "num_workers", "workers"), "threads are as many as cores, or OMP_NUM_THREADS"
    ),
    **dict.fromkeys(("random_state", "rng"), "write `seed`"),
    **dict.fromkeys(("metric", "scores"), "write `metrics`"),
    **dict.fromkeys(("nearest_k", "n_neighbors", "neighbors"), "write `k`"),
    **dict.fromkeys(("feature_extractor", "features", "backbone"), "write `encoder`"),
}
"""Keywords that other packages have, and what to say instead."""


@dataclass(frozen=True, kw_only=True)
class EmbedSettings:
    """How samples are read and embedded.

    Example:
        >>> from tradeoff.settings import EmbedSettings
        >>> EmbedSettings(encoder="efficientnet-lite0").broken
        'skip'
    """

    kind: Literal["image", "text", "table", "features"] | None = field(
        default=None,
        metadata={
            "help": "Kind of the samples, if it cannot be detected: image, text, table or features."
        },
    )
    column: str | None = field(
        default=None, metadata={"help": "Column that holds the samples, where there are several."}
    )
    label: str | None = field(default=None, metadata={"help": "Column that holds the class."})
    schema: str | Path | Mapping[str, Any] | None = field(
        default=None,
        metadata={
            "help": "What the columns of a table hold: the metadata.json of SDV. Identifiers are "
            "left out, and dates are read."
        },
    )
    encoder: Any = field(
        default=None,
        metadata={
            "help": "Encoder: a name, a file, a folder or an id of the Hugging Face hub. Several "
            "encoders are views of each sample, of which the first one serves metrics that see one."
        },
    )
    low_level: bool = field(
        default=True,
        metadata={
            "help": "Whether images are also seen by `pixels` and texts by `surface`, next to an "
            "encoder of their content."
        },
    )
    size: int | None = field(
        default=None,
        metadata={"help": "Pixels to which images are resized, for encoders that let you choose."},
    )
    trusted: bool = field(
        default=False,
        metadata={"help": "Load a TorchScript or torch.export file, which may run any code."},
    )
    device: str = field(
        default="auto", metadata={"help": "Device of an encoder; auto is a GPU if there is one."}
    )
    dtype: Literal["float32", "bfloat16", "float16"] = field(
        default="float32",
        metadata={"help": "Floating-point type of matrix products inside an encoder."},
    )
    runtime: Literal["auto", "torch", "onnx"] = field(
        default="auto",
        metadata={
            "help": "What runs `efficientnet-lite0`: torch (PyTorch) or onnx (ONNX Runtime, on a "
            "CPU); auto is ONNX Runtime if it is installed and there is no GPU."
        },
    )
    batch_size: int | None = field(
        default=None,
        metadata={
            "help": "Number of samples that an encoder sees at once: 32, or what suits the GPUs of "
            "workers. Features of different sizes differ by rounding and are never mixed."
        },
    )
    store: str | Path | None = field(
        default=None, metadata={"help": "Folder in which features are cached for later runs."}
    )
    limit: int | None = field(
        default=None,
        metadata={"help": "Largest number of samples of each side; they are chosen at random."},
    )
    broken: Literal["skip", "stop"] = field(
        default="skip", metadata={"help": "What to do with items that cannot be read."}
    )
    seed: int = field(default=0, metadata={"help": "Seed of everything random."})

    def __post_init__(self) -> None:
        for name in ("store", "schema"):
            if isinstance(path := getattr(self, name), Path):
                object.__setattr__(self, name, str(path))


@dataclass(frozen=True, kw_only=True)
class MeasureSettings:
    """What is measured of embedded samples, and how.

    Example:
        >>> from tradeoff.settings import MeasureSettings
        >>> MeasureSettings(metrics="curve, knn.density").metrics
        ('curve', 'knn.density')
    """

    metrics: str | Collection[str] | None = field(
        default=None,
        metadata={
            "help": "Keys such as knn.density, or families: {families}. Separated by commas."
        },
    )
    protocol: str | None = field(
        default=None,
        metadata={
            "help": "Published evaluation protocol to run instead of metrics; see `tradeoff "
            "protocols`."
        },
    )
    estimator: Any = field(
        default="stack",
        metadata={"help": "Estimator of the likelihood ratio behind the curve: {estimators}."},
    )
    rule: Literal["cross-fitted", "frozen"] = field(
        default="cross-fitted",
        metadata={
            "help": "How errors are counted: cross-fitted scores every sample with estimators that "
            "were not fitted on it; frozen fits one estimator on a part of the samples, for very "
            "large data sets."
        },
    )
    folds: int = field(default=5, metadata={"help": "Number of cross-fitting folds."})
    repeats: Literal["auto", "copies", "draws"] = field(
        default="auto",
        metadata={
            "help": "What equal samples are: copies of one sample, or independent draws of one "
            "value (categories, counts); auto decides by how they repeat."
        },
    )
    k: int = field(
        default=5, metadata={"help": "Rank k of the neighbor that a neighborhood reaches."}
    )
    target: str | None = field(
        default=None,
        metadata={
            "help": "Column of a table that is predicted from the others: once by a model that is "
            "trained on generated rows, and once by one that is trained on real rows."
        },
    )
    prompt: str | None = field(
        default=None,
        metadata={
            "help": "Column that holds the prompt or the class for which each sample was made, to "
            "test whether samples fit it."
        },
    )
    diagnose: bool = field(
        default=True,
        metadata={
            "help": "Plant known losses in the real data, to test which ones the curve would "
            "detect."
        },
    )
    explain: bool = field(
        default=False,
        metadata={"help": "Find groups of samples that the model misses and invents."},
    )
    level: float = field(default=0.95, metadata={"help": "Confidence level of the intervals."})
    seed: int = field(default=0, metadata={"help": "Seed of everything random."})

    def __post_init__(self) -> None:
        metrics: Any = self.metrics
        if metrics is None:
            metrics = default_metrics(counted=self.rule == "frozen")
        elif isinstance(metrics, str):
            metrics = tuple(filter(None, re.split(r"[,\s]+", metrics)))
        elif not isinstance(metrics, Collection) or not all(isinstance(m, str) for m in metrics):
            raise InvalidInputError(f"`metrics` must be names of metrics. Got {metrics!r}.")
        object.__setattr__(self, "metrics", tuple(metrics))
        if isinstance(self.estimator, dict):
            object.__setattr__(self, "estimator", estimator_from_fields(self.estimator))


class EmbedKeywords(TypedDict, total=False):
    """Keywords of functions that read and embed samples: the fields of `EmbedSettings`."""

    kind: Literal["image", "text", "table", "features"] | None
    column: str | None
    label: str | None
    schema: str | Path | Mapping[str, Any] | None
    encoder: Any
    low_level: bool
    size: int | None
    trusted: bool
    device: str
    dtype: Literal["float32", "bfloat16", "float16"]
    runtime: Literal["auto", "torch", "onnx"]
    batch_size: int | None
    store: str | Path | None
    limit: int | None
    broken: Literal["skip", "stop"]
    seed: int


class Keywords(EmbedKeywords, total=False):
    """Keywords of functions that measure samples: the fields of `Settings`."""

    metrics: str | Collection[str] | None
    protocol: str | None
    estimator: Any
    rule: Literal["cross-fitted", "frozen"]
    folds: int
    repeats: Literal["auto", "copies", "draws"]
    k: int
    target: str | None
    prompt: str | None
    diagnose: bool
    explain: bool
    level: float


@dataclass(frozen=True, kw_only=True)
class Settings(MeasureSettings, EmbedSettings):
    """All settings of a run: the fields of `EmbedSettings` and `MeasureSettings`.

    Example:
        >>> from tradeoff import Settings
        >>> Settings(encoder="efficientnet-lite0", seed=1).to_dict()
        {'encoder': 'efficientnet-lite0', 'seed': 1}
    """

    def __post_init__(self) -> None:
        EmbedSettings.__post_init__(self)
        MeasureSettings.__post_init__(self)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Settings:
        """Settings from a dictionary; an unknown name raises `InvalidInputError`.

        Example:
            >>> from tradeoff import Settings
            >>> Settings.of({"sede": 1})
            Traceback (most recent call last):
            ...
            tradeoff.exceptions.InvalidInputError: Unknown setting `sede`. Did you mean `seed`?
        """
        known = [field.name for field in fields(cls)]
        for name in values:
            if name not in known:
                raise InvalidInputError(f"Unknown setting `{name}`. {suggestion(name, known)}")
        return cls(**values)

    @property
    def has_curve(self) -> bool:
        """Whether the curve is among what is measured, and not one of a published protocol."""
        keys = resolve_keys(self.metrics or ())
        return self.protocol is None and any(key.startswith("curve.") for key in keys)

    @property
    def has_controls(self) -> bool:
        """Whether losses are planted, to see which would be detected; a frozen rule has none."""
        return self.diagnose and self.rule == "cross-fitted"

    def to_dict(self) -> dict[str, Any]:
        """What differs from the defaults, ready for JSON or TOML.

        A registered estimator is kept as its name and fields; any other as its text.
        """
        defaults = Settings(rule=self.rule)
        changed = {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if getattr(self, field.name) != getattr(defaults, field.name)
        }
        if self.rule != Settings().rule:
            changed["rule"] = self.rule
        if not isinstance(changed.get("estimator", ""), str):
            changed["estimator"] = estimator_to_fields(self.estimator) or repr(self.estimator)
        for name in {"encoder", "store"} & changed.keys():
            changed[name] = _plain(changed[name])
        if "metrics" in changed:
            changed["metrics"] = list(changed["metrics"])
        return changed


def _plain(value: Any) -> Any:
    """A path or an encoder as text; several encoders as a list, or by the names of their views."""
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, Mapping):
        return {str(view): _plain(one) for view, one in value.items()}
    if isinstance(value, (str, Path)):
        return str(value)
    return getattr(value, "name", repr(value))


def with_keywords(
    kind: type[EmbedSettings] = Settings, *, without: Collection[str] = (), **defaults: Any
) -> Callable[[F], F]:
    """Show the names of settings in the signature and the docstring of a function.

    The docstring has a line ``**settings: …`` among its arguments, which is replaced by a line for
    each of them. A setting that the function does not have is refused.

    Args:
        kind: Settings whose fields the function takes as keywords.
        without: Names of fields that it does not take.
        defaults: Defaults that differ from those of the settings.
    """
    taken = [one for one in fields(kind) if one.name not in without]

    def decorate(function: F) -> F:
        own = signature(function)
        explicit = [p for p in own.parameters.values() if p.kind is not Parameter.VAR_KEYWORD]
        keywords = [
            Parameter(
                one.name,
                Parameter.KEYWORD_ONLY,
                default=defaults.get(one.name, one.default),
                annotation=one.type,
            )
            for one in taken
        ]

        @wraps(function)
        def checked(*args: Any, **named: Any) -> Any:
            named = {_ALIASES.get(name, name): value for name, value in named.items()}
            for name in named:
                if name in _REFUSED and name not in own.parameters:
                    told = f"`{function.__name__}` has no setting `{name}`: {_REFUSED[name]}."
                    raise InvalidInputError(told)
                if name in without and name not in own.parameters:
                    raise InvalidInputError(f"`{function.__name__}` has no setting `{name}`.")
            return function(*args, **named)

        vars(checked)["__signature__"] = own.replace(parameters=[*explicit, *keywords])
        checked.__doc__ = _documented(function.__doc__ or "", taken)
        return cast("F", checked)

    return decorate


def _documented(text: str, taken: Collection[Any]) -> str:
    """A docstring whose line ``**settings: …`` is replaced by a line for each setting."""
    lines = []
    for line in text.splitlines():
        if not line.strip().startswith("**settings:"):
            lines.append(line)
            continue
        indent = line[: len(line) - len(line.lstrip())]
        for one in taken:
            told = f"{one.name}: {help_of(one)}"
            lines += textwrap.wrap(
                told, _WIDTH, initial_indent=indent, subsequent_indent=f"{indent}    "
            )
    return "\n".join(lines)


def help_of(setting: Any) -> str:
    """What a setting is, as its field declares it."""
    return str(setting.metadata["help"]).format(
        families=", ".join(FAMILIES), estimators=", ".join(ESTIMATORS)
    )


def read_config(path: str | Path) -> dict[str, Any]:
    r"""Sources and settings of a TOML file by name; paths of sources and store are its folder's.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from tradeoff.settings import read_config
        >>> path = Path(tempfile.mkdtemp()) / "run.toml"
        >>> _ = path.write_text('real = "photos"\nseed = 3\n')
        >>> found = read_config(path)
        >>> Path(found["real"]).name, found["seed"]
        ('photos', 3)
    """
    path = Path(path)
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInputError(f"`{path}` cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:  # also numbers of too many digits, deep nesting
        raise InvalidInputError(f"`{path}` must be TOML. {first_line(error)}.") from None
    values |= _encoder_in(values, path)
    for name in _TEXTS & values.keys():
        many = isinstance(values[name], dict) and name == "generated"
        texts = values[name].values() if many else [values[name]]
        if not all(isinstance(text, str) for text in texts):
            raise InvalidInputError(f"`{name}` in `{path}` must be text. Got {values[name]!r}.")
        values[name] = (
            {model: placed(place, path.parent) for model, place in values[name].items()}
            if many
            else placed(values[name], path.parent)
        )
    if not _is_list_of_texts(values.get("metrics", [])):
        raise InvalidInputError(f"`metrics` in `{path}` must be a list of names.")
    return values


def _encoder_in(values: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """The encoder of a TOML file, or several of them, with paths relative to its folder."""
    if "encoder" not in values:
        return {}
    encoder = values["encoder"]
    several = [*encoder.values()] if isinstance(encoder, dict) else encoder
    if not _is_list_of_texts(several):
        raise InvalidInputError(f"`encoder` in `{path}` must be text. Got {encoder!r}.")

    def found(one: str) -> str:
        return placed(one, path.parent) if _is_path(path.parent / one) else one

    if isinstance(encoder, dict):
        return {"encoder": {view: found(one) for view, one in encoder.items()}}
    return {"encoder": found(encoder) if isinstance(encoder, str) else [*map(found, encoder)]}


def write_config(settings: Settings, *, real: Any, generated: Any, train: Any = None) -> str:
    """The text of a TOML file that repeats a run; sources that are not paths must be given again.

    Example:
        >>> from tradeoff.settings import Settings, write_config
        >>> print(write_config(Settings(seed=3), real="/photos", generated=[1, 2]))
        # generated was not a path
        real = "/photos"
        seed = 3
        <BLANKLINE>
    """
    import tomli_w

    comments, values = "", dict[str, Any]()
    sources = {"real": real, "generated": generated}
    for name, source in (sources if train is None else sources | {"train": train}).items():
        if isinstance(source, (str, Path)):
            values[name] = placed(source, Path.cwd())
        elif isinstance(source, dict) and all(isinstance(s, (str, Path)) for s in source.values()):
            values[name] = {model: placed(one, Path.cwd()) for model, one in source.items()}
        else:
            comments += f"# {name} was not a path\n"
    for name, value in settings.to_dict().items():
        is_path = name in ("store", "schema") and isinstance(value, str)
        values[name] = placed(value, Path.cwd()) if is_path else value
    values |= _encoder_in(values, Path.cwd() / "run.toml")
    return comments + tomli_w.dumps(values)


def placed(source: str | Path, folder: Path) -> str:
    """A path relative to a folder; an address stays as it is."""
    return str(source) if "://" in str(source) else str(folder / source)


def _is_path(encoder: Path) -> bool:
    """A name is a name, even where a file is called the same."""
    return encoder.name not in ENCODERS and encoder.exists()


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, str) or (
        isinstance(value, list) and all(isinstance(text, str) for text in value)
    )
