"""Documents, slices and judgements in lines: what is told, to whom, and in which order."""

from __future__ import annotations

from dataclasses import replace

from pytest_riskguard.gates.findings import AgainstReference, ChainedRun, Lineage, RankedDocument, TopicDocuments
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports import Table
from pytest_riskguard.reports.sections import documents, judgements, sections, slices
from pytest_riskguard.run_context import Detail, Screen
from tests.plugin.world import LOSS
from tests.reports.cases import explained, judged, pool
from tests.verdicts import altered

SHORT, ALL = Screen(Detail.BRIEF, 120), Screen(Detail.EVERYTHING, 120)


def told(verdict: Verdict, *, everything: bool) -> list[str]:
    section = documents(verdict, everything=everything)
    assert section is not None
    return list(section.sentences)


def moved(*found: RankedDocument, new: tuple[RankedDocument, ...] = ()) -> str:
    verdict = judged(LOSS)
    (text,) = told(replace(verdict, documents=(TopicDocuments("t07", True, found, new, depth=10),)), everything=False)
    return text


def test_a_document_is_told_from_its_rank_to_its_rank():
    assert moved(RankedDocument("d", 2, 1, 14, -0.4)) == "t07: d (grade 2) rank 1 -> 14"
    assert moved(RankedDocument("d", 1, 3, None, -0.4)) == "t07: d (grade 1) dropped from rank 3 out of the run"
    new = (RankedDocument("n", None, None, 1, 0.0), RankedDocument("m", 0, None, 2, 0.0))
    assert moved(RankedDocument("d", 1, 3, 4, -0.1), new=new) == (
        "t07: d (grade 1) rank 3 -> 4; new at rank 1: n (unjudged)"
    )


def test_a_topic_that_is_not_responsible_has_no_sentence():
    verdict = explained()
    assert told(altered(verdict, responsible_topics=verdict.responsible_topics[4:]), everything=True) == []
    assert documents(judged(LOSS)) is None


def test_slices_are_told_where_they_are_risky_and_all_of_them_where_asked_for():
    (risky,) = slices(explained(), everything=False).sentences
    assert risky.startswith(
        "slice intent=code: significantly risky, URisk -2.4000 [-2.6000, -2.3000], mean -0.4000; "
    )
    assert "p < 0.0001" in risky
    first, small, safe = slices(explained()).sentences
    assert first == risky
    assert small.endswith("too few topics for an interval")
    assert "significantly" not in safe


def test_that_every_slice_is_risky_is_one_clause():
    verdict = explained()
    assert verdict.explanation is not None
    risky = verdict.explanation.slices[0]
    every = tuple(replace(risky, value=value, urisk=risky.urisk - place) for place, value in enumerate("abc"))
    said = slices(altered(verdict, explanation=replace(verdict.explanation, slices=every)), everything=False)
    assert said.sentences == ("each of the 3 slices is significantly risky, intent=c most of all",)


def test_judgements_are_told_where_the_verdict_rests_on_them():
    verdict = explained()
    (text,) = judgements(verdict, everything=False).sentences
    assert "rests on 14 unjudged documents in the first 10 ranks: it passes" in text
    assert "it passes if all have their topic's highest grade (URisk +0.0200)" in text
    assert "it fails" not in text
    assert verdict.judgements is not None
    for certain, said in (
        (True, "the outcome does not depend on 14 unjudged documents in the first 10 ranks: "),
        (False, "no way of judging 14 unjudged documents in the first 10 ranks "),
    ):
        safe = replace(verdict, judgements=replace(verdict.judgements, depends=False, certain=certain))
        assert judgements(safe, everything=False).sentences == ()
        (sentence,) = judgements(safe).sentences
        assert sentence.startswith(f"judgements: {said}")
        assert sentence.endswith("was tried" if certain else "that was tried changes the outcome")
    whole = replace(verdict, judgements=replace(verdict.judgements, depends=False, documents=0))
    assert judgements(whole).sentences == ()
    assert judgements(whole).text == "Every document in the first 10 ranks was judged."


def cells(table: Table) -> tuple[tuple[str, ...], ...]:
    return tuple(map(tuple, table.cells))


def tables_of(verdict: Verdict) -> dict[str, Table]:
    return {table.title: table for section in sections(verdict) for table in section.tables}


def test_slices_of_a_gate_on_single_topics_have_no_columns_of_a_test():
    explanation = explained().explanation
    tables = tables_of(altered(judged(LOSS, "no_topic_collapse", max_loss=0.42), explanation=explanation))
    labels = list(tables["The comparison on each slice"].columns)
    assert labels == ["Slice", "Topics", "Wins", "Losses", "Mean change", "URisk", "Flagged"]


def test_a_pool_lists_its_systems_by_georisk_and_the_candidate_against_each_reference():
    verdict = pool()
    assert verdict.pool is not None
    estimates = replace(
        verdict.estimates,
        georisk={"candidate": 0.42, "prod": 0.45, "bm25": 0.5, "dense": 0.48},
        zrisk={"candidate": -1.5, "prod": -0.25, "bm25": 0.125},
    )
    figures = replace(
        verdict.pool,
        decided_by="prod",
        references=(
            AgainstReference("prod", -0.03, -0.05, -0.01, 0.008, passes=False),
            AgainstReference("bm25", -0.08, -0.1, 0.02, 0.6, passes=True),
        ),
    )
    tables = tables_of(altered(verdict, estimates=estimates, pool=figures))
    assert cells(tables["Systems, highest GeoRisk first"]) == (
        ("bm25", "0.5000", "+0.1250"),
        ("dense", "0.4800", ""),
        ("prod (reference)", "0.4500", "-0.2500"),
        ("candidate (candidate)", "0.4200", "-1.5000"),
    )
    assert cells(tables["Against each reference"]) == (
        ("prod", "-0.0300", "[-0.0500, -0.0100]", "0.0080", "no"),
        ("bm25", "-0.0800", "[-0.1000, +0.0200]", "0.6000", "yes"),
    )


def test_a_lineage_lists_each_run_against_the_oldest():
    runs = (
        ChainedRun("first", 0.5, 0.0),
        ChainedRun("second", 0.48, -0.05),
        ChainedRun("candidate", 0.45, -0.125),
    )
    verdict = altered(judged(LOSS), lineage=Lineage(runs, -0.2, -0.1, risky=True))
    assert cells(tables_of(verdict)["Accepted runs of the baseline, oldest first, then the candidate"]) == (
        ("first", "0.5000", "+0.0000", "+0.0000"),
        ("second", "0.4800", "-0.0200", "-0.0500"),
        ("candidate", "0.4500", "-0.0500", "-0.1250"),
    )


def settings_of(verdict: Verdict) -> dict[str, str]:
    names, values = zip(*cells(tables_of(verdict)["Settings"]), strict=True)
    return dict(zip(names, values, strict=True))


def test_settings_are_the_options_of_the_kind_that_a_report_holds():
    settings = settings_of(judged(LOSS, "not_inferior", tolerance=0.05))
    assert settings["kind"] == "not_inferior"
    assert (settings["tolerance"], settings["level"], settings["weighted"]) == ("0.05", "0.95", "no")
    assert not {"max_loss", "on_churn", "protected", "max_mde", "slice"} & set(settings)
    collapse = settings_of(judged(LOSS, "no_topic_collapse", protected=["t02", "t07"]))
    assert (collapse["max_loss"], collapse["protected"]) == ("0.5", "t02, t07")
    assert not {"tolerance", "method"} & set(collapse)
