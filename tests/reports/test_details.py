"""What a report shows under the answer: figures, documents, slices, judgements, pools, settings."""

from dataclasses import replace
from typing import Any

from pytest_riskguard.gates.findings import (
    ChainedRun,
    Lineage,
)
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports import Section, Table
from pytest_riskguard.reports.details import details, figures, settings, worst_topics
from tests.plugin.world import LOSS
from tests.reports.cases import CASES, explained, judged
from tests.verdicts import altered


def section(verdict: Verdict, title: str) -> Section | None:
    return next((part for part in details(verdict) if part.title == title), None)


def table(verdict: Verdict, title: str, place: int = 0) -> Table:
    found = section(verdict, title)
    assert found is not None
    tables = [part for part in found.parts if isinstance(part, Table)]
    return tables[place].filled


def test_slices_have_their_figures_and_of_a_gate_on_single_topics_no_test():
    shown = table(explained(), "Topics by tag")
    assert shown.cells[2][6:] == ["", "", ""]
    untested: Any = {"lower": None, "upper": None, "adjusted_p_value": None, "risky": None}  # as gates on topics have
    slices = tuple(replace(part, **untested) for part in explained().slices)
    collapse = altered(judged(LOSS, "no_topic_collapse", max_loss=0.42), slices=slices)
    labels = list(table(collapse, "Topics by tag").columns)
    assert labels == ["Slice", "Topics", "Losses", "Share", "Mean change", "URisk"]


def test_judgements_say_whether_the_verdict_rests_on_them():
    verdict = explained()
    assert table(verdict, "Unjudged documents").cells[1] == [
        "all have their topic's highest grade",
        "+0.0200",
        "pass",
    ]
    for measure, depth in (("AP", 10), ("P@20", 20), ("P@500", 100)):
        said = section(altered(verdict, measure=measure), "Unjudged documents").text[0]
        assert said.endswith(f" 14 unjudged documents in the first {depth} ranks.")
    where = "14 unjudged documents in the first 10 ranks"
    cases: list[tuple[dict[str, Any], str]] = [
        ({}, f"This verdict rests on {where}."),
        ({"depends": False}, f"None of these ways of judging {where} changes the outcome."),
    ]
    for changes, said in cases:
        found = section(replace(verdict, judgements=replace(verdict.judgements, **changes)), "Unjudged documents")
        assert found.text[0].startswith(said)


def test_a_lineage_says_what_is_lost_in_all():
    runs = (ChainedRun("first", 0.5, 0.0), ChainedRun("second", 0.48, -0.05), ChainedRun("candidate", 0.45, -0.125))
    verdict = altered(judged(LOSS), lineage=Lineage(runs, -0.2, -0.1), figures=())
    assert ("1 accepted change since first; in total -0.0500, URisk -0.1250 [-0.2000, -0.1000]") in section(
        verdict, "Statistics"
    ).text


def test_the_interval_that_decides_is_shown_whatever_its_method():
    assert ", basic [-0.4600, -0.1833] (decisive), " in "".join(figures(judged(LOSS, method="basic")))


def settings_of(verdict: Verdict) -> dict[str, str]:
    (shown,) = settings(verdict).parts
    assert isinstance(shown, Table)
    return dict(shown.cells)


def test_settings_are_the_options_of_the_kind_that_a_report_holds():
    settings = settings_of(judged(LOSS, "not_inferior", tolerance=0.05))
    assert settings["kind"] == "not_inferior"
    assert (settings["tolerance"], settings["level"], settings["weighted"]) == ("0.05", "0.95", "no")
    assert not {"max_loss", "on_churn", "protected", "max_mde", "slice"} & set(settings)
    collapse = settings_of(judged(LOSS, "no_topic_collapse", protected=["t02", "t07"]))
    assert (collapse["max_loss"], collapse["protected"]) == ("0.5", "t02, t07")
    assert not {"tolerance", "method"} & set(collapse)


def test_nothing_is_shown_of_what_could_not_be_compared():
    assert details(CASES["incomparable"]()) == []


def test_a_query_that_names_its_topic_is_shown_once():
    verdict = judged(LOSS)
    first, *others = (replace(topic, query=topic.topic) for topic in verdict.responsible_topics)
    assert "query" not in worst_topics(altered(verdict, responsible_topics=(first, *others))).columns
    first = replace(first, query="a text")
    assert "query" in worst_topics(altered(verdict, responsible_topics=(first, *others))).columns
