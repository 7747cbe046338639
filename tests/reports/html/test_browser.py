"""The page in a real browser, opened from disk: nothing but the page is asked for, and all of it can be used.

The first test is enough for a quick look; the others are slow tests.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.html import render
from tests.reports.hostile import STRINGS
from tests.reports.html.verdicts import hostile, page_of, pair, pool, tagged, with_documents
from tests.verdicts import altered

if os.environ.get("RISKGUARD_REQUIRE_BROWSER") == "1":  # where the browser is required, so is what drives it
    import axe_playwright_python.sync_playwright as axe
    import playwright.sync_api as sync_api
else:
    sync_api = pytest.importorskip("playwright.sync_api", reason="no browser: playwright is not installed")
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="no browser: axe-playwright-python is not installed"
    )

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)


@pytest.fixture(scope="session")
def browser() -> Iterator[sync_api.Browser]:
    if CHROMIUM is None:
        if os.environ.get("RISKGUARD_REQUIRE_BROWSER") == "1":
            pytest.fail("RISKGUARD_REQUIRE_BROWSER=1, and no Chromium: apt-get install chromium")
        pytest.skip("no browser: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


class Opened:
    """A page and all that it did beside showing itself."""

    def __init__(self, page: sync_api.Page, path: Path) -> None:
        self.page = page
        self.faults: list[str] = []
        page.on("console", lambda message: self.faults.append(f"console {message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("dialog", self._dismissed)
        page.on("request", self._asked)
        page.on("popup", lambda popup: self.faults.append(f"popup: {popup.url}"))
        self.address = path.as_uri()
        page.goto(self.address)

    def _dismissed(self, dialog: sync_api.Dialog) -> None:
        self.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _asked(self, request: sync_api.Request) -> None:
        if request.url.partition("#")[0] != self.address:
            self.faults.append(f"request: {request.url[:200]}")

    def texts(self, selector: str) -> list[str]:
        return [text.strip() for text in self.page.locator(selector).all_inner_texts()]


Open = Callable[..., Opened]


@pytest.fixture
def opened(browser: sync_api.Browser, tmp_path: Path) -> Iterator[Open]:
    contexts = []

    def open_(text: str, *, width: int = 1200, **options: Any) -> Opened:
        path = tmp_path / "report.html"
        path.write_text(text, encoding="utf-8")
        contexts.append(browser.new_context(viewport={"width": width, "height": 900}, **options))
        return Opened(contexts[-1].new_page(), path)

    yield open_
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def everything() -> str:
    """A page with every part, long and short tables, and a gate of each outcome but one."""
    tags = {"intent": ("buy", "read") * 40}
    return render([tagged(with_documents(pair(80)), **tags), pool(), pair(20, shift=0.1, name="fine"), pair(8)])


def test_nothing_is_asked_for_and_nothing_goes_wrong(opened: Open, everything: str):
    shown = opened(everything)
    shown.page.wait_for_timeout(200)
    assert shown.faults == []
    assert shown.page.title().startswith("riskguard: ")
    assert shown.page.locator(".scripted[hidden]").count() == 0


@pytest.mark.slow
def test_a_page_that_breaks_its_policy_is_noticed(opened: Open, everything: str):
    shown = opened(
        everything.replace("</body>", "<script>trap = 1</script><img src='http://localhost:9/x.png'></body>")
    )
    shown.page.wait_for_timeout(200)
    assert len(shown.faults) >= 2, "so the test above can fail"
    assert shown.page.evaluate("typeof trap") == "undefined"


@pytest.mark.slow
def test_topics_can_be_searched(opened: Open):
    shown = opened(page_of(pair(80)))
    assert len(shown.texts(".topic-table tbody tr")) == 25
    shown.page.locator(".find").fill("machine Q00017")
    assert shown.texts(".topic-table tbody th") == ["q00017"]
    assert shown.texts(".found") == ["1 of 80 topics"]
    shown.page.locator(".find").fill("no such topic")
    assert shown.texts(".topic-table tbody tr") == []
    shown.page.locator(".find").fill("")
    assert shown.texts(".found") == ["80 topics"]


@pytest.mark.slow
def test_topics_can_be_sorted_and_turned_over(opened: Open):
    verdict = pair(80)
    shown = opened(page_of(verdict))
    columns = verdict.exhibits.topics
    heading = shown.page.locator(".topic-table thead th", has_text="Baseline")
    assert heading.get_attribute("aria-sort") == "none"
    heading.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "ascending"
    ordered = sorted(columns.baseline)
    cells = ".topic-table tbody td:nth-child(3)"
    assert shown.texts(cells) == [f"{value:.4f}" for value in ordered[:25]]
    assert shown.texts(".page") == ["page 1 of 4"]
    assert shown.page.locator(".before").is_disabled()
    for _ in range(3):
        shown.page.locator(".next").click()
    assert shown.texts(".page") == ["page 4 of 4"]
    assert shown.texts(cells) == [f"{value:.4f}" for value in ordered[75:]]
    assert shown.page.locator(".next").is_disabled()
    heading.get_by_role("button").press("Enter")
    assert heading.get_attribute("aria-sort") == "descending"
    assert shown.texts(cells)[0] == f"{ordered[-1]:.4f}"
    assert shown.faults == []


@pytest.mark.slow
def test_the_script_shows_the_rows_that_the_page_held(opened: Open):
    text = page_of(pair(80))
    without, with_script = opened(text, java_script_enabled=False), opened(text)
    assert without.texts(".topic-table tbody tr") == with_script.texts(".topic-table tbody tr")


@pytest.mark.slow
def test_topics_can_be_chosen(opened: Open):
    verdict = pair(80)
    shown = opened(page_of(verdict))
    for which, count in (("loss", verdict.topics.losses), ("win", verdict.topics.wins)):
        shown.page.locator(".which").select_option(which)
        assert shown.texts(".found") == [f"{count} of 80 topics"]
    shown.page.locator(".which").select_option("marked")
    marks = shown.texts(".topic-table tbody td:nth-child(8)")
    assert marks
    assert all(marks)


@pytest.mark.slow
def test_gates_can_be_found_sorted_and_filtered(opened: Open, everything: str):
    shown = opened(everything)
    names = "#gates-table tbody tr:not([hidden]) th"
    assert shown.texts(names) == ["of 80 topics", "in a pool", "fine", "of 8 topics"]
    shown.page.locator("#find-gate").fill("pool")
    assert shown.texts(names) == ["in a pool"]
    assert shown.page.locator(".gate:visible").count() == 1
    shown.page.locator("#find-gate").fill("")
    shown.page.locator("#find-outcome").select_option("pass")
    assert shown.texts(names) == ["fine"]
    shown.page.locator("#find-outcome").select_option("")
    shown.page.locator("#gates-table thead").get_by_role("button", name="Gate").click()
    assert shown.texts(names) == ["fine", "in a pool", "of 8 topics", "of 80 topics"]
    shown.page.locator("#gates-table thead").get_by_role("button", name="Losses").click()
    losses = [int(text) for text in shown.texts("#gates-table tbody td:nth-child(9)")]
    assert losses == sorted(losses)


@pytest.mark.slow
def test_links_open_what_is_folded(opened: Open, everything: str):
    shown = opened(everything)
    assert not shown.page.locator("#gate-3").evaluate("gate => gate.open")
    shown.page.locator("#gates-table a", has_text="fine").click()
    shown.page.wait_for_function("document.getElementById('gate-3').open")
    shown.page.locator(".topic-table a").first.click()
    shown.page.wait_for_function("document.getElementById('gate-1-documents-1').open")
    assert "manual-17" in shown.page.locator("#gate-1-documents-1").inner_text()


@pytest.mark.slow
def test_charts_can_be_read_with_pointer_and_keyboard(opened: Open):
    shown = opened(page_of(pair(50)))
    chart, tip = shown.page.locator(".chart").first, shown.page.locator("#tip")
    chart.locator(".m").first.hover()
    first = tip.inner_text()
    assert ", difference -" in first
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
def test_light_and_dark_can_be_changed(opened: Open):
    shown = opened(page_of(pair(50)), color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = shown.page.evaluate(ground)
    bar = ".chart [fill='#d55e00']"
    dark_bar = shown.page.locator(bar).first.evaluate("bar => getComputedStyle(bar).fill")
    shown.page.locator("#theme").click()
    assert shown.page.evaluate(ground) == "rgb(255, 255, 255)" != dark
    assert (
        shown.page.locator(bar).first.evaluate("bar => getComputedStyle(bar).fill") == "rgb(213, 94, 0)" != dark_bar
    )
    shown.page.locator("#theme").click()
    assert shown.page.evaluate(ground) == dark


@pytest.mark.slow
def test_with_scripts_blocked_it_all_can_be_read(opened: Open, everything: str):
    shown = opened(everything, java_script_enabled=False)
    words = shown.page.locator("body").inner_text()
    assert "significantly risky: URisk(alpha=2) = " in words
    assert "These are the 25 most harmful of 80 topics" in words
    assert shown.page.locator("svg:visible").count() >= 10
    assert shown.page.locator("#gate-1 .topic-table tbody tr:visible").count() == 25
    assert shown.page.locator("button:visible, input:visible, select:visible").count() == 0
    assert shown.page.locator(".m title").count() > 50, "tooltips of the browser's own"


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
def test_no_serious_barrier(opened: Open, everything: str, scheme: str, width: int):
    # axe is put into the page, which its policy would forbid
    shown = opened(everything, width=width, color_scheme=scheme, bypass_csp=True)
    shown.page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
    found = axe.Axe().run(shown.page).response["violations"]
    serious = [
        (each["id"], each["nodes"][0]["html"][:200], each["nodes"][0]["any"][:1])
        for each in found
        if each["impact"] in {"serious", "critical"}
    ]
    assert serious == []


@pytest.mark.slow
@pytest.mark.parametrize("width", [360, 800, 1400, 2560])
def test_the_page_is_never_wider_than_the_screen(opened: Open, everything: str, width: int):
    shown = opened(everything.replace("of 8 topics", "x" * 90), width=width)
    shown.page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
    assert shown.page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.slow
def test_one_gate_is_no_plural(opened: Open):
    shown = opened(page_of(pair(30)))
    assert shown.page.locator("#found-gates").inner_text() == "1 gate"


@pytest.mark.slow
def test_hostile_text_executes_nothing(opened: Open, monkeypatch: pytest.MonkeyPatch):
    # no charts, so that all of the corpus fits in one page; test_charts looks at what pictures consist of
    monkeypatch.setattr("pytest_riskguard.reports.html.gate.charts", lambda _: [])
    trap = "globalThis.trapped = []; globalThis.alert = text => trapped.push(text)"
    verdicts = [hostile(text) for text in STRINGS.values()]
    shown = opened(render([altered(each, exhibits=None, intervals=()) for each in verdicts]))
    shown.page.add_init_script(trap)
    shown.page.reload()
    shown.page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
    shown.page.wait_for_timeout(300)
    assert shown.page.evaluate("trapped") == []
    assert shown.faults == []
    strange = (
        "script:not(#data):not(:last-child), iframe, object, embed, img, form, base, h1 ~ h1, main ~ main, [onerror]"
    )
    assert shown.page.locator(strange).count() == 0
    assert shown.page.locator("h1").count() == 1
    assert shown.page.locator(".gate").count() == len(STRINGS)
    links = shown.page.eval_on_selector_all("a", "links => links.map(link => link.getAttribute('href'))")
    assert all(link.startswith("#") for link in links)


def long_and_hostile(verdict: Verdict) -> Verdict:
    """So many topics that the script makes the table, each with a text of the corpus."""
    columns = verdict.exhibits.topics
    texts = list(STRINGS.values())
    queries = tuple(texts[place % len(texts)] for place in range(len(columns.topics)))
    topics = tuple(f"{text[:40]}{topic}" for text, topic in zip(queries, columns.topics, strict=True))
    return replace(
        verdict, exhibits=replace(verdict.exhibits, topics=replace(columns, topics=topics, queries=queries))
    )


@pytest.mark.slow
def test_hostile_text_that_the_script_sets_executes_nothing(opened: Open):
    shown = opened(render([long_and_hostile(pair(120))]))
    for _ in range(5):
        assert shown.page.locator(".topic-table tbody :is(script, img, svg, b, iframe, style)").count() == 0
        if shown.page.locator(".next").is_enabled():
            shown.page.locator(".next").click()
    shown.page.locator(".find").fill("alert")
    assert shown.page.locator(".topic-table tbody tr").count() > 5
    for chart in shown.page.locator(".chart").all()[:2]:
        chart.focus()
        for _ in range(8):
            chart.press("ArrowRight")
    assert shown.page.locator("#tip *").count() == 0
    assert shown.faults == []


@pytest.mark.slow
def test_ten_thousand_topics_stay_usable(opened: Open):
    shown = opened(render([pair(10_000)]))
    assert shown.texts(".page") == ["page 1 of 400"]
    shown.page.locator(".find").fill("q09999")
    assert shown.texts(".topic-table tbody th") == ["q09999"]
    assert shown.page.locator("*").count() < 6000
    assert shown.faults == []


@pytest.mark.slow
def test_no_table_is_cut_off_on_paper(opened: Open, everything: str):
    page = opened(everything, width=720).page  # A4, with margins
    page.emulate_media(media="print")
    tables = [table.bounding_box() for table in page.locator("table:visible").all()]
    assert len(tables) > 2
    for box in tables:
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 720
