"""The page in a real browser, opened from disk: nothing but the page is asked for, and all of it can be used.

The first test is enough for a quick look; the others are slow tests.
"""

from __future__ import annotations

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
from pytest_riskguard.reports.parts import glossary
from pytest_riskguard.text import percent, plain, signed
from tests.reports.hostile import STRINGS
from tests.reports.html.browsers import Opened
from tests.reports.html.many import many_candidates, many_gates
from tests.reports.html.verdicts import (
    hostile,
    hostile_provenance,
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


#: Elements of a page, however much it reports.
MAX_NODES = 5_000


@pytest.fixture(scope="session")
def everything():
    """A page with every part, long and short tables, and a gate of each outcome but one."""
    tags = {"intent": ("buy", "read") * 40}
    return render(
        Report([tagged(with_documents(pair(80)), **tags), pool(), pair(20, shift=0.1, name="fine"), pair(8)])
    )


@pytest.mark.slow
def test_nothing_is_asked_for_and_nothing_goes_wrong(opened, everything):
    shown = opened(everything)
    shown.page.wait_for_timeout(200)
    assert shown.faults == []
    assert shown.page.title() == "✗ Don't ship: 3 of 4 gates failed · riskguard"
    assert shown.page.locator(".scripted:not(.pager)[hidden]").count() == 0


ROWS = ".topic-table tbody tr[data-place]"


def names(shown: Opened) -> list[str]:
    """The topics of the table, by their ids."""
    return [row.rsplit("/", 1)[1] for row in shown.page.eval_on_selector_all(ROWS, "rows => rows.map(row => row.id)")]


@pytest.mark.slow
def test_words_and_tags_can_be_searched_and_clicked(opened, everything):
    shown = opened(everything)
    shown.page.locator(".find").first.fill("machine Q00017")
    assert shown.texts(".found")[0] == "1 of 80 topics"
    shown.page.locator(".find").first.fill("no such topic")
    assert shown.texts(".found")[0] == "0 of 80 topics"
    shown.page.locator(".find").first.fill("intent=buy")
    assert shown.texts(".found")[0] == "40 of 80 topics"
    assert set(shown.texts(f".topics >> nth=0 >> {ROWS} >> .tag")) == {"intent=buy"}
    shown.page.locator(".find").first.fill("INTENT=bu")
    assert shown.texts(".found")[0] == "0 of 80 topics", "a tag is asked for as a whole"
    shown.page.locator(".find").first.fill("")
    shown.page.locator(f"{ROWS} .tag", has_text="intent=read").first.click()
    shown.until("document.querySelector('.find').value === 'intent=read'")
    assert shown.texts(".found")[0] == "40 of 80 topics"
    assert "find=intent%3Dread" in shown.page.url


@pytest.mark.slow
def test_topics_can_be_sorted_and_turned_over(opened):
    verdict = pair(80)
    shown = opened(page_of(verdict))
    columns = verdict.exhibits
    heading = shown.page.locator(".topic-table thead th", has_text="Baseline")
    assert heading.get_attribute("aria-sort") == "none"
    heading.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "ascending"
    ordered = sorted(columns.baseline)
    cells = f"{ROWS} td:nth-child(2)"
    assert shown.texts(cells) == [f"{value:.4f}" for value in ordered[:20]]
    assert shown.texts(".page") == ["page 1 of 4"]
    assert shown.page.locator(".previous").is_disabled()
    for _ in range(3):
        shown.page.locator(".next-page").click()
    assert shown.texts(".page") == ["page 4 of 4"]
    assert shown.texts(cells) == [f"{value:.4f}" for value in ordered[60:]]
    assert shown.page.locator(".next-page").is_disabled()
    heading.get_by_role("button").press("Enter")
    assert heading.get_attribute("aria-sort") == "descending"
    assert shown.texts(cells)[0] == f"{ordered[-1]:.4f}"
    assert shown.faults == []


@pytest.mark.slow
def test_a_page_looks_as_its_address_says(opened):
    text = page_of(pair(80))
    shown = opened(text)
    shown.page.locator(".find").fill("machine")
    shown.page.locator(".topic-table thead th", has_text="Candidate").get_by_role("button").click()
    shown.page.locator(".next-page").click()
    seen, address = names(shown), shown.page.url
    assert address.endswith("#of-80-topics?find=machine&sort=candidate&page=2")
    shown.page.reload()
    assert names(shown) == seen
    shown.page.goto("about:blank")
    shown.page.goto(address)
    assert names(shown) == seen
    assert shown.texts(".page") == ["page 2 of 4"]
    assert shown.page.locator(".find").input_value() == "machine"


@pytest.mark.slow
@pytest.mark.parametrize(
    "address",
    [
        "#%",
        "#of-80-topics/%E0",
        "#nothing",
        "#of-80-topics?sort=__proto__&show=constructor",
        "#of-80-topics?show=__proto__",
    ],
)
def test_addresses_that_lead_nowhere_do_no_harm(opened, address):
    shown = opened(page_of(pair(80)))
    shown.page.evaluate("address => { location.hash = address; }", address)
    shown.page.wait_for_timeout(100)
    assert len(names(shown)) == 20
    assert shown.faults == []


@pytest.mark.slow
def test_rankings_are_opened_from_the_card_and_the_row(opened):
    verdict = with_rankings(with_documents(pair(80)))
    shown = opened(page_of(verdict))
    worst, second = (topic.topic for topic in verdict.responsible_topics[:2])
    panel = shown.page.locator(".panel")
    assert panel.count() == 1, "the worst query is open from the start"
    assert "“how do I reset my washing machine" in panel.locator("h4").inner_text()
    baseline, candidate = panel.locator("section").all()
    assert baseline.locator("h5").inner_text() == "old (baseline)"
    rows = [" ".join(text.split()) for text in baseline.locator("li").all_inner_texts()]
    assert rows == ["1 3 Kettle & <b>sensor</b> d-1 gone", "2 0 d 3 → 62"]
    rows = [" ".join(text.split()) for text in candidate.locator("li").all_inner_texts()]
    assert rows == ["1 ? d-2 new"]
    assert candidate.locator(".unjudged").get_attribute("aria-label") == "unjudged"
    links = panel.locator("li a").evaluate_all("links => links.map(link => [link.href, link.rel])")
    assert links[0] == ["https://example.org/1", "noreferrer noopener"]
    shown.page.locator(f"{ROWS} .open").first.click()
    assert panel.count() == 0
    bell = shown.page.locator(".worst .bell").nth(1).bounding_box()
    shown.page.mouse.click(bell["x"] + bell["width"] / 2, bell["y"] + bell["height"] / 2)
    shown.until("document.querySelectorAll('.panel').length === 1")
    assert shown.page.url.endswith(f"#of-80-topics/{second}")
    assert second in panel.inner_text()
    shown.page.evaluate("scrollTo(0, 0)")
    shown.page.mouse.click(bell["x"] + bell["width"] / 2, bell["y"] + bell["height"] / 2)
    shown.until("scrollY > 100")
    assert panel.count() == 1, "the same link leads there again"
    shown.page.goto(shown.address + f"#of-80-topics/{worst}")
    shown.until("document.querySelectorAll('.panel').length === 2")
    assert shown.page.locator("tr.target").get_attribute("id") == f"of-80-topics/{worst}"


@pytest.mark.slow
def test_keys_lead_through_the_queries(opened):
    shown = opened(page_of(with_rankings(with_documents(pair(80)))))
    shown.page.keyboard.press("/")
    assert shown.page.evaluate("document.activeElement.className") == "find"
    shown.page.keyboard.type("machine j k")
    assert shown.page.locator(".find").input_value() == "machine j k", "keys are letters where one types"
    shown.page.locator(".find").fill("")
    shown.page.keyboard.press("Escape")
    rows = names(shown)
    at = "document.querySelector('tr.target').id.split('/')[1]"
    for row in rows[:3]:
        shown.page.keyboard.press("j")
        assert shown.page.evaluate(at) == row
    assert shown.page.locator(".panel").count() <= 2
    shown.page.keyboard.press("k")
    assert shown.page.evaluate(at) == rows[1]
    assert shown.page.url.endswith(f"/{rows[1]}")
    assert not shown.page.locator("#rg-help").is_visible()
    shown.page.keyboard.press("?")
    assert shown.page.locator("#rg-help").is_visible()
    shown.page.keyboard.press("Escape")
    assert not shown.page.locator("#rg-help").is_visible()
    assert shown.faults == []


@pytest.mark.slow
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


@pytest.mark.slow
def test_commands_can_be_copied(opened):
    gates = [KnownGate("riskguard.yaml::of 30 topics", 3, "judged", 0, (0,))]
    text = render(Report([pair(30)], gates))
    command = "pytest --riskguard 'riskguard.yaml::of 30 topics'"
    shown = opened(text, permissions=["clipboard-read", "clipboard-write"])
    shown.page.locator(".copy").first.click()
    shown.page.get_by_text("Copied").wait_for()
    assert shown.page.evaluate("navigator.clipboard.readText()") == command
    old = opened(text)
    old.page.evaluate(
        "Object.defineProperty(navigator, 'clipboard', {value: undefined}); document.execCommand = () => false"
    )
    old.page.locator(".copy").first.click()
    old.page.get_by_text("Press Ctrl+C").wait_for()
    assert old.page.evaluate("getSelection().toString()") == command, "it is selected for the reader to copy"


@pytest.mark.slow
def test_parts_are_rendered_when_they_are_opened(opened, everything):
    shown = opened(everything)
    gate = shown.page.locator("details.gate").first
    assert gate.locator("svg").count() == 0
    gate.locator("summary").first.click()
    gate.locator(".rendered").wait_for()
    assert "Unjudged documents" in gate.inner_text()
    before = shown.page.locator("*").count()
    shown.page.locator("#rg-expand").click()
    assert shown.page.locator("#rg-expand").inner_text() == "Collapse all"
    assert shown.page.locator("details.gate:not([open])").count() == 0
    assert shown.page.locator("*").count() > before
    shown.page.locator("#rg-expand").click()
    assert shown.page.locator("details.gate[open]").count() == 0
    assert shown.faults == []


@pytest.mark.slow
def test_the_list_of_gates_leads_to_each(opened, everything):
    shown = opened(everything)
    assert shown.texts("nav.gates a") == ["✗ of 80 topics", "✗ in a pool", "? of 8 topics", "✓ fine"]
    link = shown.page.locator("nav.gates a", has_text="fine")
    link.click()
    shown.until("document.getElementById('fine').getBoundingClientRect().top < innerHeight")
    assert shown.page.url.endswith("#fine")
    assert shown.page.locator("nav.gates").bounding_box()["y"] >= 0, "the list stays in sight"


@pytest.mark.slow
def test_charts_can_be_read_with_pointer_and_keyboard(opened):
    shown = opened(page_of(pair(50)))
    shown.page.locator("#rg-expand").click()
    chart, tip = shown.page.locator(".chart").first, shown.page.locator("#rg-tip")
    chart.locator(".m").first.hover()
    first = tip.inner_text()
    assert " → 0." in first
    shown.page.mouse.move(0, 0)  # else the page may scroll under the pointer, which then points at another value
    tip.wait_for(state="hidden")
    chart.focus()
    chart.press("ArrowRight")
    assert tip.inner_text() == first
    chart.press("ArrowRight")
    assert tip.is_visible()
    assert tip.inner_text() != first
    chart.press("Escape")
    assert not tip.is_visible()
    assert shown.faults == []


@pytest.mark.slow
def test_with_scripts_blocked_it_all_can_be_read(opened, everything):
    shown = opened(everything, java_script_enabled=False)
    words = shown.page.locator("body").inner_text()
    assert "Don't ship" in words
    assert "Why it failed" in words
    assert "These are the 10 most harmful of 80 topics" in words
    assert shown.page.locator(".topics").first.locator("tbody tr:visible").count() == 10
    assert shown.page.locator("button:visible, input:visible, select:visible").count() == 0
    shown.page.locator("details.gate summary").first.click()
    words = shown.page.locator("details.gate").first.inner_text()
    for text in (
        "requires: not significantly risky",
        "mean 0.5009 -> 0.4827",
        "Settings and inputs",
        "alpha\t2",
        "TRisk",
    ):
        assert text in words


def serious_barriers(shown: Opened) -> list[tuple[Any, ...]]:
    """What axe finds; it is put into the page, which its policy would forbid."""
    return [
        (violation["id"], violation["nodes"][0]["html"][:200], violation["nodes"][0]["any"][:1])
        for violation in axe.Axe().run(shown.page).response["violations"]
        if violation["impact"] in {"serious", "critical"}
    ]


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
def test_no_serious_barrier(opened, everything, scheme, width):
    shown = opened(everything, width=width, color_scheme=scheme, bypass_csp=True)
    shown.page.locator("#rg-expand").click()
    assert serious_barriers(shown) == []


@pytest.mark.nightly
@pytest.mark.parametrize("make", [many_gates, many_candidates])
def test_thirty_gates_keep_to_the_budget_and_have_no_serious_barrier(opened, make):
    page = render(make(30, topics=40))
    for scheme, width in (("light", 1200), ("dark", 360)):
        shown = opened(page, width=width, color_scheme=scheme, bypass_csp=True)
        assert shown.page.locator("*").count() < MAX_NODES
        assert shown.page.locator("nav.gates a").count() == 30
        assert serious_barriers(shown) == []
        assert shown.page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.slow
@pytest.mark.parametrize("width", [360, 800, 1400, 2560])
def test_the_page_is_never_wider_than_the_screen(opened, everything, width):
    shown = opened(everything.replace("of 8 topics", "x" * 90), width=width)
    shown.page.locator("#rg-expand").click()
    assert shown.page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.slow
def test_hostile_text_executes_nothing(opened, monkeypatch):
    # no charts, so that all of the corpus fits in one page; test_charts looks at what pictures consist of
    monkeypatch.setattr("pytest_riskguard.reports.html.page.charts", lambda _: [])
    trap = "globalThis.trapped = []; globalThis.alert = text => trapped.push(text)"
    verdicts = [hostile(text) for text in STRINGS.values()]
    altered_verdicts = [altered(each, exhibits=None, intervals=()) for each in verdicts]
    shown = opened(render(Report(altered_verdicts, provenance=hostile_provenance("<script>alert(1)</script>"))))
    shown.page.add_init_script(trap)
    shown.page.reload()
    shown.page.locator("#rg-expand").click()
    shown.page.wait_for_timeout(300)
    assert shown.page.evaluate("trapped") == []
    assert shown.faults == []
    strange = "script:not(#rg-data):not(:last-child), iframe, object, embed, img, form, base, h1 ~ h1, [onerror]"
    assert shown.page.locator(strange).count() == 0
    assert shown.page.locator("h1").count() == 1
    assert shown.page.locator("details.gate").count() == len(STRINGS)
    links = shown.page.eval_on_selector_all("a", "links => links.map(link => link.getAttribute('href'))")
    assert all(link.startswith("#") or link == glossary() for link in links)


def long_and_hostile(verdict: Verdict) -> Verdict:
    """So many topics that the script makes the table, each with a text of the corpus."""
    columns = verdict.exhibits
    texts = list(STRINGS.values())
    queries = tuple(texts[place % len(texts)] for place in range(len(columns.topics)))
    topics = tuple(f"{text[:40]}{topic}" for text, topic in zip(queries, columns.topics, strict=True))
    return replace(verdict, exhibits=replace(columns, topics=topics, queries=queries))


@pytest.mark.slow
def test_hostile_text_that_the_script_sets_executes_nothing(opened):
    shown = opened(render(Report([long_and_hostile(pair(120))])))
    for _ in range(5):
        assert shown.page.locator(".topic-table tbody :is(script, img, svg, b, iframe, style)").count() == 0
        if shown.page.locator(".next-page").is_enabled():
            shown.page.locator(".next-page").click()
    shown.page.locator(".find").fill("alert")
    assert shown.page.locator(".topic-table tbody tr").count() > 5
    for chart in shown.page.locator(".chart").all()[:2]:
        chart.focus()
        for _ in range(8):
            chart.press("ArrowRight")
    assert shown.page.locator("#rg-tip *").count() == 0
    assert shown.faults == []


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_mark_of_a_chart_opens_the_rankings(opened):
    verdict = with_rankings(with_documents(pair(80)))
    shown = opened(page_of(verdict))
    second = verdict.responsible_topics[1].topic
    shown.page.locator(f".m[data-topic='{second}']").first.click()
    shown.until("document.querySelectorAll('.panel').length === 2")
    assert shown.page.url.endswith(f"#of-80-topics/{second}")


def rewritten(verdict: Verdict, **changed: dict[int, float]) -> Verdict:
    """The verdict with other scores or figures of some topics, by their places."""
    columns = verdict.exhibits
    values: Any = {
        name: tuple(places.get(place, value) for place, value in enumerate(getattr(columns, name)))
        for name, places in changed.items()
    }
    return replace(verdict, exhibits=replace(columns, **values))


@pytest.mark.slow
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


@pytest.mark.slow
def test_no_table_is_cut_off_on_paper(opened, everything):
    page = opened(everything, width=720).page  # A4, with margins
    page.emulate_media(media="print")
    tables = [table.bounding_box() for table in page.locator("table:visible").all()]
    assert len(tables) > 2
    for box in tables:
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 720
