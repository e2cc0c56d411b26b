"""Images in zip and tar archives, webdataset shards included; nothing is ever unpacked."""

from __future__ import annotations

import json
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, ClassVar

from tradeoff.data.base import Broken, Kind, Sample
from tradeoff.data.images import IMAGE_SUFFIXES
from tradeoff.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["ImageArchive"]

_LABELS = (".cls", ".txt", ".json")


@dataclass(frozen=True)
class ImageArchive:
    """Images of one or several archives, in the order in which they are stored.

    In a tar archive, files that share a name up to its first dot are one sample, as in webdataset:
    ``001.jpg`` has the label in ``001.cls``, or in ``001.json`` under ``label``. Elsewhere the
    folder is the label.

    Args:
        paths: the archives.

    Example:
        >>> import io, tempfile, zipfile
        >>> from pathlib import Path
        >>> from PIL import Image
        >>> from tradeoff.data import ImageArchive
        >>> encoded = io.BytesIO()
        >>> Image.new("RGB", (8, 8)).save(encoded, "PNG")
        >>> path = Path(tempfile.mkdtemp()) / "images.zip"
        >>> with zipfile.ZipFile(path, "w") as archive:
        ...     archive.writestr("dogs/1.png", encoded.getvalue())
        >>> [(sample.id, sample.label) for sample in ImageArchive((path,))]
        [('images.zip/dogs/1.png', 'dogs')]
    """

    kind: ClassVar[Kind] = "image"
    paths: tuple[Path, ...]

    def __iter__(self) -> Iterator[Sample | Broken]:
        found = False
        for path in self.paths:
            entries = _zip_entries(path) if zipfile.is_zipfile(path) else _tar_entries(path)
            for sample in entries:
                found = True
                yield sample
        if not found:
            names = ", ".join(str(path) for path in self.paths)
            raise InvalidInputError(f"`{names}` must hold images. Got none.")


def _zip_entries(path: Path) -> Iterator[Sample | Broken]:
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            if entry.is_dir() or not entry.filename.lower().endswith(IMAGE_SUFFIXES):
                continue
            name = f"{path.name}/{entry.filename}"
            if _escapes(entry.filename):
                yield Broken(name, "The name leads out of the archive.")
                continue
            try:
                content = archive.read(entry)
            except (zipfile.BadZipFile, RuntimeError, NotImplementedError, OSError) as error:
                yield Broken(name, f"The archive is damaged here: {error}.")
                continue
            yield Sample(name, content, _folder(entry.filename))


def _tar_entries(path: Path) -> Iterator[Sample | Broken]:
    """Entries that share a key come one after another."""
    try:
        with tarfile.open(path, "r|*") as archive:
            key, files = "", dict[str, bytes]()
            for entry in archive:
                if not entry.isfile():
                    continue
                if _escapes(entry.name):
                    yield Broken(f"{path.name}/{entry.name}", "The name leads out of the archive.")
                    continue
                folder, _, file = entry.name.rpartition("/")
                stem, _, suffix = file.partition(".")
                if f"{folder}/{stem}" != key:
                    yield from _sample(path.name, key, files)
                    key, files = f"{folder}/{stem}", {}
                if f".{suffix.lower()}" in (*IMAGE_SUFFIXES, *_LABELS):
                    stream = archive.extractfile(entry)
                    files[f".{suffix.lower()}"] = stream.read() if stream else b""
            yield from _sample(path.name, key, files)
    except (tarfile.TarError, EOFError, OSError) as error:
        yield Broken(path.name, f"The archive is damaged: {error}.")


def _sample(archive: str, key: str, files: dict[str, bytes]) -> Iterator[Sample]:
    for suffix in IMAGE_SUFFIXES:
        if suffix in files:
            name = key.lstrip("/") + suffix
            yield Sample(f"{archive}/{name}", files[suffix], _label(files) or _folder(name))
            return


def _label(files: dict[str, bytes]) -> str | None:
    if ".cls" in files:
        return files[".cls"].decode(errors="replace").strip()
    if ".json" in files:
        try:
            fields = json.loads(files[".json"])
        except ValueError:
            return None
        if isinstance(fields, dict) and "label" in fields:
            return str(fields["label"])
    return None


def _folder(name: str) -> str | None:
    return name.rpartition("/")[0] or None


def _escapes(name: str) -> bool:
    path = PurePosixPath(name.replace("\\", "/"))
    return path.is_absolute() or ".." in path.parts or ":" in path.parts[0]
