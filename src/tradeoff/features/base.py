"""What turns samples into features: one small interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    from tradeoff.data.base import Kind, Sample

__all__ = ["Encoder"]


class Encoder(Protocol):
    """Anything that maps samples of one kind to vectors of one length.

    Preparing, which reads and decodes a single sample, is apart from embedding a batch, so that the
    two can overlap.

    Example:
        >>> import numpy as np
        >>> from tradeoff.data import Sample
        >>> from tradeoff.features import Encoder
        >>> from tradeoff.features.plain import Identity
        >>> embedder: Encoder = Identity()
        >>> prepared = embedder.prepare(Sample("0", np.array([1.0, 2.0])))
        >>> embedder.embed([prepared]).shape
        (1, 2)
    """

    @property
    def name(self) -> str:
        """Name of the encoder, as results show it."""

    @property
    def kind(self) -> Kind:
        """What it embeds."""

    @property
    def preprocessing(self) -> str:
        """What is done to a sample beforehand, in words."""

    @property
    def weights(self) -> str:
        """A hash of everything that was learned; empty if nothing was."""

    def prepare(self, sample: Sample) -> Any:
        """One sample, ready to be embedded with others.

        Raises:
            UnreadableError: if it is broken.
        """

    def embed(self, prepared: Sequence[Any]) -> npt.NDArray[np.float32 | np.float64]:
        """Features of prepared samples, shape (n, d)."""
