"""What the charts of a verdict show: its own figures, where they stand, and what is said of them."""

from __future__ import annotations

import json as plain_json
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np
import pytest

from pytest_riskguard.data import TopicScores
from pytest_riskguard.errors import ReportFormatError
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import gate_of
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports import json
from pytest_riskguard.reports.comparisons import Report
from pytest_riskguard.reports.html.charts import MAX_BARS, charts, named
from pytest_riskguard.reports.html.charts.drawing import Colour
from tests.reports.hostile import NAMES, STRINGS
from tests.reports.html.drawings import labels, marks, root_of, tooltips
from tests.reports.html.verdicts import charts_of, hostile, pair, pool, systems, wide_pool


def shown(verdict: Verdict, key: str) -> Element:
    """The drawing of one chart."""
    return root_of(charts_of(verdict)[key])


def texts(root: Element) -> list[str]:
    return [label.text for label in labels(root)]


def lines_of(root: Element, colour: str) -> list[list[tuple[float, float]]]:
    """The corners of each line of a colour."""
    paths = [e.attrib["d"] for e in root.iter("path") if e.get("stroke-linejoin") and e.get("stroke") == colour]
    return [[(float(x), float(y)) for x, y in re.findall(r"(-?[\d.]+),(-?[\d.]+)", path)] for path in paths]


def whiskers(root: Element) -> list[tuple[float, float]]:
    """The ends of each interval, lower one first."""
    drawn = next(e for e in root.iter("path") if e.get("stroke-width") == "2" and e.get("stroke") == Colour.GREY)
    heights = [float(y) for y in re.findall(r",(-?[\d.]+)", drawn.attrib["d"])]
    return list(zip(heights[::2], heights[1::2], strict=True))


# ---- which charts there are

HAS: dict[str, tuple[Callable[[], Verdict], list[str]]] = {
    "pair": (lambda: pair(50), ["topics", "intervals", "urisk"]),
    "pool": (pool, ["topics", "intervals", "georisk"]),
    "collapse": (lambda: pair(50, kind="no_topic_collapse", alpha=0.0, max_loss=0.3), ["topics"]),
    "no report": (lambda: replace(pair(50), exhibits=None), ["intervals"]),
}


@pytest.mark.parametrize("name", HAS)
def test_a_verdict_has_the_charts_that_it_has_something_to_show_in(name):
    verdict, keys = HAS[name][0](), HAS[name][1]
    assert [chart.key for chart in charts(verdict)] == keys
    for chart in charts(verdict):
        root = root_of(chart)
        assert (root.get("role"), root.get("aria-label"), root.find("desc").text) == (
            "img",
            chart.title,
            chart.description,
        )
        assert len(chart.description) > 20
        assert chart.caption
    if "topics" in keys:
        assert "difference (nDCG@10)" in {
            *texts(shown(verdict, "topics")),
            "difference (nDCG@10)" * verdict.asked.is_pool,
        }


def test_nothing_is_drawn_where_nothing_changed_or_was_compared():
    candidate, baseline = systems(50)
    other = replace(baseline, topics=tuple(f"x{topic}" for topic in baseline.topics), queries={})
    for against in (replace(candidate, name="old"), other):
        verdict = judge(gate_of("g", alpha=2.0), candidate, against, report=True)
        assert charts(verdict) == []


SHOWN: dict[str, Callable[[], Verdict]] = {
    "50": lambda: pair(50),
    "many": lambda: pair(MAX_BARS + 100),
    "pool": pool,
    "pool of 40": lambda: wide_pool(40),
}


@pytest.mark.parametrize("name", SHOWN)
def test_all_that_is_drawn_is_in_the_json_report(name, tmp_path):
    verdict, path = SHOWN[name](), tmp_path / "r.json"
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


@pytest.mark.parametrize("name", ["50", "pool"])
def test_a_report_with_any_numbers_that_can_be_read_can_be_drawn(name, tmp_path):
    rng, text, path = random.Random(1), json.dumps(Report([SHOWN[name]()])), tmp_path / "r.json"
    count = 0
    for _ in range(30):
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
            values = {value for e in root_of(chart).iter() for value in e.attrib.values()}
            assert not values & {"nan", "inf"}
            count += 1
    assert count > 15


# ---- every topic


def test_bars_are_as_long_as_the_differences_and_say_which_topic_they_are():
    verdict = pair(50, tolerance=0.05)
    columns = verdict.exhibits
    differences = {
        topic: ours - theirs
        for topic, ours, theirs in zip(columns.topics, columns.candidate, columns.baseline, strict=True)
    }
    bars = {mark.attrib["data-topic"]: mark for mark in marks(shown(verdict, "topics"))}
    changed = sorted((topic for topic in differences if differences[topic]), key=lambda topic: differences[topic])
    assert [differences[topic] for topic in bars] == [differences[topic] for topic in changed], (
        "the largest loss first"
    )
    scales = set()
    for topic, bar in bars.items():
        (shape,) = bar.iter("rect")
        assert shape.get("fill") == (Colour.LOSS if differences[topic] < 0 else Colour.WIN)
        if abs(differences[topic]) > 0.05:
            scales.add(round(float(shape.get("height")) / abs(differences[topic])))
        assert bar.find("title").text.startswith(f"how do I reset my washing machine {topic} (topic {topic}): 0.")
    assert len(scales) == 1


def test_of_very_many_topics_those_that_changed_most_are_shown():
    verdict = pair(MAX_BARS + 100)
    chart, columns = charts_of(verdict)["topics"], verdict.exhibits
    differences = sorted(ours - theirs for ours, theirs in zip(columns.candidate, columns.baseline, strict=True))
    shown = [float(text.rpartition(" ")[2]) for text in tooltips(root_of(chart))]
    assert shown == pytest.approx([d for d in differences[:125] + differences[-125:] if d], abs=0.006)
    assert f"Shown are {MAX_BARS} of {MAX_BARS + 100} topics" in chart.caption


def test_tooltips_have_the_decimals_that_tell_scores_apart_and_fall_back_on_ids():
    one = TopicScores("a", None, ("x", "y", "z"), np.array([0.88, 0.881, 0.5]), {"x": "how do i " * 60})
    verdict = judge(gate_of("g"), one, replace(one, name="b", values=np.array([0.0, 0.879, 0.5])), report=True)
    assert tooltips(shown(verdict, "topics")) == [
        "y: 0.879 → 0.881, +0.002",
        f"{('how do i ' * 60)[:159]}… (topic x): 0.00 → 0.88, +0.88",
    ]


def test_a_query_from_right_to_left_does_not_turn_the_scores_behind_it():
    assert named("301", "كيف أعيد المنتج؟") == "كيف أعيد المنتج؟ (topic 301)"


# ---- the risk


@pytest.mark.parametrize("options", [{"tolerance": 0.03}, {"kind": "equivalent", "tolerance": 0.03, "alpha": 0.0}])
def test_intervals_and_bounds_stand_where_they_are(options):
    verdict = pair(50, **options)
    root, decided = shown(verdict, "intervals"), verdict.decisive_interval
    assert [f"[{decided.lower:+.4f}, {decided.upper:+.4f}] (decisive)" in said for said in tooltips(root)].count(
        True
    ) == 1
    ends = whiskers(root)
    first, (low, high) = verdict.intervals[0], ends[0]
    unit = (low - high) / (first.upper - first.lower)
    for interval, (bottom, top) in zip(verdict.intervals, ends, strict=True):
        assert (bottom - top) / (interval.upper - interval.lower) == pytest.approx(unit, rel=0.01)
    bounds = [line[0][1] for line in lines_of(root, Colour.LIMIT)]
    at = [first.lower + (low - height) / unit for height in bounds]
    assert at == pytest.approx([-0.03, 0.03][: len(at)], abs=2e-3)
    assert len(at) == 1 + (verdict.kind == "equivalent")


def test_urisk_over_alpha_is_that_of_the_verdict():
    verdict = pair(50, alpha=2.0, tolerance=0.05)
    curve, root = verdict.exhibits, shown(verdict, "urisk")
    values, dots = curve.curves["urisk"], [next(mark.iter("circle")).attrib for mark in marks(root)]
    for text, at, value in zip(tooltips(root), curve.alphas, values, strict=True):
        assert text.startswith(f"alpha {at:g}: ")
        assert float(re.search(r"Risk ([-+][\d.]+)", text)[1]) == pytest.approx(value, abs=0.005)
    heights = [float(dot["cy"]) for dot in dots]
    assert np.corrcoef(values, heights)[0, 1] == pytest.approx(-1, abs=1e-4)
    places = [float(dot["cx"]) for dot in dots]
    assert np.corrcoef(curve.alphas, places)[0, 1] == pytest.approx(1, abs=1e-4)
    unit = (heights[-1] - heights[0]) / (values[0] - values[-1])
    low, high = whiskers(root)[0]
    assert low - high == pytest.approx((curve.curves["upper"][0] - curve.curves["lower"][0]) * unit, abs=0.05)
    ((bound, _),) = lines_of(root, Colour.LIMIT)
    assert (bound[1] - heights[0]) / unit == pytest.approx(values[0] + 0.05, abs=1e-3)


def test_a_pool_shows_all_its_systems_and_names_them_where_they_are_few():
    verdict = pool()
    curves = tooltips(shown(verdict, "georisk"))
    assert sorted(text.partition(":")[0] for text in curves) == [
        "bm25",
        "dense",
        "new (candidate)",
        "old (reference)",
    ]
    assert {"candidate new", "reference old", "bm25", "dense"} <= set(texts(shown(verdict, "georisk")))
    ends = verdict.exhibits.curves["new"]
    assert f": GeoRisk from {ends[0]:.3f} at alpha 0 to {ends[-1]:.3f} at alpha" in curves[-1]
    many = shown(wide_pool(40), "georisk")
    assert len([text for text in texts(many) if text.startswith("rm-cata")]) <= 1
    assert len(tooltips(many)) == 40


# ---- other people's text


@pytest.mark.parametrize("name", NAMES)
def test_pictures_consist_of_shapes_and_text(name):
    for chart in charts_of(hostile(STRINGS[name])).values():
        for root in (root_of(chart), ElementTree.fromstring(chart.file)):  # noqa: S314
            tags = {element.tag.rpartition("}")[2] for element in root.iter()}
            assert tags <= {"svg", "g", "path", "rect", "line", "text", "circle", "title", "desc"}
            names = {name for element in root.iter() for name in element.attrib}
            assert not {name for name in names if name.startswith("on") or name in {"href", "style", "id"}}
            assert all(text.isprintable() for text in root.itertext())
            assert all(value.isprintable() for element in root.iter() for value in element.attrib.values())
