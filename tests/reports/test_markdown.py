"""The report as Markdown: what is said, in how much room."""

import re
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from pytest_riskguard.gates.verdict import Inputs, VerdictWarning
from pytest_riskguard.reports.comparisons import Report
from pytest_riskguard.reports.markdown import COMMENT_LIMIT, code, prose, render
from tests.plugin.world import GOOD, LOSS
from tests.reports.cases import CASES, explained, judged
from tests.reports.hostile import STRINGS, verdict_with
from tests.verdicts import altered

LOST = judged(LOSS)
EXPLAINED = altered(explained(), gate="no-risk")


def flat(text: str) -> str:
    return " ".join(text.split())


def test_gates_on_the_same_runs_show_their_topics_once():
    inputs = Inputs("q", "c", {"baseline": "b"})
    text = render(Report([replace(altered(LOST, gate=name), inputs=inputs) for name in ("first", "second")]))
    assert text.count("The worst 6 of 12") == 1
    six = replace(LOST.topics, losses=6)
    assert "\nAll 6, <code>prod</code> to " in render(Report([altered(LOST, topics=six)]))
    assert "Queries and documents: see <code>first</code>." in text


def test_what_is_to_be_known_of_gates_that_passed_stands_behind_those_that_did_not():
    text = render(Report([CASES["churn-let-through"](), LOST]))
    assert text.index("### **FAIL**") < text.index("| pass with care |") < text.index("- <code>test")
    assert "### pass" not in text


def test_warnings_are_said():
    warned = altered(
        LOST, warnings=(VerdictWarning("changed_inputs", "scored again"), VerdictWarning("churn", "as said"))
    )
    assert render(Report([warned] * 2)).count("Warning (<code>changed_inputs</code>): scored again") == 1
    assert "as said" not in render(Report([warned]))
    missing = replace(LOST.topics, missing_in_candidate=("t01",))  # which the paragraph says
    warned = altered(LOST, warnings=(VerdictWarning("missing_topics", "unanswered"),), topics=missing)
    assert "unanswered" not in render(Report([warned]))


def test_a_document_fits_what_it_is_for_and_says_what_is_left_out():
    """Each smaller room takes less, never more than it holds, and never loses the title or the first failure."""
    gates = [altered(EXPLAINED, gate=f"gate-{n:03d}") for n in range(8)]
    good = judged(GOOD)
    gates += [altered(good, gate=f"good-{n:03d}") for n in range(8)]
    full = render(Report(gates))
    sizes = []
    for limit in (len(full.encode()), 40_000, 17_000, 10_000, 4_000, 2_000, 1_000):
        text = render(Report(gates), limit=limit)
        sizes.append(len(text.encode()))
        assert sizes[-1] <= limit
        assert text.startswith("## riskguard: Don't ship: 8 of 16 gates failed\n")
        assert "gate-000" in text
        assert ("Left out to save space: " in text) is (text != full)
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == len(full.encode())


def test_of_too_many_gates_those_that_failed_are_kept():
    good = judged(GOOD)
    gates = [altered(good, gate=f"good-{n}") for n in range(60)]
    gates.append(altered(LOST, gate="bad"))
    text = render(Report(gates), limit=3_000)
    assert len(text.encode()) <= 3_000
    assert "| **FAIL** (loss) | <code>bad</code> |" in text
    (left,) = re.findall(r"Left out to save space: (\d+) gates", text)
    assert int(left) + text.count("\n| pass |") + 1 == 61


def test_long_texts_fit_a_comment():
    for name in ("long punctuation", "combining"):
        text = render(Report([verdict_with(STRINGS[name])] * 3), limit=COMMENT_LIMIT)
        assert len(text.encode()) <= COMMENT_LIMIT


def test_every_kind_of_verdict_is_a_document():
    document = render(Report([make() for make in CASES.values()]))
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(document)
    assert "| ---" not in html
    assert "### **INCOMPARABLE**" in document


def test_prose_keeps_its_figures_readable():
    said = "URisk(alpha=1) = -0.3233 [-0.4800, -0.1900], p 0.02; it's 5 % (few_topics): fails."
    assert prose(said) == said


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("@octocat", "&#64;&#8203;octocat"),
        ("see #12", "see &#35;&#8203;12"),
        ("GH-12", "GH&#8203;-12"),
        ("https://x.example", "https&#58;&#8203;//x.example"),
        ("www.x.example", "www&#8203;.x.example"),
        ("[+1, +2](x)", "&#91;+1, +2&#93;(x)"),
        ("1. one", "&#49;. one"),
        ("- one", "&#45; one"),
        ("a*b*", "a&#42;b&#42;"),
        ("", ""),
    ],
)
def test_prose_is_no_markup(text, escaped):
    assert prose(text) == escaped


def test_code_of_nothing_is_nothing():
    assert (code(""), code("\x00"), code("a|b")) == ("", "", "<code>a&#124;b</code>")
