"""The page of verdicts: their comparisons, its title and its script."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from markupsafe import Markup

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports import known_gates
from pytest_riskguard.reports.comparisons import answer, comparisons
from pytest_riskguard.reports.html.anchors import anchors, topic_anchor
from pytest_riskguard.reports.html.comparison import STATIC_ROWS, ComparisonView, comparison_view
from pytest_riskguard.reports.html.embedded import MAX_BYTES, script_json
from pytest_riskguard.reports.html.provenance_lines import ProvenanceView
from pytest_riskguard.reports.html.whole_page import asset, whole_page
from pytest_riskguard.reports.known_gates import KnownGate

if TYPE_CHECKING:
    from pytest_riskguard.reports.policy_changes import PolicyChanges
    from pytest_riskguard.reports.provenance import Provenance

#: Comparisons that are in the page as a whole, more of them if they fail; others are rendered when they are opened.
_MAX_FULL, _MAX_FULL_FAILED = 2, 4
#: Bytes that the charts of all gates may take together.
_CHART_BYTES = 2_000_000
_SCRIPTS = ("base.js", "tooltips.js", "rankings.js", "search.js", "topics.js", "navigation.js")


def document(
    verdicts: Sequence[Verdict],
    known: Sequence[KnownGate] = (),
    *,
    provenance: Provenance | None = None,
    policy_changes: PolicyChanges | None = None,
) -> str:
    """The page for these verdicts; it names the gates that were not judged."""
    views = _views(verdicts, known)
    share = MAX_BYTES // max(len(views), 1)
    data = {"comparisons": [view.data(share) for view in views], "shown": STATIC_ROWS}
    return whole_page(
        "page.html",
        title=_title(verdicts, views, known),
        style="print.css",
        script=_script(),
        comparisons=views,
        gates=sum(len(view.gates) for view in views),
        failed=sum(view.failed for view in views),
        unjudged=known_gates.missing(known),
        provenance=ProvenanceView.of(provenance),
        policy_changes=() if policy_changes is None else policy_changes.lines,
        topic_anchor=topic_anchor,
        static_rows=STATIC_ROWS,
        data=Markup(script_json(data)),  # noqa: S704
    )


def _views(verdicts: Sequence[Verdict], known: Sequence[KnownGate]) -> list[ComparisonView]:
    """The comparisons, those that fail first."""
    owners = {place: gate for gate in known for place in gate.verdicts}
    ids = anchors([verdict.gate for verdict in verdicts])
    views, budget, complete = [], _CHART_BYTES, not known_gates.missing(known)
    for place, comparison in enumerate(comparisons(verdicts), 1):
        full = place <= (_MAX_FULL_FAILED if comparison.failed else _MAX_FULL)
        view = comparison_view(
            comparison, place=place, anchors=ids, known=owners, full=full, run=verdicts, complete=complete
        )
        view, budget = view.with_charts(budget)
        views.append(view)
    return views


def _title(verdicts: Sequence[Verdict], views: Sequence[ComparisonView], known: Sequence[KnownGate]) -> str:
    """The answer of the run in a line, with the cause where there is only one comparison."""
    said = answer(verdicts, known)
    if len(views) == 1 and views[0].card.tone == said.tone:
        return "; ".join(filter(None, (f"{views[0].mark} {views[0].title}", known_gates.title(known))))
    return f"{said.mark} {said.title}"


@cache
def _script() -> str:
    """The script: its parts in one function, so that no name is visible outside of it."""
    return '"use strict";\n(() => {\n' + "".join(map(asset, _SCRIPTS)) + "})();\n"
