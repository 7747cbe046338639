"""Dataclasses as plain JSON types, and back."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import pytest

from pytest_riskguard.gates.findings import RankedDocument
from pytest_riskguard.serialization import (
    Bounds,
    JsonError,
    Words,
    decoded,
    parsed,
    rounded,
    to_plain,
)


@dataclass(frozen=True)
class Lines:
    """Columns of numbers."""

    x: tuple[float, ...]
    lines: Mapping[str, tuple[float | None, ...]]


def test_a_number_has_12_significant_digits_and_zero_no_sign():
    assert rounded(1 / 3) == 0.333333333333
    assert rounded(-2e5 / 3) == -66666.6666667
    assert math.copysign(1, rounded(-0.0)) == 1
    assert rounded(math.inf) is rounded(math.nan) is None


def test_what_was_written_reads_back():
    for made in (RankedDocument("d", None, 1, None, -0.5), Lines((0.1, 0.2), {"a": (1.5, None)})):
        assert decoded(type(made), to_plain(made)) == made
    assert list(to_plain({"b": 1, "a": 2})) == ["a", "b"]


@pytest.mark.parametrize(
    ("key", "value"),
    [("baseline_rank", "1"), ("baseline_rank", 1.0), ("baseline_rank", True), ("effect", "0.5")],
)
def test_no_value_is_converted_into_another_type(key, value):
    made = to_plain(RankedDocument("d", None, 1, None, -0.5))
    with pytest.raises(JsonError, match=f"made.{key}: expected .*, found "):
        decoded(RankedDocument, made | {key: value}, where="made")


def test_a_lone_surrogate_is_kept_in_an_id_and_refused_in_a_word():
    document = {"document": "\ud800", "grade": 1, "baseline_rank": 1, "candidate_rank": 2, "effect": 0.0}
    assert decoded(RankedDocument, document).document == "\ud800"
    with pytest.raises(ValueError, match=r"^word: expected text without lone surrogates, found '\\ud800'$"):
        decoded(Constrained, {"word": "\ud800"})


@dataclass(frozen=True)
class Constrained:
    """A field for each kind of constraint."""

    word: Annotated[str, Words(("a", "b"))] = "a"
    later: Annotated[str | None, Words(("a", None), open=True)] = None
    share: Annotated[float, Bounds(ge=0, le=1)] | None = None
    level: Annotated[float, Bounds(gt=0, lt=1)] = 0.5
    items: Annotated[tuple[int, ...], Bounds(min_length=2)] = (1, 2)


def test_what_keeps_to_its_constraints_reads_back():
    for made in (Constrained(), Constrained("b", "of a later version", 1.0, 0.9, (1, 2, 3))):
        assert decoded(Constrained, to_plain(made)) == made
    assert math.isnan(decoded(Constrained, {"level": None}).level)
    assert repr(decoded(Constrained, {"share": 1}).share) == "1"


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ({"word": "c"}, "made.word: expected 'a' or 'b', found 'c'"),
        ({"share": 1.1}, "made.share: expected a number, at most 1, found 1.1"),
        ({"share": -1}, "made.share: expected a number, at least 0, found -1"),
        ({"share": math.inf}, "made.share: expected a finite number, found inf"),
        ({"level": 1}, "made.level: expected a number below 1, found 1"),
        ({"level": 0}, "made.level: expected a number above 0, found 0"),
        ({"items": [1]}, r"made.items: expected at least 2, found \[1\]"),
    ],
)
def test_what_breaks_a_constraint_is_named_with_its_place(data, problem):
    with pytest.raises(ValueError, match=f"^{problem}$"):
        decoded(Constrained, data, where="made")


@pytest.mark.parametrize(
    ("data", "where"),
    [
        ({"x": [0.1]}, "missing key 'made.lines'"),
        ({"x": [0.1, "x"], "lines": {}}, r"made\.x\[1\]: expected a number, found text"),
        ([], "made: expected an object, found a list"),
    ],
)
def test_what_is_not_as_it_should_be_is_named_with_its_place(data, where):
    with pytest.raises(ValueError, match=where):
        decoded(Lines, data, where="made")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b'{"a": 9223372036854775808}', "9223372036854775808 is a whole number of more than 64 bits"),
        (b'{"a": -9223372036854775808}', "-9223372036854775808 is a whole number of more than 64 bits"),
        (b'{"a": 1' + 5000 * b"0" + b"}", "1" + 29 * "0" + " is a whole number of more than 64 bits"),
        (b'{"a": 1e309}', "1e309 is larger than any number of 64 bits"),
        (b'{"a": -Infinity}', "-Infinity is not a number"),
        (b'{"a": {"c": 0, "b": 1, "b": 2}}', "key 'b' appears twice"),
        (b"[]", "expected an object, found a list"),
        (b'{"a": "\xff"}', "not UTF-8: byte 0xff"),
        (b'{\n"a": <<<\n}', "line 2: not JSON (Expecting value), found '\"a\": <<<'"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a": ' * 100_000, "nested too deeply"),
    ],
)
def test_what_other_programs_could_not_read_is_refused(content, problem):
    with pytest.raises(JsonError, match=re.escape(problem)):
        parsed(content)


def test_numbers_up_to_the_limits_are_read():
    assert parsed(b'{"a": [-9223372036854775807, 1e308, 5e-324]}') == {"a": [-(2**63) + 1, 1e308, 5e-324]}


def test_more_values_than_the_limit_are_refused_before_they_take_memory(set_limit):
    set_limit("JSON_VALUES", 4)
    assert parsed(b'{"a": [1, 2, 3]}') == {"a": [1, 2, 3]}
    with pytest.raises(JsonError, match=r"at most 4 values in a JSON file, found 5; .*RISKGUARD_LIMITS"):
        parsed(b'{"a": [1, 2, 3, 4]}')
