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
    from pytest_riskguard.reports.terminal import printed

    return printed(verdict)


def _page(verdict: Verdict) -> str:
    from pytest_riskguard.reports.terminal import printed_page

    return printed_page(verdict)


SHOWN |= {"text": _text, "html": _page}
