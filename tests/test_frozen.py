"""``frozen`` beside frozen dataclasses of the standard library, which it must equal in what a user can see."""

import pickle
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from pytest_riskguard.frozen import frozen


@frozen
class Point:
    x: int
    tags: tuple[str, ...] = ()
    note: str = field(default="", compare=False)
    inner: list[int] = field(default_factory=list, hash=False, repr=False)


@frozen
class Named(Point):
    name: str = "P"

    def __repr__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:  # which takes the hash of the standard library away
        return isinstance(other, Named) and self.x == other.x


@frozen(eq=False)
class Alone:
    x: int


def like_the_standard_library() -> Any:
    @dataclass(frozen=True)
    class Point:
        x: int
        tags: tuple[str, ...] = ()
        note: str = field(default="", compare=False)
        inner: list[int] = field(default_factory=list, hash=False, repr=False)

    Point.__qualname__ = "Point"
    return Point


@pytest.mark.parametrize("kind", [Point, like_the_standard_library()])
def test_equal_fields_make_equal_objects(kind):
    one = kind(1, ("a",), note="here")
    assert one == kind(1, ("a",), note="there")
    assert hash(one) == hash(replace(one, inner=[1]))
    assert one not in (kind(2, ("a",)), kind(1, ("a",), inner=[1]), Named(1, ("a",)), 1)
    assert repr(one) == "Point(x=1, tags=('a',), note='here')"


def test_classes_keep_their_own_methods_and_may_be_equal_to_themselves_alone():
    assert repr(Named(1)) == "P"
    assert Named(1) == Named(1, note="other")
    assert hash(Named(1)) == hash(Named(1))
    assert Alone(1) != Alone(1)
    assert len({Alone(1), Alone(1)}) == 2


def test_objects_are_pickled():
    assert pickle.loads(pickle.dumps(Named(1, inner=[2]))) == Named(1, inner=[2])  # noqa: S301
