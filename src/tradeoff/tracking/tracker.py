"""Follows a training run: hands samples to a worker, and keeps the best step."""

from __future__ import annotations

import warnings
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from tradeoff._extras import import_extra
from tradeoff._registry import resolve
from tradeoff._validation import check_count, check_same_columns, check_type, to_array
from tradeoff.data.open import samples_of
from tradeoff.embedding.sources import encoder_for, open_generated
from tradeoff.engines import Background, Failure, Given
from tradeoff.evaluation import Reference
from tradeoff.evaluation.pipeline import checked, open_real
from tradeoff.exceptions import InvalidInputError
from tradeoff.goals import Best
from tradeoff.inference import policy
from tradeoff.settings import Keywords, Settings
from tradeoff.tracking.measuring import MeasuredStep, Ruler, broken_samples, measure_step
from tradeoff.tracking.selection import Selection
from tradeoff.tracking.steps import TrackedStep

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tradeoff.evaluation import Evaluation
    from tradeoff.tracking.steps import Log

__all__ = ["METRICS", "Tracker"]

_BEST_F_SCORE = Best("f_score")
_NEEDED = ("curve.f_score", "knn.precision", "knn.recall")
METRICS = (
    "curve.precision",
    "curve.recall",
    "curve.overlap",
    "curve.f_score",
    "knn.precision",
    "knn.recall",
    "knn.density",
    "knn.coverage",
)
"""What is measured in a training run unless other metrics are chosen."""
_WITHOUT = ("protocol", "rule", "prompt", "target", "explain", "diagnose")


class Tracker:
    """Measures the samples of a training run step by step, and keeps the best step.

    All steps are measured in the same way: the same real samples, estimator, folds and seed, and
    precision and recall at the same two slopes. A step is *resolved* if the estimator finds a
    planted loss of a fifth of the data, and if nearest neighbors do not show a fault of that size
    that it overlooks. Only resolved steps are kept. A later step replaces the kept one if its score
    is higher.

    `update` hands samples to a worker process and returns at once.

    Args:
        real: Real samples that the model is not trained on: whatever :func:`~tradeoff.evaluate`
            takes, or a :class:`~tradeoff.evaluation.Reference`.
        goal: What to choose for, such as ``Best("precision", given=Above("recall", 0.8))``.
        train: Samples on which the model is trained, to test whether it copies them.
        patience: Number of steps in a row that are shown to be worse than the kept one, after
            which `should_stop` is true.
        workers: Number of worker processes; 0 to measure in this one.
        logs: What takes note of each step, such as
            :class:`~tradeoff.integrations.loggers.TensorBoardLog`.
        discard: Called with a checkpoint that is no longer needed, for example to delete a file.
        progress: Whether to show progress while the real samples are embedded.
        settings: Settings of :func:`~tradeoff.evaluate`, such as `encoder`, `estimator` and `seed`.

    Example:
        A generator that learns, and then loses half of the data:

        >>> import numpy as np
        >>> from tradeoff.tracking import Tracker
        >>> rng = np.random.default_rng(0)
        >>> real = rng.normal(0, 1, (1000, 2))
        >>> tracker = Tracker(real, estimator="trees", workers=0, progress=False)
        >>> for step, shift in enumerate([3.0, 0.0, 1.0]):
        ...     made = rng.normal(shift, 1, (1000, 2))
        ...     _ = tracker.update(made, step=step, checkpoint=f"weights-{step}.pt")
        >>> tracker.best.step, tracker.checkpoint, tracker.should_stop
        (1, 'weights-1.pt', False)
    """

    def __init__(
        self,
        real: Any,
        *,
        goal: Best = _BEST_F_SCORE,
        train: Any = None,
        patience: int = policy.PATIENCE,
        workers: int = 1,
        logs: Sequence[Log] = (),
        discard: Callable[[Any], object] | None = None,
        progress: bool = True,
        **settings: Unpack[Keywords],
    ) -> None:
        import_extra("torch", extra="torch", purpose="`Tracker`")  # finds neighbors at each step
        check_type("goal", goal, Best)
        check_count("patience", patience)
        if workers != 0:
            check_count("workers", workers)
        found = _settings(settings, train)
        known = open_real(real, found)
        if not isinstance(known, Reference):
            known = Reference.embed(known, found, encoder_for(known, found), progress=progress)
        self.reference, self.settings, self.goal = known, known.completed(found), goal
        self.logs, self.discard = tuple(logs), discard
        self.steps: tuple[TrackedStep, ...] = ()
        self.checkpoint: Any = None
        ruler = Ruler(known.closed(), self.settings, train, goal)
        self._background = Background(ruler, workers=workers)
        self._selection = Selection(goal, level=found.level, patience=patience)
        self._waiting: deque[tuple[int, Given, Any]] = deque()
        self._warned = False

    @property
    def best(self) -> TrackedStep | None:
        """The kept step; None if none is resolved."""
        return None if self._selection.kept is None else self._selection.kept.row

    @property
    def evaluation(self) -> Evaluation | None:
        """The evaluation of the kept step, with its curve and its page."""
        return None if self._selection.kept is None else self._selection.kept.evaluation

    @property
    def should_stop(self) -> bool:
        """Whether the last steps are shown to be worse than the kept one."""
        return bool(self.stop_reason)

    @property
    def stop_reason(self) -> str:
        """Why to stop; empty if there is no reason."""
        return self._selection.stop_reason

    def update(
        self, generated: Any, *, step: int, checkpoint: Any = None, wait: bool = False
    ) -> tuple[TrackedStep, ...]:
        """Hand in the samples of a step; returns the steps whose evaluation has ended since.

        Args:
            generated: Samples of the model, of the same kind as the real ones.
            step: Number of the step.
            checkpoint: The weights that made them, or where they are saved; that of the best step
                is kept in `checkpoint`.
            wait: Whether to wait until this step has been measured.
        """
        samples = to_array(samples_of(generated))
        if not hasattr(samples, "__len__"):
            samples = list(samples)
        self._waiting.append((step, self._given(step, samples), checkpoint))
        found = self._collected(wait=wait)
        if len(self._waiting) > policy.WAITING and not self._warned:
            self._warned = True
            warnings.warn(
                f"{len(self._waiting)} steps wait to be measured, which takes longer than the time "
                "between updates: update less often, or with fewer samples.",
                stacklevel=2,
            )
        return found

    def finish(self) -> tuple[TrackedStep, ...]:
        """Wait until all steps have been measured, and return those that were not yet returned."""
        found = self._collected(wait=True)
        self._background.close()
        for log in self.logs:
            log.end(self.best, self.evaluation)
        return found

    def plot(self, ax: Any = None) -> Any:
        """Draw precision and recall by step; see :class:`~tradeoff.report.TrainingDisplay`.

        Args:
            ax: Matplotlib axes; a new figure if not given.
        """
        return resolve("tradeoff.report:TrainingDisplay")(self.steps, best=self.best).plot(ax)

    def __str__(self) -> str:
        lines = [step.sentence for step in self.steps]
        kept = "No step is kept." if self.best is None else f"Kept: step {self.best.step:,}."
        return "\n".join([*lines, kept, *filter(None, [self.stop_reason])])

    def _given(self, step: int, samples: Any) -> Given:
        """The measurement of a step, in a worker unless there is nothing to measure."""
        if reason := broken_samples(samples):
            row = TrackedStep(step=step, reason=reason, is_broken=True)
            return Given.now(MeasuredStep(row))
        self._check_form(samples)
        return self._background.give(measure_step, (step, samples))

    def _check_form(self, samples: Any) -> None:
        """Samples of another form are a mistake, which must not wait for a worker."""
        source = open_generated(samples, "generated", self.settings)
        if source.kind != self.reference.kind:
            raise InvalidInputError(
                f"`generated` must hold {self.reference.kind} samples, like the real ones. "
                f"Got {source.kind}."
            )
        if source.kind == "features" and isinstance(samples, np.ndarray):
            check_same_columns(real=self.reference.side.columns, generated=samples.shape[1])

    def _collected(self, *, wait: bool) -> tuple[TrackedStep, ...]:
        """Steps whose evaluation has ended, in their order."""
        fresh = []
        while self._waiting and (wait or self._waiting[0][1].is_done()):
            step, given, checkpoint = self._waiting.popleft()
            found = given()
            if isinstance(found, Failure):
                reason = f"The evaluation failed: {found.sentence}"
                found = MeasuredStep(TrackedStep(step=step, reason=reason))
            fresh.append(found.row)
            self._take(found, checkpoint)
        return tuple(fresh)

    def _take(self, found: MeasuredStep, checkpoint: Any) -> None:
        self.steps = (*self.steps, found.row)
        dropped = checkpoint
        if self._selection.add(found):
            dropped, self.checkpoint = self.checkpoint, checkpoint
        if self.discard is not None and dropped is not None:
            self.discard(dropped)
        for log in self.logs:
            log.log(found.row, found.evaluation)


def _settings(settings: Keywords, train: Any) -> Settings:
    """Settings of all evaluations, which always plant a fault."""
    for name in _WITHOUT:
        if name in settings:
            raise InvalidInputError(f"`Tracker` has no setting `{name}`.")
    given = Settings.of({"metrics": METRICS, **settings})
    wanted = tuple(dict.fromkeys((*(given.metrics or ()), *_NEEDED)))
    copies = () if train is None else ("copies",)
    return checked(replace(given, metrics=(*wanted, *copies), diagnose=True))
