"""Addresses of the documentation, from the package's own metadata."""

from __future__ import annotations

import importlib.metadata
from functools import cache
from urllib.parse import quote, urljoin


@cache
def documentation() -> str | None:
    """Where the documentation begins; None in a copy of the package that was never installed."""
    try:
        addresses = importlib.metadata.metadata("pytest-riskguard").get_all("Project-URL") or []
    except importlib.metadata.PackageNotFoundError:
        return None
    named = dict(address.split(", ", 1) for address in addresses if ", " in address)
    return named.get("Documentation")


def glossary(term: str = "") -> str | None:
    """The page that explains the words of a report, or the entry of one of them."""
    start = documentation()
    return start and urljoin(start, "glossary.md") + (f"#{quote(term)}" if term else "")
