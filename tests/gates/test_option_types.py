"""What an option of a gate is: its declaration, its check, and the words in which a wrong value is refused."""

from __future__ import annotations  # as in the modules that declare options

import math
from dataclasses import dataclass
from fractions import Fraction

import pytest

from pytest_riskguard.gates.kinds import parse_slice
from pytest_riskguard.gates.option_types import (
    Number,
    OneOf,
    Option,
    OptionError,
    OptionTypeError,
    Text,
    Texts,
    TrueOrFalse,
    declared,
    option,
)

FRUIT = OneOf(("apple", "pear", "plum"))


def kind_of_two_options() -> dict[str, Option]:
    """The options of a class that is declared here and now."""

    @dataclass(frozen=True)
    class Kind:
        name: str = "no option"
        fruit: str = option("pear", FRUIT, "Which fruit.")
        max_size: float = option(0.5, Number(0, 1), "How large.")

    with pytest.raises(TypeError, match="positional"):
        Kind("a name", "plum")
    assert Kind().max_size == 0.5
    return declared(Kind)


def test_what_a_class_declares_is_what_every_way_in_reads():
    options = kind_of_two_options()
    assert options == {
        "max_size": Option("How large.", Number(0, 1), name="max_size", type="float", default=0.5),
        "fruit": Option("Which fruit.", FRUIT, name="fruit", type="str", default="pear"),
    }
    assert [known.type_text for known in options.values()] == ["{'apple', 'pear', 'plum'}", "float"]


@pytest.mark.parametrize(
    ("check", "value", "held"),
    [
        (Number(0, 1), 0, 0),
        (Number(0, 1), 1.0, 1.0),
        (Number(0, 1), Fraction(1, 3), Fraction(1, 3)),
        (Number(0, 1, open_range=True), 0.5, 0.5),
        (Number(0, 1, optional=True), None, None),
        (FRUIT, "plum", "plum"),
        (TrueOrFalse(), False, False),
        (Text("a word"), "word", "word"),
        (Text("a word", parse=str.upper), "word", "WORD"),
        (Text("a word", optional=True), None, None),
        (Texts(Text("a word", parse=str.upper), "words"), ["a", "b"], ("A", "B")),
        (Texts(Text("a word"), "words"), [], ()),
    ],
)
def test_a_value_that_fits_is_let_through(check, value, held):
    assert check(value) == held
    assert type(check(value)) is type(held)


RIGHT_TYPE, WRONG_TYPE = OptionError, OptionTypeError


@pytest.mark.parametrize(
    ("check", "value", "error", "words"),
    [
        (Number(0, 1), 1.5, RIGHT_TYPE, "a number from 0 to 1, found the number 1.5"),
        (Number(0), -0.5, RIGHT_TYPE, "a finite number, at least 0, found the number -0.5"),
        (Number(0, open_range=True), 0, RIGHT_TYPE, "a finite number, above 0, found the number 0"),
        (Number(0, 1, words="a share"), 2, RIGHT_TYPE, "a share, found the number 2"),
        (OneOf(("apple",)), "pie", RIGHT_TYPE, "apple, found 'pie'"),
        (Number(0, 1, open_range=True), 1, RIGHT_TYPE, "a number above 0 and below 1, found the number 1"),
        (Number(0), math.inf, RIGHT_TYPE, "a finite number, at least 0, found the number inf"),
        (Number(0), math.nan, RIGHT_TYPE, "a finite number, at least 0, found the number nan"),
        (Number(0), 10**400, RIGHT_TYPE, f"a finite number, at least 0, found the number 1{'0' * 59}..."),
        pytest.param(
            Number(0),
            10**5000,
            RIGHT_TYPE,
            "a finite number, at least 0, found a number of thousands of digits",
            id="huge",
        ),
        (Number(0), True, WRONG_TYPE, "a finite number, at least 0, found true"),
        (Number(0), None, WRONG_TYPE, "a finite number, at least 0, found nothing"),
        (FRUIT, "plumm", RIGHT_TYPE, "apple, pear or plum, found 'plumm'; did you mean 'plum'?"),
        (FRUIT, "xyz", RIGHT_TYPE, "apple, pear or plum, found 'xyz'"),
        (FRUIT, 3, WRONG_TYPE, "apple, pear or plum, found the number 3"),
        (TrueOrFalse(), 1, WRONG_TYPE, "true or false, found the number 1"),
        (Text("a word"), " ", RIGHT_TYPE, "a word, found ' '"),
        (Text("a word"), "a\nb", RIGHT_TYPE, "a word, found 'a\\nb'"),
        (Text("a word"), None, WRONG_TYPE, "a word, found nothing"),
        (Text("a word"), 3, WRONG_TYPE, "a word, found the number 3; put it in quotes"),
        (Text("a word"), ["a"], WRONG_TYPE, "a word, found a list"),
        (Texts(Text("a word"), "words"), "word", WRONG_TYPE, "words, found 'word'"),
        (Texts(Text("a word"), "words"), {"a": 1}, WRONG_TYPE, "words, found a mapping"),
        (Texts(Text("a word"), "words"), 3, WRONG_TYPE, "words, found the number 3"),
        (Texts(Text("a word"), "words"), ["a", 3], WRONG_TYPE, "a word, found the number 3; put it in quotes"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_in_words(check, value, error, words):
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the message is compared in full
        check(value)
    assert (type(refused.value), str(refused.value)) == (error, f"expected {words}")


@pytest.mark.parametrize(
    ("text", "tag", "value"),
    [("kind=brand", "kind", "brand"), (" kind = a=b ", "kind", "a=b"), ("kind", "kind", None)],
)
def test_a_slice_is_a_tag_or_one_value_of_it(text, tag, value):
    assert parse_slice(text) == (tag, value)
