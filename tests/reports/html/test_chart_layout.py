"""How charts look: labels that stay apart, round ticks, colours that can be seen, files of a bounded size."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_riskguard.data import TopicScores
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import gate_of
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.html.charts import MAX_BARS
from pytest_riskguard.reports.html.charts.axes import (
    Box,
    Scale,
    scale_of,
    tick_labels,
)
from pytest_riskguard.reports.html.charts.drawing import WIDTH, Colour, clipped, text_width, without_stacks
from pytest_riskguard.reports.html.charts.plots import Plot
from tests.reports.hostile import STRINGS
from tests.reports.html.drawings import labels, points, root_of, tooltips
from tests.reports.html.verdicts import charts_of, hostile, in_family, pair, pool, wide_pool

ASSETS = Path(__file__).parents[3] / "pytest_riskguard" / "reports" / "html" / "assets"
#: Colours that stand for values, names or limits; the others are the page and its faint lines.
SEEN = {name: value for name, value in vars(Colour).items() if name.isupper() and name not in ("PAGE", "LINE")}


def one_topic() -> Verdict:
    one = TopicScores("a", None, ("q1",), np.array([0.2]))
    return judge(gate_of("g"), one, replace(one, name="b", values=np.array([0.5])), report=True)


def scaled(factor: float) -> Verdict:
    """Scores of another size, as sums of gains have it."""
    candidate, baseline = (
        TopicScores(name, None, tuple(f"{i:02}" for i in range(30)), factor * np.random.default_rng(seed).random(30))
        for name, seed in (("a", 1), ("b", 2))
    )
    return judge(gate_of("g", alpha=3.0), candidate, baseline, report=True)


CASES: dict[str, Callable[[], Verdict]] = {
    "1 topic": one_topic,
    "2 topics": lambda: pair(2),
    "50 topics": lambda: pair(50),
    "250 topics": lambda: pair(MAX_BARS),
    "10,000 topics": lambda: pair(10_000),
    "tolerance": lambda: pair(50, tolerance=0.05),
    "alpha 100": lambda: pair(50, alpha=100.0),
    "only wins": lambda: pair(30, shift=0.3),
    "collapse": lambda: pair(50, kind="no_topic_collapse", alpha=0.0, max_loss=0.3),
    "family": in_family,
    "pool": pool,
    "pool of 12": lambda: wide_pool(12),
    "pool of 40": lambda: wide_pool(40),
    "tiny": lambda: scaled(1e-9),
    "large": lambda: scaled(1e6),
    "huge": lambda: scaled(1e40),
    "long names": lambda: hostile(STRINGS["long words"]),
    "no spaces": lambda: hostile(STRINGS["long"]),
    "emoji": lambda: hostile(STRINGS["emoji"] * 9),
    "ideographs": lambda: hostile("検索結果の順位が大きく下がった問い合わせ" * 4),
    "right to left": lambda: hostile(STRINGS["right to left"] * 9),
}


def drawn(name: str) -> Iterator[Plot]:
    charts = charts_of(CASES[name]())
    assert charts
    yield from charts.values()


@pytest.mark.parametrize("name", CASES)
def test_no_two_labels_share_room_and_nothing_leaves_the_picture(name):
    for chart in drawn(name):
        root = root_of(chart)
        left, top, width, height = map(float, root.attrib["viewBox"].split())
        picture = Box(left, top, left + width, top + height)
        shown = labels(root)
        assert len(shown) > 2
        outside = [label.text for label in shown if not label.room.within(picture)]
        assert not outside, chart.key
        shared = [(a.text, b.text) for a, b in combinations(shown, 2) if a.room.overlaps(b.room)]
        assert not shared, chart.key
        assert not [(x, y) for x, y in points(root) if not (0 <= x <= width and 0 <= y <= height)], chart.key


@pytest.mark.parametrize("name", CASES)
def test_every_mark_says_in_words_what_it_stands_for(name):
    for chart in drawn(name):
        root = root_of(chart)
        said = tooltips(root)
        assert said
        assert all(said)
        assert not [text for text in said if re.search(r"\d\.\d{5}", text)], "no number has more than four decimals"


@pytest.mark.parametrize("name", ["50 topics", "250 topics", "10,000 topics", "pool of 40"])
def test_a_picture_stays_small(name):
    sizes = {chart.key: (len(chart.svg), sum(1 for _ in root_of(chart).iter())) for chart in drawn(name)}
    assert max(size for size, _ in sizes.values()) < 80_000
    assert sum(size for size, _ in sizes.values()) < 250_000
    assert max(nodes for _, nodes in sizes.values()) < 1_100


# ---- colours


def luminance(colour: str) -> float:
    """Relative luminance of WCAG 2.2."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("name", SEEN)
def test_every_colour_can_be_seen_in_light_and_dark(name):
    style = "".join(path.read_text(encoding="utf-8") for path in sorted(ASSETS.glob("*.css")))
    themes = dict(re.findall(r"(--[\w-]+): light-dark\((#\w{6}, #\w{6})\)", style))
    variable, fallback = re.fullmatch(r"var\((--\w+), (#\w{6})\)", SEEN[name]).groups()
    page, colour = (themes[key].split(", ") for key in ("--page", variable))
    assert fallback == colour[0], "a file has the colours of the light page"
    least = 4.5 if name in ("INK", "MUTED") else 3.0  # those two are for text
    assert contrast(page[0], colour[0]) >= least
    assert contrast(page[1], colour[1]) >= least


# ---- files


@pytest.mark.parametrize("name", ["50 topics", "pool"])
def test_a_file_stands_alone(name):
    for chart in drawn(name):
        assert chart.file.startswith("<svg ")
        assert 'xmlns="http://www.w3.org/2000/svg"' in chart.file
        assert "var(" not in chart.file
        assert chart.title in "".join(ElementTree.fromstring(chart.file).itertext())  # noqa: S314
        top, height = re.search(rf'viewBox="0 (-\d+) {WIDTH:g} (\d+)"', chart.file).groups()
        assert f'<rect x="0" y="{top}" width="{WIDTH:g}" height="{height}" fill="#ffffff"/>' in chart.file


def test_text_that_looks_like_a_colour_stays_as_it_is():
    text = 'x="var(--loss, #d55e00)"'
    assert text.replace('"', "&quot;") in charts_of(hostile(text))["topics"].file


# ---- parts


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9), st.integers(2, 12))
def test_ticks_are_round_few_and_cover_the_values(low, span, most):
    scale = scale_of([low, low + span], most=most)
    assert scale.low <= low + 1e-9 * max(abs(low), span)
    assert scale.high >= low + span - 1e-9 * max(abs(low), span)
    ticks = scale.ticks(most)
    assert 1 <= len(ticks) <= most + 3
    assert ticks == sorted(set(ticks))


@pytest.mark.parametrize("values", [[], [0.0], [5.0], [-1e300, 1e300], [5e-324, 0.0], [1e50, 1e50]])
def test_a_scale_for_values_that_do_not_differ_or_differ_too_much(values):
    scale = scale_of(values).between(0, 100)
    assert all(0 <= scale(value) <= 100 for value in values)
    assert 1 <= len(scale.ticks(5)) <= 12


def test_tick_labels_have_the_decimals_that_they_need():
    assert tick_labels(Scale(0, 1).ticks(5)) == ["0", "0.2", "0.4", "0.6", "0.8", "1"]
    assert tick_labels(Scale(-0.1, 0).ticks(4)) == ["-0.1", "-0.075", "-0.05", "-0.025", "0"]
    assert tick_labels([0, 1000, 2000]) == ["0", "1000", "2000"]
    assert tick_labels([0, 2e40]) == ["0", "2e+40"]


def test_text_is_measured_and_cut_to_a_width():
    assert text_width("検索", 10) == 28
    assert clipped("short", width=100, size=10) == "short"
    cut = clipped("a query that is far too long for its row", width=100, size=10)
    assert text_width(cut, 10) <= 100
    assert cut.startswith("a q")
    assert cut.endswith("row")
    assert without_stacks("z" + "\u0351" * 60 + "é") == "z\u0351\u0351é"
    assert clipped("検索" * 20, width=64, size=10) == "検索…検索"
