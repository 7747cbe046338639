"""A whole page: one file without outside parts, its escaping, its policy, what is embedded in it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jinja2
from markupsafe import Markup

from pytest_riskguard import __version__
from pytest_riskguard.reports.numbers import brief, percent, plain, short, signed
from pytest_riskguard.reports.parts import GLOSSARY
from pytest_riskguard.serialization import to_plain
from pytest_riskguard.text import clean, counted

#: What the page's own ids begin with, so that no gate's name can be one of them.
OWN = "rg-"
#: Longest id of a topic in the page.
MAX_TOPIC = 120
_MAX_LENGTH = 80


def anchors(names: Sequence[str]) -> list[str]:
    """An id for each gate, in their order: its name without what an address cannot hold, and no two alike."""
    taken: set[str] = set()
    ids = []
    for name in names:
        plain = re.sub(r"[^\w.\[\]-]+", "-", clean(name, limit=_MAX_LENGTH)).strip("-") or "gate"
        plain = f"gate-{plain}" if plain.startswith(OWN) else plain
        anchor, number = plain, 1
        while anchor in taken:
            number += 1
            anchor = f"{plain}-{number}"
        taken.add(anchor)
        ids.append(anchor)
    return ids


def topic_anchor(gate: str, topic: str) -> str:
    """The id of a topic's row, for the gate with this id."""
    return f"{gate}/{quoted(clean(topic, limit=MAX_TOPIC))}"


def content_policy(style: str, script: str) -> str:
    """The Content-Security-Policy of a page with this style and this script; without any, no script runs."""
    # as browsers hash it: exactly the text between the tags
    scripts = f"'{_digest(script)}'" if script else "'none'"
    return (
        f"default-src 'none'; img-src data:; style-src '{_digest(style)}'; script-src {scripts}; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


#: Bytes that the data of all comparisons may take together, so that the page stays below 5 MB.
MAX_BYTES = 2_000_000
#: Characters that could end the script element or one of its lines, as JSON escapes.
_ESCAPES = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def script_json(value: object) -> str:
    """JSON for the inside of a script element, with numbers as the JSON report has them."""
    text = json.dumps(to_plain(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(_ESCAPES)


def fitting(items: Sequence[object], budget: int) -> int:
    """How many of the first items fit into a budget of bytes."""
    for count, item in enumerate(items):
        budget -= len(script_json(item).encode("utf-8", "replace")) + 1
        if budget < 0:
            return count
    return len(items)


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
    filters = (brief, clean, counted, percent, plain, quoted, short, signed)
    environment.filters.update({function.__name__: function for function in filters})
    return environment.get_template(name)


def quoted(text: str) -> str:
    """The text as part of an address."""
    return quote(text, safe="", errors="replace")


def _printable(value: Any) -> Any:
    """Remove control and bidi characters before a text is escaped."""
    return clean(value, limit=_MAX_TEXT) if isinstance(value, str) and not isinstance(value, Markup) else value


def whole_page(name: str, *, title: str, style: str, script: str = "", **values: Any) -> str:
    """The page that a template makes of these values; ``style`` is the asset that it adds to ``style.css``."""
    css = asset("style.css") + asset(style)
    return template(name).render(
        title=title,
        style=Markup(css),  # noqa: S704
        script=Markup(script),  # noqa: S704
        policy=Markup(content_policy(css, script)),  # noqa: S704 - quotes that must stay quotes
        glossary=GLOSSARY,
        version=__version__,
        **values,
    )


@cache
def asset(name: str) -> str:
    """The text of a file in ``assets``."""
    return (ASSETS / name).read_text(encoding="utf-8")
