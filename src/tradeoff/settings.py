"""One typed configuration for Python, the command line and TOML files.

It imports nothing heavy, so that the command line can answer at once; what the values mean is
checked where they are used.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, TypedDict

from tradeoff.exceptions import InvalidInputError

__all__ = ["Options", "Settings", "read_config", "write_config"]

_NAMES = ("efficientnet-lite0", "all-minilm-l6-v2", "identity", "table")
_TEXTS = {"real", "generated", "store", "features"}
_FAMILIES = ("curve", "knn", "frechet", "kernel", "copies")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How samples are read, embedded and measured.

    Args:
        kind: what the samples are, where it cannot be told: image, text, table or features.
        column: field that holds the samples, where there are several.
        label: field that holds the class.
        features: encoder by name, file, folder or id of the Hugging Face hub; a default for each
            kind if not given.
        size: pixels to which images are resized, for encoders that leave the choice.
        trusted: load a TorchScript encoder, which may run any code.
        device: where an encoder runs; auto is a GPU if there is one.
        dtype: precision of products inside an encoder.
        store: folder in which features are kept and found again.
        limit: number of samples of each side, at most, chosen at random.
        broken: what to do with items that cannot be read.
        metrics: keys such as knn.density, or families: curve, knn, clipped, cover, frechet, kernel,
            copies.
        protocol: recipe of the literature, in place of metrics; see `tradeoff protocols`.
        estimator: what estimates the likelihood ratio behind the curve.
        folds: number of parts over which training and counting rotate.
        k: rank of neighbors.
        diagnose: measure the ceiling, real against real, and whether the curve is tight.
        level: probability with which intervals cover.
        seed: decides everything random.

    Example:
        >>> from tradeoff import Settings
        >>> Settings(features="efficientnet-lite0", seed=1).to_dict()
        {'features': 'efficientnet-lite0', 'seed': 1}
    """

    kind: Literal["image", "text", "table", "features"] | None = None
    column: str | None = None
    label: str | None = None
    features: Any = None
    size: int | None = None
    trusted: bool = False
    device: str = "auto"
    dtype: Literal["float32", "bfloat16", "float16"] = "float32"
    store: str | None = None
    limit: int | None = None
    broken: Literal["skip", "stop"] = "skip"
    metrics: str | tuple[str, ...] = _FAMILIES
    protocol: str | None = None
    estimator: Any = "stack"
    folds: int = 5
    k: int = 5
    diagnose: bool = True
    level: float = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        one = isinstance(self.metrics, str)
        object.__setattr__(self, "metrics", (self.metrics,) if one else tuple(self.metrics))

    @classmethod
    def of(cls, values: dict[str, Any]) -> Settings:
        """Settings by name, of which each must be known.

        Example:
            >>> from tradeoff import Settings
            >>> Settings.of({"sede": 1})
            Traceback (most recent call last):
            ...
            tradeoff.exceptions.InvalidInputError: `sede` is no setting. Known are kind, ...
        """
        known = [field.name for field in fields(cls)]
        for name in values:
            if name not in known:
                raise InvalidInputError(f"`{name}` is no setting. Known are {', '.join(known)}.")
        return cls(**values)

    def to_dict(self) -> dict[str, Any]:
        """What differs from the defaults, ready for JSON or TOML."""
        changed = {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if getattr(self, field.name) != field.default
        }
        for name in ("features", "estimator", "store"):
            value = changed.get(name, "")
            if isinstance(value, Path):
                changed[name] = str(value)
            elif not isinstance(value, str):
                changed[name] = getattr(value, "name", repr(value))
        if "metrics" in changed:
            changed["metrics"] = list(self.metrics)
        return changed


class Options(TypedDict, total=False):
    """The fields of `Settings`, as keywords.

    Example:
        >>> from tradeoff.settings import Options, Settings
        >>> options: Options = {"seed": 3}
        >>> Settings.of({**options}).seed
        3
    """

    kind: Literal["image", "text", "table", "features"] | None
    column: str | None
    label: str | None
    features: Any
    size: int | None
    trusted: bool
    device: str
    dtype: Literal["float32", "bfloat16", "float16"]
    store: str | None
    limit: int | None
    broken: Literal["skip", "stop"]
    metrics: str | tuple[str, ...]
    protocol: str | None
    estimator: Any
    folds: int
    k: int
    diagnose: bool
    level: float
    seed: int


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
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"`{path}` must be TOML. {error}.") from None
    for name in _TEXTS & values.keys():
        many = isinstance(values[name], dict) and name == "generated"
        texts = values[name].values() if many else [values[name]]
        if not all(isinstance(text, str) for text in texts):
            raise InvalidInputError(f"`{name}` in `{path}` must be text. Got {values[name]!r}.")
        if name == "features" and not _is_path(path.parent / values[name]):
            continue
        values[name] = (
            {model: str(path.parent / place) for model, place in values[name].items()}
            if many
            else str(path.parent / values[name])
        )
    if not _is_list_of_texts(values.get("metrics", [])):
        raise InvalidInputError(f"`metrics` in `{path}` must be a list of names.")
    return values


def write_config(settings: Settings, *, real: Any, generated: Any) -> str:
    """The text of a TOML file that repeats a run; a source that is no path must be given again.

    Example:
        >>> from tradeoff.settings import Settings, write_config
        >>> print(write_config(Settings(seed=3), real="/photos", generated=[1, 2]))
        real = "/photos"
        # generated was no path
        seed = 3
        <BLANKLINE>
    """
    lines, tables = [], []
    for name, source in (("real", real), ("generated", generated)):
        if isinstance(source, (str, Path)):
            lines.append(f"{name} = {_toml(_absolute(source))}")
        elif isinstance(source, dict) and all(isinstance(s, (str, Path)) for s in source.values()):
            tables.append(f"\n[{name}]")
            tables += [
                f"{_toml(model)} = {_toml(_absolute(place))}" for model, place in source.items()
            ]
        else:
            lines.append(f"# {name} was no path")
    for name, value in settings.to_dict().items():
        is_path = name == "store" or (name == "features" and _is_path(Path(value)))
        lines.append(f"{name} = {_toml(_absolute(value) if is_path else value)}")
    return "\n".join([*lines, *tables]) + "\n"


def _toml(value: Any) -> str:
    """Numbers, booleans, strings and lists are written as in JSON, but for one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _absolute(path: str | Path) -> str:
    return str(Path(path).absolute())


def _is_path(features: Path) -> bool:
    """A name is a name, even where a file is called the same."""
    return features.name not in _NAMES and features.exists()


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, str) or (
        isinstance(value, list) and all(isinstance(text, str) for text in value)
    )
