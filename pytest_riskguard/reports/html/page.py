"""The page: template, style and script in one file, with a policy that allows only these."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache

from markupsafe import Markup

from pytest_riskguard._version import __version__
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports import known_gates
from pytest_riskguard.reports.html.escape import ASSETS, template
from pytest_riskguard.reports.html.gate import MAX_BYTES, MAX_STATIC_ROWS, STATIC_ROWS, embedded, view
from pytest_riskguard.reports.html.policy import content_policy
from pytest_riskguard.reports.known_gates import KnownGate
from pytest_riskguard.reports.provenance import Provenance
from pytest_riskguard.text import counted

#: With more gates than this, those that pass are folded.
_MAX_OPEN = 3


def document(
    verdicts: Sequence[Verdict], known: Sequence[KnownGate] = (), provenance: Provenance | None = None
) -> str:
    """The page for these verdicts; it names the gates that were not judged."""
    failures = known_gates.failures_before(known)
    views = [
        view(verdict, name=f"gate-{place}", failures=failures.get(place - 1, 0))
        for place, verdict in enumerate(verdicts, 1)
    ]
    style, script = _asset("style.css"), _asset("script.js")
    count = Counter(verdict.outcome for verdict in verdicts)
    return template().render(
        gates=views,
        counts=sorted(count.items()),
        title="; ".join(filter(None, (_title(verdicts), known_gates.title(known)))),
        unjudged=known_gates.missing(known),
        data=Markup(embedded({gate.name: gate.rows for gate in views}, budget=MAX_BYTES)),  # noqa: S704
        style=Markup(style),  # noqa: S704
        script=Markup(script),  # noqa: S704
        policy=Markup(content_policy(style, script)),  # noqa: S704 - quotes that must stay quotes
        page_size=STATIC_ROWS,
        max_static_rows=MAX_STATIC_ROWS,
        open_all=len(views) <= _MAX_OPEN,
        provenance=provenance,
        version=__version__,
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


@cache
def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")
