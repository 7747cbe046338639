"""Reports: a verdict shown, and what the reports of a plugin are made of; nothing is computed here.

A plugin makes a ``Section`` of sentences, tables and plots, which is text for a terminal, Markdown or a page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_riskguard.gates import SHOWN

if TYPE_CHECKING:
    from pytest_riskguard.gates.verdict import Verdict
    from pytest_riskguard.reports.html.charts.plots import Plot
    from pytest_riskguard.reports.json import document
    from pytest_riskguard.reports.json import read_plain as read
    from pytest_riskguard.reports.parts import Section, Table
    from pytest_riskguard.text import clean, counted, listed

__all__ = ["Plot", "Section", "Table", "clean", "counted", "document", "listed", "read"]

_HOME = {
    "Plot": ("reports.html.charts.plots", "Plot"),
    "Section": ("reports.parts", "Section"),
    "Table": ("reports.parts", "Table"),
    "clean": ("text", "clean"),
    "counted": ("text", "counted"),
    "document": ("reports.json", "document"),
    "listed": ("text", "listed"),
    "read": ("reports.json", "read_plain"),
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _HOME[name]
    return getattr(import_module(f"pytest_riskguard.{module}"), attribute)


def _text(verdict: Verdict) -> str:
    from pytest_riskguard.reports.in_print import text

    return text(verdict)


def _page(verdict: Verdict) -> str:
    from pytest_riskguard.reports.in_print import page

    return page(verdict)


SHOWN |= {"text": _text, "html": _page}
