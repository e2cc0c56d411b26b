"""Images in zip and tar archives, webdataset shards included; nothing is ever unpacked.

Compressed tar archives are decompressed by hand, in steps with a bound: the standard library would
expand a small file to gigabytes.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import json
import lzma
import posixpath
import re
import tarfile
import zipfile
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any, ClassVar, Literal, cast

from tradeoff.data.base import Broken, Kind, Sample
from tradeoff.data.images import IMAGE_SUFFIXES
from tradeoff.data.reading import MOST_BYTES, check_regular, check_size, read_stream, reason, valid
from tradeoff.exceptions import InvalidInputError, UnavailableError, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tradeoff._remote import Place

__all__ = ["ImageArchive"]

_LABELS = (".cls", ".json")
_ZIP_BEGINNINGS = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_COMPRESSIONS: dict[bytes, Callable[[IO[bytes], Literal["rb"]], object]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
    b"\x5d\x00\x00\x80": lzma.open,
}
_STEP = 2**16
_LONG_HEADERS = (b"x", b"g", b"X", b"L", b"K")  # further headers of POSIX, Solaris and GNU
_MOST_HEADER_BYTES = 2**20
_MOST_HELD_BYTES = 64 * 2**20
_LEADS_OUT = "The name leads out of the archive."


@dataclass(frozen=True)
class ImageArchive:
    """Images of one or several archives, in the order in which they are stored.

    Every file whose name ends like that of an image is a sample, and its id is the name of the
    archive followed by its own. In a tar archive, consecutive files that share a name up to its
    first dot belong together, as in webdataset: ``001.jpg`` has the label in ``001.cls``, or in
    ``001.json`` under ``label``. If several images share that part of the name (``001.jpg`` and
    ``001.mask.png``), each is a sample of its own with the same label; at most 64 MiB of them wait
    for their label. Without such a file the folder is the label. Tar archives may be compressed by
    gzip, bzip2 or xz, and entries of zip archives by deflate alone.

    Args:
        paths: The archives.
        most_bytes: Size of an unpacked file beyond which it is not read and listed as broken.

    Example:
        >>> import io, tempfile, zipfile
        >>> from pathlib import Path
        >>> from PIL import Image
        >>> from tradeoff.data.archives import ImageArchive
        >>> encoded = io.BytesIO()
        >>> Image.new("RGB", (8, 8)).save(encoded, "PNG")
        >>> path = Path(tempfile.mkdtemp()) / "images.zip"
        >>> with zipfile.ZipFile(path, "w") as archive:
        ...     archive.writestr("dogs/1.png", encoded.getvalue())
        >>> [(sample.id, sample.label) for sample in ImageArchive((path,))]
        [('images.zip/dogs/1.png', 'dogs')]
    """

    kind: ClassVar[Kind] = "image"
    paths: tuple[Place, ...]
    most_bytes: int = MOST_BYTES

    def __iter__(self) -> Iterator[Sample | Broken]:
        found = False
        for path in self.paths:
            for sample in _samples(path, self.most_bytes):
                found = True
                yield sample
        if not found:
            names = ", ".join(str(path) for path in self.paths)
            raise InvalidInputError(f"`{names}` must hold images. Got none.")


@dataclass(frozen=True)
class _File:
    """A file of an archive: an image, or a label."""

    name: str
    content: bytes

    @property
    def is_image(self) -> bool:
        return _is_image(self.name)

    @property
    def stem(self) -> str:
        return posixpath.splitext(self.name)[0]

    @property
    def key(self) -> str:
        folder, file = posixpath.split(self.name)
        return posixpath.join(folder, file.partition(".")[0])


def _samples(path: Place, most_bytes: int) -> Iterator[Sample | Broken]:
    archive = valid(path.name)
    try:
        check_regular(path)
        is_zip = _is_zip(path)
    except (OSError, UnreadableError) as error:
        yield Broken(archive, f"The archive cannot be read: {reason(error)}.")
        return
    if not is_zip:
        yield from _grouped(archive, _tar_files(path, most_bytes))
        return
    for file in _zip_files(path, most_bytes):
        if isinstance(file, Broken):
            yield Broken(f"{archive}/{file.id}" if file.id else archive, file.reason)
        else:
            yield Sample(f"{archive}/{file.name}", file.content, _folder(file.name))


def _is_zip(path: Place) -> bool:
    """By its beginning; a search of its end would take a tar with a zip inside for a zip."""
    with path.open("rb") as file:
        beginning = file.read(4)
        return beginning in _ZIP_BEGINNINGS or (
            path.suffix.lower() == ".zip" and zipfile.is_zipfile(file)
        )


def _zip_files(path: Place, most_bytes: int) -> Iterator[_File | Broken]:
    """Images, and what cannot be read, under its name or, if this is the archive itself, none.

    A damaged archive may raise nearly anything here and below, hence the broad clauses.
    """
    with contextlib.ExitStack() as opened:
        try:
            file = opened.enter_context(path.open("rb"))
            archive = opened.enter_context(zipfile.ZipFile(file))
        except UnavailableError:
            raise
        except Exception as error:
            yield Broken("", f"The archive is damaged: {reason(error)}.")
            return
        for entry in archive.infolist():
            name = valid(entry.filename)
            if name.endswith("/") or not _is_image(name):  # `is_dir` fails for an empty name
                continue
            if _escapes(name):
                yield Broken(name, _LEADS_OUT)
                continue
            try:
                yield _File(name, _unzipped(archive, entry, most_bytes))
            except UnreadableError as error:
                yield Broken(name, str(error))
            except UnavailableError:
                raise
            except Exception as error:
                yield Broken(name, f"The archive is damaged here: {reason(error)}.")


def _unzipped(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, most_bytes: int) -> bytes:
    """Content of an entry; what `zipfile` expands without a bound is refused."""
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise UnreadableError(
            "Entries must be stored or deflated. This one is compressed by another method (number "
            f"{entry.compress_type}), by which a small file can fill the memory: pack it again."
        )
    check_size(entry.file_size, most_bytes)
    with archive.open(entry) as stream:
        return read_stream(stream, most_bytes, expected=entry.file_size, step=_STEP)


class _Header(tarfile.TarInfo):
    """The header of an entry; `tarfile` reads long names whole, so those must be short enough."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> _Header:
        header = super().frombuf(buf, encoding, errors)
        if header.type in _LONG_HEADERS and header.size > _MOST_HEADER_BYTES:
            raise tarfile.ReadError(f"a header claims {header.size:,} bytes")
        return header


@contextlib.contextmanager
def _decompressed(path: Place) -> Iterator[IO[bytes]]:
    """What a file holds, decompressed as it is read; `tarfile` would expand any amount at once."""
    with path.open("rb") as file:
        beginning = file.read(6)
        file.seek(0)
        for known, opener in _COMPRESSIONS.items():
            if beginning.startswith(known):
                with cast("IO[bytes]", opener(file, "rb")) as content:
                    yield content
                return
        yield file


def _tar_files(path: Place, most_bytes: int) -> Iterator[_File | Broken]:
    """Images and labels, and what cannot be read; the archive itself has no name here."""
    try:
        with (
            _decompressed(path) as content,
            tarfile.open(None, "r|", content, _STEP, tarinfo=_Header) as archive,
        ):
            for entry in archive:
                archive.members = []  # type: ignore[attr-defined]  # it would keep every header
                name = valid(entry.name)
                if entry.isdir() or not name.lower().endswith((*IMAGE_SUFFIXES, *_LABELS)):
                    continue
                if _escapes(name):
                    yield Broken(name, _LEADS_OUT)
                elif not entry.isfile():
                    yield Broken(name, "The entry is a link or a device, not a file.")
                else:
                    yield _untarred(archive, entry, name, most_bytes)
    except UnavailableError:
        raise
    except Exception as error:
        yield Broken("", f"The archive is damaged: {reason(error)}.")


def _untarred(
    archive: tarfile.TarFile, entry: tarfile.TarInfo, name: str, most_bytes: int
) -> _File | Broken:
    stream: Any = archive.extractfile(entry)
    try:
        check_size(entry.size, most_bytes)
        return _File(name, read_stream(stream, most_bytes, expected=entry.size))
    except UnreadableError as error:
        return Broken(name, str(error))


@dataclass
class _Group:
    """Images that wait for a label, and labels that wait for an image."""

    archive: str
    key: str | None = None
    images: list[_File] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)
    held: int = 0

    def learn(self, file: _File) -> None:
        """Take the label of a file; ``.cls`` wins over ``.json``."""
        if file.name.lower().endswith(".cls"):
            self.labels[file.stem] = file.content.decode(errors="replace").strip()
            return
        fields = json.loads(file.content)
        if isinstance(fields, dict) and fields.get("label") is not None:
            self.labels.setdefault(file.stem, valid(str(fields["label"])))

    def samples(self) -> Iterator[Sample]:
        """All images; an image's own label comes before that of its group and of its folder."""
        for image in self.images:
            label = self.labels.get(image.stem) or self.labels.get(image.key)
            name = f"{self.archive}/{image.name}"
            yield Sample(name, image.content, label or _folder(image.name))
        self.images, self.held = [], 0


def _grouped(archive: str, files: Iterator[_File | Broken]) -> Iterator[Sample | Broken]:
    """Files of a tar archive, of which those that share a key come one after another."""
    group = _Group(archive)
    for file in files:
        if isinstance(file, Broken):
            yield Broken(f"{archive}/{file.id}" if file.id else archive, file.reason)
            continue
        if file.key != group.key:
            yield from group.samples()
            group = _Group(archive, file.key)
        if file.is_image:
            if group.held + len(file.content) > _MOST_HELD_BYTES:
                yield from group.samples()
            group.images.append(file)
            group.held += len(file.content)
            continue
        try:
            group.learn(file)
        except (ValueError, RecursionError):
            yield Broken(f"{archive}/{file.name}", "The label is not JSON that can be read.")
    yield from group.samples()


def _is_image(name: str) -> bool:
    return name.lower().endswith(IMAGE_SUFFIXES)


def _folder(name: str) -> str | None:
    folder = posixpath.normpath(posixpath.dirname(name))
    return None if folder == "." else folder


def _escapes(name: str) -> bool:
    name = name.replace("\\", "/")
    return name.startswith("/") or ".." in name.split("/") or bool(re.match("[A-Za-z]:", name))
