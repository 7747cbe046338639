"""A trend: what each gate said run by run, gaps where it said nothing, topics that lose again and again."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_riskguard.gates.verdict import Inputs, Verdict
from pytest_riskguard.reports.comparisons import KnownGate, Report
from pytest_riskguard.reports.json import dumps as report_dumps
from pytest_riskguard.reports.provenance import Provenance
from pytest_riskguard.studies.trend import Series, Trend, dumps, section, trend
from tests.plugin.world import GOOD, LOSS
from tests.reports.cases import CASES, judged
from tests.reports.hostile import STRINGS, verdict_with
from tests.reports.test_hostile import Page, assert_plain
from tests.verdicts import altered

#: 2026-01-01, noon, UTC.
START = 1_767_268_800


def shown(made: Trend) -> str:
    return " ".join(section(made).to_text(300).split())


def named(verdict: Verdict, gate: str = "no-risk", **changes: Any) -> Verdict:
    return altered(verdict, gate=gate, **changes)


PASS, FAIL, BAD = named(judged(GOOD)), named(judged(LOSS)), named(CASES["incomparable"]())
COLLAPSE = named(CASES["collapse"](), "no-collapse")


@pytest.fixture
def trend_of(tmp_path) -> Callable[..., Trend]:
    """The trend of reports, each a day newer than the one before."""

    def made(*reports: list[Verdict], extra: tuple[Path, ...] = (), **more: Any) -> Trend:
        paths = []
        for number, verdicts in enumerate(reports):
            path = tmp_path / f"{number}.json"
            path.write_text(report_dumps(Report(verdicts, **more)), encoding="utf-8")
            os.utime(path, (START + number * 86_400,) * 2)
            paths.append(path)
        return trend([*reversed(paths), *extra])

    return made


def by_gate(made: Trend) -> dict[str, Series]:
    return {one.gate: one for one in made.series}


def outcomes(series: Series) -> list[str | None]:
    return [None if point is None else point.outcome for point in series.points]


def test_a_gate_is_one_series_with_a_gap_where_it_was_not_judged(trend_of):
    made = trend_of([PASS, COLLAPSE], [COLLAPSE], [FAIL, COLLAPSE])
    assert [run.date for run in made.runs] == [f"2026-01-0{day}T12:00:00Z" for day in (1, 2, 3)], "oldest first"
    series, collapse = by_gate(made)["no-risk"], by_gate(made)["no-collapse"]
    assert (outcomes(series), None in outcomes(collapse)) == (["pass", None, "fail"], False)
    last, interval = series.points[-1], FAIL.decisive_interval
    assert last is not None
    assert interval is not None
    figures = (last.estimate, last.lower, last.upper, last.mean_difference)
    estimates = FAIL.estimates
    assert figures == pytest.approx((estimates.urisk, interval.lower, interval.upper, estimates.mean_difference))
    assert collapse.points[-1].estimate == pytest.approx(COLLAPSE.responsible_topics[0].difference)
    assert made.problems == []
    assert "no-risk against prod: AP failed in 1 of 2 runs, no verdict in 1; the newest: FAIL" in shown(made)


def test_the_bound_is_the_lowest_value_that_passes(trend_of):
    made = trend_of([PASS, named(FAIL, "tolerant", tolerance=0.05), COLLAPSE])
    bounds = {gate: series.points[-1].bound for gate, series in by_gate(made).items()}
    assert bounds == {"no-risk": -0.005, "tolerant": -0.05, "no-collapse": -COLLAPSE.max_loss}


def test_other_questions_and_other_baselines_are_other_series_those_that_failed_last_first(trend_of):
    changes: list[dict[str, Any]] = [{"alpha": 5.0}, {"measure": "P@10"}, {"baselines": ("bm25",)}, {"slice": "a=b"}]
    others = [named(FAIL, **change) for change in changes]
    made = trend_of([PASS, *others, FAIL])
    assert len(made.series) == 6  # the last one asked the first's question again
    assert [series.points[-1].passed for series in made.series] == [False] * 5 + [True]


def test_topics_that_lose_again_and_again_are_counted(trend_of):
    (series,) = trend_of([FAIL], [PASS], [FAIL], [FAIL]).series
    losers = [topic.topic for topic in FAIL.responsible_topics[: FAIL.topics.losses]]
    assert {topic.topic for topic in series.topics} == set(losers)
    assert {topic.runs for topic in series.topics} == {3}
    assert series.topics[0].mean_difference == pytest.approx(FAIL.responsible_topics[0].difference)
    assert trend_of([FAIL], [PASS]).series[0].topics == ()
    assert "and 2 more" in shown(trend_of([FAIL], [FAIL]))


def test_what_says_nothing_about_a_gate_is_a_problem(trend_of, tmp_path):
    (tmp_path / "bad.json").write_text("{")
    os.utime(tmp_path / "bad.json", (START + 3600,) * 2)
    made = trend_of([PASS], [BAD], [], [BAD, COLLAPSE], extra=(tmp_path / "bad.json", tmp_path / "nowhere.json"))
    assert outcomes(by_gate(made)["no-risk"]) == ["pass", None, "incomparable", None, "incomparable", None]
    said = ["expected a JSON report of riskguard", "every gate is incomparable", "no gate was judged", "no such file"]
    assert len(made.problems) == 4
    for problem, why in zip(made.problems, said, strict=True):
        assert why in problem
        assert why in shown(made)
    assert f"2026-01-02 12:00: {BAD.problem}"[:60] in shown(made)


def test_judgements_and_baselines_that_changed_are_said(trend_of):
    inputs = (("q1", "b1"), ("q2", "b1"), (None, "b1"), ("q2", "b2"))
    made = trend_of(*([altered(PASS, inputs=Inputs(qrels, "c", {"prod": prod}))] for qrels, prod in inputs))
    (series,) = made.series
    assert [point.changed_inputs for point in series.points] == [(), ("judgements",), (), ("prod",)]
    assert section(made).to_text(100).count("judgements") == 1


def test_gates_that_were_not_judged_and_churn_that_was_let_through_are_said(trend_of):
    gates = [KnownGate("a.yaml::x", 1, "judged", 0, (0,)), KnownGate("a.yaml::other", 2, "crashed", 0, ())]
    made = trend_of([named(CASES["churn-let-through"]())], gates=gates)
    assert "0.json: not judged: a.yaml::other" in shown(made)
    assert "pass, churn" in shown(made)


def test_a_commit_leads_to_its_run_and_the_date_is_that_of_the_report(trend_of):
    origin = Provenance("2025-06-01T00:30:00+02:00", "1" * 40, "main", None, None, "https://ci.example/1", None, ())
    made = trend_of([PASS], provenance=origin)
    assert made.runs[0].date == "2025-05-31T22:30:00Z"
    assert '<a href="https://ci.example/1">1111111</a>' in section(made).to_page()


@pytest.mark.slow
def test_text_of_others_is_data(trend_of):
    for name, text in STRINGS.items():
        verdict = altered(verdict_with(text), gate=f"x{text}"[:200])
        made = trend_of([verdict], [verdict])
        for said in (section(made).to_text(100), dumps(made)):
            assert_plain(said), name
        page = Page(section(made).to_page())
        assert not {tag for tag, _ in page.tags} & {"script", "img", "iframe", "b", "object", "form"}, name
        assert not any(key.startswith("on") for _, attributes in page.tags for key in attributes), name
        addresses = {attributes.get("href") or "" for tag, attributes in page.tags if tag in ("a", "link")}
        assert len(addresses - {"data:,", "#report"}) == 1, name  # the glossary


@pytest.mark.slow
@pytest.mark.parametrize("width", [360, 1400])
def test_the_page_fits_the_screen_asks_for_nothing_and_has_no_serious_barrier(opened, trend_of, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    others = [altered(CASES[name](), gate=name) for name in ("inconclusive", "incomparable", "collapse")]
    page = section(trend_of([PASS], [FAIL, *others], others, [FAIL, *others])).to_page()
    found = opened(page, width=width, bypass_csp=True)
    assert found.page.evaluate("document.documentElement.scrollWidth") <= width
    assert found.page.locator(".wide svg:visible").count() == 4
    violations = axe.Axe().run(found.page).response["violations"]
    assert [one["id"] for one in violations if one["impact"] in {"serious", "critical"}] == []
    assert found.faults == []


# ---- the command


@pytest.fixture
def reports(command):
    """Three runs in a folder, one of them deeper down."""
    folder = Path("reports")
    (folder / "deep").mkdir(parents=True)
    for name, path in (("good", "1.json"), ("loss", "2.json"), ("loss", "deep/3.json")):
        command(f"compare {name}.run --baseline prod --measure AP -o reports/{path}")
    return folder


def test_reports_and_folders_are_shown_run_by_run_and_what_cannot_be_read_ends_with_3(command, reports):
    ended = command("study trend reports -o t.json -o t.html")
    assert (ended.status, ended.err) == (0, "")
    assert "against prod: AP failed in 2 of 3 runs" in " ".join(ended.out.split())
    assert json.loads(Path("t.json").read_text())["schema"] == "riskguard-trend/1"
    assert "script-src 'none'" in Path("t.html").read_text()
    assert command("study trend reports/1.json reports/2.json reports").out == ended.out  # each file once
    assert "would overwrite the file" in command("study trend reports -o reports/1.json").err
    (reports / "bad.json").write_text("[]")
    ended = command("study trend reports")
    assert (ended.status, ended.err) == (3, "Error: 1 of 4 reports cannot be compared\n")
    Path("empty").mkdir()
    ended = command("study trend empty")
    assert (ended.status, ended.out) == (3, "")
    assert "expected JSON reports (*.json) in this folder, found none" in ended.err
