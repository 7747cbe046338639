"""The page in a real browser, opened from disk: nothing but the page is asked for, and all of it can be used."""

import csv
import io
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports import json as report_json
from pytest_riskguard.reports.comparisons import KnownGate, Report
from pytest_riskguard.reports.html import render
from pytest_riskguard.reports.numbers import percent, plain, signed
from pytest_riskguard.reports.parts import GLOSSARY
from tests.reports.hostile import STRINGS, hostile_provenance
from tests.reports.html.browsers import Opened
from tests.reports.html.verdicts import (
    hostile,
    page_of,
    pair,
    pool,
    tagged,
    with_documents,
    with_rankings,
)
from tests.verdicts import altered

if os.environ.get("RISKGUARD_REQUIRE_BROWSER") == "1":  # where the browser is required, so is what drives it
    import axe_playwright_python.sync_playwright as axe
else:
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="no browser: axe-playwright-python is not installed"
    )

pytestmark = pytest.mark.slow
ROWS = ".topic-table tbody tr[data-place]"


@pytest.fixture(scope="session")
def everything():
    """A page with every part, long and short tables, and a gate of each outcome but one."""
    tags = {"intent": ("buy", "read") * 40}
    verdicts = [tagged(with_documents(pair(80)), **tags), pool(), pair(20, shift=0.1, name="fine"), pair(8)]
    return render(Report(verdicts))


def names(shown: Opened) -> list[str]:
    """The topics of the table, by their ids."""
    return [row.rsplit("/", 1)[1] for row in shown.page.eval_on_selector_all(ROWS, "rows => rows.map(row => row.id)")]


def test_nothing_is_asked_for_parts_are_rendered_when_opened_and_gates_lead_to_their_places(opened, everything):
    shown = opened(everything)
    assert shown.page.title() == "✗ Don't ship: 3 of 4 gates failed · riskguard"
    assert shown.page.locator(".scripted:not(.pager)[hidden]").count() == 0
    gate = shown.page.locator("details.gate").first
    assert gate.locator("table").count() == 1
    gate.locator("summary").first.click()
    gate.locator(".rendered").wait_for()
    assert "Unjudged documents" in gate.inner_text()
    shown.page.locator("#rg-expand").click()
    assert shown.page.locator("details.gate:not([open])").count() == 0
    shown.page.locator("#rg-expand").click()
    assert shown.page.locator("details.gate[open]").count() == 0
    assert shown.texts("nav.gates a") == ["✗ of 80 topics", "✗ in a pool", "✗ of 8 topics", "✓ fine"]
    shown.page.locator("nav.gates a", has_text="fine").click()
    shown.until("document.getElementById('fine').getBoundingClientRect().top < innerHeight")
    assert shown.page.locator("nav.gates").bounding_box()["y"] >= 0, "the list stays in sight"
    assert shown.faults == []


def test_words_and_tags_can_be_searched_and_clicked(opened, everything):
    shown = opened(everything)
    find = shown.page.locator(".find").first
    for words, found in (("machine Q00017", 1), ("no such topic", 0), ("intent=buy", 40), ("INTENT=bu", 0)):
        find.fill(words)
        assert shown.texts(".found")[0] == f"{found} of 80 topics", "a tag is asked for as a whole"
    find.fill("")
    shown.page.locator(f"{ROWS} .tag", has_text="intent=read").first.click()
    shown.until("document.querySelector('.find').value === 'intent=read'")
    assert shown.texts(".found")[0] == "40 of 80 topics"
    address, seen = shown.page.url, names(shown)
    assert address.endswith("#of-80-topics?find=intent%3Dread")
    shown.page.goto("about:blank")
    shown.page.goto(address)
    assert names(shown) == seen


def test_topics_can_be_sorted_and_turned_over(opened):
    verdict = pair(80)
    shown = opened(page_of(verdict))
    heading = shown.page.locator(".topic-table thead th", has_text="Baseline")
    heading.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "ascending"
    ordered = sorted(verdict.exhibits.baseline)
    cells = f"{ROWS} td:nth-child(2)"
    assert shown.texts(cells) == [f"{value:.4f}" for value in ordered[:20]]
    assert shown.page.locator(".previous").is_disabled()
    for _ in range(3):
        shown.page.locator(".next-page").click()
    assert shown.texts(".page") == ["page 4 of 4"]
    assert shown.texts(cells) == [f"{value:.4f}" for value in ordered[60:]]
    assert shown.page.locator(".next-page").is_disabled()
    heading.get_by_role("button").press("Enter")
    assert heading.get_attribute("aria-sort") == "descending"
    assert shown.texts(cells)[0] == f"{ordered[-1]:.4f}"


def test_addresses_that_lead_nowhere_do_no_harm(opened):
    shown = opened(page_of(pair(80)))
    for address in (
        "#%",
        "#of-80-topics/%E0",
        "#nothing",
        "#of-80-topics?show=__proto__&find=",
        "#of-80-topics?page=9",
    ):
        shown.page.evaluate("address => { location.hash = address; }", address)
        shown.page.wait_for_timeout(100)
        assert len(names(shown)) == 20
    assert shown.faults == []


def test_rankings_are_opened_from_the_card_the_row_and_a_chart(opened):
    verdict = with_rankings(with_documents(pair(80)))
    shown = opened(page_of(verdict))
    worst, second, third = (topic.topic for topic in verdict.responsible_topics[:3])
    panel = shown.page.locator(".panel")
    assert panel.count() == 1, "the worst query is open from the start"
    assert "“how do I reset my washing machine" in panel.locator("h4").inner_text()
    baseline, candidate = panel.locator("section").all()
    assert baseline.locator("h5").inner_text() == "old (baseline)"
    rows = [" ".join(text.split()) for text in baseline.locator("li").all_inner_texts()]
    assert rows == ["1 3 Kettle & <b>sensor</b> d-1 gone", "2 0 d 3 → 62"]
    assert [" ".join(text.split()) for text in candidate.locator("li").all_inner_texts()] == ["1 ? d-2 new"]
    assert candidate.locator(".unjudged").get_attribute("aria-label") == "unjudged"
    links = panel.locator("li a").evaluate_all("links => links.map(link => [link.href, link.rel])")
    assert links[0] == ["https://example.org/1", "noreferrer noopener"]
    shown.page.locator(f"{ROWS} .open").first.click()
    assert panel.count() == 0
    link = shown.page.locator(".worst tbody a").nth(1)
    for _ in range(2):  # the same link leads there again
        shown.page.evaluate("scrollTo(0, 0)")
        link.click()
        shown.until("document.querySelectorAll('.panel').length === 1 && scrollY > 100")
    assert shown.page.url.endswith(f"#of-80-topics/{second}")
    assert second in panel.inner_text()
    shown.page.locator(f".m[data-topic='{third}']").first.click()
    shown.until("document.querySelectorAll('.panel').length === 2")
    shown.page.goto(shown.address + f"#of-80-topics/{worst}")
    shown.until("document.querySelectorAll('.panel').length === 3")
    assert shown.page.locator("tr.target").get_attribute("id") == f"of-80-topics/{worst}"


def test_topics_can_be_downloaded_and_no_cell_computes(opened):
    verdict = pair(80)
    columns = verdict.exhibits
    queries = ("=1+1", "+1", "-1", "@SUM(A1)", ' "quoted", text', "\t=1", *columns.queries[6:])
    changed = replace(verdict, exhibits=replace(columns, queries=queries))
    shown = opened(render(Report([changed])), accept_downloads=True)
    shown.page.locator(".find").fill("q0000")
    with shown.page.expect_download() as waiting:
        shown.page.get_by_role("button", name="Download CSV").click()
    assert waiting.value.suggested_filename == "of-80-topics.csv"
    text = Path(waiting.value.path()).read_text(encoding="utf-8-sig")
    rows = {row["topic"]: row for row in csv.DictReader(io.StringIO(text))}
    assert sorted(rows) == [f"q0000{place}" for place in range(10)]
    assert [rows[f"q0000{place}"]["query"] for place in range(6)] == [
        "'=1+1", "'+1", "'-1", "'@SUM(A1)", '"quoted", text', "'=1"
    ]  # fmt: skip
    for place in range(10):
        row, at = rows[f"q0000{place}"], columns.topics.index(f"q0000{place}")
        assert float(row["candidate"]) == pytest.approx(columns.candidate[at], rel=1e-11)
        assert float(row["contribution"]) == pytest.approx(columns.contributions[at], rel=1e-11)


def test_commands_can_be_copied(opened):
    gates = [KnownGate("riskguard.yaml::of 30 topics", 3, "judged", 0, (0,))]
    shown = opened(render(Report([pair(30)], gates)), permissions=["clipboard-read", "clipboard-write"])
    shown.page.locator(".copy").first.click()
    shown.page.get_by_text("Copied").wait_for()
    copied = shown.page.evaluate("navigator.clipboard.readText()")
    assert copied == "pytest --riskguard 'riskguard.yaml::of 30 topics'"


def test_with_scripts_blocked_it_all_can_be_read(opened, everything):
    shown = opened(everything, java_script_enabled=False)
    words = shown.page.locator("body").inner_text()
    for text in ("Don't ship", "Why it failed", "These are the 10 most harmful of 80 topics"):
        assert text in words
    assert shown.page.locator(".topics").first.locator("tbody tr:visible").count() == 10
    assert shown.page.locator("button:visible, input:visible, select:visible").count() == 0
    shown.page.locator("details.gate summary").first.click()
    words = shown.page.locator("details.gate").first.inner_text()
    for text in ("requires: not significantly risky", "mean 0.5009 -> 0.4827", "alpha\t2", "TRisk"):
        assert text in words


@pytest.mark.parametrize(("scheme", "width"), [("light", 360), ("dark", 1200)])
def test_the_page_has_no_serious_barrier_and_is_no_wider_than_the_screen(opened, everything, scheme, width):
    """What axe finds; it is put into the page, which its policy would forbid."""
    shown = opened(everything.replace("of 8 topics", "x" * 90), width=width, color_scheme=scheme, bypass_csp=True)
    shown.page.locator("#rg-expand").click()
    violations = axe.Axe().run(shown.page).response["violations"]
    assert [one["id"] for one in violations if one["impact"] in {"serious", "critical"}] == []
    assert shown.page.evaluate("document.documentElement.scrollWidth") <= width


def test_hostile_text_executes_nothing(opened, monkeypatch):
    # no charts, so that all of the corpus fits in one page; test_charts looks at what pictures consist of
    monkeypatch.setattr("pytest_riskguard.reports.html.page.charts", lambda _: [])
    verdicts = [altered(hostile(text), exhibits=None, intervals=()) for text in STRINGS.values()]
    shown = opened(render(Report(verdicts, provenance=hostile_provenance("<script>alert(1)</script>"))))
    shown.page.locator("#rg-expand").click()
    shown.page.wait_for_timeout(300)
    assert shown.faults == []
    strange = "script:not(#rg-data):not(:last-child), iframe, object, embed, img, form, base, h1 ~ h1, [onerror]"
    assert shown.page.locator(strange).count() == 0
    assert shown.page.locator("details.gate").count() == len(STRINGS)
    links = shown.page.eval_on_selector_all("a", "links => links.map(link => link.getAttribute('href'))")
    assert all(link.startswith("#") or link == GLOSSARY for link in links)


def test_hostile_text_that_the_script_sets_executes_nothing(opened):
    verdict, texts = pair(120), list(STRINGS.values())
    columns = verdict.exhibits
    queries = tuple(texts[place % len(texts)] for place in range(len(columns.topics)))
    topics = tuple(f"{text[:40]}{topic}" for text, topic in zip(queries, columns.topics, strict=True))
    shown = opened(render(Report([replace(verdict, exhibits=replace(columns, topics=topics, queries=queries))])))
    for _ in range(5):
        assert shown.page.locator(".topic-table tbody :is(script, img, svg, b, iframe, style)").count() == 0
        shown.page.locator(".next-page").click()
    shown.page.locator(".find").fill("alert")
    assert shown.page.locator(".topic-table tbody tr").count() > 5
    assert shown.faults == []


def test_the_first_screen_says_what_broke_and_what_to_do(opened):
    gates = [KnownGate("riskguard.yaml::of 80 topics", 3, "judged", 0, (0,))]
    text = render(Report([tagged(with_documents(pair(80)), intent=("buy", "read") * 40)], gates))
    for width, height in ((1400, 900), (360, 800)):
        page = opened(text, width=width).page
        page.set_viewport_size({"width": width, "height": height})
        for selector in ("h1", ".worst tbody tr >> nth=5", ".next li >> nth=0", ".next .copy >> nth=0"):
            box = page.locator(selector).bounding_box()
            assert box["y"] + box["height"] <= height, (width, selector)
            assert box["x"] + box["width"] <= width


def rewritten(verdict: Verdict, **changed: dict[int, float]) -> Verdict:
    """The verdict with other scores or figures of some topics, by their places."""
    columns = verdict.exhibits
    values: Any = {
        name: tuple(places.get(place, value) for place, value in enumerate(getattr(columns, name)))
        for name, places in changed.items()
    }
    return replace(verdict, exhibits=replace(columns, **values))


def test_every_number_in_the_table_is_that_of_the_json_rounded(opened):
    verdict = rewritten(
        pair(80),
        contributions={0: -3e-7, 1: 2.5e9, 2: -1.23456789e12, 3: 0.0, 4: 4.9e-6, 5: -0.000005},
        standardised={0: 0.004, 1: -1e-9, 2: 1e10, 3: 0.0},
        baseline={6: 123456789.5, 7: 3e9, 8: 0.03125, 9: 0.09375, 10: -1e-6},
    )
    report = json.loads(report_json.dumps(Report([verdict])))["verdicts"][0]
    columns = report["exhibits"]
    shares = {row["topic"]: row["share"] for row in report["responsible_topics"]}
    expected = {}
    for place, topic in enumerate(columns["topics"]):
        before, after = columns["baseline"][place], columns["candidate"][place]
        expected[topic] = [
            plain(before),
            plain(after),
            signed(after - before),
            percent(shares[topic], 1) if topic in shares else "",
            signed(columns["contributions"][place], 5),
            signed(columns["standardised"][place], 2),
        ]
    shown = opened(render(Report([verdict])))
    seen = {}
    for _ in range(4):
        for name, row in zip(names(shown), shown.page.locator(ROWS).all(), strict=True):
            seen[name] = [text.strip() for text in row.locator("td").all_inner_texts()[:6]]
        if shown.page.locator(".next-page").is_enabled():
            shown.page.locator(".next-page").click()
    assert seen == expected


def test_no_table_is_cut_off_on_paper(opened, everything):
    page = opened(everything, width=720).page  # A4, with margins
    page.emulate_media(media="print")
    tables = [table.bounding_box() for table in page.locator("table:visible").all()]
    assert len(tables) > 2
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 720 for box in tables)
