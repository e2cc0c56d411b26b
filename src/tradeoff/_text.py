"""Text that comes from files, made safe to print; and numbers in sentences."""

from __future__ import annotations

import math
import unicodedata

__all__ = ["in_percent", "percent", "percent_up", "printable", "shortened"]

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
# Control characters, invisible format characters (which include the overrides of direction), lone
# surrogates, and the separators that some programs take for line breaks.
_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# They join letters and emoji, and neither hide nor reorder text.
_JOINERS = frozenset("\u200c\u200d")


def in_percent(level: float) -> str:
    """A confidence level, never rounded to 100%.

    Example:
        >>> from tradeoff._text import in_percent
        >>> in_percent(0.95), in_percent(0.999)
        ('95%', '99.9%')
    """
    return f"{100.0 * level:.10g}%"


def percent(share: float) -> str:
    """A lower limit, rounded down."""
    digits = 0 if share >= 0.1 else 1 if share >= 0.001 else 2
    scale = 10.0 ** (digits + 2)
    return f"{math.floor(share * scale + 1e-9) / scale:.{digits}%}"


def percent_up(share: float) -> str:
    """An upper limit, rounded up."""
    digits = 0 if 0.1 <= share <= 0.99 else 1
    scale = 10.0 ** (digits + 2)
    return f"{math.ceil(share * scale - 1e-9) / scale:.{digits}%}"


def printable(text: str) -> str:
    r"""Text on one line, without characters that control a terminal or reorder what is shown.

    Control characters, line separators, invisible format characters and lone surrogates are
    replaced by escapes such as ``\n``, ``\x1b`` and ``\u202e``; letters of every script stay.

    Args:
        text: an id or a message that contains names from files.

    Example:
        >>> from tradeoff._text import printable
        >>> print(printable("chats/été\n2.png"))
        chats/été\n2.png
        >>> print(printable("\x1b[31mred \u202egnp.exe"))
        \x1b[31mred \u202egnp.exe
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escaped(character) for character in text)


def _escaped(character: str) -> str:
    if character in _JOINERS or unicodedata.category(character) not in _UNSAFE:
        return character
    code = ord(character)
    if code > 0xFFFF:
        return f"\\U{code:08x}"
    return _SHORT.get(character, f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def shortened(text: str, longest: int) -> str:
    """Text of so many characters at most, which then ends in an ellipsis.

    Example:
        >>> from tradeoff._text import shortened
        >>> shortened("a long name", 7), shortened("a name", 7)
        ('a long…', 'a name')
    """
    return text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"
