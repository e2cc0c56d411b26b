"""ONNX Runtime, which runs some networks several times as fast as PyTorch on a CPU.

A packaged network is exported once and kept in the cache folder, under a key of its weights and of
the versions that took part, and a hash of the file. It is used only if its features of a fixed
batch are those of PyTorch.
"""

from __future__ import annotations

import contextlib
import json
import re
import warnings
from hashlib import blake2b
from importlib import metadata
from importlib.util import find_spec
from inspect import signature
from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tradeoff._files import cache_folder, replacing
from tradeoff._progress import step
from tradeoff.exceptions import MissingExtraError, UnavailableError, first_line

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import numpy.typing as npt

    Run = Callable[[npt.NDArray[Any]], npt.NDArray[Any]]

__all__ = [
    "IN_ONNX",
    "RUNTIMES",
    "Runtime",
    "exported_network",
    "has_onnx_runtime",
    "open_network",
    "runtime_of",
]

Runtime = Literal["auto", "torch", "onnx"]
RUNTIMES = ("auto", "torch", "onnx")
IN_ONNX = ", by ONNX Runtime"
"""What preprocessing says of an encoder that runs in ONNX Runtime, so that features never mix."""
_VERSION = 1  # of how networks are exported
_TOLERANCE = 1e-4  # of features, relative to the largest
_INPUT = "x"


def runtime_of(preprocessing: str) -> Runtime:
    """The runtime of an encoder, from what its preprocessing says.

    Args:
        preprocessing: Preprocessing of an encoder, or of several.
    """
    return "onnx" if IN_ONNX in preprocessing else "torch"


def has_onnx_runtime() -> bool:
    """Whether ONNX Runtime is installed, and what exports to it; nothing is imported."""
    return all(find_spec(package) is not None for package in ("onnxruntime", "onnx"))


def open_network(network: str | bytes) -> Run:
    """An ONNX network as a function of a batch, with as many threads as PyTorch has now.

    Args:
        network: Path of the network, or its bytes.
    """
    import onnxruntime
    import torch

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    # Threads that wait would spin, and slow down those that decode.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = onnxruntime.InferenceSession(network, options, providers=["CPUExecutionProvider"])
    entry = session.get_inputs()[0].name
    return lambda batch: np.asarray(session.run(None, {entry: batch})[0])


def exported_network(name: str, weights: str, module: Callable[[], Any], batch: Any) -> Run:
    """A network of PyTorch in ONNX Runtime: exported and checked once, then from the cache folder.

    Args:
        name: Name of the network.
        weights: Hash of its weights.
        module: Function that makes the network, a module from images of any number and size to
            features; called only if the network was not exported before.
        batch: Images of shape (n, 3, height, width), a tensor, on which it is checked.

    Raises:
        UnavailableError: if it cannot be exported, or has other features than in PyTorch.
    """
    import torch

    if not has_onnx_runtime():
        raise MissingExtraError(
            f"`{name}` in ONNX Runtime requires the packages onnxruntime and onnx: "
            "pip install 'tradeoff[offline]'."
        )
    versions = [_VERSION, torch.__version__, metadata.version("onnxruntime")]
    key = _digest(json.dumps([weights, *versions]).encode())
    readable = re.sub(r"[^a-z0-9.]+", "-", name.lower())
    folder = cache_folder() / "networks"
    for path in sorted(folder.glob(f"{readable}-{key}-*.onnx")):
        content = path.read_bytes()
        if path.stem.endswith(_digest(content)):
            return open_network(content)
        _remove(path)  # damaged
    with step(f"exporting {name}"):
        try:
            original = module()
            content = _export(original, batch)
            network = open_network(content)
            with torch.inference_mode():
                expected = original(batch).numpy()
            found = network(batch.numpy())
        except Exception as error:  # of each library's own kinds
            raise UnavailableError(
                f"`{name}` cannot be exported to ONNX Runtime: {first_line(error)}."
            ) from None
    gap = np.abs(found - expected).max() / np.abs(expected).max()
    if not gap <= _TOLERANCE:
        raise UnavailableError(
            f"`{name}` must have the same features in ONNX Runtime as in PyTorch. They differ by "
            f"{gap:.1g} of the largest."
        )
    with contextlib.suppress(OSError):  # without a cache, the next process exports it again
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(folder / f"{readable}-{key}-{_digest(content)}.onnx") as fresh:
            fresh.write_bytes(content)
    return network


def _export(module: Any, batch: Any) -> bytes:
    import torch

    exported = BytesIO()
    export: Any = torch.onnx.export
    # The exporter without onnxscript; before PyTorch 2.5 there was no other.
    older = {"dynamo": False} if "dynamo" in signature(export).parameters else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the exporter, about its successor and its own graph
        export(
            module,
            (batch,),
            exported,
            input_names=[_INPUT],
            dynamic_axes={_INPUT: {0: "images", 2: "height", 3: "width"}},
            **older,
        )
    return exported.getvalue()


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):  # another process was faster, or the folder is read-only
        path.unlink()
