"""What the page shows of one gate: its row in the table of gates, and the part that is rendered when it is opened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.findings import TopicDocuments
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.card import MARKS, WITH_CARE, Card, card
from pytest_riskguard.reports.comparisons import KnownGate, after
from pytest_riskguard.reports.figures import figures
from pytest_riskguard.reports.html.charts import charts
from pytest_riskguard.reports.html.charts.plots import Plot
from pytest_riskguard.reports.sections import Part, sections
from pytest_riskguard.reports.shown import OUTCOMES, Shown
from pytest_riskguard.serialization import rounded
from pytest_riskguard.text import clean, short, signed, web_address

if TYPE_CHECKING:
    from pytest_riskguard.gates.rankings import Rankings


_MARKS = {
    "pass": MARKS["go"],
    "fail": MARKS["stop"],
    "inconclusive": "?",
    "incomparable": "!",
    "care": MARKS["caution"],
}
#: Sections that the page shows in another way: rankings of a topic, and settings as a line.
_ELSEWHERE = ("documents", "settings")


@frozen
class GateView:
    """A verdict with the texts and drawings of its part of the page; ``anchor`` is its address there."""

    anchor: str
    verdict: Verdict
    shown: Shown
    card: Card
    figures: list[str]
    sections: tuple[Part, ...]
    settings: Part
    charts: list[Plot]
    known: KnownGate | None = None
    #: Charts for which the page had no room.
    left_out: int = 0

    @property
    def ended(self) -> str:
        """The outcome, or ``care`` for a pass with care."""
        outcome = self.verdict.outcome
        return "care" if outcome == "pass" and self.card.tone == "caution" else outcome

    @property
    def mark(self) -> str:
        """How it ended as a sign."""
        return _MARKS[self.ended]

    @property
    def words(self) -> str:
        """How it ended in words, and how often the gate failed before."""
        words = OUTCOMES.get(self.verdict.outcome, self.verdict.outcome)
        words += f" {WITH_CARE}" if self.ended == "care" else ""
        return words + after(self.known.failures if self.known else None)

    @property
    def place(self) -> str:
        """File and line of the gate, where the run that judged it is known."""
        return self.known.place if self.known is not None else ""

    @property
    def against(self) -> str:
        """The baseline, or the reference of a pool."""
        pool = self.verdict.pool
        return ", ".join(self.verdict.baselines) if pool is None else pool.decided_by

    @property
    def alpha(self) -> str:
        """The weight of a loss as the gate was asked."""
        verdict = self.verdict
        return "" if verdict.asked.by_topic else "smooth" if verdict.tradeoff == "smooth" else short(verdict.alpha)

    @property
    def estimate(self) -> str:
        """What was estimated, without its interval; of a gate on single topics, the worst one."""
        if self.verdict.outcome == "incomparable":
            return ""
        if self.verdict.asked.by_topic:
            return self.shown.collapse
        return "" if self.shown.risk is None else signed(self.shown.risk)

    @property
    def interval(self) -> str:
        """The interval that decided."""
        decisive = self.verdict.decisive_interval
        return "" if decisive is None else self.shown.limits(decisive.lower, decisive.upper)


def gate_view(verdict: Verdict, *, anchor: str, known: KnownGate | None = None) -> GateView:
    """A verdict ready to be shown."""
    comparable, parts = verdict.outcome != "incomparable", sections(verdict)
    return GateView(
        anchor=anchor,
        verdict=verdict,
        shown=Shown(verdict),
        card=card(verdict),
        figures=figures(verdict) if comparable else [],
        sections=tuple(part for part in parts if part.key not in _ELSEWHERE),
        settings=next(part for part in parts if part.key == "settings"),
        charts=charts(verdict) if comparable else [],
        known=known,
    )


_MAX_ID, _MAX_TITLE = 120, 160
#: What a document is in one topic: its place in the list of documents, grade, both ranks, and effect.
Entry = tuple[int, float | None, int | None, int | None, float | None]


class Panels:
    """The rankings of a comparison; each document is named once, however many topics show it."""

    def __init__(self, verdicts: Sequence[Verdict]) -> None:
        self._rankings: Rankings | None = next(
            (verdict.rankings for verdict in verdicts if verdict.rankings is not None), None
        )
        moves = {moved.topic: moved for verdict in reversed(verdicts) for moved in verdict.documents or ()}
        self._documents: dict[str, int] = {}
        self._topics: dict[str, list[Entry]] = {}
        if self._rankings is not None:
            for topic, rows in sorted(self._rankings.topics.items()):
                effects = _effects(moves.get(topic))
                self._topics[topic] = [
                    (
                        self._place(row.document),
                        row.grade,
                        row.baseline_rank,
                        row.candidate_rank,
                        effects.get(row.document),
                    )
                    for row in rows
                ]
        for name, moved in moves.items():
            self._topics.setdefault(name, self._moved(moved))

    def __bool__(self) -> bool:
        return bool(self._topics)

    def __contains__(self, topic: str) -> bool:
        return topic in self._topics

    def _place(self, document: str) -> int:
        return self._documents.setdefault(document, len(self._documents))

    def _moved(self, moved: TopicDocuments) -> list[Entry]:
        """What is known without the rankings: the documents that moved, and the new ones."""
        known = {document.document: document for document in (*moved.replacements, *moved.moved)}
        return [
            (self._place(name), row.grade, row.baseline_rank, row.candidate_rank, rounded(row.effect) or None)
            for name, row in known.items()
        ]

    def data(self, topics: Sequence[str], *, depth: int) -> dict[str, Any]:
        """For the script: documents as id, title and address, and for each topic by its place its entries."""
        places = {topic: place for place, topic in enumerate(topics)}
        whole = {*self._rankings.topics} if self._rankings is not None else set()
        return {
            "depth": depth if self._rankings is None else self._rankings.depth,
            "documents": [[clean(name, limit=_MAX_ID), *self._shown(name)] for name in self._documents],
            "topics": [
                [places[topic], topic in whole, entries] for topic, entries in self._topics.items() if topic in places
            ],
        }

    def _shown(self, document: str) -> list[str]:
        """Title and address of a document, as far as they are known; only web addresses become links."""
        if self._rankings is None:
            return []
        title = clean(self._rankings.titles.get(document, ""), limit=_MAX_TITLE)
        address = self._rankings.urls.get(document)
        link = web_address(address) if address is not None else None
        return [title, link] if link else [title] if title else []


def _effects(moved: TopicDocuments | None) -> Mapping[str, float | None]:
    """The effect of each relevant document that moved."""
    return {row.document: rounded(row.effect) for row in moved.moved} if moved is not None else {}
