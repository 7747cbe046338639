"""The page as text: what it holds, how large it is, what it allows itself."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from pytest_riskguard.errors import UsageError
from pytest_riskguard.gates.verdict import Inputs, Verdict
from pytest_riskguard.reports.comparisons import KnownGate, Report
from pytest_riskguard.reports.html import ensure_available, render
from pytest_riskguard.reports.html.page import STATIC_ROWS, topic_rows
from pytest_riskguard.reports.html.whole_page import script_json
from pytest_riskguard.reports.parts import GLOSSARY
from pytest_riskguard.reports.warning_sentences import worded
from pytest_riskguard.text import clean
from tests.reports.hostile import NAMES, STRINGS, hostile_provenance, incomparable_with
from tests.reports.html.verdicts import (
    bare,
    hostile,
    once,
    page_of,
    pair,
    pool,
    provenance,
    tagged,
    with_documents,
    with_rankings,
)
from tests.snapshots import golden, golden_json
from tests.verdicts import altered

GOLDEN = Path(__file__).parent / "golden"


class Page(HTMLParser):
    """Tags, ids, words outside scripts and styles, and what stands inside of them."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words, self.inside, self.raw = "", "", dict[str, str]()
        self.templates, self.shown_tags = 0, 0
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.shown_tags += not self.templates
        self.templates += tag == "template"
        if tag in {"script", "style"}:
            self.inside = f"{tag} {dict(attrs).get('id', '')}".strip()

    def handle_endtag(self, tag: str) -> None:
        self.templates -= tag == "template"
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.raw[self.inside] = self.raw.get(self.inside, "") + data
        else:
            self.words += f" {data}"

    @property
    def said(self) -> str:
        return " ".join(self.words.split())

    @property
    def data(self) -> list[dict[str, Any]]:
        """What the script gets of each comparison."""
        return json.loads(self.raw["script rg-data"])["comparisons"]


@once
def parsed(*verdicts: Verdict) -> Page:
    return Page(page_of(*verdicts))


@pytest.fixture
def verdict():
    return with_documents(pair(50))


def test_the_page_and_its_data_are_those_that_were_looked_at():
    failed = tagged(with_rankings(with_documents(pair(12))), intent=("buy", "", "read") * 4)
    inputs = Inputs("sha256:q", "sha256:c", {"old": "sha256:b"})
    both = (with_documents(pair(12, alpha=0)), failed)
    verdicts = [worded(altered(each, inputs=inputs, gate="calm one")) for each in both]
    gates = (KnownGate("test_a.py::b", 3, "judged", 2, (1,)), KnownGate("test_a.py::c", 9, "crashed", 0, ()))
    page = render(
        Report([*verdicts, altered(pool(12), gate="rg-main")], gates, provenance(age=45.2), ["tolerance 0 -> 1"])
    )
    title, _, shown = re.sub(r"(?s)<svg viewBox.*?</svg>", "", page).partition("<title>")[2].partition("<style>")
    lines = (title + shown.partition("</head>")[2].partition("<footer>")[0]).splitlines()
    golden(GOLDEN / "page.html", "\n".join(filter(None, map(str.strip, lines))) + "\n")
    golden_json(GOLDEN / "page.json", Page(page).data)


@pytest.mark.parametrize("address", ["javascript:alert(1)", "//example.org/x", 'https://example.org/"onclick="'])
def test_only_web_addresses_become_links(verdict, address):
    known = replace(with_rankings(verdict).documents, urls={"d-1": address})
    (data,) = Page(render(Report([replace(verdict, documents=known)]))).data
    assert data["panels"]["documents"][0] == ["d-1", "Kettle & <b>sensor</b>", None]


def test_gates_on_the_same_inputs_share_topics_and_rankings(verdict):
    inputs = Inputs("sha256:q", "sha256:c", {"old": "sha256:b"})
    first = altered(verdict, inputs=inputs)
    second = replace(first, asked=replace(first.asked, name="again", alpha=5.0))
    page = parsed(first, second)
    (data,) = page.data
    assert data["anchors"] == ["of-50-topics", "again"]
    assert len(data["topics"]) == 50
    rows = [tag for tag, attributes in page.tags if tag == "tr" and "/" in (attributes.get("id") or "")]
    assert len(rows) == STATIC_ROWS, "once for both gates"
    part = altered(first, gate="part", exhibits=None, topics=replace(first.topics, count=9))
    assert len(parsed(part, second).data[0]["topics"]) == 50, "those of the gate on all topics"
    assert "this gate: alpha 2" in page.said, "a chart is that of the first gate"
    assert "this gate: alpha 5" not in page.said
    for text in (
        "again ✗ fail not significantly risky 5 URisk",
        "of 50 topics ✗ fail not significantly risky 2 URisk",
    ):
        assert text in page.said


def test_ids_are_unique_and_links_lead_somewhere(verdict):
    page = parsed(*[verdict] * 3, pool())
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    anchors = {anchor for comparison in page.data for anchor in comparison["anchors"]}
    assert anchors <= set(ids)
    for tag, attributes in page.tags:
        if tag == "a" and attributes["href"].startswith("#"):
            place, _, topic = attributes["href"][1:].partition("?")[0].partition("/")
            assert place in ids
            assert not topic or any(unquote(topic) in comparison["topics"] for comparison in page.data)
        for name in ("aria-labelledby", "aria-controls", "for"):
            assert set((attributes.get(name) or "").split()) <= set(ids)


def test_the_policy_allows_what_is_there_and_nothing_else(verdict):
    text, page = page_of(verdict), parsed(verdict)
    policy = next(
        a["content"] for tag, a in page.tags if tag == "meta" and a.get("http-equiv") == "Content-Security-Policy"
    )
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"

    def digest(name: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(page.raw[name].encode()).digest()).decode()}'"

    assert rules["style-src"] == digest("style")
    assert rules["script-src"] == digest("script")
    for tag, attributes in page.tags:
        assert not {name for name in attributes if name.startswith("on") or name in {"style", "src"}}, tag
    without = text.replace(page.raw["script"], "").replace(f'href="{GLOSSARY}"', "")
    assert not re.search(r"(?:https?:)?//(?!www\.w3\.org)[a-z]", without)
    assert not re.search(r"innerHTML|insertAdjacent|document\.write|eval\(|new Function|fetch\(", page.raw["script"])


@pytest.fixture(scope="module")
def calm():
    """The page of hostile texts with a harmless one in their place."""
    return hostile_page("calm")


def hostile_page(text: str) -> Page:
    return Page(render(Report([hostile(text), incomparable_with(text)], provenance=hostile_provenance(text))))


#: A page with its charts takes a quarter of a second.
@pytest.mark.parametrize("name", NAMES)
def test_hostile_text_is_text(name, calm):
    page = hostile_page(STRINGS[name])

    def shape(page: Page) -> list[str]:
        return [tag for tag, _ in page.tags if tag not in {"tspan", "text"}]  # labels take the lines that they need

    if clean(STRINGS[name]):
        assert shape(page) == shape(calm)
    else:  # a text of which nothing is left has no column
        assert set(shape(page)) <= set(shape(calm))
    assert page.raw["script"] == calm.raw["script"]
    said = {c for c in page.words if c not in "\n"}
    assert not {c for c in said if ord(c) < 32 or 0x7F <= ord(c) < 0xA0 or c in "\u202e\u2066\u2028\ud800"}


def test_data_cannot_end_their_element():
    text = "</script><!--<script>&\u2028\u2029"
    written = script_json([text])
    assert json.loads(written) == [text]
    assert not set("<>&\u2028\u2029") & set(written)


def test_beyond_the_budget_the_most_harmful_stay(monkeypatch):
    monkeypatch.setattr("pytest_riskguard.reports.html.page.MAX_BYTES", 20_000)
    monkeypatch.setattr("pytest_riskguard.reports.html.page._MAX_DRAWN", 0)
    page = Page(render(Report([pair(500)])))
    (data,) = page.data
    assert "figure" not in {tag for tag, _ in page.tags}
    assert data["count"] == 500
    assert 50 < len(data["topics"]) < 500
    assert data["topics"] == [row.topic for row in topic_rows(pair(500))[: len(data["topics"])]]


@pytest.mark.slow
def test_ten_thousand_topics_with_long_queries_stay_below_five_megabytes():
    verdict = pair(10_000)
    columns = replace(verdict.exhibits, queries=("質" * 400,) * 10_000)
    assert len(render(Report([replace(verdict, exhibits=columns)])).encode()) < 5_000_000


def test_no_verdict_is_a_page_too():
    assert "This report has no verdicts." in parsed().said
    lost = KnownGate("a.py::b", 1, "lost", 0, ())
    assert "<title>! No verdict: " in render(Report([pair(12, shift=0.2)], [lost]))


def test_many_comparisons_stay_small(verdict):
    few, many = (
        parsed(*(altered(bare(verdict), gate=f"gate {place}") for place in range(count))) for count in (4, 14)
    )
    assert few.shown_tags < 2_200
    assert many.shown_tags - few.shown_tags < 10 * 75
    assert many.said.count("Worst: ") == 10


def test_without_the_extra_the_message_names_the_command(monkeypatch):
    ensure_available()
    monkeypatch.setattr(
        "pytest_riskguard.reports.html.find_spec", lambda name: None if name == "jinja2" else find_spec(name)
    )
    for ask in (ensure_available, lambda: render(Report([]))):
        with pytest.raises(UsageError, match=r"jinja2: pip install 'pytest-riskguard\[report\]'"):
            ask()
