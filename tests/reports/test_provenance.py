"""Where a report comes from: collected from verdicts, written, read back, and said in a line."""

from dataclasses import replace

import pytest

from pytest_riskguard.build import Build
from pytest_riskguard.gates.verdict import Origin, Origins
from pytest_riskguard.reports import markdown
from pytest_riskguard.reports.comparisons import Report
from pytest_riskguard.reports.parts import Table
from pytest_riskguard.reports.provenance import Provenance, ages, days, line, provenance_of, section
from pytest_riskguard.serialization import JsonError, decoded, to_plain
from tests.reports.hostile import verdict_with

PROD = Origin("prod", "a" * 40, "release 7", "2026-01-01T00:00:00Z")
ORIGINS = Origins(Origin("c"), (PROD,))
OTHER = replace(ORIGINS, candidate=Origin("d"))
BUILD = Build("b" * 40, "topic", "12", "https://host/o/r", "https://host/run/1")
DATE = "2026-02-05T12:00:00Z"


def provenance() -> Provenance:
    return provenance_of([replace(verdict_with("prod"), origins=one) for one in (ORIGINS, None, OTHER)], BUILD, DATE)


def test_it_says_the_build_and_the_systems():
    found = provenance()
    assert (found.run_url, found.candidate, found.baselines) == (BUILD.run_url, ORIGINS.candidate, (PROD,))
    assert days(PROD, found.date) == 35


def test_plain_scores_have_names_and_a_report_without_verdicts_nothing():
    found = provenance_of([replace(verdict_with("x"), origins=None)], Build(), DATE)
    assert (found.candidate, [baseline.name for baseline in found.baselines]) == (Origin("x"), ["x"])
    assert provenance_of([], Build(), DATE).candidate is None


def test_a_clock_that_went_back_makes_no_negative_age():
    found = provenance_of([replace(verdict_with("x"), origins=ORIGINS)], BUILD, "2025-12-31T00:00:00Z")
    assert days(found.baselines[0], found.date) == 0


def test_it_is_read_back_as_written():
    assert decoded(Provenance, to_plain(provenance())) == provenance()


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"run_url": "javascript:alert(1)"}, "provenance.run_url: expected an address with http or https"),
        ({"date": 3}, "provenance.date: expected text, found a whole number"),
    ],
)
def test_anything_else_is_refused(changes, problem):
    with pytest.raises(JsonError, match=problem):
        decoded(Provenance, to_plain(provenance()) | changes, where="provenance")


def test_a_line_says_the_change_and_the_age_of_baselines():
    assert line(provenance()) == (
        "o/r; pull request 12; branch topic; commit bbbbbbbbbb; 2026-02-05 12:00 UTC; baseline prod stored 35 days "
        "ago from commit aaaaaaaaaa (old: what users search for has changed since)"
    )
    assert [" (old: " in line(replace(provenance(), date=f"2026-{day}T00:00:00Z")) for day in ("01-31", "02-01")] == [
        False,
        True,
    ]
    counted = (
        replace(PROD, commits=12),
        replace(PROD, stored=DATE, commits=1),
        Origin("x", stored=DATE),
        Origin("y"),
    )
    assert "baseline prod stored 35 days, 12 commits ago from commit" in line(
        replace(provenance(), baselines=counted)
    )
    assert ages(counted, DATE) == "prod: stored 35 days, 12 commits ago; prod: stored 1 commit ago"
    baselines = (PROD, *(Origin(name, stored=DATE[:-1], ties="docid") for name in "xyz"))
    several = replace(provenance(), baselines=baselines)
    assert line(several).endswith(" since); baseline x stored today; baseline y stored today")
    (systems,) = section(several).parts
    assert isinstance(systems, Table)
    assert systems.cells[1:3] == [
        ["prod", "2026-01-01", "a" * 10, "release 7", ""],
        ["x", "2026-02-05", "", "", "by document id, as trec_eval ranks them"],
    ]
    assert line(provenance_of([], Build(), DATE)) == "2026-02-05 12:00 UTC"
    assert (
        markdown.render(Report([], provenance=provenance()))
        .splitlines()[2]
        .startswith("o/r; pull request 12; branch topic; ")
    )
