"""Precision and recall as a metric of torchmetrics, in one process or in many."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from tradeoff._extras import import_extra
from tradeoff.data import open_source
from tradeoff.embedding.embed import embed_source
from tradeoff.evaluation.pipeline import checked, evaluate_sources
from tradeoff.exceptions import InvalidInputError, UndefinedError
from tradeoff.features import open_encoder
from tradeoff.integrations import logged
from tradeoff.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from tradeoff.evaluation import Evaluation
    from tradeoff.features import Encoder

for package in ("torch", "torchmetrics"):
    import_extra(package, extra="torchmetrics", purpose="`TradeoffMetric`")

import torch  # noqa: E402
from torchmetrics import Metric  # noqa: E402

__all__ = ["TradeoffMetric"]


class TradeoffMetric(Metric):
    """Scores of :func:`~tradeoff.evaluate` as a metric of torchmetrics.

    Features are gathered over processes, so the result is that of one process, whatever their
    number. `compute` returns tensors by key, such as ``curve.precision`` and ``knn.recall``;
    afterwards `last` is the evaluation, with the curve and the intervals.

    Args:
        encoder: Name of an encoder, such as "efficientnet-lite0", or a function from samples to
            features of shape (n, d); None if `update` gets features. A module is put into
            evaluation mode, so that features do not depend on batches. A name means that
            encoder alone, without low-level views.
        train: Features of training samples, shape (n, d), to test whether the model copies them;
            real samples must be others of the same data then.
        reset_real: Whether `reset` forgets real samples, too.
        options: Settings of :func:`~tradeoff.evaluate`, such as `metrics` and `k`, and options of
            `torchmetrics.Metric`; known losses are not planted unless `diagnose` is true.

    Example:
        >>> import torch
        >>> from tradeoff.integrations.torchmetrics import TradeoffMetric
        >>> metric = TradeoffMetric(estimator="gaussians")
        >>> rng = torch.Generator().manual_seed(0)
        >>> metric.update(torch.randn(400, 2, generator=rng), real=True)
        >>> metric.update(0.3 * torch.randn(400, 2, generator=rng), real=False)
        >>> found = metric.compute()
        >>> bool(found["knn.precision"] > 0.95), bool(found["knn.recall"] < 0.5)
        (True, True)
    """

    is_differentiable = False
    higher_is_better = None  # metrics of several directions
    full_state_update = False
    real: list[torch.Tensor]
    generated: list[torch.Tensor]

    def __init__(
        self,
        encoder: str | Callable[[Any], torch.Tensor] | None = None,
        *,
        train: Any = None,
        reset_real: bool = True,
        **options: Any,
    ) -> None:
        known = {one.name for one in fields(Settings)} & options.keys()
        chosen = {name: options.pop(name) for name in known}
        super().__init__(**options)
        self.encoder = _Named(encoder) if isinstance(encoder, str) else encoder
        self.train_set = train
        self.settings = checked(Settings.of({**logged(train), **chosen}))
        self.reset_real = reset_real
        self.last: Evaluation | None = None
        self.add_state("real", default=[], dist_reduce_fx="cat")
        self.add_state("generated", default=[], dist_reduce_fx="cat")

    def update(self, x: Any, real: bool) -> None:
        """Take in samples of one side.

        Args:
            x: Samples for the encoder, or features, shape (n, d).
            real: Whether the samples are real.
        """
        features = x
        if self.encoder is not None:
            if isinstance(self.encoder, torch.nn.Module):
                self.encoder.eval()
            with torch.no_grad():
                features = self.encoder(x)
        if not isinstance(features, torch.Tensor) or features.ndim != 2:
            shape = getattr(features, "shape", type(features).__name__)
            raise InvalidInputError(
                f"Features must be a tensor of shape (n, d). Got {shape}: pass an `encoder`."
            )
        (self.real if real else self.generated).append(features.detach())

    def compute(self) -> dict[str, torch.Tensor]:
        """Numbers by name, over all processes."""
        sides = {}
        for name in ("real", "generated"):
            parts = getattr(self, name)
            # After a synchronization the state is one tensor.
            sides[name] = torch.cat(parts) if isinstance(parts, list) and parts else parts
            if len(sides[name]) == 0:
                raise InvalidInputError(
                    f"There are no {name} samples: call `update` with `real={name == 'real'}`."
                )
        self.last = evaluate_sources(
            sides["real"],
            sides["generated"],
            self.settings,
            train=self.train_set,
            progress=False,
        )
        return {
            key: torch.tensor(score.value, device=self.device)
            for key, score in self.last.scores.items()
        }

    def reset(self) -> None:
        """Forget generated samples, and real ones unless they are kept."""
        kept = [] if self.reset_real else list(self.real)
        super().reset()
        self.real, self.last = kept, None

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Always raises `UndefinedError`: a single batch of one side has no precision."""
        raise UndefinedError(
            "A batch has no precision of its own: call `update` for batches of both sides, and "
            "then `compute`."
        )

    def plot(self, val: Any = None, ax: Any = None) -> Any:
        """Draw the scores, or those of several calls of `compute`; returns a figure and its axes.

        Args:
            val: What `compute` returned, or a list of that; computed now if not given.
            ax: Matplotlib axes; a new figure if not given.
        """
        return self._plot(val, ax)


@dataclass
class _Named:
    """An encoder that is known by its name, as a function from batches to features."""

    name: str
    opened: Encoder | None = field(default=None, compare=False)

    def __call__(self, x: Any) -> torch.Tensor:
        source = open_source(x)
        if self.opened is None:
            self.opened = open_encoder(self.name, kind=source.kind)
        found = embed_source(source, self.opened, progress=False)
        if found.broken:
            raise InvalidInputError(f"`{found.broken[0].id}`: {found.broken[0].reason}")
        return torch.from_numpy(np.array(found.features))
