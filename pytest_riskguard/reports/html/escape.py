"""HTML: every text that the template shows is made printable and escaped; only charts are let through."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from pytest_riskguard.reports.html.charts import Chart
from pytest_riskguard.text import clean, counted, percent, plain, probability, sentence, signed

ASSETS = Path(__file__).with_name("assets")
#: The longest text that the page shows in one piece.
_MAX_TEXT = 4000


@cache
def template(name: str = "page.html") -> jinja2.Template:
    """A page's template, which escapes every text."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(ASSETS),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = (clean, counted, percent, plain, probability, sentence, signed)
    environment.filters.update({function.__name__: function for function in filters}, drawn=_drawn)
    return environment.get_template(name)


def _drawn(chart: Chart) -> Markup:
    """A chart as SVG."""
    return Markup(chart.svg)  # noqa: S704 - it consists of known elements and escaped text


def _printable(value: Any) -> Any:
    """Remove control and bidi characters before a text is escaped."""
    return clean(value, limit=_MAX_TEXT) if isinstance(value, str) and not isinstance(value, Markup) else value
