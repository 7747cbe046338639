"""Hostile text is data in every sink of text: terminal, Markdown, annotations, step summary, JUnit XML, JSON."""

import json
import re
import unicodedata
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from markdown_it import MarkdownIt

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports import json as report_json
from pytest_riskguard.reports.ci import comment, github, junit
from pytest_riskguard.reports.comparisons import KnownGate, Report
from pytest_riskguard.reports.json import verdicts_of
from pytest_riskguard.reports.markdown import render
from pytest_riskguard.reports.parts import GLOSSARY
from pytest_riskguard.reports.terminal import explain, gates_table, one_line, warning_lines
from pytest_riskguard.run_context import Screen
from tests.reports.hostile import NAMES, STRINGS, hostile_provenance, incomparable_with, texts, verdict_with

#: GitHub's dialect, without looking for bare links: those are asked for one by one below.
MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable("table").enable("strikethrough")
#: All that a report may consist of.
TAGS = {*("a", "h2", "h3", "p", "table", "thead", "tbody", "tr", "th", "td", "strong", "code", "ul", "li")}
RUN = comment.Run("0123456789abcdef0123456789abcdef01234567")


@pytest.fixture(params=NAMES)
def text(request):
    return STRINGS[request.param]


def of_terminal(verdict: Verdict) -> str:
    lines = [one_line(verdict), explain(verdict, Screen(width=80)), explain(verdict, Screen(100, verbose=True))]
    lines += gates_table([(verdict.gate, verdict)], Screen(width=100))
    return "\n".join([*lines, *warning_lines(verdict)])


def of_annotations(verdict: Verdict) -> str:
    return "\n".join(github.commands([github.annotation(verdict, file=f"{verdict.gate}.yaml", line=3)] * 12))


def assert_plain(said: str) -> None:
    """Nothing but printable characters and our own line breaks, and no line that CI reads as a command."""
    assert {unicodedata.category(c) for c in said} & {"Cc", "Cf", "Cs", "Zl", "Zp"} <= {"Cc"}
    assert {c for c in said if unicodedata.category(c) == "Cc"} <= {"\n"}
    assert not re.search(r"^\s*::", said, re.MULTILINE)
    assert not re.search(r"##\w*\[", said)
    said.encode()


def assert_annotations(said: str) -> None:
    """Each line is one command of ours, which ends where its message begins."""
    lines = said.split("\n")
    assert len(lines) == github.MAX_ERRORS
    for line in lines:
        found = re.fullmatch(r"::error ((?:file=[^:,]*,line=3,)?title=[^:,]*)::(.*)", line)
        assert found, line
        assert not re.search(r"%(?!25|0A|3A|2C)", line)
        assert_plain(unescaped(found[1]))
        assert_plain(unescaped(found[2]))


def unescaped(text: str) -> str:
    """As GitHub reads what a command says."""
    return re.sub("%(25|0A|3A|2C)", lambda found: chr(int(found[1], 16)), text)


class Page(HTMLParser):
    """Tags, comments and text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.data, self.comments = "", set[str]()
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.data += data

    def handle_comment(self, data: str) -> None:
        self.comments.add(data.strip())


def assert_markdown(said: str, verdict: Verdict) -> None:
    """Rendered, it is our tables and nothing else; no text of others is a link, a mention or a reference."""
    assert_plain(said)
    page = Page(MARKDOWN.render(said))
    assert {tag for tag, _ in page.tags} <= TAGS
    assert all(set(attributes) <= {"style"} for _, attributes in page.tags)
    assert page.comments <= {""}
    # as many rows, cells and boxes as a verdict of harmless text has
    harmless = Page(
        MARKDOWN.render(render(Report([verdict_with("x") if verdict.problem is None else incomparable_with("x")])))
    )
    for tag in ("tr", "td", "th", "h3", "table"):
        count = sum(name == tag for name, _ in page.tags)
        assert count == sum(name == tag for name, _ in harmless.tags), tag
    outside = re.sub(r"<code>.*?</code>", "", MARKDOWN.render(said))
    assert not re.search(r"[@#!$&~^](?=\w)", Page(outside).data.replace("\u200b", " "))
    assert not re.search(r"://|www\.|mailto:", Page(outside).data)


def assert_safe(text: str) -> None:
    verdicts = [verdict_with(text), incomparable_with(text)]
    for verdict in verdicts:
        assert_plain(of_terminal(verdict))
        assert_annotations(of_annotations(verdict))
        assert_markdown(render(Report([verdict])), verdict)
    gates = (KnownGate(text, 1, text, 0, ()), KnownGate(text, 1, "judged", 0, (0,)))
    report = Report(verdicts, gates, hostile_provenance(text), (f"tolerance of {text} 0 -> 1",))
    for said in (render(report), comment.verdict(replace(RUN, ended=text), report), comment.no_verdict(RUN, text)):
        assert_plain(said)
        page = Page(MARKDOWN.render(said))
        assert {tag for tag, _ in page.tags} <= TAGS
        assert {attributes.get("href") for name, attributes in page.tags if name == "a"} <= {GLOSSARY}
    for element in ElementTree.fromstring(junit.render(report)).iter():  # noqa: S314 - our own text
        for part in (element.text or "", *element.attrib.values()):
            assert_plain(part.replace("\n", " ").strip())


def test_text_of_others_is_data_in_every_sink(text):
    assert_safe(text)


@pytest.mark.slow
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(texts())
def test_so_is_any_mixture(text):
    assert_safe(text)


def test_json_says_what_was_there_and_reads_back(text):
    verdict = verdict_with(text)
    said = report_json.dumps(Report([verdict]))
    assert said.isascii()
    assert "\x1b" not in said
    assert not re.search(r"^\s*::|##", said, re.MULTILINE)
    assert json.loads(said)["verdicts"][0]["responsible_topics"][0]["query"] == text
    assert verdicts_of(json.loads(said))[0].to_dict() == verdict.to_dict()


def test_what_is_copied_from_markdown_is_the_text_itself():
    for name in ("pipes", "backslashes", "entities", "mention", "link", "emphasis", "percent escapes"):
        page = Page(MARKDOWN.render(render(Report([verdict_with(STRINGS[name])]))))
        assert STRINGS[name] in page.data, name
