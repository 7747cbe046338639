"""Data made safe for a terminal."""

import re

import pytest
from rich.cells import cell_len

from pytest_riskguard.reports.numbers import plain, short, signed
from pytest_riskguard.text import clean, columns, counted, fitted, listed, web_address


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


@pytest.mark.parametrize("text", ["query", "寿司", "a寿b司c", "käse", "ＦＵＬＬ"])
def test_text_is_fitted_into_columns(text):
    assert columns(text) == cell_len(text)
    assert fitted(text, columns(text)) == text
    for width in range(1, columns(text)):
        shown = fitted(text, width)
        assert shown.endswith("…")
        assert width - 1 <= columns(shown) <= width
        assert text.startswith(shown[:-1])


def test_long_text_is_cut_and_shows_that_it_is():
    assert clean("x" * 300) == "x" * 199 + "…"
    assert clean("x" * 200) == "x" * 200


def test_numbers_are_never_a_negative_zero():
    assert (signed(-0.0), plain(-0.0), plain(-1e-9)) == ("+0.0000", "0.0000", "0.0000")


def test_a_sign_that_decides_survives_rounding():
    assert (signed(-2e-5), signed(2e-5), signed(-1e-4)) == ("-2.0e-05", "+2.0e-05", "-0.0001")


def test_what_is_no_number_is_undefined():
    assert (signed(None), plain(float("inf"))) == ("undefined", "undefined")


@pytest.mark.parametrize(
    "text", ["::error::pwn", "  ::warning::x", "a ::notice::b", "##[error]x", "##vso[task]", "a ##teamcity[x]"]
)
def test_nothing_that_a_ci_system_reads_as_a_command_gets_through(text):
    shown = clean(text)
    assert not re.search(r"(^|\s)::|##\w*\[", shown)


def test_node_ids_keep_their_colons():
    assert clean("riskguard.yaml::no-risk[AP-5]") == "riskguard.yaml::no-risk[AP-5]"
    assert (signed(0.25), signed(-0.25, 1), plain(0.5)) == ("+0.2500", "-0.2", "0.5000")
    assert (short(1.0), short(0.1), short(1e-5)) == ("1", "0.1", "1e-05")


def test_lists_and_counts_read_as_english():
    assert listed(("a", "b", "c"), most=2) == "a, b and 1 more"
    assert listed(("a", "b"), most=2) == "a, b"
    assert listed(("a", "b", "c"), most=2, left_out=3) == "a, b and 4 more"
    assert (counted(1, "loss", "losses"), counted(2, "loss", "losses"), counted(0, "win")) == (
        "1 loss",
        "2 losses",
        "0 wins",
    )


def test_no_part_of_credentials_stays_in_an_address():
    assert [web_address("https://a/".ljust(length, "x")) is None for length in (2000, 2001)] == [False, True]
    assert web_address("https://me@example.org:secret@example.org/x") == "https://example.org/x"
