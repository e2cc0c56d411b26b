"""Features that are given, and any function that makes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tradeoff._pictures import decode_image
from tradeoff._validation import check_features
from tradeoff.exceptions import InvalidInputError, UnreadableError
from tradeoff.features.network import in_batches

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from tradeoff.data.base import Kind, Sample

__all__ = ["Function", "Identity"]


@dataclass(frozen=True)
class Identity:
    """Samples that are features already.

    Example:
        >>> import numpy as np
        >>> from tradeoff.data.arrays import ArraySource
        >>> from tradeoff.features.plain import Identity
        >>> source = ArraySource(np.eye(3))
        >>> Identity().embed([Identity().prepare(sample) for sample in source]).tolist()
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """

    name: ClassVar[str] = "identity"
    kind: ClassVar[Kind] = "features"
    preprocessing: ClassVar[str] = "none"
    weights: ClassVar[str] = ""

    def prepare(self, sample: Sample) -> npt.NDArray[np.float64]:
        """The features as they are."""
        values = np.asarray(sample.content, dtype=np.float64)
        if values.ndim != 1:
            raise UnreadableError(f"Features must be a row of numbers. Got shape {values.shape}.")
        if not np.isfinite(values).all():
            raise UnreadableError("The row holds NaN or infinity.")
        return values

    def embed(self, prepared: Sequence[Any]) -> npt.NDArray[np.float64]:
        """All rows together."""
        widths = {len(row) for row in prepared}
        if len(widths) > 1:
            raise InvalidInputError(
                f"Features must have one length. Got {min(widths)} and {max(widths)} columns."
            )
        return np.stack(prepared)


@dataclass(frozen=True, eq=False)
class Function:
    """Any function from a list of samples to their features.

    It is always called with 32 samples; an incomplete batch is padded with its first sample.

    Args:
        function: Function of contents (pixels of shape (height, width, 3), texts, or fields of
            rows) that returns features of shape (n, d).
        name: Name in results.
        kind: Kind of samples that it embeds.
        version: Version, to be changed whenever the function returns other features, since a store
            cannot look into it; None if its features are not to be stored.

    Example:
        >>> from tradeoff.data import open_source
        >>> from tradeoff.features import Function
        >>> lengths = Function(lambda texts: [[len(t)] for t in texts], "length", "text", "1")
        >>> texts = open_source(["A rose.", "Two."])
        >>> lengths.embed([lengths.prepare(text) for text in texts]).tolist()
        [[7.0], [4.0]]
    """

    function: Callable[[list[Any]], npt.ArrayLike]
    name: str
    kind: Kind
    version: str | None
    preprocessing: ClassVar[str] = "none"

    @property
    def weights(self) -> str:
        """The version."""
        return self.version or ""

    def prepare(self, sample: Sample) -> Any:
        """The content; an encoded image is decoded."""
        content = sample.content
        return decode_image(sample.id, content) if isinstance(content, bytes) else content

    def embed(self, prepared: Sequence[Any]) -> npt.NDArray[np.float64]:
        """What the function returns, checked."""
        return in_batches(self._embed, prepared)

    def _embed(self, prepared: Sequence[Any]) -> npt.NDArray[np.float64]:
        (features,) = check_features(**{self.name: self.function(list(prepared))})
        if len(features) != len(prepared):
            raise InvalidInputError(
                f"`{self.name}` must return a row per sample, {len(prepared)}. Got {len(features)}."
            )
        return features
