"""The page of a trend: one of many gates stays small, and a browser shows it on every screen."""

import os
from dataclasses import replace

import pytest

from pytest_riskguard.reports.comparisons import Report
from pytest_riskguard.reports.json import dumps
from pytest_riskguard.reports.provenance import Provenance
from pytest_riskguard.studies.trend_section import section
from pytest_riskguard.studies.trend_series import trend
from tests.plugin.world import GOOD, LOSS
from tests.reports.cases import CASES, judged
from tests.reports.test_hostile import Page
from tests.verdicts import altered


@pytest.fixture
def page(tmp_path):
    """Gates that failed, passed, were inconclusive and incomparable, or were not judged."""
    passed, failed = altered(judged(GOOD), gate="no-risk"), altered(judged(LOSS), gate="no-risk")
    others = [altered(CASES[name](), gate=name) for name in ("inconclusive", "incomparable", "collapse")]
    for number, verdicts in enumerate(([passed], [failed, *others], others, [failed, *others])):
        address = f"https://ci.example/{number}" if number else None
        origin = Provenance(
            f"2026-01-0{number + 1}T00:00:00Z", f"{number}" * 40, "main", None, None, address, None, ()
        )
        (tmp_path / f"{number}.json").write_text(dumps(Report(verdicts, (), origin)), encoding="utf-8")
    (tmp_path / "bad.json").write_text("{")
    os.utime(tmp_path / "bad.json", (0, 0))
    return section(trend(sorted(tmp_path.glob("*.json")))).to_page()


def test_a_commit_leads_to_its_run(page):
    assert '<a href="https://ci.example/1">1111111</a>' in page
    assert "<td>0000000</td>" in page


@pytest.mark.slow
def test_a_page_of_30_gates_and_100_runs_keeps_to_the_budget_of_a_report(tmp_path):
    (tmp_path / "1.json").write_text(dumps(Report([altered(judged(LOSS), gate=f"g{n}") for n in range(30)])))
    made = trend([tmp_path / "1.json"])
    longer = replace(
        made,
        runs=made.runs * 100,
        series=tuple(replace(series, points=series.points * 100) for series in made.series),
    )
    shown = section(longer).to_page()
    assert len(shown) < 1_000_000, len(shown)
    assert len(Page(shown).tags) < 5_000, len(Page(shown).tags)


@pytest.mark.slow
@pytest.mark.parametrize("width", [360, 1400])
def test_it_fits_the_screen_asks_for_nothing_and_has_no_serious_barrier(opened, page, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    shown = opened(page, width=width, bypass_csp=True)
    assert shown.page.evaluate("document.documentElement.scrollWidth") <= width
    assert shown.page.locator(".wide svg:visible").count() == 4
    found = axe.Axe().run(shown.page).response["violations"]
    assert [one["id"] for one in found if one["impact"] in {"serious", "critical"}] == []
    assert shown.faults == []
