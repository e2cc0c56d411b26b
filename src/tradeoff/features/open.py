"""One entry point to every encoder: by name, by file, by id, or as a function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from tradeoff._registry import resolve
from tradeoff.exceptions import InvalidInputError
from tradeoff.features.files import NETWORK_SUFFIXES, NetworkFile
from tradeoff.features.hub import HubImages, HubTexts
from tradeoff.features.network import Dtype, Network
from tradeoff.features.plain import Function
from tradeoff.features.registry import DEFAULTS, ENCODERS, HUB_MODELS, EncoderDeclaration
from tradeoff.features.views import Views

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tradeoff.data.base import Kind
    from tradeoff.features.base import Encoder
    from tradeoff.features.runtime import Runtime

__all__ = ["open_encoder"]


def open_encoder(
    encoder: Any = None,
    *,
    kind: Kind,
    size: int | None = None,
    trusted: bool = False,
    device: str = "auto",
    dtype: Dtype = "float32",
    runtime: Runtime = "auto",
    batch_size: int | None = None,
) -> Encoder:
    """The encoder of samples of a kind, by name, file, function or object.

    Encoders of tables are fitted on the real side, so `evaluate` makes them itself.

    Args:
        encoder: Several encoders, as a list or by the names of their views, or one of them: a name
            in `ENCODERS`, ``surprisal:MODEL`` with a language model, a file (``.onnx``, ``.pt2``,
            TorchScript), an id of the Hugging Face hub or the folder of such a model, a function
            from a list of samples to their features, or an encoder; the default of the kind if not
            given, whatever is installed. (`evaluate` uses a packaged encoder, and says so, where
            the default cannot be loaded.)
        kind: Kind of the samples: image, text, table or features.
        size: Number of pixels to which images are resized, for encoders that let you choose.
        trusted: Whether to load a ``.pt2`` or TorchScript file, which can run any code.
        device: Device on which a network runs; "auto" is a GPU if there is one.
        dtype: Floating-point type of matrix products inside a network.
        runtime: What runs a packaged network: "torch", or "onnx" for ONNX Runtime on a CPU; "auto"
            is ONNX Runtime if it is installed and the device is a CPU.
        batch_size: Number of samples that a network sees at once; 32 if not given.

    Example:
        >>> from tradeoff.features import open_encoder
        >>> open_encoder(kind="image").name
        'facebook/dinov2-base'
        >>> open_encoder("efficientnet-lite0", kind="text")
        Traceback (most recent call last):
        ...
        tradeoff.exceptions.InvalidInputError: `encoder` must embed text samples.
        `efficientnet-lite0` embeds image samples: choose another.
    """
    if isinstance(encoder, (list, tuple, Mapping)):
        options: dict[str, Any] = {"trusted": trusted, "device": device, "dtype": dtype}
        options |= {"runtime": runtime} if runtime == "torch" else {}
        return _open_views(encoder, kind, _own_options(size, runtime, batch_size), options)
    found: Any = _find(DEFAULTS[kind] if encoder is None else encoder, kind, trusted)
    if found.kind != kind:
        raise InvalidInputError(
            f"`encoder` must embed {kind} samples. `{found.name}` embeds {found.kind} samples: "
            "choose another."
        )
    own = _own_options(size, runtime, batch_size)
    for name in own:
        if not hasattr(found, name):
            raise InvalidInputError(f"`{found.name}` does not accept `{name}`: leave it out.")
    if hasattr(found, "runtime") and runtime == "torch":
        own["runtime"] = runtime
    if found is encoder and (own or (device, dtype) != ("auto", "float32")):
        raise InvalidInputError(
            f"`{found.name}` is an object: set its own `size`, `device`, `dtype`, `runtime` and "
            "`batch_size` instead."
        )
    if found is not encoder:
        options = dict(own)
        if isinstance(found, Network):
            options |= {"device": device, "dtype": dtype}
        found = replace(found, **options) if options else found
    return cast("Encoder", found)


def _own_options(size: int | None, runtime: Runtime, batch_size: int | None) -> dict[str, Any]:
    """Options that some encoder must accept; PyTorch runs whatever does not choose."""
    given = {"size": size, "runtime": runtime if runtime == "onnx" else None}
    given |= {"batch_size": batch_size}
    return {name: value for name, value in given.items() if value is not None}


def _open_views(
    encoders: Sequence[Any] | Mapping[str, Any],
    kind: Kind,
    own: dict[str, Any],
    options: dict[str, Any],
) -> Encoder:
    """Each of several encoders; an option of their own is that of those that accept it."""
    several = encoders.values() if isinstance(encoders, Mapping) else encoders
    if not several:
        raise InvalidInputError("`encoder` must name at least one encoder. Got none.")
    found = [open_encoder(one, kind=kind, **options) for one in several]
    for name in own:
        if not any(hasattr(one, name) for one in found):
            raise InvalidInputError(f"None of the encoders accepts `{name}`: leave it out.")
    if own:
        found = [
            open_encoder(
                one,
                kind=kind,
                **options,
                **{name: value for name, value in own.items() if hasattr(opened, name)},
            )
            for one, opened in zip(several, found, strict=True)
        ]
    if isinstance(encoders, Mapping):
        return Views.of(dict(zip(encoders, found, strict=True)))
    return found[0] if len(found) == 1 else Views.of(found)


def _find(encoder: Any, kind: Kind, trusted: bool) -> Any:
    if not isinstance(encoder, (str, Path)):
        if hasattr(encoder, "prepare") and hasattr(encoder, "embed"):
            return encoder
        if callable(encoder):
            name = getattr(encoder, "__qualname__", type(encoder).__name__)
            return Function(encoder, name, kind, version=None)
        raise InvalidInputError(
            "`encoder` must be a name, a file, a function or an encoder. "
            f"Got a {type(encoder).__name__}."
        )
    if encoder == "table":
        raise InvalidInputError(
            "The encoder of a table is fitted on the real samples: pass the table to `evaluate` or "
            "`Reference.make`, without `encoder`."
        )
    name, colon, model = str(encoder).partition(":")
    if name in ENCODERS and (ENCODERS[name].takes_model or not colon):
        return _by_name(ENCODERS[name], model)
    if str(encoder).lower().endswith(NETWORK_SUFFIXES):
        return NetworkFile(encoder, trusted=trusted)
    if kind not in ("image", "text"):
        raise InvalidInputError(
            f"`encoder` must be {DEFAULTS[kind]} or a function for {kind} samples. "
            f"Got {str(encoder)!r}."
        )
    check_spelling(str(encoder))
    return (HubImages if kind == "image" else HubTexts)(str(encoder))


def _by_name(declaration: EncoderDeclaration, model: str) -> Any:
    make = resolve(declaration.encoder)
    if not declaration.takes_model:
        return make()
    if not model:
        raise InvalidInputError(
            f"`{declaration.name}` must be followed by a model: {declaration.name}:MODEL, an id of "
            "the Hugging Face hub or a folder."
        )
    return make(model)


def check_spelling(name: str) -> None:
    """Refuse a name that is nearly that of a known encoder: a mistake, not a model of the hub.

    Args:
        name: Encoder as text.
    """
    if "/" in name or Path(name).exists():
        return
    if name.partition(":")[0] in ENCODERS or name.lower().endswith(NETWORK_SUFFIXES):
        return
    known = HUB_MODELS | {encoder: encoder for encoder in ENCODERS}
    if close := get_close_matches(name.lower(), known, n=1, cutoff=0.8):
        raise InvalidInputError(f"Unknown encoder `{name}`. Did you mean `{known[close[0]]}`?")
