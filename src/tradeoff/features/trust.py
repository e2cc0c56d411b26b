"""Model folders must not bring code of their own: configuration is checked before it is used."""

from __future__ import annotations

import json
import re
from pathlib import PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any

from tradeoff._extras import import_extra, known_hole
from tradeoff.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["leaves_folder", "nodes", "refuse_code", "refuse_pickles"]

_CODE_SWITCHES = ("trust_remote_code", "use_kernels", "kernel_config", "allow_all_kernels")
_KERNEL_KEYS = ("attn_implementation", "experts_implementation")
_ACTIVATION = re.compile(r"torch\.nn\.(modules\.\w+\.)?[A-Z]\w*")


def refuse_code(name: str, folder: Path) -> None:
    """Refuse a model whose configuration would import, fetch or unpickle code.

    Both libraries that load such folders look up classes by names in JSON files, and pass some
    values on to functions that load weights. Only classes of the libraries themselves are accepted.
    """
    for path in sorted(folder.rglob("*.json")):
        fields = json.loads(path.read_text(encoding="utf-8"))
        found = _own_code(fields) if path.name == "config.json" else None
        for keys, value in nodes(fields):
            found = found or _problem(path.name, keys, value)
        if found:
            raise InvalidInputError(
                f"`{name}` must not bring code of its own. {path.relative_to(folder)} {found}. "
                "tradeoff never runs such code: use another model, or export this one to ONNX."
            )


def refuse_pickles(name: str, folder: Path) -> None:
    """Refuse pickled weights if the installed PyTorch can be made to run code by them.

    Safetensors weights in the same folder do not help: some modules of sentence-transformers 3.0.0
    read pickled ones all the same.
    """
    found = known_hole("torch")
    pickled = None if found is None else next(_pickled_weights(folder), None)
    if found is not None and pickled is not None:
        version, hole = found
        raise InvalidInputError(
            f"`{name}` must have only safetensors weights to be loaded with torch {version}, which "
            f"has a known vulnerability ({hole.what}). {pickled} is pickled: upgrade with "
            f"{hole.way_out}, or convert it to safetensors and remove it."
        )


def _pickled_weights(folder: Path) -> Iterator[str]:
    """Files of a model that a library may unpickle, also those that only an index names."""
    yield from (str(path.relative_to(folder)) for path in sorted(folder.rglob("*.bin")))
    for path in sorted(folder.rglob("*.index.json")):
        for keys, value in nodes(json.loads(path.read_text(encoding="utf-8"))):
            named = isinstance(value, str) and "weight_map" in keys
            if named and not value.endswith(".safetensors"):
                yield value


def nodes(value: Any, keys: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """All values of a JSON document, also mappings and lists, and the keys that lead to them."""
    yield keys, value
    if isinstance(value, dict):
        for key, part in value.items():
            yield from nodes(part, (*keys, key))
    elif isinstance(value, list):
        for part in value:
            yield from nodes(part, keys)


def _problem(file: str, keys: tuple[str, ...], value: Any) -> str | None:
    """Why one value of a configuration is refused, None if it is not.

    A value belongs to all keys above it: libraries also take mappings and lists of what is usually
    a text.
    """
    key = keys[-1] if keys else ""
    if (key == "weights_only" and value is not True) or (key in _CODE_SWITCHES and value):
        return f"sets {key} to {json.dumps(value)}"
    if not isinstance(value, str):
        return None
    if "/" in value and any(name.strip("_").startswith(_KERNEL_KEYS) for name in keys):
        return f"fetches a kernel from {value!r}"
    if "activation_function" in keys and "." in value and not _ACTIVATION.fullmatch(value):
        return f"names the activation {value!r}, which is not a class of torch.nn"
    nested = "types" in keys[:-1]  # the modules of a router, by their folders
    names_class = (file == "modules.json" and "type" in keys) or (
        "." in value and (nested or "tokenizer_class" in keys)
    )
    if names_class and not _is_known_class(value):
        return f"names the class {value!r}, which is not part of sentence-transformers"
    inner = value if (file == "modules.json" and "path" in keys) else key if nested else ""
    if leaves_folder(inner):
        return f"names the folder {inner!r}, which is outside the model"
    return None


def _is_known_class(name: str) -> bool:
    """Whether a dotted name is a class that sentence-transformers defines itself."""
    if not name.startswith("sentence_transformers."):
        return False
    package = import_extra("sentence_transformers.util", extra="hub", purpose="A text encoder")
    try:
        found = package.import_from_string(name)
    except Exception:  # whatever importing an odd name raises
        return False
    return isinstance(found, type) and found.__module__.startswith("sentence_transformers.")


def leaves_folder(path: str) -> bool:
    """Whether a path is absolute or climbs above its folder, on any operating system."""
    return any(
        parsed.is_absolute() or bool(parsed.drive) or ".." in parsed.parts
        for parsed in (PurePosixPath(path), PureWindowsPath(path))
    )


def _own_code(fields: Any) -> str | None:
    """Of a model that comes with Python files, whether transformers knows it without them."""
    if not isinstance(fields, dict) or "auto_map" not in fields:
        return None
    package = import_extra("transformers", extra="hub", purpose="A model of the hub")
    kind = fields.get("model_type")
    if isinstance(kind, str) and kind in package.CONFIG_MAPPING:
        return None
    return f"needs Python files of the model for its type {kind!r}"
