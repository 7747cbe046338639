"""Reports: a verdict shown, and what the reports of a plugin are made of; nothing is computed here.

A plugin makes a ``Section`` of sentences, tables and plots, which a terminal shows as text and a page as HTML.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_riskguard.gates import SHOWN
from pytest_riskguard.lazily import lazily

if TYPE_CHECKING:
    from pytest_riskguard.gates.verdict import Verdict
    from pytest_riskguard.reports.html.charts.plots import Plot
    from pytest_riskguard.reports.json import document
    from pytest_riskguard.reports.parts import Section, Table
    from pytest_riskguard.text import clean, counted, listed

__all__ = ["Plot", "Section", "Table", "clean", "counted", "document", "listed"]

__getattr__ = lazily(
    __name__,
    {
        "reports.html.charts.plots": "Plot",
        "reports.json": "document",
        "reports.parts": "Section Table",
        "text": "clean counted listed",
    },
)


def _text(verdict: Verdict) -> str:
    """The answer as a failure has it, in 80 columns."""
    from pytest_riskguard.reports.terminal import explain
    from pytest_riskguard.reports.words import word
    from pytest_riskguard.run_context import Screen

    return f"{word(verdict).upper()} {explain(verdict, Screen(width=80), after_word=True)}"


def _page(verdict: Verdict) -> str:
    from html import escape

    return f"<pre>{escape(_text(verdict))}</pre>"


SHOWN |= {"text": _text, "html": _page}
