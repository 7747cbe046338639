"""Shortened names: short enough, different, and the same every time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_riskguard.reports.parts import shortened
from pytest_riskguard.text import columns


@pytest.mark.parametrize(
    ("names", "width", "expected"),
    [
        (["short", "a-long-name-1", "a-long-name-2"], 9, ["short", "a-lo…me-1", "a-lo…me-2"]),
        (["a-name-in-twelve", "a-name-of-twelve", "a-name-on-twelve"], 9, ["a-na…elve", "a-n…lve~2", "a-n…lve~3"]),
        # a short name that looks like one that was cut
        (["abcdefghijkl", "abcd…jkl"], 8, ["abc…kl~2", "abcd…jkl"]),
    ],
)
def test_what_differs_remains(names, width, expected):
    assert shortened(names, width) == expected


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
    found = shortened(names, width)
    assert len(set(found)) == len(names)
    assert max(map(columns, found)) <= width
    assert all(shown == name for shown, name in zip(found, names, strict=True) if columns(name) <= width)
    assert found == shortened(names, width)
