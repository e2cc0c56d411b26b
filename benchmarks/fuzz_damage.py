"""Seeded damage to files: flipped bits, wrong numbers, cut and mixed bytes, hostile names.

All randomness comes from the generator that is passed in, so a seed reproduces the damage.
"""

from __future__ import annotations

import contextlib
import json
import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy as np

    Damage = Callable[[bytes, bytes, np.random.Generator], bytes]

__all__ = ["FIFO", "LINK", "Files", "damage", "flip_bit"]

Files = dict[str, bytes]
T = TypeVar("T")

FIFO = b"\x00fuzz: a named pipe"
"""Content that represents a named pipe."""
LINK = b"\x00fuzz: a link to "
"""Beginning of a content that represents a symbolic link to the path that follows."""

_SPECIALS = (FIFO, LINK + b".", LINK + b"gone", LINK + b"/dev/zero")
_EDGE = 96
_MOST_BYTES = 1 << 20
_NUMBERS = (
    *(0, 1, -1, 2, 16, 127, 128, 255, 256, 32_767, 65_535, 100_000, 1 << 24, (1 << 31) - 1),
    *(1 << 31, (1 << 32) - 1, 1 << 40, (1 << 63) - 1, 1 << 63, (1 << 64) - 1),
)
_DEEP = 20_000
_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 7, 0.5, -0.0, 1e308, float("nan"), float("inf"), 10**30),
    *("", "x", " ", "\n", "\0", "\ud800", "1", "nan", "../canary.png", "/etc/passwd", "9" * 5000),
    *([], {}, [[]], [None], [1, "a", None], {"a": 1}, [[1, 2], [3]], {"bytes": 3, "path": 4}),
)
_TOKENS = [
    *(b"", b"0", b"-1", b"1", b"2", b"3.5", b"1e999", b"-1e999", b"NaN", b"nan", b"Infinity"),
    *(b"1_000", b"0x10", b"9223372036854775808", b"9" * 400, b"9" * 5000, b"65536", b"2147483647"),
    *(b"null", b"None", b"true", b"false", b'""', b'"x"', b"[]", b"{}", b"[1, 2]", b'{"a": 1}'),
    *(b"[" * _DEEP, b'{"a":' * _DEEP, b"[" * _DEEP + b"]" * _DEEP, b"a." * 2000),
    *(b'"', b"'", b"\\", b",", b"\n", b"\r", b"\x00", b"\xff", b"\xef\xbb\xbf", b'"\\ud800"'),
    *(b'"\\u0000"', "９".encode(), b"\x1b[31m", b"x" * 140_000, b'"' + b"x" * 140_000),
    *(b'"../canary.png"', b'"/etc/passwd"', b'"/dev/zero"', b'"https://example.org/x"', b"'|O'"),
    *(b'"os.system"', b'"evil.Module"', b"__reduce__", b"2020-01-01", b"1+2j", b"=1+1"),
]
_SUFFIXES = (
    ".png",
    ".jpg",
    ".webp",
    ".bmp",
    ".tif",
    ".gif",
    ".ppm",
    ".zip",
    ".tar",
    ".tar.gz",
    ".tar.bz2",
    ".tar.xz",
    ".npy",
    ".npz",
    ".parquet",
    ".arrow",
    ".jsonl",
    ".csv",
    ".txt",
    ".toml",
    ".json",
    ".onnx",
    ".pt",
    ".pt2",
    ".eps",
    ".feather",
    "",
    ".png.gz",
)
_NAMES = ["../canary.png", "/etc/passwd.png", "a\nb.png", "a\x1b[31m.png", "a.b.c.png", ".png"]
_NAMES += ["C:\\x.png", "a" * 240 + ".png", "\udcff.png", "$x$.png", "-rf.png", "con.png", " .png"]
_NAMES += [
    "deep/" * 60 + "1.png",
    "1.cls",
    "1.json",
    "1.txt",
    "\u202egnp.1.png",
    "1.PNG",
    "1.png/2.png",
]


def damage(
    files: Files, donors: Sequence[bytes], rng: np.random.Generator, *, specials: bool
) -> Files:
    """Files with one to three kinds of damage.

    Args:
        files: Contents by name.
        donors: Contents of other files, parts of which may be mixed in.
        rng: Source of all randomness.
        specials: Whether a file may become a named pipe, a device or a link.
    """
    damaged = dict(files)
    for _ in range(_one((1, 1, 1, 2, 3), rng)):
        name = _one(sorted(damaged), rng)
        chance = rng.random()
        if chance < 0.08:
            _rename(damaged, name, rng)
        elif chance < 0.10:
            damaged[f"copy-of-{PurePosixPath(name).name}"] = damaged[name]
        elif chance < 0.12 and len(damaged) > 1:
            del damaged[name]
        elif chance < 0.14 and specials:
            return damaged | {name: _one(_SPECIALS, rng)}
        else:
            change = _one(_DAMAGES, rng)
            damaged[name] = change(damaged[name], _one(donors, rng), rng)[:_MOST_BYTES]
    return damaged


def flip_bit(files: Files, rng: np.random.Generator) -> Files:
    """Files with one flipped bit; every bit is equally likely."""
    bit = int(rng.integers(8 * sum(map(len, files.values()))))
    for name, content in files.items():
        if bit < 8 * len(content):
            damaged = bytearray(content)
            damaged[bit // 8] ^= 1 << bit % 8
            return files | {name: bytes(damaged)}
        bit -= 8 * len(content)
    return files


def _rename(files: Files, name: str, rng: np.random.Generator) -> None:
    content = files.pop(name)
    if rng.random() < 0.5:
        name = str(PurePosixPath(name).with_suffix("")) + _one(_SUFFIXES, rng)
    else:
        name = _one(_NAMES, rng)
    files[name or "unnamed"] = content


def _flip(data: bytes, _: bytes, rng: np.random.Generator) -> bytes:
    if not data:
        return data
    place = _place(data, rng)
    return data[:place] + bytes([data[place] ^ (1 << int(rng.integers(8)))]) + data[place + 1 :]


def _overwrite(data: bytes, _: bytes, rng: np.random.Generator) -> bytes:
    """An extreme number of one to eight bytes, in either byte order."""
    width = _one((1, 2, 4, 8), rng)
    number = (_one(_NUMBERS, rng) % (1 << 8 * width)).to_bytes(width, "little")
    place = _place(data, rng)
    return data[:place] + (number if rng.random() < 0.5 else number[::-1]) + data[place + width :]


def _cut(data: bytes, _: bytes, rng: np.random.Generator) -> bytes:
    return data[: _place(data, rng)]


def _behead(data: bytes, _: bytes, rng: np.random.Generator) -> bytes:
    return data[_place(data, rng) :]


def _delete(data: bytes, _: bytes, rng: np.random.Generator) -> bytes:
    start, end = _slice(data, rng)
    return data[:start] + data[end:]


def _duplicate(data: bytes, _: bytes, rng: np.random.Generator) -> bytes:
    start, end = _slice(data, rng)
    return data[:end] + data[start:end] * int(rng.integers(1, 6)) + data[end:]


def _zero(data: bytes, _: bytes, rng: np.random.Generator) -> bytes:
    start, end = _slice(data, rng)
    return data[:start] + bytes(end - start) + data[end:]


def _noise(data: bytes, _: bytes, rng: np.random.Generator) -> bytes:
    start, end = _slice(data, rng)
    return data[:start] + rng.bytes(end - start) + data[end:]


def _splice(data: bytes, donor: bytes, rng: np.random.Generator) -> bytes:
    return data[: _place(data, rng)] + donor[_place(donor, rng) :]


def _insert(data: bytes, donor: bytes, rng: np.random.Generator) -> bytes:
    place, (start, end) = _place(data, rng), _slice(donor, rng)
    return data[:place] + donor[start:end] + data[place:]


def _swap(_: bytes, donor: bytes, rng: np.random.Generator) -> bytes:
    """Another file under this name, or an empty one."""
    return donor if rng.random() < 0.7 else b""


def _token(data: bytes, _: bytes, rng: np.random.Generator) -> bytes:
    """One word, number or string replaced, for text formats and headers in text."""
    found = list(re.finditer(rb'"[^"\n]{0,200}"|[-+.\w]+|[^\w\s]', data[:20_000]))
    if not found:
        return data + _one(_TOKENS, rng)
    token = _one(found, rng)
    instead = _one(found, rng).group() if rng.random() < 0.3 else _one(_TOKENS, rng)
    return data[: token.start()] + instead + data[token.end() :]


def _node(data: bytes, donor: bytes, rng: np.random.Generator) -> bytes:
    """JSON, or one line of JSON lines, with one value replaced, renamed or deleted."""
    try:
        whole = json.loads(data)
    except (ValueError, RecursionError):
        lines = data.split(b"\n")
        if len(lines) == 1:
            return _token(data, donor, rng)
        place = int(rng.integers(len(lines)))
        lines[place] = _node(lines[place], donor, rng)
        return b"\n".join(lines)
    places = list(_places(whole))
    if not places:
        return json.dumps(_one(_VALUES, rng)).encode()
    container, key = _one(places, rng)
    chance = rng.random()
    if chance < 0.15:
        del container[key]
    elif chance < 0.3 and isinstance(container, dict):
        container["x" * int(rng.integers(3))] = container.pop(key)
    else:
        other, found = _one(places, rng)
        container[key] = other[found] if chance < 0.45 else _one(_VALUES, rng)
    with contextlib.suppress(ValueError, RecursionError):  # a value may contain itself now
        return json.dumps(whole).encode()
    return data


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container inside a value, with each of its keys."""
    keys = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    for key in keys:
        yield value, key
        yield from _places(value[key])


_DAMAGES: tuple[Damage, ...] = (
    *(_flip, _flip, _overwrite, _overwrite, _overwrite, _cut, _behead, _delete, _duplicate),
    *(_zero, _noise, _splice, _insert, _swap, _token, _token, _node, _node, _node),
)


def _place(data: bytes, rng: np.random.Generator) -> int:
    """An offset. Headers and footers are preferred, since sizes and types are stored there."""
    if not data:
        return 0
    edge = min(_EDGE, len(data))
    where = rng.random()
    if where < 0.4:
        return int(rng.integers(edge))
    return len(data) - 1 - int(rng.integers(edge if where < 0.6 else len(data)))


def _slice(data: bytes, rng: np.random.Generator) -> tuple[int, int]:
    start = _place(data, rng)
    return start, min(len(data), start + 1 + int(2 ** (10 * rng.random())))


def _one(choices: Sequence[T], rng: np.random.Generator) -> T:
    return choices[int(rng.integers(len(choices)))]
