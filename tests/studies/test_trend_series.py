"""A trend: what each gate said run by run, gaps where it said nothing, topics that lose again and again."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from pytest_riskguard.gates.verdict import Inputs, Verdict
from pytest_riskguard.reports.comparisons import KnownGate, Report
from pytest_riskguard.reports.json import dumps as report_dumps
from pytest_riskguard.studies.trend_section import section
from pytest_riskguard.studies.trend_series import Trend, dumps, trend
from tests.plugin.world import GOOD, LOSS
from tests.reports.cases import CASES, judged
from tests.reports.hostile import STRINGS, verdict_with
from tests.reports.test_hostile import Page, assert_plain
from tests.verdicts import altered

SCHEMA = json.loads((files("pytest_riskguard.studies") / "riskguard-trend-1.schema.json").read_text("utf-8"))
DAY = 86_400
#: 2026-01-01, noon, UTC.
START = 1_767_268_800


def explain(made: Trend, width: int) -> str:
    return section(made).to_text(width)


def named(verdict: Verdict, gate: str = "no-risk", **changes: Any) -> Verdict:
    return altered(verdict, gate=gate, **changes)


PASS, FAIL, BAD = named(judged(GOOD)), named(judged(LOSS)), named(CASES["incomparable"]())
COLLAPSE = named(CASES["collapse"](), "no-collapse")


def written(folder: Path, *reports: list[Verdict], **more: Any) -> list[Path]:
    """The reports as files, each a day newer than the one before."""
    paths = []
    for number, verdicts in enumerate(reports):
        path = folder / f"{number}.json"
        path.write_text(report_dumps(Report(verdicts, **more)), encoding="utf-8")
        os.utime(path, (START + number * DAY,) * 2)
        paths.append(path)
    return paths


def test_a_gate_is_one_series_with_a_gap_where_it_was_not_judged(tmp_path):
    made = trend(written(tmp_path, [PASS, COLLAPSE], [COLLAPSE], [FAIL, COLLAPSE]))
    series = {one.gate: one for one in made.series}
    assert [None if point is None else point.outcome for point in series["no-risk"].points] == ["pass", None, "fail"]
    assert [point is None for point in series["no-collapse"].points] == [False] * 3
    last = series["no-risk"].last
    assert last is not None
    interval = FAIL.decisive_interval
    assert interval is not None
    assert (last.estimate, last.lower, last.upper) == pytest.approx(
        (FAIL.estimates.urisk, interval.lower, interval.upper)
    )
    assert made.problems == []
    worst = COLLAPSE.responsible_topics[0]
    assert series["no-collapse"].last.estimate == pytest.approx(worst.difference)


def test_the_bound_is_the_lowest_value_that_passes(tmp_path):
    tolerant = named(FAIL, "tolerant", tolerance=0.05)
    made = trend(written(tmp_path, [PASS, tolerant, COLLAPSE]))
    bounds = {one.gate: one.last.bound for one in made.series if one.last is not None}
    assert COLLAPSE.max_loss is not None
    assert bounds == {"no-risk": -0.005, "tolerant": -0.05, "no-collapse": -COLLAPSE.max_loss}


def test_other_questions_and_other_baselines_are_other_series(tmp_path):
    others = [
        named(FAIL, alpha=5.0),
        named(FAIL, measure="P@10"),
        named(FAIL, baselines=("bm25",)),
        named(FAIL, slice="a=b"),
    ]
    assert len(trend(written(tmp_path, [FAIL, *others, FAIL])).series) == 6  # the last one asked the first's again


def test_runs_are_in_order_of_time_and_it_says_where_that_is_from(tmp_path):
    paths = written(tmp_path, [PASS], [FAIL], [PASS])
    made = trend([paths[2], paths[0], paths[1]])
    assert [Path(run.report).name for run in made.runs] == ["0.json", "1.json", "2.json"]
    assert (made.runs[0].date, made.runs[0].dated_by) == ("2026-01-01T12:00:00Z", "file")
    assert "3 reports without a date" in explain(made, width=120)


def test_topics_that_lose_again_and_again_are_counted(tmp_path):
    made = trend(written(tmp_path, [FAIL], [PASS], [FAIL], [FAIL]))
    (series,) = made.series
    losers = [topic.topic for topic in FAIL.responsible_topics[: FAIL.topics.losses]]
    assert series.losing_topics == len(losers)
    assert {topic.topic for topic in series.topics} == set(losers)
    assert {(topic.runs, topic.failed_runs) for topic in series.topics} == {(3, 3)}
    first, worst = series.topics[0], FAIL.responsible_topics[0]
    assert first.mean_difference == pytest.approx(worst.difference)
    assert first.last_difference == pytest.approx(worst.difference)
    once = trend(written(tmp_path, [FAIL], [PASS]))
    assert once.series[0].topics == ()


def test_topics_of_runs_that_failed_come_before_larger_losses_in_runs_that_passed(tmp_path):
    loser = replace(FAIL.responsible_topics[0], topic="passing", difference=-0.99, candidate=0.0, baseline=0.99)
    counts = replace(PASS.topics, losses=1, wins=0, ties=PASS.topics.count - 1)
    passed = altered(PASS, responsible_topics=(loser,), topics=counts)
    (series,) = trend(written(tmp_path, [FAIL], [passed], [FAIL], [passed])).series
    *failed, last = series.topics
    assert {topic.failed_runs for topic in failed} == {2}
    assert (last.topic, last.failed_runs, last.runs) == ("passing", 0, 2)
    # the average is over all runs in which a topic lost, also those that passed
    again = replace(loser, topic=failed[0].topic, difference=-0.01, baseline=0.01)
    (series,) = trend(written(tmp_path, [FAIL], [altered(passed, responsible_topics=(again,))])).series
    (weak,) = series.topics
    assert (weak.topic, weak.runs, weak.failed_runs, weak.last_difference) == (again.topic, 2, 1, -0.01)
    assert weak.mean_difference == pytest.approx((failed[0].mean_difference - 0.01) / 2)


def test_a_report_that_cannot_be_read_is_a_run_without_points(tmp_path):
    paths = written(tmp_path, [PASS], [PASS], [PASS])
    paths[1].write_text("{")
    os.utime(paths[1], (START + DAY,) * 2)
    made = trend([*paths, tmp_path / "nowhere.json"])
    assert [point is None for point in made.series[0].points] == [False, True, False, True]
    assert made.runs[3].dated_by == "nothing"
    assert len(made.problems) == 2
    assert "1.json: expected a JSON report of riskguard" in made.problems[0]
    assert made.problems[1].endswith("nowhere.json: no such file")
    assert "nowhere.json: no such file" in " ".join(explain(made, width=300).split())


@pytest.mark.parametrize(
    ("odd", "why"),
    [
        ([], "no gate was judged"),
        ([BAD], "every gate is incomparable"),
    ],
)
def test_a_report_that_cannot_be_compared_is_said(tmp_path, odd, why):
    made = trend(written(tmp_path, [PASS], odd, [FAIL]))
    assert made.problems == [f"{(tmp_path / '1.json').as_posix()}: {why}"]
    assert trend(written(tmp_path, [PASS], [*odd, COLLAPSE])).problems == []  # one gate that says something is enough


def test_judgements_and_baselines_that_changed_are_said(tmp_path):
    def with_inputs(qrels: str | None, prod: str) -> Verdict:
        return altered(PASS, inputs=Inputs(qrels, "c", {"prod": prod}))

    reports = [
        [with_inputs("q1", "b1")],
        [with_inputs("q2", "b1")],
        [with_inputs(None, "b1")],
        [with_inputs("q2", "b2")],
    ]
    made = trend(written(tmp_path, *reports))
    (series,) = made.series
    assert [point.changed_inputs for _, point in series.judged] == [(), ("judgements",), (), ("baselines",)]
    shown = explain(made, width=100)
    assert "judgements changed at run 2" in shown
    assert "baselines changed at run 4" in shown


def test_gates_that_were_not_judged_are_named(tmp_path):
    gates = (
        KnownGate("riskguard.yaml::no-risk", 1, "judged", 0, (0,)),
        KnownGate("riskguard.yaml::other", 2, "crashed", 0, ()),
    )
    made = trend(written(tmp_path, [PASS], gates=gates))
    assert made.runs[0].not_judged == ("riskguard.yaml::other",)
    assert "1: riskguard.yaml::other" in explain(made, width=100)


def test_gates_that_failed_last_come_first(tmp_path):
    made = trend(written(tmp_path, [PASS, named(FAIL, "b")], [PASS, named(FAIL, "b")]))
    assert [series.gate for series in made.series] == ["b", "no-risk"]


def test_the_json_follows_its_schema(tmp_path):
    paths = written(tmp_path, [PASS, COLLAPSE], [FAIL], [BAD])
    made = trend([*paths, tmp_path / "x.json"])
    jsonschema.validate(json.loads(dumps(made)), SCHEMA, cls=jsonschema.Draft202012Validator)


@pytest.mark.slow
def test_text_of_others_is_data(tmp_path):
    for name, text in STRINGS.items():
        verdict = altered(verdict_with(text), gate=f"x{text}"[:200])
        made = trend(written(tmp_path, [verdict], [verdict]))
        for said in (explain(made, width=100), dumps(made)):
            assert_plain(said), name
        page = Page(section(made).to_page())
        assert not {tag for tag, _ in page.tags} & {"script", "img", "iframe", "b", "object", "form"}, name
        assert not any(key.startswith("on") for _, attributes in page.tags for key in attributes), name
        addresses = {attributes.get("href") or "" for tag, attributes in page.tags if tag in ("a", "link")}
        assert len(addresses - {"data:,", "#report"}) == 1, name  # the glossary


def test_churn_that_was_let_through_is_no_plain_pass(tmp_path):
    made = trend(written(tmp_path, [PASS], [named(CASES["churn-let-through"]())]))
    (series,) = [one for one in made.series if any(point and point.churn for point in one.points)]
    assert [point and point.churn for point in series.points] == [None, True]
    assert "pass, churn" in explain(made, width=100)
