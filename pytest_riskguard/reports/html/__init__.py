"""Verdicts as one page of HTML that needs no network; the libraries that draw it are loaded when it is asked for."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from pytest_riskguard.errors import UsageError

if TYPE_CHECKING:
    from pytest_riskguard.reports.comparisons import Report

__all__ = ["ensure_available", "render"]


def ensure_available() -> None:
    """Check that the page can be drawn; ``UsageError`` if the extra ``report`` is not installed."""
    if find_spec("jinja2") is None:
        raise UsageError(
            "the HTML report needs jinja2: pip install 'pytest-riskguard[report]' (JSON and Markdown need nothing "
            "more)"
        )


def render(report: Report) -> str:
    """The page: a card for each comparison, its topics and rankings, and each gate with its charts and tables.

    The same report gives the same text; charts need the verdicts' ``exhibits``. ``UsageError`` if the extra
    ``report`` is not installed.
    """
    ensure_available()
    from pytest_riskguard.reports.html.page import document

    return document(report)
