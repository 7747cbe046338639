"""HTML: every text that the template shows is made printable and escaped; only charts are let through."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jinja2
from markupsafe import Markup

from pytest_riskguard.text import clean, counted, percent, plain, probability, sentence, signed, web_address

ASSETS = Path(__file__).with_name("assets")
#: The longest text that the page shows in one piece.
_MAX_TEXT = 4000


@cache
def template(name: str) -> jinja2.Template:
    """A page's template, which escapes every text."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(ASSETS),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = (clean, counted, percent, plain, probability, sentence, signed, web_address)
    environment.filters.update({function.__name__: function for function in filters})
    environment.filters.update(brief=brief, drawn=_drawn, quoted=_quoted)
    return environment.get_template(name)


def brief(value: float) -> str:
    """A difference with two decimals, or as many more as it takes not to look like 0."""
    digits = next((digits for digits in (2, 3, 4) if round(value, digits)), 2)
    return signed(value, digits) if round(value, digits) or not value else signed(value, 4)


def _quoted(text: str) -> str:
    """The text as part of an address."""
    return quote(text, safe="", errors="replace")


def _drawn(drawing: str) -> Markup:
    """A drawing of this package: its labels are escaped already."""
    return Markup(drawing)  # noqa: S704


def _printable(value: Any) -> Any:
    """Remove control and bidi characters before a text is escaped."""
    return clean(value, limit=_MAX_TEXT) if isinstance(value, str) and not isinstance(value, Markup) else value
