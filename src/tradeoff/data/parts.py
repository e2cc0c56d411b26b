"""Samples at an address, divided into parts that are read alone, each by one task.

An archive is a part, and so is a file of texts. A Parquet file is divided by its groups of rows,
and loose images into runs of about equal bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tradeoff._files import missing
from tradeoff._remote import Place, matching, place_of, version_of
from tradeoff.data.images import IMAGE_SUFFIXES, ImageFolder, image_files
from tradeoff.data.open import ARCHIVES, PARQUET, open_source
from tradeoff.data.reading import reason
from tradeoff.data.records import open_parquet, read_parquet
from tradeoff.exceptions import InvalidInputError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tradeoff.data.base import Source

__all__ = ["Part", "first_file", "list_parts", "open_part"]

_PART_BYTES = 32 * 2**20


@dataclass(frozen=True)
class Part:
    """Samples that one task reads.

    Args:
        address: File, or folder of the files.
        version: What changes when the content changes.
        files: Names of loose images below the folder; empty for a file.
        groups: Groups of rows of a Parquet file; empty for all.
        first: Number of the first row of these groups in the file.
    """

    address: str
    version: str
    files: tuple[str, ...] = ()
    groups: tuple[int, ...] = ()
    first: int = 0

    def __str__(self) -> str:
        if self.files:
            return f"{self.address}/{self.files[0]} to {self.files[-1]}"
        return f"{self.address}, row group {self.groups[0]}" if self.groups else self.address

    @property
    def name(self) -> str:
        """What tells it from all other parts."""
        return f"{self.address}#{self.groups[0] if self.groups else ''.join(self.files[:1])}"


def list_parts(address: str) -> list[Part]:
    """Parts of a file, a folder, or the files that match a pattern with ``*``, in order.

    Args:
        address: Path or address.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from PIL import Image
        >>> from tradeoff.data.parts import list_parts
        >>> folder = Path(tempfile.mkdtemp())
        >>> for name in ("a", "b"):
        ...     Image.new("RGB", (8, 8)).save(folder / f"{name}.png")
        >>> [part.files for part in list_parts(str(folder))]
        [('a.png', 'b.png')]
    """
    place = place_of(address)
    if "*" in address and not (isinstance(place, Path) and place.exists()):
        places = matching(address)
        loose = [one for one in places if one.name.lower().endswith(IMAGE_SUFFIXES)]
        if loose and len(loose) == len(places):
            raise InvalidInputError(
                f"`{address}` matches single images, which an engine reads by folders: pass the "
                "folder, or archives."
            )
    else:
        places = [place]
    found = [part for one in places for part in _parts_at(one)]
    if not found:
        raise InvalidInputError(f"`{address}` must hold samples. Got none.")
    return found


def first_file(address: str) -> Place | None:
    """The first of several Parquet files, which tells what all of them hold; None if none is there.

    Args:
        address: Path, address, or pattern with ``*``.
    """
    place = place_of(address)
    if "*" in address and not (isinstance(place, Path) and place.exists()):
        places = matching(address)
    else:
        places = sorted(place.glob("*.parquet")) if place.is_dir() else [place]
    return next((one for one in places if one.suffix.lower() in PARQUET), None)


def open_part(part: Part, **fields: Any) -> Source:
    """The samples of a part.

    Args:
        part: The part.
        **fields: Kind, column and label, as in `open_source`.
    """
    place = place_of(part.address)
    if part.files:
        return ImageFolder(place, files=tuple(place / name for name in part.files))
    if part.groups:
        fields = {"kind": None, "column": None, "label": None} | fields
        return read_parquet(place, groups=part.groups, first=part.first, **fields)
    return open_source(place, name=place.name, **fields)


def _parts_at(place: Place) -> Iterator[Part]:
    if not place.exists():
        raise InvalidInputError(
            missing(place) if isinstance(place, Path) else f"`{place}` does not exist."
        )
    if not place.is_dir():
        yield from _parts_of_file(place)
        return
    names = (".parquet", *ARCHIVES)
    shards = sorted(one for one in place.iterdir() if one.name.lower().endswith(names))
    parquet = [one for one in shards if one.name.endswith(".parquet")]
    for one in parquet or shards:
        yield from _parts_of_file(one)
    if not shards:
        yield from _parts_of_images(place)


def _parts_of_file(place: Place) -> Iterator[Part]:
    version = version_of(place)
    if place.suffix.lower() not in PARQUET:
        yield Part(str(place), version)
        return
    try:
        with open_parquet(place) as opened:
            about = [opened.metadata.row_group(i) for i in range(opened.num_row_groups)]
            sizes = [(one.total_byte_size, one.num_rows) for one in about]
    except UnavailableError:
        raise
    except Exception as error:  # of Arrow's own kinds
        raise InvalidInputError(f"`{place}` must be a Parquet file. {reason(error)}.") from None
    groups, rows, size, first = list[int](), 0, 0, 0
    for group, (more, count) in enumerate(sizes):
        if groups and size + more > _PART_BYTES:
            yield Part(str(place), version, groups=tuple(groups), first=first)
            groups, size, first, rows = [], 0, first + rows, 0
        groups.append(group)
        size, rows = size + more, rows + count
    if groups:
        yield Part(str(place), version, groups=tuple(groups), first=first)


def _parts_of_images(folder: Place) -> Iterator[Part]:
    """Runs of images of about equal bytes; what cannot be a file is left to the reader."""
    files = list(image_files(folder))
    total = sum(one.size for one in files)
    share = total / max(1, -(-total // _PART_BYTES))
    run: list[Any] = []
    passed, number = 0, 1
    for file in files:
        run.append(file)
        passed += file.size
        if passed >= number * share:
            yield _part_of_images(folder, run)
            run, number = [], int(passed // share) + 1 if share else number
    if run:
        yield _part_of_images(folder, run)


def _part_of_images(folder: Place, files: Sequence[Any]) -> Part:
    names = tuple(one.name for one in files)
    content = "\n".join(f"{one.name} {one.size} {one.version}" for one in files)
    version = blake2b(content.encode(errors="surrogateescape"), digest_size=16).hexdigest()
    return Part(str(folder), version, files=names)
