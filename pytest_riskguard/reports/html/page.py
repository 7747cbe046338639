"""The page of verdicts: their comparisons, its title and its script."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from markupsafe import Markup

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports import known_gates
from pytest_riskguard.reports.comparisons import comparisons
from pytest_riskguard.reports.html.anchors import anchors, topic_anchor
from pytest_riskguard.reports.html.comparison import STATIC_ROWS, ComparisonView, comparison_view
from pytest_riskguard.reports.html.embedded import MAX_BYTES, script_json
from pytest_riskguard.reports.html.provenance_lines import ProvenanceView
from pytest_riskguard.reports.html.whole_page import asset, whole_page
from pytest_riskguard.reports.known_gates import KnownGate
from pytest_riskguard.text import counted

if TYPE_CHECKING:
    from pytest_riskguard.reports.provenance import Provenance

#: Comparisons that are in the page as a whole, more of them if they fail; others are rendered when they are opened.
_MAX_FULL, _MAX_FULL_FAILED = 2, 4
#: Bytes that the charts of all gates may take together.
_CHART_BYTES = 2_000_000
_SCRIPTS = ("base.js", "tooltips.js", "rankings.js", "search.js", "topics.js", "navigation.js")


def document(
    verdicts: Sequence[Verdict], known: Sequence[KnownGate] = (), *, provenance: Provenance | None = None
) -> str:
    """The page for these verdicts; it names the gates that were not judged."""
    views = _views(verdicts, known)
    share = MAX_BYTES // max(len(views), 1)
    data = {"comparisons": [view.data(share) for view in views], "shown": STATIC_ROWS}
    return whole_page(
        "page.html",
        title=_title(views, known),
        style="print.css",
        script=_script(),
        comparisons=views,
        gates=sum(len(view.gates) for view in views),
        failed=sum(view.failed for view in views),
        unjudged=known_gates.missing(known),
        provenance=ProvenanceView.of(provenance),
        topic_anchor=topic_anchor,
        static_rows=STATIC_ROWS,
        data=Markup(script_json(data)),  # noqa: S704
    )


def _views(verdicts: Sequence[Verdict], known: Sequence[KnownGate]) -> list[ComparisonView]:
    """The comparisons, those that fail first."""
    owners = {place: gate for gate in known for place in gate.verdicts}
    ids = anchors([verdict.gate for verdict in verdicts])
    views, budget = [], _CHART_BYTES
    for place, comparison in enumerate(comparisons(verdicts), 1):
        full = place <= (_MAX_FULL_FAILED if comparison.failed else _MAX_FULL)
        view = comparison_view(comparison, place=place, anchors=ids, known=owners, full=full)
        view, budget = view.with_charts(budget)
        views.append(view)
    return views


def _title(views: Sequence[ComparisonView], known: Sequence[KnownGate]) -> str:
    """The verdict in a line: the answer of the only comparison, else how many gates failed."""
    verdicts = [gate.verdict for view in views for gate in view.gates]
    failed = sum(not verdict.passed for verdict in verdicts)
    if not verdicts:
        answer = "no gate was judged"
    elif len(views) == 1:
        answer = f"{views[0].mark} {views[0].title}"
    elif failed == len(verdicts):
        answer = f"✗ {counted(failed, 'gate')} failed"
    elif failed:
        answer = f"✗ {failed} of {len(verdicts)} gates failed"
    else:
        answer = f"✓ {counted(len(verdicts), 'gate')} passed"
    return "; ".join(filter(None, (answer, known_gates.title(known))))


@cache
def _script() -> str:
    """The script: its parts in one function, so that no name is visible outside of it."""
    return '"use strict";\n(() => {\n' + "".join(map(asset, _SCRIPTS)) + "})();\n"
