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
        (
            ["ltr-ucro-alpha1-seed42-final", "ltr-ucro-alpha5-seed42-final", "short"],
            12,
            ["…1…", "…5…", "short"],
        ),
        (
            ["trained-ucro-alpha1-seed42-final", "trained-geo-alpha1-seed42-final"],
            12,
            ["…ucro…", "…geo…"],
        ),
        (
            [f"ltr-{kind}-alpha{alpha}-final" for kind in ("ucro", "geo") for alpha in (1, 10)],
            12,
            ["…ucro…1…", "…ucro…10…", "…geo…1…", "…geo…10…"],
        ),
        (
            [f"the-rate{rate}-of-{leaves}-leaves-of-trees" for rate in (0.1, 0.05) for leaves in (31, 255)],
            12,
            ["…0.1…31…", "…0.1…255…", "…0.05…31…", "…0.05…255…"],
        ),
        # names of one word
        ([f"検索結果の順位が{one}大きくなった後の検索結果" for one in "甲乙"], 12, ["検索…索結果", "検索…索結~2"]),
        # what differs is what another name is called
        (["final-5-alpha1-run", "final-1-alpha1-run", "…1…"], 10, ["…5…", "…1…~2", "…1…"]),
        # what begins all names is not taken for their end as well
        (["final-ltr", "final-1-ltr"], 8, ["fin…-ltr", "…1-…"]),
        # what ends them all is left out at any distance from the start
        (["ucro_ltr_final", "ucro_geo_a_final"], 8, ["…ltr…", "…geo_a…"]),
        # a short name that looks like one that was cut
        (["abcdefghijkl", "abc…ijkl"], 8, ["abc…ij~2", "abc…ijkl"]),
        # nothing printable differs
        (["x", "x\x1b", "x~2"], 8, ["x", "x~3", "x~2"]),
    ],
)
def test_what_differs_remains(names, width, expected):
    assert at_width(names, width) == expected


def test_very_long_names_are_cut_even_where_there_is_room():
    (shown,) = shortened(["x" * 900], lambda name: name)
    assert shown == "x" * 900
    (shown,) = shortened(["x" * 2000], lambda name: name)
    assert len(shown) == 1000


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
