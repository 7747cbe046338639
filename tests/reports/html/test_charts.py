"""What charts show: the verdict's own figures, where they stand and what is said of them."""

from __future__ import annotations

import json as plain_json
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np
import pytest

from pytest_riskguard.data import TopicScores
from pytest_riskguard.errors import ReportFormatError
from pytest_riskguard.gates.findings import Explanation, Slice
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import gate_of
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports import json
from pytest_riskguard.reports.html.charts import Chart, charts
from pytest_riskguard.reports.html.charts.drawing import MARGIN, WIDTH, Colour
from pytest_riskguard.reports.html.charts.query_charts import MAX_LOSSES, MAX_POINTS, MAX_SLICES, MAX_WINS
from pytest_riskguard.reports.html.charts.topic_charts import MAX_SINGLE, named, scores, topics_of
from pytest_riskguard.reports.markdown import render as markdown
from pytest_riskguard.reports.sections import slices
from tests.published import web2012
from tests.reports.hostile import NAMES, STRINGS
from tests.reports.html.drawings import labels, marks, points, root_of, tooltips
from tests.reports.html.verdicts import charts_of, hostile, in_family, pair, pool, systems, wide_pool
from tests.verdicts import altered

#: The charts that every verdict of two systems begins with.
MAIN = ["queries", "slices", "loss"]


def shown(verdict: Verdict, key: str) -> Element:
    """The drawing of one chart."""
    return root_of(charts_of(verdict)[key])


def texts(root: Element) -> list[str]:
    return [label.text for label in labels(root)]


def of_topic(root: Element) -> dict[str, Element]:
    return {mark.attrib["data-topic"]: mark for mark in marks(root) if "data-topic" in mark.attrib}


def lines_of(mark: Element) -> list[Element]:
    """Its lines that stand for values."""
    return [line for line in mark.iter("line") if line.get("stroke") in (Colour.LOSS, Colour.WIN, Colour.GREY)]


def sliced(verdict: Verdict, *parts: Slice) -> Verdict:
    return altered(verdict, explanation=Explanation("Fails.", slices=parts))


LARGE = Slice("intent", "buy", 20, 1, 8, -0.1, -0.3, -0.5, -0.1, 0.002, 1, True)
SMALL = Slice("intent", "read", 5, 2, 1, 0.0, -0.01, None, None, None, 0, None)


# ---- which charts there are


def test_the_main_charts_come_first():
    drawn = charts(sliced(pair(50), LARGE, SMALL))
    assert [chart.key for chart in drawn[:4]] == [*MAIN, "intervals"]
    assert [chart.key for chart in drawn if chart.main] == MAIN


def test_nothing_is_drawn_where_nothing_changed():
    candidate, _ = systems(50)
    verdict = judge(gate_of("g", alpha=2.0), candidate, replace(candidate, name="old"), report=True)
    assert verdict.exhibits is not None
    assert charts(verdict) == []


def test_nothing_is_drawn_of_what_could_not_be_compared():
    candidate, baseline = systems(50)
    other = replace(baseline, topics=tuple(f"x{topic}" for topic in baseline.topics), queries={})
    verdict = judge(gate_of("g"), candidate, other, report=True)
    assert verdict.outcome == "incomparable"
    assert charts(verdict) == []


def test_what_a_verdict_does_not_have_is_not_drawn():
    assert charts_of(replace(pair(50), exhibits=None)).keys() == {"queries", "loss", "intervals"}
    collapse = charts_of(pair(50, kind="no_topic_collapse", alpha=0.0, max_loss=0.3))
    assert {"urisk", "intervals"}.isdisjoint(collapse)
    assert "largest loss allowed" in texts(root_of(collapse["topics"]))
    one = TopicScores("a", None, ("q1",), np.array([0.5]))
    lost = judge(gate_of("g"), one, replace(one, name="b", values=np.array([0.8])), report=True)
    assert charts_of(lost).keys() >= {"queries", "topics"}
    assert "loss" not in charts_of(lost), "one topic carries all of it"


SHOWN: dict[str, Callable[[], Verdict]] = {
    "50": lambda: pair(50),
    "many": lambda: pair(MAX_SINGLE + 100),
    "pool": pool,
    "pool of 40": lambda: wide_pool(40),
    "slices": lambda: sliced(pair(50), LARGE, SMALL),
}


@pytest.mark.parametrize("name", SHOWN)
def test_all_that_is_drawn_is_in_the_json_report(name, tmp_path):
    verdict, path = SHOWN[name](), tmp_path / "r.json"
    path.write_text(json.dumps([verdict]), encoding="utf-8")
    (read,) = json.read(path).verdicts
    assert [chart.svg for chart in charts(read)] == [chart.svg for chart in charts(verdict)]


@pytest.mark.parametrize("name", SHOWN)
def test_every_axis_is_named_and_every_picture_has_words(name):
    for chart in charts_of(SHOWN[name]()).values():
        root = root_of(chart)
        assert root.get("role") == "img"
        assert root.get("aria-label") == chart.title
        assert root.find("desc").text == chart.description
        assert len(chart.description) > 20
        assert chart.caption
        unit = {"topics": "difference (nDCG@10)", "queries": "nDCG@10"}
        assert unit.get(chart.key) in [None, *texts(root)]


EXTREMES = (0.0, -0.0, 1.0, -1.0, 1e50, -1e50, 1e-50, 1e-300, 5e-324, -1e-12)


def numbers(part: Any) -> Iterator[tuple[Any, Any]]:
    """Where a report holds numbers with decimals."""
    for key, value in part.items() if isinstance(part, dict) else enumerate(part):
        if isinstance(value, dict | list):
            yield from numbers(value)
        elif isinstance(value, float):
            yield part, key


@pytest.mark.parametrize("name", ["50", "pool", "slices"])
def test_a_report_with_any_numbers_that_can_be_read_can_be_drawn(name, tmp_path):
    rng, text, path = random.Random(1), json.dumps([SHOWN[name]()]), tmp_path / "r.json"
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
            assert not [
                value for e in root_of(chart).iter() for value in e.attrib.values() if value in ("nan", "inf")
            ]
            count += 1
    assert count > 25


# ---- queries


def test_a_dumbbell_stands_where_its_scores_are():
    verdict = pair(50)
    root = shown(verdict, "queries")
    rows = of_topic(root)
    worst = [row.topic for row in verdict.responsible_topics[:MAX_LOSSES]]
    assert list(rows)[:MAX_LOSSES] == worst
    assert len(rows) == MAX_LOSSES + MAX_WINS
    for row in verdict.responsible_topics[:MAX_LOSSES]:
        circle, line = next(rows[row.topic].iter("circle")), lines_of(rows[row.topic])[0]
        before, after = (
            (float(x) - MARGIN - 6) / (WIDTH - 2 * MARGIN - 12) for x in (circle.attrib["cx"], line.attrib["x2"])
        )
        assert (before, after) == pytest.approx((row.baseline, row.candidate), abs=1e-4)
        assert rows[row.topic].find("title").text.startswith(f"{row.query} ({row.topic}): ")
    gains = sorted(topics_of(verdict), key=lambda topic: -topic.difference)
    assert list(rows)[MAX_LOSSES:] == [topic.topic for topic in gains[:MAX_WINS]]


def test_a_query_is_a_label_and_its_tooltip_has_all_of_it():
    long = "how do i get my money back " * 6
    one = TopicScores("new", "nDCG@10", ("q1", "q2"), np.array([0.0, 0.5]), {"q1": long, "q2": "short"})
    verdict = judge(gate_of("g"), one, replace(one, name="old", values=np.array([0.88, 0.6])), report=True)
    root = shown(verdict, "queries")
    assert [text for text in texts(root) if text.startswith("how do i")] == ["how do i get my money back how do…"]
    assert "short" in texts(root)
    assert tooltips(root)[0] == f"{long.strip()[:159]}… (q1): 0.88 → 0.00, -0.88, 90% of the loss"


def test_scores_have_the_decimals_that_tell_them_apart():
    assert scores(0.88, 0.0) == "0.88 → 0.00, -0.88"
    assert scores(0.881, 0.879) == "0.881 → 0.879, -0.002"
    assert scores(0.88001, 0.88) == "0.8800 → 0.8800, -1.0e-05"


def test_topics_without_queries_are_called_by_their_names():
    values = np.array([0.1, 0.9, 0.5])
    one = TopicScores("a", None, ("x", "x\u200b", "y"), values)
    verdict = judge(gate_of("g"), one, replace(one, name="b", values=values[::-1].copy()), report=True)
    chart = charts_of(verdict)["queries"]
    assert chart.title == "The topics that lost most"
    assert charts_of(pair(20))["queries"].title == "The queries that lost most"
    bars = marks(shown(verdict, "topics"))
    assert len(bars) == 2, "the third did not change"
    assert [bar.get("data-topic") for bar in bars].count("x") >= 1


def test_the_cumulative_loss_adds_up_the_shares():
    verdict = pair(50)
    losers = verdict.responsible_topics
    root = shown(verdict, "loss")
    points = of_topic(root)
    assert list(points) == [row.topic for row in losers]
    circles = {topic: next(mark.iter("circle")).attrib for topic, mark in points.items()}
    ticks = {text: y for text, y in ((t.text, float(t.get("y"))) for t in root.iter("text")) if text.endswith("%")}
    full, carried = ticks["100%"], 0.0  # a label of the y axis hangs four below its line
    ground = next(
        float(line.get("y1"))
        for line in root.iter("line")
        if line.get("stroke") == Colour.GREY and line.get("y1") == line.get("y2")
    )
    for row in losers:
        carried += row.share
        height = (ground - float(circles[row.topic]["cy"])) / (ground - (full - 4))
        assert height == pytest.approx(carried, abs=1e-3)
    assert carried == pytest.approx(1)
    first = sum(row.share for row in losers[:3])
    assert {"6% of topics (3 of 50)", f"carry {first:.0%} of the loss"} <= set(texts(root))


def test_many_losers_are_a_line():
    verdict = pair(10_000)
    root = shown(verdict, "loss")
    assert len(of_topic(root)) == MAX_POINTS
    line = max((path.attrib["d"] for path in root.iter("path")), key=len)
    assert 100 < line.count("L") <= 202


# ---- slices


def test_slices_are_in_the_order_of_their_risk_with_wins_and_losses_in_words():
    root = shown(sliced(pair(50), SMALL, LARGE), "slices")
    said = texts(root)
    assert said.index("intent=buy") < said.index("intent=read")
    assert {"8 of 20 worse, 1 better", "1 of 5 worse, 2 better", "fewer than 10 topics: no interval"} <= set(said)
    assert tooltips(root) == [
        "intent=buy: URisk -0.30, interval -0.50 to -0.10; 8 of 20 worse, 1 better",
        "intent=read: URisk -0.01; 1 of 5 worse, 2 better",
    ]
    first, second = marks(root)
    line = lines_of(first)[0].attrib
    assert float(line["x2"]) - float(line["x1"]) == pytest.approx((WIDTH - 2 * MARGIN - 16) * 0.4 / 0.5, abs=0.02)
    assert not lines_of(second), "no interval"


def test_slices_in_which_nothing_changed_are_left_to_the_table():
    same = replace(SMALL, value="same", wins=0, losses=0)
    assert "intent=same" not in texts(shown(sliced(pair(50), same, LARGE), "slices"))
    assert "slices" not in charts_of(sliced(pair(50), same))
    many = [replace(LARGE, value=f"v{place}", urisk=-place / 100) for place in range(MAX_SLICES + 5)]
    chart = charts_of(sliced(pair(50), *many))["slices"]
    assert len(marks(root_of(chart))) == MAX_SLICES
    assert chart.caption.endswith("The table has 5 more.")


def test_slices_of_a_gate_on_single_topics_are_not_called_small():
    large = Slice("intent", "buy", 48, 1, 8, -0.1, -0.3, None, None, None, 0, None)
    cases: list[tuple[dict[str, Any], bool]] = [({}, True), ({"kind": "no_topic_collapse", "alpha": 1.0}, False)]
    for options, small in cases:
        verdict = sliced(pair(50, **options), large)
        assert ("fewer than 10 topics: no interval" in texts(shown(verdict, "slices"))) == small
        assert ("too few topics" in markdown([verdict])) == small
        assert ("too few topics" in " ".join(slices(verdict).sentences)) == small


# ---- all topics


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0, 5, 10, 15])
@pytest.mark.parametrize(
    ("run", "front", "flagged"),
    [
        ("uogTrA44xi", ["166", "175", "191", "172", "174"], {"166", "175"}),
        ("qutwb", ["166", "175", "191", "172"], {"166", "175", "191", "172"}),
    ],
)
def test_figure_2_of_sigir_2014(shared, run, front, flagged, alpha):
    topics = tuple(map(str, web2012.TOPICS))
    ours = TopicScores(run, "ERR@20", topics, web2012.submitted(shared)[run])
    theirs = TopicScores("indriCASP", "ERR@20", topics, web2012.indri_casp(shared))
    verdict = judge(gate_of("g", alpha=float(alpha)), ours, theirs, report=True)
    root = shown(verdict, "topics")
    bars = of_topic(root)
    assert len(bars) == verdict.topics.wins + verdict.topics.losses, "a topic that did not change has no bar"
    assert {"166", "172", "175", "191"} <= set(list(bars)[:5])
    assert next(iter(bars)) == "166"
    said = {topic: bar.find("title").text for topic, bar in bars.items()}
    lost = {topic for topic, text in said.items() if text.endswith("flagged") and "TRi -" in text}
    if alpha == 0:
        assert lost == flagged
    else:
        assert lost >= {"166", "175"}
    assert all(len(list(bars[topic].iter("path"))) == 2 for topic in lost), "a bar and a diamond"
    assert "±2.01 (95%)" in charts_of(verdict)["topics"].caption


def test_bars_are_as_long_as_the_differences():
    verdict = pair(50)
    bars = of_topic(shown(verdict, "topics"))
    differences = {topic.topic: topic.difference for topic in topics_of(verdict) if topic.change != "same"}
    assert list(bars) == list(differences), "the largest loss first"
    scales = set()
    for topic, bar in bars.items():
        base, end = re.match(r"M[\d.]+,([\d.]+)V([\d.]+)", next(bar.iter("path")).attrib["d"]).groups()
        if abs(differences[topic]) > 0.05:
            scales.add(round((float(base) - float(end)) / differences[topic]))
    assert len(scales) == 1


def test_in_a_family_the_level_is_that_of_the_family():
    verdict = in_family()
    critical = verdict.exhibits.topics.critical_value
    assert f"±{critical:.2f} (98.33%)" in charts_of(verdict)["topics"].caption
    assert "98.33% intervals: " in charts_of(verdict)["intervals"].description


def test_of_many_topics_losses_and_wins_are_one_mark_each():
    verdict = pair(MAX_SINGLE + 100)
    root = shown(verdict, "topics")
    losses, wins = marks(root)
    worst, best = topics_of(verdict)[0].difference, topics_of(verdict)[-1].difference
    assert tooltips(root) == [
        f"{verdict.topics.losses} losses, the largest {worst:.2f}",
        f"{verdict.topics.wins} wins, the largest +{best:.2f}",
    ]
    (_, zero), (_, low), *_ = points(losses)
    heights = [y for _, y in points(wins)]
    assert heights[0] == heights[-1] == zero
    high = min(heights)
    assert (zero - low) / (zero - high) == pytest.approx(worst / best, abs=0.01)


# ---- the risk


def test_intervals_are_those_of_the_verdict():
    verdict = pair(50)
    said = tooltips(shown(verdict, "intervals"))
    assert len(said) == len(verdict.intervals)
    decided = verdict.decisive_interval
    assert f"BCa (decisive) [{decided.lower:+.4f}, {decided.upper:+.4f}]" in said
    widths = [
        float(line.get("x2")) - float(line.get("x1"))
        for line in (next(m.iter("line")) for m in marks(shown(verdict, "intervals")))
    ]
    ratio = {round(width / (i.upper - i.lower)) for width, i in zip(widths, verdict.intervals, strict=True)}
    assert len(ratio) == 1, "all on one scale"


def test_the_bound_of_the_intervals_stands_at_minus_the_tolerance():
    verdict = pair(50, tolerance=0.03)
    root, interval = shown(verdict, "intervals"), verdict.intervals[0]
    line = next(marks(root)[0].iter("line"))
    left, right = float(line.get("x1")), float(line.get("x2"))
    unit = (right - left) / (interval.upper - interval.lower)
    (bound,) = [
        float(one.get("x1"))
        for one in root.iter("line")
        if one.get("stroke") == Colour.LIMIT and one.get("x1") == one.get("x2") and one.get("stroke-width") == "2"
    ]
    assert interval.lower + (bound - left) / unit == pytest.approx(-0.03, abs=2e-3)


@pytest.mark.parametrize("alpha", [2.0, 60.0])
def test_urisk_over_alpha_is_that_of_the_verdict(alpha):
    verdict = pair(50, alpha=alpha, tolerance=0.05)
    curve, root = verdict.exhibits.curve, shown(verdict, "urisk")
    values, dots = curve.lines["urisk"], [next(mark.iter("circle")).attrib for mark in marks(root)]
    for text, at, value in zip(tooltips(root), curve.x, values, strict=True):
        assert text.startswith(f"alpha {at:g}: ")
        assert float(re.search(r"Risk ([-+][\d.]+)", text)[1]) == pytest.approx(value, abs=0.005)
    heights = [float(dot["cy"]) for dot in dots]
    assert np.corrcoef(values, heights)[0, 1] == pytest.approx(-1, abs=1e-4)
    places = [float(dot["cx"]) for dot in dots]
    assert np.corrcoef(np.log1p(curve.x) if alpha > 50 else curve.x, places)[0, 1] == pytest.approx(1, abs=1e-4)
    whiskers = next(path for path in root.iter("path") if path.get("stroke-width") == "2")
    ends = [float(y) for y in re.findall(r",(-?[\d.]+)", whiskers.attrib["d"])]
    unit = (heights[-1] - heights[0]) / (values[0] - values[-1])
    first = curve.lines["upper"][0] - curve.lines["lower"][0]
    assert abs(ends[0] - ends[1]) == pytest.approx(first * unit, abs=0.05)
    bound = next(path for path in root.iter("path") if path.get("stroke") == Colour.LIMIT and path.get("d"))
    at = float(re.match(r"M[\d.]+,([\d.]+)", bound.attrib["d"])[1])
    assert (at - heights[0]) / unit == pytest.approx(values[0] + 0.05, abs=1e-3)


# ---- pools


def test_a_pool_shows_all_its_systems():
    verdict = pool()
    names = [
        f"{name} (candidate)" * (name == "new") or f"{name} (reference)" * (name == "old") or name
        for name in verdict.estimates.georisk
    ]
    curves = tooltips(shown(verdict, "georisk"))
    assert sorted(text.partition(":")[0] for text in curves) == sorted(names)
    assert {"candidate new", "reference old", "bm25", "dense"} <= set(texts(shown(verdict, "georisk")))
    ends = verdict.exhibits.georisk.lines["new"]
    assert f": GeoRisk from {ends[0]:.3f} at alpha 0 to {ends[-1]:.3f} at alpha" in curves[-1]


def test_a_query_from_right_to_left_does_not_turn_the_scores_behind_it():
    assert named("301", "reset") == "reset (301)"
    assert named("301", "كيف أعيد المنتج؟") == "كيف أعيد المنتج؟ (topic 301)", (
        "a word from left to right comes before digits"
    )
    assert named("301", "שלום") == "שלום (topic 301)"


def test_in_a_large_pool_only_candidate_and_reference_are_named():
    verdict = wide_pool(40)
    root = shown(verdict, "georisk")
    assert {"candidate new", f"reference {verdict.pool.decided_by}"} <= set(texts(root))
    assert len([text for text in texts(root) if text.startswith("rm-cata")]) <= 1
    assert len(tooltips(root)) == 40


# ---- other people's text


@pytest.mark.parametrize("name", NAMES)
def test_pictures_consist_of_shapes_and_text(name):
    for chart in charts_of(hostile(STRINGS[name])).values():
        for root in (root_of(chart), file_of(chart)):
            tags = {element.tag.rpartition("}")[2] for element in root.iter()}
            assert tags <= {"svg", "g", "path", "rect", "line", "text", "circle", "title", "desc"}
            names = {name for element in root.iter() for name in element.attrib}
            assert not {name for name in names if name.startswith("on") or name in {"href", "style", "id"}}
            assert all(text.isprintable() for text in root.itertext())
            assert all(value.isprintable() for element in root.iter() for value in element.attrib.values())


def file_of(chart: Chart) -> Element:
    from xml.etree import ElementTree

    return ElementTree.fromstring(chart.file)  # noqa: S314
