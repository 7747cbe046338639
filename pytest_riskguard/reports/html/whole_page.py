"""A page as one file: its template, style and script, and the policy that allows only these."""

from __future__ import annotations

from functools import cache
from typing import Any

from markupsafe import Markup

from pytest_riskguard import __version__
from pytest_riskguard.reports import links
from pytest_riskguard.reports.html.escape import ASSETS, template
from pytest_riskguard.reports.html.policy import content_policy


def whole_page(name: str, *, title: str, style: str, script: str | None = None, **values: Any) -> str:
    """The page that a template makes of these values; ``style`` is the asset that it adds to ``style.css``."""
    css = asset("style.css") + asset(style)
    return template(name).render(
        title=title,
        style=Markup(css),  # noqa: S704
        script=Markup(script or ""),  # noqa: S704
        policy=Markup(content_policy(css, script)),  # noqa: S704 - quotes that must stay quotes
        glossary=links.glossary(),
        version=__version__,
        **values,
    )


@cache
def asset(name: str) -> str:
    """The text of a file in ``assets``."""
    return (ASSETS / name).read_text(encoding="utf-8")
