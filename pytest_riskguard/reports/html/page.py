"""The page: template, style and script in one file, with a policy that allows these and nothing else."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from pytest_riskguard._version import __version__
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.html.gate import view
from pytest_riskguard.reports.html.rows import BUDGET, SCRIPTED, STATIC, embedded
from pytest_riskguard.text import clean, counted, percent, plain, short, signed

_ASSETS = Path(__file__).with_name("assets")
#: The longest text that the page shows in one piece.
_LONGEST = 4000
#: With more gates than this, those that pass are folded.
_OPEN = 3


def document(verdicts: Sequence[Verdict]) -> str:
    """The page for these verdicts."""
    views = [view(verdict, name=f"gate-{place}") for place, verdict in enumerate(verdicts, 1)]
    style, script = _asset("style.css"), _asset("script.js")
    # as browsers hash it: exactly what stands between the tags
    policy = (
        f"default-src 'none'; img-src data:; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        _environment()
        .get_template("page.html")
        .render(
            gates=views,
            counts=_counts(verdicts),
            title=_title(verdicts),
            data=Markup(embedded([gate.name for gate in views], [gate.rows for gate in views], budget=BUDGET)),  # noqa: S704
            style=Markup(style),  # noqa: S704
            script=Markup(script),  # noqa: S704
            policy=Markup(policy),  # noqa: S704 - quotes that must stay quotes
            page_size=STATIC,
            scripted=SCRIPTED,
            open_all=len(views) <= _OPEN,
            version=__version__,
        )
    )


def _title(verdicts: Sequence[Verdict]) -> str:
    failed = sum(not verdict.passed for verdict in verdicts)
    if not verdicts:
        return "no gate was judged"
    if failed == len(verdicts):
        return f"{counted(failed, 'gate')} failed"
    if failed:
        return f"{failed} of {len(verdicts)} gates failed"
    return f"{counted(len(verdicts), 'gate')} passed"


def _counts(verdicts: Sequence[Verdict]) -> list[tuple[str, int]]:
    outcomes = ("fail", "incomparable", "inconclusive", "pass")
    found = [(outcome, sum(verdict.outcome == outcome for verdict in verdicts)) for outcome in outcomes]
    return [(outcome, count) for outcome, count in found if count]


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_ASSETS),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(signed=signed, plain=plain, short=short, counted=counted, percent=percent, cut=_cut)
    return environment


def _finalize(value: Any) -> Any:
    """Every text of a template is printable: control and bidi characters go before it is escaped."""
    return clean(value, limit=_LONGEST) if isinstance(value, str) and not isinstance(value, Markup) else value


def _cut(text: str, limit: int) -> str:
    return clean(text, limit=limit)
