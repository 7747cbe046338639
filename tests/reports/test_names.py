"""Shortened names: short enough, different, and the same every time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_riskguard.reports.parts import ends, shortened
from pytest_riskguard.text import columns


def at_width(names: list[str], width: int) -> list[str]:
    return shortened(names, lambda name: ends(name, width))


@pytest.mark.parametrize(
    ("names", "width", "expected"),
    [
        (["short", "a-long-name-1", "a-long-name-2"], 9, ["short", "a-lo…me-1", "a-lo…me-2"]),
        (["a-name-in-twelve", "a-name-of-twelve", "a-name-on-twelve"], 9, ["a-na…elve", "a-na…el~2", "a-na…el~3"]),
        # a short name that looks like one that was cut
        (["abcdefghijkl", "abc…ijkl"], 8, ["abc…ij~2", "abc…ijkl"]),
        # nothing printable differs
        (["x", "x\x1b", "x~2"], 8, ["x", "x~3", "x~2"]),
    ],
)
def test_what_differs_remains(names, width, expected):
    assert at_width(names, width) == expected


@given(
    st.lists(
        st.lists(
            st.sampled_from(["a", "b", "alpha1", "alpha10", "-", "-x-", "0.5", "検", "…", "~2"]), max_size=25
        ).map("".join),
        min_size=1,
        max_size=12,
        unique=True,
    ),
    st.integers(8, 24),
)
def test_they_are_short_enough_and_different_and_short_ones_stay_whole(names, width):
    found = at_width(names, width)
    assert len(set(found)) == len(names)
    assert max(map(columns, found)) <= width
    assert all(shown == name for shown, name in zip(found, names, strict=True) if columns(name) <= width)
    assert found == at_width(names, width)
