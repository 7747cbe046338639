"""Charts: which there are, that they show a verdict's own figures where they stand, and that labels stay apart."""

import json as plain_json
import math
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_riskguard.data import TopicScores
from pytest_riskguard.errors import ReportFormatError
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import gate_of
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports import Plot, json
from pytest_riskguard.reports.comparisons import Report
from pytest_riskguard.reports.html.charts import MAX_BARS, charts, named
from pytest_riskguard.reports.html.charts.plots import (
    SERIES,
    Colour,
    Scale,
    clipped,
    scale_of,
    text_width,
    tick_labels,
)
from tests.reports.hostile import NAMES, STRINGS
from tests.reports.html.drawings import Box, labels, marks, points, root_of, tooltips
from tests.reports.html.verdicts import charts_of, hostile, pair, pool, systems, wide_pool
from tests.snapshots import golden


def shown(verdict: Verdict, key: str) -> Element:
    """The drawing of one chart."""
    return root_of(charts_of(verdict)[key])


def lines_of(root: Element, colour: str) -> list[list[tuple[float, float]]]:
    """The corners of each line of a colour."""
    paths = [e.attrib["d"] for e in root.iter("path") if e.get("stroke-linejoin") and e.get("stroke") == colour]
    return [[(float(x), float(y)) for x, y in re.findall(r"(-?[\d.]+),(-?[\d.]+)", path)] for path in paths]


def centres(plot: Plot) -> list[tuple[float, float]]:
    found = []
    for one in marks(root_of(plot)):
        xs, ys = zip(*points(one), strict=True)
        found.append(((min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2))
    return found


# ---- every chart


def scaled(factor: float) -> Verdict:
    """Scores of another size, as sums of gains have it."""
    candidate, baseline = (
        TopicScores(name, None, tuple(f"{i:02}" for i in range(30)), factor * np.random.default_rng(seed).random(30))
        for name, seed in (("a", 1), ("b", 2))
    )
    return judge(gate_of("g", alpha=3.0), candidate, baseline, report=True)


#: Verdicts, and the charts that they have something to show in.
CASES: dict[str, tuple[Callable[[], Verdict], list[str]]] = {
    "2 topics": (lambda: pair(2), ["topics", "urisk"]),
    "pair": (lambda: pair(50), ["topics", "urisk"]),
    "many topics": (lambda: pair(MAX_BARS + 100), ["topics", "urisk"]),
    "collapse": (lambda: pair(50, kind="no_topic_collapse", alpha=0.0, max_loss=0.3), ["topics"]),
    "pool": (pool, ["topics"]),
    "pool of 40": (lambda: wide_pool(40), ["topics"]),
    "no report": (lambda: replace(pair(50), exhibits=None), []),
    "tiny": (lambda: scaled(1e-9), ["topics", "urisk"]),
    "huge": (lambda: scaled(1e40), ["topics", "urisk"]),
    "ideographs": (lambda: hostile("検索結果の順位が大きく下がった問い合わせ" * 4), ["topics"]),
}


def assert_apart(chart: Plot) -> None:
    """No label covers another one, and nothing leaves the picture."""
    root = root_of(chart)
    left, top, width, height = map(float, root.attrib["viewBox"].split())
    picture, texts = Box(left, top, left + width, top + height), labels(root)
    assert len(texts) > 2
    assert not [text.text for text in texts if not text.room.within(picture)]
    assert not [(a.text, b.text) for a, b in combinations(texts, 2) if a.room.overlaps(b.room)]
    assert not [(x, y) for x, y in points(root) if not (0 <= x <= width and 0 <= y <= height)]


@pytest.mark.parametrize("name", CASES)
def test_charts_show_what_there_is_with_labels_apart_and_in_words_too(name):
    verdict, keys = CASES[name][0](), CASES[name][1]
    assert [*charts_of(verdict)] == keys
    for chart in charts_of(verdict).values():
        assert_apart(chart)
        root, said = root_of(chart), tooltips(root_of(chart))
        assert (root.get("aria-label"), root.find("desc").text) == (chart.title, chart.description)
        assert said
        assert not [text for text in said if re.search(r"\d\.\d{5}", text)], "no number has more than four decimals"
        assert len(chart.svg) < 80_000


def test_nothing_is_drawn_where_nothing_changed_or_was_compared():
    candidate, baseline = systems(50)
    other = replace(baseline, topics=tuple(f"x{topic}" for topic in baseline.topics), queries={})
    for against in (replace(candidate, name="old"), other):
        assert charts(judge(gate_of("g", alpha=2.0), candidate, against, report=True)) == []


@pytest.mark.parametrize("name", ["pair", "pool"])
def test_all_that_is_drawn_is_in_the_json_report(name, tmp_path):
    verdict, path = CASES[name][0](), tmp_path / "r.json"
    path.write_text(json.dumps(Report([verdict])), encoding="utf-8")
    (read,) = json.read(path).verdicts
    assert [chart.svg for chart in charts(read)] == [chart.svg for chart in charts(verdict)]


EXTREMES = (0.0, -0.0, 1.0, -1.0, 1e50, -1e50, 1e-50, 1e-300, 5e-324, -1e-12)


def numbers(part: Any) -> Iterator[tuple[Any, Any]]:
    """Where a report holds numbers with decimals."""
    for key, value in part.items() if isinstance(part, dict) else enumerate(part):
        if isinstance(value, dict | list):
            yield from numbers(value)
        elif isinstance(value, float):
            yield part, key


@pytest.mark.parametrize("name", ["pair", "pool"])
def test_a_report_with_any_numbers_that_can_be_read_can_be_drawn(name, tmp_path):
    rng, text, path = random.Random(1), json.dumps(Report([CASES[name][0]()])), tmp_path / "r.json"
    count = 0
    for _ in range(20):
        report = plain_json.loads(text)
        places = list(numbers(report["verdicts"]))
        for part, key in rng.sample(places, rng.choice([1, 10, len(places) // 2])):
            part[key] = rng.choice(EXTREMES)
        path.write_text(plain_json.dumps(report), encoding="utf-8")
        try:
            (verdict,) = json.read(path).verdicts
        except ReportFormatError:  # such a verdict cannot be
            continue
        for chart in charts(verdict):
            assert not {value for e in root_of(chart).iter() for value in e.attrib.values()} & {"nan", "inf"}
            count += 1
    assert count > 5


@pytest.mark.parametrize("name", NAMES)
def test_pictures_consist_of_shapes_and_text(name):
    for chart in charts_of(hostile(STRINGS[name])).values():
        root = root_of(chart)
        assert {e.tag for e in root.iter()} <= {
            *("svg", "g", "path", "rect", "line", "text", "circle", "title", "desc")
        }
        assert not {n for e in root.iter() for n in e.attrib if n.startswith("on") or n in {"href", "style", "id"}}
        assert all(text.isprintable() for text in root.itertext())
        assert all(value.isprintable() for element in root.iter() for value in element.attrib.values())


def test_drawings_are_those_that_were_looked_at():
    drawn = [pair(12, tolerance=0.05), pair(12, kind="no_topic_collapse", alpha=0.0, max_loss=0.125), pool(12)]
    plain = Plot("t", "x", "y")
    plain.point(1, 2, "one", low=1, high=4)
    plain.line([(0, 0), (1, 2)], means="line")
    plots = [*(one for verdict in drawn for one in charts(verdict)), plain, Plot("empty")]
    said = [f"{one.caption}\n{one.svg}" for one in plots]
    golden(Path(__file__).parent / "golden" / "charts.txt", "\n".join(said).replace("><", ">\n<") + "\n")


# ---- every topic


def test_of_very_many_topics_those_that_changed_most_are_shown():
    verdict = pair(MAX_BARS + 100)
    chart, columns = charts_of(verdict)["topics"], verdict.exhibits
    differences = sorted(ours - theirs for ours, theirs in zip(columns.candidate, columns.baseline, strict=True))
    found = [float(text.rpartition(" ")[2]) for text in tooltips(root_of(chart))]
    assert found == pytest.approx([d for d in differences[:125] + differences[-125:] if d], abs=0.006)
    assert f"Shown are {MAX_BARS} of {MAX_BARS + 100} topics" in chart.caption


def test_tooltips_have_the_decimals_that_tell_scores_apart_and_fall_back_on_ids():
    one = TopicScores("a", None, ("x", "y", "z"), np.array([0.88, 0.881, 0.5]), {"x": "how do i " * 60})
    verdict = judge(gate_of("g"), one, replace(one, name="b", values=np.array([0.0, 0.879, 0.5])), report=True)
    assert tooltips(shown(verdict, "topics")) == [
        "y: 0.879 → 0.881, +0.002",
        f"{('how do i ' * 60)[:159]}… (topic x): 0.00 → 0.88, +0.88",
    ]
    assert charts_of(verdict)["topics"].description == "0 lost, 2 won, 1 did not change."
    assert named("301", "كيف أعيد المنتج؟") == "كيف أعيد المنتج؟ (topic 301)"  # a word before the id turns nothing


# ---- a chart of a plugin's report


@pytest.mark.parametrize(("number", "scale"), [(1, 1.0), (40, 1.0), (7, 1e-9)])
def test_points_stand_where_their_values_are_and_lines_reach_the_edges(number, scale):
    xs, ys = scale * np.random.default_rng(number).random((2, number))
    plot = Plot("t", "x title", "y title", description="d")
    plot.line([(-math.inf, 0.0), (math.inf, 0.0)], means="a line")
    for place, (x, y) in enumerate(zip(xs, ys, strict=True)):
        plot.point(x, y, f"{place}", means="passes")
    assert_apart(plot)
    at = centres(plot)
    ((start, _), (end, _)) = lines_of(root_of(plot), Colour.GREY)[0]
    assert start + 5 < min(x for x, _ in at) <= max(x for x, _ in at) < end - 5
    if number > 1:
        across, up = zip(*at, strict=True)
        assert np.corrcoef(xs, across)[0, 1] == pytest.approx(1, abs=1e-4)
        assert np.corrcoef(ys, up)[0, 1] == pytest.approx(-1, abs=1e-4)


def test_rows_have_their_names_beside_them_and_spans_lie_where_their_values_are():
    names = [*(f"system {place}" for place in range(9)), "n" * 90]
    plot = Plot("t", "x", rows=names, zero=True)
    for row in range(10):
        plot.span(row, 2 + row, 4 + 2 * row, f"span {row}", width=7, series=1)
        plot.point(2 + row, row, "point")
    assert_apart(plot)
    root, of_points = root_of(plot), centres(plot)[10:]
    heights = {one.text: one.room.bottom - 0.22 * 12 - 4 for one in labels(root)}
    (zero,) = (line[0][0] for line in lines_of(root, Colour.GREY) if line[0][0] == line[1][0])
    unit = of_points[1][0] - of_points[0][0]
    assert of_points[0][0] - 2 * unit == pytest.approx(zero, abs=0.1)  # on the axis, though no value is near
    for row, ((left, y), (right, other)) in enumerate(lines_of(root, SERIES[1][0])):
        assert (left, y, other) == pytest.approx((*of_points[row], of_points[row][1]))
        assert right - left == pytest.approx(unit * (2 + row), abs=0.1)
        assert row == 9 or y == pytest.approx(heights[names[row]], abs=0.01)
    assert [*heights.values()][:9] == sorted([*heights.values()][:9])  # from the top
    assert tooltips(root)[:10] == [f"span {row}" for row in range(10)]
    assert {e.get("stroke-width") for e in root.iter("path") if e.get("stroke") == SERIES[1][0]} == {"7"}
    assert max(map(text_width, heights)) <= 140


def test_twelve_curves_can_be_told_apart_and_later_ones_are_grey():
    plot = Plot("t", "x", "y")
    for place in range(14):
        plot.curve(f"curve {place}", range(4), [place, math.nan, place + 1, place], series=place)
    root = root_of(plot)

    def styles(paths):
        return [(path.get("stroke"), path.get("stroke-dasharray")) for path in paths]

    drawn = [one.find("path") for one in marks(root)]
    assert tooltips(root) == [f"curve {place}" for place in range(14)]
    assert styles(drawn) == [*SERIES, *[(Colour.GREY, None)] * 2]
    assert len({*SERIES}) == 12
    assert {one.get("d").count(",") for one in drawn} == {3}  # without what is not known
    assert [one.text for one in labels(root) if one.text[:5] == "curve"] == [f"curve {place}" for place in range(12)]
    assert styles(one for one in root.findall("path") if one.get("stroke-width") == "2") == [*SERIES]


def test_a_point_has_the_colour_of_its_series_and_its_label_on_the_inner_side():
    plot = Plot("t", "x", "y")
    plot.point(0, 0, "left", label="on its right", means="a")
    plot.point(1, 1, "right", series=1, label="on its left", means="b")
    root, (left, right) = root_of(plot), centres(plot)
    assert [one.find("circle").get("fill") for one in marks(root)] == [Colour.WIN, SERIES[1][0]]
    rooms = {one.text: one.room for one in labels(root)}
    assert 4.5 < rooms["on its right"].left - left[0] < 9
    assert 4.5 < right[0] - rooms["on its left"].right < 9
    assert {"a", "b"} < {*rooms}


# ---- scales


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9), st.integers(2, 12))
def test_ticks_are_round_few_and_cover_the_values(low, span, most):
    scale = scale_of([low, low + span], most=most)
    assert scale.low <= low + 1e-9 * max(abs(low), span)
    assert scale.high >= low + span - 1e-9 * max(abs(low), span)
    ticks = scale.ticks(most)
    assert 1 <= len(ticks) <= most + 3
    assert ticks == sorted(set(ticks))


@pytest.mark.parametrize("values", [[], [0.0], [-1e300, 1e300], [5e-324, 0.0], [1e50, 1e50]])
def test_a_scale_for_values_that_do_not_differ_or_differ_too_much(values):
    scale = scale_of(values).between(0, 100)
    assert all(0 <= scale(value) <= 100 for value in values)
    assert 1 <= len(scale.ticks(5)) <= 12
    assert scale_of([8.0, 8.0]) == Scale(4.0, 12.0)


def test_tick_labels_have_the_decimals_that_they_need_and_text_is_cut_to_a_width():
    assert tick_labels(Scale(-0.1, 0).ticks(4)) == ["-0.1", "-0.075", "-0.05", "-0.025", "0"]
    assert tick_labels([0, 2e40]) == ["0", "2e+40"]
    assert text_width("検索") == pytest.approx(33.6)
    assert clipped("short", width=120) == "short"
    assert clipped("検索" * 20, width=76.8) == "検索…検索"
