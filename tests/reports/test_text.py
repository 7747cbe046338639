"""Data made safe for a terminal."""

from __future__ import annotations

import pytest

from pytest_riskguard.reports.text import clean, counted, listed, plain, short, signed


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[31mb", "a[31mb"),
        ("a\nb\r\nc\td", "a b c d"),
        ("a\u202eb\u2066c\u200bd\ufeff", "abcd"),
        ("a\u2028b\u2029c\x85d\x9be", "a b c de"),
        ("\ud800x\ue000\x00", "x"),
        ("  käse 寿司 👍  ", "käse 寿司 👍"),
    ],
)
def test_what_is_no_printable_text_is_removed(text, shown):
    assert clean(text) == shown


def test_long_text_is_cut_and_shows_that_it_is():
    assert clean("x" * 300) == "x" * 199 + "…"
    assert clean("x" * 200) == "x" * 200


def test_numbers_are_never_a_negative_zero():
    assert (signed(-0.0), signed(-1e-9), plain(-1e-9)) == ("+0.0000", "+0.0000", "0.0000")
    assert (signed(0.25), signed(-0.25, 1), plain(0.5)) == ("+0.2500", "-0.2", "0.5000")
    assert (short(1.0), short(0.1), short(1e-5)) == ("1", "0.1", "1e-05")


def test_lists_and_counts_read_as_english():
    assert listed(("a", "b", "c"), most=2) == "a, b and 1 more"
    assert listed(("a", "b"), most=2) == "a, b"
    assert (counted(1, "loss", "losses"), counted(2, "loss", "losses"), counted(0, "win")) == (
        "1 loss",
        "2 losses",
        "0 wins",
    )
