"""`tradeoff doctor`: what is installed, and what works here."""

from __future__ import annotations

__all__ = ["run"]

_ENCODERS = (
    ("efficientnet-lite0", "image"),
    ("all-minilm-l6-v2", "text"),
    (None, "image"),
    (None, "text"),
)


def run() -> None:
    """Show what is installed and what works here."""
    from tradeoff.cli.output import print_table
    from tradeoff.features.open import open_embedder
    from tradeoff.provenance import software_versions

    rows = [(name, version) for name, version in software_versions().items()]
    rows.append(("device", _device()))
    for features, kind in _ENCODERS:
        embedder = open_embedder(features, kind=kind)  # type: ignore[arg-type]
        default = " (default)" if features is None else ""
        rows.append((f"{embedder.name}{default}", _state(embedder)))
    print_table(("what", "meaning"), rows)


def _device() -> str:
    try:
        import torch
    except ImportError:
        return "no PyTorch: pip install 'tradeoff[torch]'"
    if torch.cuda.is_available():
        return f"cuda ({torch.cuda.get_device_name()})"
    return f"cpu, {torch.get_num_threads()} threads"


def _state(embedder: object) -> str:
    from tradeoff.exceptions import TradeoffError

    try:
        return f"works, weights {embedder.weights[:12]}"  # type: ignore[attr-defined]
    except TradeoffError as error:
        return str(error)
