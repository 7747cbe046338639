from __future__ import annotations

import math
import struct

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_riskguard.evaluation.runs import decimals as module
from pytest_riskguard.evaluation.runs.decimals import decimals
from pytest_riskguard.evaluation.runs.identifiers import Identifiers

DIGITS = st.text("0123456789", max_size=22)
#: What could be a number: a sign, digits with up to two dots among them, an exponent.
NUMERALS = st.builds(
    "".join,
    st.tuples(
        st.sampled_from(["", "", "-", "+", "--"]),
        DIGITS,
        st.sampled_from(["", ".", ".", ".."]),
        DIGITS,
        st.sampled_from(["", "", "", "e5", "E-07", "e", "_1", "x", ".", "-"]),
    ),
).filter(bool)
NUMBERS = st.one_of(
    NUMERALS,
    st.floats().map(repr),
    st.floats(-1e6, 1e6).map(repr),
    st.builds("{:.{}f}".format, st.floats(-1e6, 1e6), st.integers(0, 19)),
    st.integers(-(10**20), 10**20).map(str),
    st.text(st.characters(min_codepoint=33, codec="utf-8"), min_size=1, max_size=20),
)


def slowly(text: str) -> float:
    try:
        return math.nan if "_" in text else float(text.encode())
    except ValueError:
        return math.nan


def bits(number: float) -> bytes:
    return b"nan" if math.isnan(number) else struct.pack("<d", number)


@given(st.lists(NUMBERS, max_size=20))
@example(["0", "-0", "-0.0", "+.5", "5.", ".", "-", "+", "-.", "1.2.3", "9" * 19, "9" * 20, "." + "9" * 19, "0" * 30])
@example(
    ["9007199254740993", "9007199254740992.5", "4503599627370497.5", "18014398509481982.00", "0.30000000000000004"]
)
@example(["14.013979", "14.013.79", "1.013979.", "12345678", "1234567.", ".1234567", "-12345678.12345678"])
@example(["1\x1c", "1\x01", "\x1f1", "1:", "1/", "é1", "1é", "٣"])
def test_numbers_are_rounded_as_float_rounds_them(numbers):
    assert [bits(number) for number in decimals(Identifiers.of(numbers)).tolist()] == [
        bits(slowly(number)) for number in numbers
    ]


def test_numbers_with_many_digits_are_rounded_once():
    rng = np.random.default_rng(5)
    numbers = [repr(value) for value in rng.uniform(0, 100, 20_000).tolist()]
    numbers += [f"{value:.{places}f}" for value in rng.uniform(0, 10, 5000) for places in (15, 17, 18)]
    # half-way between two 64-bit numbers, and one digit beside it
    numbers += [f"{2**53 + 2 * step + 1}{end}" for step in range(500) for end in ("", ".0", ".1", "0", "1", ".00")]
    # any 19 digits: some quotients look half-way in 64 bits of precision and are not
    numbers += [
        f"{digits // 10**15}.{digits % 10**15:015d}" for digits in rng.integers(10**18, 9 * 10**18, 30_000).tolist()
    ]
    assert decimals(Identifiers.of(numbers)).tolist() == [float(number) for number in numbers]


def test_no_wider_numbers_are_needed(monkeypatch):
    monkeypatch.setattr(module, "_HAS_WIDE", False)
    numbers = [repr(value) for value in np.random.default_rng(6).uniform(0, 100, 500).tolist()]
    assert decimals(Identifiers.of(numbers)).tolist() == [float(number) for number in numbers]


@pytest.mark.parametrize("numbers", [[f"{n}.{n:06d}" for n in range(1000)], [str(n) for n in range(-9, 9)]])
def test_plain_numbers_are_not_left_to_float(numbers, monkeypatch):
    def refuse(text: bytes) -> float:
        raise AssertionError(text)

    monkeypatch.setattr(module, "_one", refuse)
    ids = Identifiers.of(["these bytes stand before them", *numbers]).at(slice(1, None))
    assert decimals(ids).tolist() == [float(number) for number in numbers]
