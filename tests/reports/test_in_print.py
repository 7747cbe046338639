"""A verdict is printed as a card, and shown as one in a notebook."""

from pytest_riskguard import check
from tests.reports.cases import CASES
from tests.reports.test_hostile import Page
from tests.verdicts import altered

NEW = {f"q{number}": 0.1 if number < 8 else 0.5 for number in range(30)}
OLD = dict.fromkeys(NEW, 0.5)


def test_print_says_what_happened_to_which_queries():
    verdict = check("not_significantly_risky", NEW, OLD)
    first, *rest = str(verdict).splitlines()
    assert first.startswith("FAIL the mean fell 0.50 -> 0.39; 8 of 30 queries lost, none gained")
    assert "With losses counted no more than gains" in rest[0]
    assert any("q0" in line and "0.50 -> 0.10" in line for line in rest)
    assert repr(verdict) == f"<Verdict {verdict.gate}: fail (loss), candidate against baseline>"


def test_other_peoples_text_stays_text():
    verdict = altered(
        CASES["loss"](),
        gate="<script>\x1b[31m\u202e",
        candidate="<img src=x onerror=alert(1)>",
        baselines=("<b>prod",),
    )
    page = Page(verdict._repr_html_() or "")
    assert page.tags == [("pre", {})]
    assert page.data == str(verdict)
    assert "\x1b" not in str(verdict) + repr(verdict) + page.data


def test_a_verdict_of_the_kernels_alone_has_words_too(monkeypatch):
    verdict = check("not_significantly_risky", NEW, OLD)
    monkeypatch.setattr("pytest_riskguard.gates.verdict.SHOWN", {})
    assert str(verdict) == repr(verdict)
    assert verdict._repr_html_() is None
