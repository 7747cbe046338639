"""The page as text: what it holds, how large it is, what it allows itself."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from importlib.util import find_spec

import pytest

from pytest_riskguard.errors import UsageError
from pytest_riskguard.gates.verdict import Inputs, Verdict, VerdictWarning
from pytest_riskguard.reports.html import ensure_available, render
from pytest_riskguard.reports.html.gate import STATIC_ROWS, embedded, script_json, topic_rows
from pytest_riskguard.text import clean
from tests.reports.hostile import STRINGS, incomparable_with
from tests.reports.html.verdicts import bare, hostile, once, page_of, pair, pool, tagged, with_documents
from tests.verdicts import altered


class Page(HTMLParser):
    """Tags, ids, words outside scripts and styles, and what stands inside of them."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words, self.inside, self.raw = "", "", dict[str, str]()
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in {"script", "style"}:
            self.inside = f"{tag} {dict(attrs).get('id', '')}".strip()

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.raw[self.inside] = self.raw.get(self.inside, "") + data
        else:
            self.words += f" {data}"

    @property
    def said(self) -> str:
        return " ".join(self.words.split())


@once
def parsed(*verdicts: Verdict) -> Page:
    return Page(page_of(*verdicts))


@pytest.fixture
def verdict() -> Verdict:
    return with_documents(pair(50))


def test_the_page_says_what_the_verdict_says(verdict: Verdict):
    page = parsed(verdict)
    assert "1 gate failed" in page.said
    assert verdict.explanation.summary in page.said
    assert "significantly risky: URisk(alpha=2) = " in page.said
    for topic in verdict.responsible_topics[:STATIC_ROWS]:
        assert f"{topic.topic} {topic.query}" in page.said
    assert "manual-17 2 1 14 -0.3000" in page.said
    assert "manual-4 1 not in the run 3 +0.0500" in page.said
    assert "forum-99 unjudged 30 1" in page.said
    assert "This verdict rests on 14 unjudged documents in the first 10 ranks" in page.said
    assert "alpha 2" in page.said


def test_ids_are_unique_and_links_lead_somewhere(verdict: Verdict):
    page = parsed(verdict, pool(), altered(verdict, gate="again"))
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for tag, attributes in page.tags:
        if tag == "a":
            assert attributes["href"].startswith("#")
            assert attributes["href"][1:] in ids
        for name in ("aria-labelledby", "for"):
            assert set((attributes.get(name) or "").split()) <= set(ids)


def test_the_policy_allows_what_is_there_and_nothing_else(verdict: Verdict):
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
    assert not re.search(r"(?:https?:)?//(?!www\.w3\.org)[a-z]", text.replace(page.raw["script"], ""))
    assert not re.search(r"innerHTML|insertAdjacent|document\.write|eval\(|new Function|fetch\(", page.raw["script"])


@pytest.fixture(scope="module")
def calm() -> Page:
    """The page of hostile texts with a harmless one in their place."""
    return parsed(hostile("calm"), incomparable_with("calm"))


#: A page with its charts takes a quarter of a second.
QUICK = (*list(STRINGS)[::6], "script end", "attribute breakout", "vega expression", "lone surrogates")


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in STRINGS]
)
def test_hostile_text_is_text(name: str, calm: Page):
    page = Page(render([hostile(STRINGS[name]), incomparable_with(STRINGS[name])]))

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


def test_numbers_that_are_none_never_reach_the_data():
    with pytest.raises(ValueError, match="not JSON compliant"):
        script_json([float("nan")])


def test_long_tables_are_handed_to_the_script_whole(verdict: Verdict):
    long = pair(80)
    page = parsed(long)
    data = json.loads(page.raw["script data"])
    rows = topic_rows(long, name="gate-1")
    assert [row[0] for row in data["gate-1"]["rows"]] == [row.topic for row in rows]
    assert sorted(row.topic for row in rows) == sorted(long.exhibits.topics.topics)
    assert [row.topic for row in rows[: long.topics.losses]] == [row.topic for row in long.responsible_topics]
    assert f"These are the {STATIC_ROWS} most harmful of 80 topics" in page.said
    assert json.loads(parsed(pair(20)).raw["script data"]) == {}, "20 topics stand in the page"


def test_beyond_the_budget_the_most_harmful_stay():
    rows = topic_rows(pair(500), name="g")
    data = json.loads(embedded({"g": rows}, budget=20_000))
    kept = [row[0] for row in data["g"]["rows"]]
    assert data["g"]["of"] == 500
    assert 50 < len(kept) < 500
    assert kept == [row.topic for row in rows[: len(kept)]]


@pytest.mark.parametrize(("topics", "most"), [(50, 1_500_000), (250, 1_500_000)])
def test_pages_are_small(topics: int, most: int):
    assert len(page_of(with_documents(pair(topics))).encode()) < most


def test_ten_thousand_topics_with_long_queries_stay_below_five_megabytes():
    verdict = pair(10_000)
    columns = replace(verdict.exhibits.topics, queries=("質" * 400,) * 10_000)
    assert len(render([replace(verdict, exhibits=replace(verdict.exhibits, topics=columns))]).encode()) < 5_000_000


def test_gates_share_style_and_script(verdict: Verdict):
    page = parsed(verdict, bare(verdict), bare(pair(20)))
    assert [tag for tag, _ in page.tags].count("style") == 1
    assert [tag for tag, _ in page.tags].count("script") == 2


def test_the_same_verdicts_give_the_same_page(verdict: Verdict):
    assert render([verdict]) == page_of(verdict)


def test_parts_that_a_verdict_lacks_are_left_out(verdict: Verdict):
    page = parsed(bare(verdict))
    assert "Topics responsible" in page.said
    for part in ("Documents that moved", "Unjudged documents", "Topics by tag"):
        assert part not in page.said
        assert part in page_of(verdict) or part == "Topics by tag"


def test_no_verdict_is_a_page_too():
    assert "This report has no verdicts." in parsed().said


def test_incomparable_gates_say_why():
    page = parsed(incomparable_with("runs.txt"))
    assert "incomparable" in page.said
    assert "runs.txt" in page.said
    assert not [tag for tag, _ in page.tags if tag == "svg"]


def test_tags_warnings_and_digests_are_shown(verdict: Verdict):
    told = tagged(verdict, intent=("buy",) * 50)
    told = altered(
        told, warnings=(VerdictWarning("churn", "watch out"),), inputs=Inputs("sha256:q", "sha256:c", {"old": None})
    )
    page = parsed(told)
    for text in ("intent: buy", "churn watch out", "qrels sha256:q", "baseline old none"):
        assert text in page.said


def test_a_pool_is_shown(verdict: Verdict):
    page = parsed(pool())
    for text in ("Against each reference", "Systems, highest GeoRisk first", "Map of the pool", "GeoRisk over alpha"):
        assert text in page.said


def test_gates_that_pass_are_folded_where_there_are_many(verdict: Verdict):
    failed, passed = bare(verdict), bare(pair(50, shift=0.03, name="fine"))
    assert (failed.outcome, passed.outcome) == ("fail", "pass")

    def opened(verdicts: list[Verdict]) -> list[bool]:
        return [
            "open" in a for tag, a in parsed(*verdicts).tags if tag == "details" and "gate" in (a.get("class") or "")
        ]

    assert opened([passed, failed]) == [True, True]
    assert opened([passed, failed, passed, passed]) == [False, True, False, False]


def test_without_the_extra_the_message_names_the_command(monkeypatch: pytest.MonkeyPatch):
    ensure_available()
    monkeypatch.setattr(
        "pytest_riskguard.reports.html.find_spec", lambda name: None if name == "jinja2" else find_spec(name)
    )
    for ask in (ensure_available, lambda: render([])):
        with pytest.raises(UsageError, match=r"jinja2: pip install 'pytest-riskguard\[report\]'"):
            ask()


def test_importing_the_report_loads_no_drawing_library():
    heavy = ("jinja2", "numpy")
    code = (
        "import sys; from pytest_riskguard.reports.html import ensure_available, render; ensure_available(); "
        f"print(sorted(set({heavy!r}) & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"


def test_in_an_environment_without_it_other_reports_work():
    code = (
        "import sys\n"
        "for name in ('jinja2', 'markupsafe'): sys.modules[name] = None\n"
        "from pytest_riskguard.errors import UsageError\n"
        "from pytest_riskguard import check\n"
        "from pytest_riskguard.reports import json, markdown\n"
        "from pytest_riskguard.reports.html import render\n"
        "v = check('not_significantly_risky', {'a': 0.5}, {'a': 0.5})\n"
        "assert json.dumps([v]) and markdown.render([v])\n"
        "try: render([v])\n"
        "except UsageError as error: print(error)\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "pip install 'pytest-riskguard[report]'" in result.stdout
