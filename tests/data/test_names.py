"""Names of samples, as they are printed."""

import pytest

from tradeoff._text import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("cats/1.png", "cats/1.png"),
        ("été/猫/кот/قط/बिल्ली 🐈.png", "été/猫/кот/قط/बिल्ली 🐈.png"),
        ("👩\u200d🔬.png", "👩\u200d🔬.png"),
        ("a\nb\r\tc", "a\\nb\\r\\tc"),
        ("\x00\x1b[2J\x7f\x9b", "\\x00\\x1b[2J\\x7f\\x9b"),
        ("a\u2028b\u2029c\x85d", "a\\u2028b\\u2029c\\x85d"),
        ("\u202egnp.\u2066x\u200e\ufeff", "\\u202egnp.\\u2066x\\u200e\\ufeff"),
        ("\ud800.png", "\\ud800.png"),
        ("\U000e0041", "\\U000e0041"),
    ],
)
def test_control_characters_are_escaped_and_letters_stay(text, shown):
    assert printable(text) == shown
    assert len(printable(text).splitlines()) == 1
