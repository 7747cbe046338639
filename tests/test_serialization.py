"""Dataclasses as plain JSON types, and back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import pytest

from pytest_riskguard.gates.findings import Density, MovedDocument
from pytest_riskguard.serialization import Constraint, from_plain, rounded, to_plain


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


@dataclass(frozen=True)
class Constrained:
    """A field for each kind of constraint."""

    word: Annotated[str, Constraint(enum=("a", "b"))] = "a"
    later: Annotated[str | None, Constraint(enum=("a", None), open=True)] = None
    share: Annotated[float, Constraint(minimum=0, maximum=1)] | None = None
    level: Annotated[float, Constraint(minimum=0, maximum=1, open_range=True)] = 0.5
    items: Annotated[tuple[int, ...], Constraint(min_items=2)] = (1, 2)


def test_what_keeps_to_its_constraints_reads_back():
    for made in (Constrained(), Constrained("b", "of a later version", 1.0, 0.9, (1, 2, 3))):
        assert from_plain(Constrained, to_plain(made)) == made
    assert math.isnan(from_plain(Constrained, {"level": None}).level)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ({"word": "c"}, "Constrained.word: expected one of a, b, found 'c'"),
        ({"share": 1.1}, "Constrained.share: expected a number from 0 to 1, found 1.1"),
        ({"share": -0.1}, "Constrained.share: expected a number from 0 to 1, found -0.1"),
        ({"level": 1}, "Constrained.level: expected a number above 0 and below 1, found 1"),
        ({"items": [1]}, r"Constrained.items: expected at least 2, found \[1\]"),
    ],
)
def test_what_breaks_a_constraint_is_named_with_its_place(data, problem):
    with pytest.raises(ValueError, match=f"^{problem}$"):
        from_plain(Constrained, data)


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
