"""The badge: what it says of each way a run can end, in colours that can be read, the same each time."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from pytest_riskguard.reports.ci.badge import COLOURS, LABEL_COLOUR, NO_VERDICT, render, state
from pytest_riskguard.reports.comparisons import KnownGate
from tests.reports.cases import CASES
from tests.reports.hostile import EACH
from tests.reports.html.test_chart_layout import contrast
from tests.verdicts import altered

PASS, FAIL, DOUBT, BAD, CARE = (
    CASES[name]() for name in ("pass", "loss", "inconclusive", "incomparable", "churn-let-through")
)
UNJUDGED = KnownGate("t.py::test_b", 1, "crashed", 0, ())


def judged(place: int) -> KnownGate:
    return KnownGate(f"t.py::test_{place}", 1, "judged", 0, (place,))


@pytest.mark.parametrize(
    ("verdicts", "gates", "colour", "words"),
    [
        ([PASS], (), "pass", "ship: 1 gate passed"),
        ([PASS, PASS], (), "pass", "ship: 2 gates passed"),
        ([CARE], (), "doubt", "ship with care: 1 gate passed with care"),
        ([PASS, CARE], (), "doubt", "ship with care: 2 gates passed, 1 with care"),
        ([PASS, FAIL, PASS], (), "fail", "don't ship: 1 of 3 gates failed"),
        ([FAIL], (), "fail", "don't ship: 1 gate failed"),
        ([FAIL, BAD], (), "fail", "don't ship: 2 gates failed"),
        ([PASS, BAD], (), "fail", "no verdict: 1 of 2 gates incomparable"),
        ([FAIL, DOUBT], (), "fail", "don't ship: 2 gates failed"),
        ([PASS, DOUBT], (), "doubt", "no verdict: 1 of 2 gates inconclusive"),
        ([altered(DOUBT, on_inconclusive="warn")], (), "doubt", "no verdict: 1 gate inconclusive"),
        ([PASS], (judged(0), UNJUDGED), "doubt", "no verdict: 1 gate passed; 1 of 2 gates not judged"),
        ([FAIL], (judged(0), UNJUDGED), "fail", "don't ship: 1 gate failed; 1 of 2 gates not judged"),
        ([], (UNJUDGED,), "doubt", "no verdict: no gate was judged"),
        ([], (), "none", "no verdict"),
    ],
)
def test_it_says_the_worst(verdicts, gates, colour, words):
    assert state(verdicts, gates) == (colour, words)


def test_it_is_a_picture_with_a_name_and_always_the_same():
    badge = render(state([PASS, FAIL, PASS]))
    assert badge == render(state([PASS, FAIL, PASS]))
    root = ElementTree.fromstring(badge)  # noqa: S314
    assert (root.get("role"), root.get("aria-label")) == ("img", "riskguard: don't ship: 1 of 3 gates failed")
    assert root[0].text == "riskguard: don't ship: 1 of 3 gates failed"
    texts = [element for element in root.iter() if element.tag.endswith("}text")]
    assert [text.text for text in texts] == ["riskguard", "don't ship: 1 of 3 gates failed"]
    for text in texts:  # each inside the picture
        middle, length = float(text.get("x", 0)), float(text.get("textLength", 0))
        assert middle - length / 2 > 0
        assert middle + length / 2 < float(root.get("width", 0))


def test_without_a_label_there_is_one_box():
    root = ElementTree.fromstring(render(NO_VERDICT, label=""))  # noqa: S314
    assert root.get("aria-label") == "no verdict"
    assert sum(element.tag.endswith("}text") for element in root.iter()) == 1


@pytest.mark.parametrize("colour", [LABEL_COLOUR, *COLOURS.values()])
def test_white_text_can_be_read(colour):
    assert contrast("#ffffff", colour) >= 4.5


@pytest.mark.parametrize("text", EACH)
def test_a_label_is_text_whatever_it_says(text):
    badge = render(state([PASS]), label=text)
    root = ElementTree.fromstring(badge)  # noqa: S314
    assert {element.tag.rpartition("}")[2] for element in root.iter()} <= {
        "svg",
        "title",
        "rect",
        "path",
        "g",
        "text",
    }
    assert not re.search(r"^\s*::|##\w*\[", badge, re.MULTILINE)
    assert len(badge) < 4000
