"""The data behind each chart, and what of it can be seen."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import altair as alt
import numpy as np
import pytest

from pytest_riskguard.evaluation import TopicScores
from pytest_riskguard.gates.findings import Explanation, Slice
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import gate_of
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.html.charts import Chart
from pytest_riskguard.reports.html.charts.topic_charts import BINS, MAX_BARS, MAX_NAMED_BARS
from pytest_riskguard.reports.markdown.page import render as markdown
from pytest_riskguard.reports.sections import slices
from tests.published import web2012
from tests.reports.html.verdicts import charts_of, drawn, hostile, once, pair, pool
from tests.verdicts import altered


@once
def picture(chart: Chart) -> ElementTree.Element:
    return ElementTree.fromstring(chart.svg)  # noqa: S314


def labels(root: ElementTree.Element) -> list[str]:
    """What each mark says of itself."""
    return [mark.find("{*}title").text for mark in root.iter() if mark.get("class") == "m"]


def test_a_candidate_without_a_name_of_its_own_is_named_once():
    text = str(charts_of(replace(pair(20), candidate="candidate"))["scatter"].spec)
    assert "'candidate (nDCG@10)'" in text
    assert "'candidate new (nDCG@10)'" in str(charts_of(pair(20))["scatter"].spec)


@pytest.mark.parametrize("alpha", [0, 5, 10, 15])
@pytest.mark.parametrize(
    ("run", "front", "flagged"),
    [
        ("uogTrA44xi", ["166", "175", "191", "172", "174"], {"166", "175"}),
        ("qutwb", ["166", "175", "191", "172"], {"166", "175", "191", "172"}),
    ],
)
def test_figure_2_of_sigir_2014(shared: Path, run: str, front: list[str], flagged: set[str], alpha: int):
    topics = tuple(map(str, web2012.TOPICS))
    ours = TopicScores(run, "ERR@20", topics, web2012.submitted(shared)[run])
    theirs = TopicScores("indriCASP", "ERR@20", topics, web2012.indri_casp(shared))
    verdict = judge(gate_of("g", alpha=float(alpha)), ours, theirs, report=True)
    chart = charts_of(verdict)["topics"]
    bars = [row for row in drawn(chart) if "topic" in row]
    assert len(bars) == 50, "both panels draw the same rows"
    assert [row["difference"] for row in bars] == sorted(row["difference"] for row in bars)
    assert {row["topic"] for row in bars[:4]} | {"172"} >= {"166", "175", "191"}
    assert {"166", "172", "175", "191"} <= {row["topic"] for row in bars[:5]}
    assert bars[0]["topic"] == "166"
    lost = {row["topic"] for row in bars if row["flagged"] and row["standardised"] < 0}
    if alpha == 0:
        assert lost == flagged
    else:
        assert lost >= {"166", "175"}
    lines = sorted(row["at"] for row in drawn(chart) if "at" in row)
    assert lines == pytest.approx([-2.0096, 0, 2.0096], abs=1e-4)
    said = labels(picture(chart))
    assert len(said) == 100, "a bar for each topic in both panels"
    assert said[0] == said[50]
    assert said[0].startswith("166: ")


def test_bars_are_the_verdicts_figures():
    verdict = pair(50)
    rows = [row for row in drawn(charts_of(verdict)["topics"]) if "topic" in row]
    columns = verdict.exhibits.topics
    assert {row["topic"]: row["standardised"] for row in rows} == dict(
        zip(columns.topics, columns.standardised, strict=True)
    )
    flagged = {row.topic for row in (*verdict.responsible_topics, *verdict.flagged_wins) if row.flagged}
    assert {row["topic"] for row in rows if row["flagged"]} == flagged


def test_many_topics_are_counted_in_bins():
    verdict = pair(MAX_BARS + 100)
    chart = charts_of(verdict)["topics"]
    assert not [row for row in drawn(chart) if "topic" in row], "no topic is drawn by itself"
    bins = [row for row in drawn(chart) if "count" in row]
    changed = verdict.topics.wins + verdict.topics.losses
    assert sum(row["count"] for row in bins) == 2 * changed, "two panels"
    assert sum(row["count"] for row in bins if row["change"] == "loss") == 2 * verdict.topics.losses
    assert len({row["low"] for row in bins}) <= 2 * BINS
    # 0 is the edge of two bins, so no bin holds losses and wins of the same size
    assert all(row["high"] < 1e-9 or row["low"] > -1e-9 for row in bins)


def test_bars_of_bins_stand_on_the_axis_or_on_one_another():
    bins = [row for row in drawn(charts_of(pair(MAX_BARS + 100))["topics"]) if "count" in row]
    assert all(row["top"] - row["bottom"] == row["count"] for row in bins)
    tops = {(row["low"], row["top"]) for row in bins}
    assert all(row["bottom"] == 0 or (row["low"], row["bottom"]) in tops for row in bins)
    root = picture(charts_of(pair(MAX_BARS + 100))["topics"])
    scales = set()
    for mark in root.iter():
        if mark.get("class") == "m":
            count = int(mark.find("{*}title").text.split()[0])
            height = re.search(r"v([-\d.]+)h", mark.get("d"))
            scales.add(round(abs(float(height[1])) / count, 1))
    assert len(scales) <= 2, "in each of the two panels a bar is as high as its count"


def test_the_most_harmful_are_named_where_bars_are_not():
    assert "harmful" not in charts_of(pair(MAX_NAMED_BARS))
    verdict = pair(MAX_NAMED_BARS + 10)
    named = [row["topic"] for row in drawn(charts_of(verdict)["harmful"])]
    assert named == [row.topic for row in verdict.responsible_topics[: len(named)]]


def test_intervals_are_those_of_the_verdict():
    verdict = pair(50)
    rows = [row for row in drawn(charts_of(verdict)["intervals"]) if "method" in row]
    assert [(row["lower"], row["upper"]) for row in rows] == [(i.lower, i.upper) for i in verdict.intervals]
    assert [row["kind"] == "decisive" for row in rows] == [i.decisive for i in verdict.intervals]
    decided = verdict.decisive_interval
    labels = [row["label"] for row in rows if row["kind"] == "decisive"]
    assert labels == [f"BCa (decisive): [{decided.lower:+.4f}, {decided.upper:+.4f}]"]
    density = [(row["value"], row["density"]) for row in drawn(charts_of(verdict)["intervals"]) if "density" in row]
    law = verdict.exhibits.density
    assert density == list(zip(law.values, law.density, strict=True))


def test_the_minus_convention_turns_every_figure_of_risk():
    plus, minus = pair(50), pair(50, convention="minus")
    (low, high), (turned_low, turned_high) = (
        next(
            (row["lower"], row["upper"]) for row in drawn(charts_of(v)["intervals"]) if row.get("kind") == "decisive"
        )
        for v in (plus, minus)
    )
    assert (turned_low, turned_high) == (-high, -low)
    for key, field in (("urisk", "urisk"), ("trisk", "trisk"), ("topics", "standardised")):
        first, second = ([row[field] for row in drawn(charts_of(v)[key]) if field in row] for v in (plus, minus))
        assert second == [-value for value in first], key
    assert "URisk-(alpha-hat=3)" in str(charts_of(minus)["intervals"].spec)


def test_curves_over_alpha_are_those_of_the_verdict():
    verdict = pair(50)
    curve = verdict.exhibits.curve
    for key, values in (("urisk", curve.urisk), ("trisk", curve.trisk)):
        rows = [row for row in drawn(charts_of(verdict)[key]) if "label" in row and key in row]
        by_alpha = {row["alpha"]: row[key] for row in rows}
        assert by_alpha == dict(zip(curve.alphas, values, strict=True))


def test_a_pool_shows_all_its_systems():
    verdict = pool()
    found = charts_of(verdict)
    curves: dict[str, dict[float, float]] = {}
    for row in drawn(found["georisk"]):
        if "system" in row:
            curves.setdefault(row["system"], {})[row["alpha"]] = row["georisk"]
    exhibits = verdict.exhibits
    assert curves == {
        name: dict(zip(exhibits.georisk.alphas, values, strict=True))
        for name, values in exhibits.georisk.systems.items()
    }
    places = {row["system"]: (row["x"], row["y"]) for row in drawn(found["components"]) if "x" in row}
    assert places == dict(exhibits.components.systems)
    shares = [row["share"] / 100 for row in drawn(found["ranks"])]
    assert shares == pytest.approx(list(verdict.pool.rank_probabilities))


def test_points_are_topics_until_there_are_too_many():
    verdict = pair(50)
    points = [row for row in drawn(charts_of(verdict)["scatter"]) if "baseline" in row]
    columns = verdict.exhibits.topics
    assert sorted((row["baseline"], row["candidate"]) for row in points) == sorted(
        zip(columns.baseline, columns.candidate, strict=True)
    )
    many = [row for row in drawn(charts_of(pair(MAX_BARS + 100))["scatter"]) if "count" in row]
    assert sum(row["count"] for row in many) == MAX_BARS + 100
    assert {row["change"] for row in many} == {"loss", "win", "same"}


def test_quantiles_are_those_of_the_diagnostics():
    verdict = pair(50)
    points = [(row["normal"], row["bootstrap"]) for row in drawn(charts_of(verdict)["quantiles"]) if "normal" in row]
    assert points == [(pair.normal, pair.bootstrap) for pair in verdict.diagnostics.quantiles]


def test_slices_have_their_intervals():
    large = Slice("intent", "buy", 20, 9, 1, 8, 0.4, 0.5, -0.1, -0.3, -0.5, -0.1, 0.001, 0.002, True, ("q1",))
    small = Slice("intent", "read", 5, 3, 2, 1, 0.5, 0.5, 0.0, -0.01, None, None, None, None, None, ())
    verdict = altered(pair(50), explanation=Explanation("Fails.", slices=(small, large)))
    rows = [row for row in drawn(charts_of(verdict)["slices"]) if "slice" in row]
    by_slice = {row["slice"]: row for row in rows}
    assert list(by_slice) == ["intent: buy", "intent: read"], "the worst first"
    assert by_slice["intent: buy"]["state"] == "risky"
    assert (by_slice["intent: buy"]["lower"], by_slice["intent: buy"]["upper"]) == (-0.5, -0.1)
    assert "lower" not in by_slice["intent: read"]


def test_slices_of_a_gate_on_single_topics_are_not_called_small():
    large = Slice("intent", "buy", 48, 9, 1, 8, 0.4, 0.5, -0.1, -0.3, None, None, None, None, None, ())
    told = Explanation("Fails.", slices=(large,))
    cases: list[tuple[dict[str, Any], bool]] = [({}, True), ({"kind": "no_topic_collapse", "alpha": 1.0}, False)]
    for options, small in cases:
        verdict = altered(pair(50, **options), explanation=told)
        assert ("fewer than 10 topics" in charts_of(verdict)["slices"].caption) == small
        assert ("too few topics" in markdown([verdict])) == small
        assert ("too few topics" in " ".join(slices(verdict).sentences)) == small


def test_what_a_verdict_does_not_have_is_not_drawn():
    assert charts_of(replace(pair(50), exhibits=None)).keys() == {"intervals", "quantiles"}
    collapse = charts_of(pair(50, kind="no_topic_collapse", alpha=0.0, max_loss=0.3))
    assert {"trisk", "urisk", "intervals"}.isdisjoint(collapse)
    assert -0.3 in [row.get("at") for row in drawn(collapse["topics"])], "what a topic may lose"
    one = TopicScores("a", None, ("q1",), np.array([0.5]))
    lonely = judge(gate_of("g"), one, replace(one, name="b"), report=True)
    assert "topics" in charts_of(lonely)


SHOWN: dict[str, Callable[[], Verdict]] = {
    "50": lambda: pair(50),
    "70": lambda: pair(70),
    "many": lambda: pair(MAX_BARS + 100),
    "pool": pool,
}


@pytest.mark.parametrize("name", SHOWN)
def test_specifications_are_valid_and_name_no_file(name: str):
    for chart in charts_of(SHOWN[name]()).values():
        alt.Chart.from_dict(chart.spec, validate=True)
        assert "url" not in str(chart.spec)


@pytest.mark.parametrize("name", ["50", "70", "pool"])
def test_every_axis_is_named_and_every_picture_has_words(name: str):
    for chart in charts_of(SHOWN[name]()).values():
        root = picture(chart)
        assert root.get("role") == "img"
        assert root.get("aria-label") == chart.title
        assert len(root.find("{*}desc").text) > 20
        assert chart.caption
        said = [text.text for text in root.findall(".//{*}text")]
        assert all(said)
        unit = {"topics": "difference (nDCG@10)", "scatter": "baseline old (nDCG@10)"}.get(chart.key)
        assert unit is None or unit in said


def test_two_topics_that_look_the_same_are_two_bars():
    values = np.array([0.1, 0.9, 0.5])
    ours = TopicScores("a", None, ("x", "x\u200b", "y"), values)
    verdict = judge(gate_of("g"), ours, replace(ours, name="b", values=values[::-1].copy()), report=True)
    rows = [row["topic"] for row in drawn(charts_of(verdict)["topics"]) if "topic" in row]
    assert sorted(rows) == ["x", "x (2)", "y"]


def test_pictures_consist_of_shapes_and_text():
    for text in ("<script>alert(1)</script>", "url(https://evil.example/x.png)", "datum['x'] + alert(1)"):
        for chart in charts_of(hostile(text)).values():
            root = picture(chart)
            tags = {element.tag.rpartition("}")[2] for element in root.iter()}
            assert tags <= {"svg", "g", "path", "rect", "line", "text", "tspan", "circle", "title", "desc"}
            names = {name for element in root.iter() for name in element.attrib}
            assert not {name for name in names if name.startswith("on") or name in {"href", "style"}}
