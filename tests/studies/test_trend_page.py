"""The page of a trend in a browser: it asks for nothing, fits every screen, and can be read by everybody."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_riskguard.reports.json import dumps
from pytest_riskguard.reports.provenance import Provenance
from pytest_riskguard.studies.trend_page import Mark, chart, render
from pytest_riskguard.studies.trend_series import trend
from tests.plugin.world import GOOD, LOSS
from tests.reports.cases import CASES, judged
from tests.reports.html.browsers import Open
from tests.reports.test_hostile import Page
from tests.verdicts import altered


@pytest.fixture
def page(tmp_path: Path) -> str:
    """Gates that failed, passed, were inconclusive and incomparable, or were not judged."""
    passed, failed = altered(judged(GOOD), gate="no-risk"), altered(judged(LOSS), gate="no-risk")
    others = [altered(CASES[name](), gate=name) for name in ("inconclusive", "incomparable", "collapse")]
    for number, verdicts in enumerate(([passed], [failed, *others], others, [failed, *others])):
        address = f"https://ci.example/{number}" if number else None
        origin = Provenance(
            f"2026-01-0{number + 1}T00:00:00Z", f"{number}" * 40, "main", None, None, address, None, ()
        )
        (tmp_path / f"{number}.json").write_text(dumps(verdicts, (), origin), encoding="utf-8")
    (tmp_path / "bad.json").write_text("{")
    os.utime(tmp_path / "bad.json", (0, 0))
    return render(trend(sorted(tmp_path.glob("*.json"))))


def test_a_commit_leads_to_its_run(page):
    assert '<a href="https://ci.example/1">1111111</a>' in page
    assert "<td>0000000</td>" in page


def test_gaps_break_the_line_and_the_bound():
    marks = [Mark(value, None, None, None if value is None else 0.0, "pass", "") for value in (1, 2, None, 3, 1)]
    drawn = chart(marks, ["a", "b", "c", "d", "e"], title="t", width=400, tooltips=5)
    (line,) = [part.split('"')[1] for part in drawn.split('<path class="line" d=')[1:]]
    assert line.count("M") == 2
    assert line.count("L") == 2
    (bound,) = [part.split('"')[1] for part in drawn.split('<path class="bound" d=')[1:]]
    assert bound.count("M") == 2


def test_only_the_newest_marks_have_a_tooltip():
    marks = [Mark(1, None, None, None, kind, f"text {kind}") for kind in ("pass", "fail", "pass", "fail", "pass")]
    drawn = chart(marks, list("abcde"), title="t", width=400, tooltips=2)
    assert drawn.count("<title>") == 2
    assert drawn.count('class="m pass"') == drawn.count('class="m fail"') == 2
    assert chart(marks, list("abcde"), title="t", width=400, tooltips=9).count("<title>") == 5


def test_a_page_of_30_gates_and_100_runs_keeps_to_the_budget_of_a_report(tmp_path):
    verdicts = [altered(judged(LOSS), gate=f"g{number}") for number in range(30)]
    text = dumps(verdicts)
    paths = [tmp_path / f"{number}.json" for number in range(3)]
    for path in paths:
        path.write_text(text, encoding="utf-8")
    made = trend(paths)
    longer = replace(
        made,
        runs=made.runs * 34,
        series=tuple(replace(series, points=series.points * 34) for series in made.series),
    )
    shown = render(longer)
    assert len(shown) < 1_000_000
    assert len(Page(shown).tags) < 5_000


def test_figures_that_do_not_vary_have_an_axis():
    drawn = chart([Mark(0.0, 0.0, 0.0, 0.0, "pass", "")], ["a"], title="t", width=400, tooltips=1)
    assert ">0</text>" in drawn
    assert drawn.count('class="tick"') >= 3
    assert "nan" not in drawn


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1400])
def test_it_fits_the_screen_asks_for_nothing_and_has_no_serious_barrier(
    opened: Open, page: str, width: int, scheme: str
):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    shown = opened(page, width=width, color_scheme=scheme, bypass_csp=True)
    assert shown.page.evaluate("document.documentElement.scrollWidth") <= width
    assert shown.page.locator(".over-time svg:visible").count() == 4
    found = axe.Axe().run(shown.page).response["violations"]
    assert [one["id"] for one in found if one["impact"] in {"serious", "critical"}] == []
    assert shown.faults == []


@pytest.mark.slow
def test_it_can_be_read_with_scripts_blocked_and_its_policy_allows_its_style(opened: Open, page: str):
    shown = opened(page, java_script_enabled=False)
    assert shown.faults == []
    assert shown.page.locator(".lead").inner_text() == "4 of 4 gates did not pass in the newest run"
    shown.page.locator(".over-time .fold summary").first.click()
    assert shown.page.locator(".over-time .fold table").first.is_visible()
