"""What the page shows of a comparison: its card, its gates, the topics once, and the rankings of some of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from itertools import takewhile
from typing import Any

from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.findings import ResponsibleTopic, Slice
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.card import MARKS, Card, card
from pytest_riskguard.reports.comparisons import Comparison, KnownGate, answer
from pytest_riskguard.reports.html.charts.plots import Plot
from pytest_riskguard.reports.html.gate import GateView, Panels, gate_view
from pytest_riskguard.reports.html.topic_rows import TopicRow, gate_data, merged, topic_data, topic_rows
from pytest_riskguard.reports.html.whole_page import OWN, fitting, size
from pytest_riskguard.reports.shown import MAX_NAME, Shown
from pytest_riskguard.text import clean

#: Queries and slices on the card, and rows of topics in the page itself: the script shows the others.
MAX_WORST, MAX_SLICES, STATIC_ROWS = 6, 5, 10
#: Gates of one comparison whose figures of each topic the script gets, and how many ranks a panel shows by default.
_MAX_GATES, _DEPTH = 40, 10


@frozen
class ComparisonView:
    """A comparison ready to be shown; ``id`` is its own in the page, its first gate is the one on the card."""

    id: str
    card: Card
    gates: list[GateView]
    rows: list[TopicRow]
    panels: Panels
    of_gates: list[Mapping[str, TopicRow]] = field(repr=False)
    full: bool = True

    @property
    def lead(self) -> GateView:
        """The gate that the card is about."""
        return self.gates[0]

    @property
    def mark(self) -> str:
        """The card's tone as a sign."""
        return MARKS[self.card.tone]

    @property
    def title(self) -> str:
        """The answer in a line."""
        return f"{self.card.advice}: {self.card.line}".replace(" -> ", " → ")

    @property
    def worst(self) -> tuple[ResponsibleTopic, ...]:
        """The queries on the card."""
        return self.card.worst[:MAX_WORST]

    @property
    def extreme(self) -> str:
        """What these queries are: the worst, or the largest wins."""
        return Shown(self.lead.verdict).extreme

    @property
    def slices(self) -> tuple[Slice, ...]:
        """The slices on the card."""
        return self.card.slices[:MAX_SLICES]

    @property
    def scale(self) -> tuple[float, float]:
        """The ends of the scale of the card's dumbbells: 0 and 1, or further out where scores are."""
        scores = [score for topic in self.worst for score in (topic.baseline, topic.candidate)]
        return min((0.0, *scores)), max((1.0, *scores))

    @property
    def failed(self) -> int:
        """How many of its gates fail the build."""
        return sum(not gate.verdict.passed for gate in self.gates)

    @property
    def counts(self) -> str:
        """How its gates ended."""
        return answer([gate.verdict for gate in self.gates]).counts

    def with_charts(self, budget: int) -> tuple[ComparisonView, int]:
        """The view without charts for which no bytes are left, and the bytes that are left then."""
        counted: set[str] = set()
        gates = []
        for gate in self.gates:
            kept = []
            for chart in gate.charts:
                cost = 0 if chart.svg in counted else len(chart.svg.encode())
                if cost <= budget:
                    budget -= cost
                    counted.add(chart.svg)
                    kept.append(chart)
            gates.append(replace(gate, charts=kept, left_out=len(gate.charts) - len(kept)))
        return replace(self, gates=gates), budget

    def other_charts(self, gate: GateView) -> list[Plot]:
        """The charts of a gate that no gate before it shows: those of the first one stand by themselves."""
        before = {chart.svg for chart in self.lead.charts}
        for other in takewhile(lambda other: other is not gate, self.gates):
            before |= {chart.svg for chart in other.charts}
        return [chart for chart in gate.charts if chart.svg not in before]

    def data(self, budget: int) -> dict[str, Any]:
        """For the script; topics that do not fit into the budget are left out, the least harmful first."""
        kept = self.rows[: fitting(self.rows, budget)]
        topics = [row.topic for row in kept]
        gates = [
            {"anchor": gate.anchor, **gate_data(topics, rows)}
            for gate, rows in zip(self.gates[:_MAX_GATES], self.of_gates, strict=False)
        ]
        left = budget - size(topic_data(kept))
        kept_gates = max(fitting(gates, left), 1)
        return {
            "id": self.id,
            "anchors": [gate.anchor for gate in self.gates],
            "names": [clean(gate.verdict.gate, limit=MAX_NAME) for gate in self.gates],
            "measure": clean(self.lead.verdict.measure or "", limit=MAX_NAME),
            "systems": [clean(name, limit=MAX_NAME) for name in (self.lead.against, self.lead.verdict.candidate)],
            "count": len(self.rows),
            **topic_data(kept),
            "gates": gates[:kept_gates],
            "panels": self.panels.data(topics, depth=_DEPTH),
        }


def comparison_view(
    comparison: Comparison,
    *,
    place: int,
    anchors: Sequence[str],
    known: Mapping[int, KnownGate],
    full: bool,
    run: Sequence[Verdict] = (),
    complete: bool = True,
) -> ComparisonView:
    """A comparison ready to be shown; ``anchors`` and ``known`` are of all verdicts by their places in the report.

    ``run`` and ``complete`` are as ``card`` takes them.
    """
    gates = [
        gate_view(verdict, anchor=anchors[at], known=known.get(at))
        for verdict, at in zip(comparison.verdicts, comparison.places, strict=True)
    ]
    of_gates = [topic_rows(verdict) for verdict in comparison.verdicts]
    first = known.get(comparison.places[0])
    return ComparisonView(
        id=f"{OWN}comparison-{place}",
        card=card(
            comparison.verdicts[0],
            run=run,
            complete=complete,
            reproduce=None if first is None else first.reproduce,
        ),
        gates=gates,
        rows=merged(of_gates),
        panels=Panels(comparison.verdicts),
        of_gates=[{row.topic: row for row in rows} for rows in of_gates],
        full=full,
    )
