"""`tradeoff doctor`: what is installed, and what works here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tradeoff._text import printable
from tradeoff.exceptions import TradeoffError

if TYPE_CHECKING:
    from tradeoff.data.base import Kind

__all__ = ["run"]


def run(
    *,
    gpu: Annotated[
        bool,
        typer.Option(
            "--gpu",
            help="Compare features on the GPU with those on the CPU, and measure its speed.",
        ),
    ] = False,
) -> None:
    """Show what is installed and what works here."""
    if gpu:
        _check_gpu()
        return
    from tradeoff.cli.output import print_table
    from tradeoff.features.hub_files import hub_state
    from tradeoff.features.registry import DEFAULTS, ENCODERS
    from tradeoff.provenance import software_versions

    rows = list(software_versions().items())
    rows.append(("device", _device()))
    rows += [(e.name, _state(e.name, e.kind)) for e in ENCODERS.values() if e.has_weights]
    for kind in ("image", "text"):
        name = DEFAULTS[kind]
        try:
            rows.append((f"{name} (default)", hub_state(name)))
        except TradeoffError as error:
            rows.append((f"{name} (default)", str(error)))
    print_table(("component", "status"), rows)


def _check_gpu() -> None:
    from tradeoff.embedding.device_check import check_device, find_gpu
    from tradeoff.provenance import software_versions

    device = find_gpu()
    typer.echo(f"tradeoff: {software_versions()['tradeoff']}")
    for name, found in check_device(device):  # each line as soon as it is known
        typer.echo(printable(f"{name}: {found}"))


def _device() -> str:
    try:
        import torch
    except ImportError:
        return "no PyTorch: pip install 'tradeoff[torch]'"
    if torch.cuda.is_available():
        return f"cuda ({torch.cuda.get_device_name()})"
    return f"cpu, {torch.get_num_threads()} threads"


def _state(name: str, kind: Kind) -> str:
    """Whether an encoder embeds a sample."""
    from tradeoff.data import Sample
    from tradeoff.features import open_encoder
    from tradeoff.features.runtime import runtime_of

    embedder = open_encoder(name, kind=kind)
    try:
        features = embedder.embed([embedder.prepare(_sample(Sample, kind))])
    except TradeoffError as error:
        return str(error)
    by = " in ONNX Runtime" if runtime_of(embedder.preprocessing) == "onnx" else ""
    return f"works{by}, {features.shape[1]} features, weights {embedder.weights[:12]}"


def _sample(make: Any, kind: Kind) -> Any:
    import numpy as np

    return make("0", np.zeros((8, 8, 3), np.uint8) if kind == "image" else "A rose.")
