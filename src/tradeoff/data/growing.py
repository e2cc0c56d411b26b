"""A folder that another program is still writing, read in batches of finished files."""

from __future__ import annotations

import contextlib
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from tradeoff._validation import check_number
from tradeoff.data.images import ImageFolder
from tradeoff.exceptions import InvalidInputError

__all__ = ["GrowingFolder"]

_PAUSE = 0.2  # seconds between two looks at the folder


@dataclass(eq=False)
class GrowingFolder:
    """Images of a folder that is still being written, in the order in which they were finished.

    For :func:`~tradeoff.decide`: called with n, it waits for n files that it has not returned yet.

    Args:
        path: The folder, which may still be empty.
        wait: Seconds without a new file after which the folder is taken to be complete.
        settle: Seconds without a change after which a file is taken to be finished.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from PIL import Image
        >>> from tradeoff.data import GrowingFolder
        >>> folder = Path(tempfile.mkdtemp())
        >>> for i in range(3):
        ...     Image.new("RGB", (8, 8)).save(folder / f"{i}.png")
        >>> images = GrowingFolder(folder, wait=0.0, settle=0.0)
        >>> [len(images(2)), len(images(2)), len(images(2))]
        [2, 1, 0]
    """

    path: str | Path
    wait: float = 600.0
    settle: float = 2.0
    _taken: set[Path] = field(default_factory=set, repr=False)

    def __post_init__(self) -> None:
        check_number("wait", self.wait, at_least=0.0)
        check_number("settle", self.settle, at_least=0.0)
        if not Path(self.path).is_dir():
            raise InvalidInputError(f"`{self.path}` must be a folder.")

    def __call__(self, n: int) -> ImageFolder:
        """The next n files, fewer if the folder is complete."""
        known, changed = _State(-1, 0.0, 0), time.monotonic()
        while True:
            finished, state = self._new_files()
            if state != known:
                known, changed = state, time.monotonic()
            quiet = time.monotonic() - changed
            if len(finished) >= n or quiet >= max(self.wait, self.settle):
                break
            time.sleep(_PAUSE)
        if len(finished) < n and (late := state.future):
            warnings.warn(
                f"{late} files of `{self.path}` are left out, because they are dated in the "
                "future. If the clock of a file server is ahead, set the time of its files "
                "(`touch`), or pass the folder once it is complete.",
                stacklevel=2,
            )
        self._taken.update(finished[:n])
        return ImageFolder(self.path, files=tuple(finished[:n]))

    def skip(self, n: int) -> None:
        """Leave out the first n files, as far as they were not returned yet."""
        if n > len(self._taken):
            self(n - len(self._taken))

    def _new_files(self) -> tuple[list[Path], _State]:
        """Finished files that were not returned yet, and what changes while any is written."""
        found = []
        for path in ImageFolder(self.path).entries():
            if isinstance(path, Path) and path not in self._taken:
                with contextlib.suppress(OSError):  # it was renamed or removed meanwhile
                    about = path.stat()
                    found.append((about.st_mtime, path, about.st_size))
        found.sort()
        now = time.time()
        finished = [path for changed, path, size in found if size and now - changed >= self.settle]
        future = sum(changed > now for changed, _, _ in found)
        return finished, _State(len(found), found[-1][0] if found else 0.0, future)


class _State(NamedTuple):
    """Number of new files, the latest time of any, and how many are dated in the future."""

    files: int
    latest: float
    future: int
