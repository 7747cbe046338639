"""Verdicts as one page of HTML that needs no network; the libraries that draw it are loaded when it is asked for."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from pytest_riskguard.errors import UsageError

if TYPE_CHECKING:
    from pytest_riskguard.reports.comparisons import Report

__all__ = ["ensure_available", "render"]

#: What the extra ``report`` installs, by import name.
_NEEDED = ("jinja2",)


def ensure_available() -> None:
    """Check that the page and charts can be drawn; ``UsageError`` if the extra ``report`` is not installed."""
    missing = [name for name in _NEEDED if not _found(name)]
    if missing:
        raise UsageError(
            f"the HTML report needs {', '.join(missing)}: pip install 'pytest-riskguard[report]' "
            "(JSON and Markdown need nothing more)"
        )


def _found(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ValueError:  # the entry in sys.modules is None
        return False


def render(report: Report) -> str:
    """The page: a card for each comparison, its topics and rankings, and each gate with its charts and tables.

    The same report gives the same text; charts need the verdicts' ``exhibits``. ``UsageError`` if the extra
    ``report`` is not installed.
    """
    ensure_available()
    from pytest_riskguard.reports.html.page import document

    return document(report)
