"""Dataclasses as plain JSON types, and back."""

from __future__ import annotations

import math

import pytest

from pytest_riskguard.gates.findings import Density, MovedDocument
from pytest_riskguard.serialization import from_plain, rounded, to_plain


def test_a_number_has_12_significant_digits_and_zero_no_sign():
    assert rounded(1 / 3) == 0.333333333333
    assert rounded(-2e5 / 3) == -66666.6666667
    assert math.copysign(1, rounded(-0.0)) == 1
    assert rounded(math.inf) is rounded(math.nan) is None


def test_what_was_written_reads_back():
    for made in (MovedDocument("d", None, 1, None, -0.5), Density((0.1, 0.2), (1.5, 2.5))):
        assert from_plain(type(made), to_plain(made)) == made


def test_unknown_fields_are_left_out():
    assert from_plain(Density, {"values": [], "density": [], "new": 1}) == Density((), ())


@pytest.mark.parametrize(
    ("data", "where"),
    [
        ({"values": [0.1]}, "Density: expected a field 'density', found none"),
        ({"values": [0.1, "x"], "density": []}, r"Density\.values\[1\]: expected a "),
        ({"values": {}, "density": []}, r"Density\.values: expected a list, found \{\}"),
        ([], r"Density: expected an object, found \[\]"),
    ],
)
def test_what_is_not_as_it_should_be_is_named_with_its_place(data, where):
    with pytest.raises(ValueError, match=where):
        from_plain(Density, data)
