"""The line that says how far a retrieval is: what stood in the line before stays."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from pytest_riskguard.live_systems.console import Line
from tests.plugin.test_live import on_the_screen


class Clock:
    """Stands still until it is told to go on."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_line_is_written_over_and_erased():
    file, clock = io.StringIO(), Clock()
    file.write("riskguard.yaml ")
    line = Line(file, room=40, clock=clock)
    for done, shown in ((9, "9/225"), (10, "10/225"), (225, "225/225")):
        clock.now += 1
        line.show(done, 225)
        assert on_the_screen(file.getvalue()) == [f"riskguard.yaml retrieving {shown} topics"]
    line.erase()
    file.write("F")
    assert on_the_screen(file.getvalue()) == ["riskguard.yaml F"]


def test_a_shorter_text_leaves_nothing_of_a_longer_one():
    file, clock = io.StringIO(), Clock()
    line = Line(file, room=40, clock=clock)
    line.show(100, 100)
    clock.now += 1
    line.show(1, 2)
    assert on_the_screen(file.getvalue()) == ["retrieving 1/2 topics"]


def test_it_does_not_change_more_often_than_a_person_can_read():
    file, clock = io.StringIO(), Clock()
    line = Line(file, room=40, clock=clock)
    for done in range(1000):
        clock.now += 0.001
        line.show(done, 1000)
    assert 5 <= file.getvalue().count("retrieving") <= 12


@pytest.mark.parametrize(
    ("room", "shown"), [(24, "retrieving 37/225 topics"), (23, "37/225"), (6, "37/225"), (5, ""), (-3, "")]
)
def test_a_line_with_little_room_says_less(room, shown):
    file = io.StringIO()
    Line(file, room=room).show(37, 225)
    assert file.getvalue() == shown


def test_everything_is_written_outside_the_capture():
    file, outside = io.StringIO(), False

    class Watched(io.StringIO):
        def write(self, text: str) -> int:
            assert outside
            return file.write(text)

    @contextmanager
    def away() -> Iterator[None]:
        nonlocal outside
        outside = True
        yield
        outside = False

    line = Line(Watched(), room=40, outside=away)
    line.show(1, 2)
    line.erase()
    assert "1/2" in file.getvalue()
