"""The page of verdicts: a card for each comparison, its gates, its queries and charts; its title and its script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from markupsafe import Markup

from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.findings import ResponsibleTopic
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports import words
from pytest_riskguard.reports.card import MARKS, Card
from pytest_riskguard.reports.comparisons import (
    KnownGate,
    Report,
    after,
    answer,
    comparisons,
    has_rivals,
    missing,
    title,
)
from pytest_riskguard.reports.details import details, marks, settings
from pytest_riskguard.reports.html.charts import charts
from pytest_riskguard.reports.html.charts.plots import Plot
from pytest_riskguard.reports.html.whole_page import (
    MAX_BYTES,
    MAX_TOPIC,
    OWN,
    anchors,
    asset,
    fitting,
    script_json,
    topic_anchor,
    whole_page,
)
from pytest_riskguard.reports.standings import standings
from pytest_riskguard.text import clean, web_address

#: Comparisons that are in the page as a whole; others are rendered when they are opened.
_MAX_FULL = 4
#: Queries on the card, and rows of queries in the page itself: the script shows the others.
MAX_WORST, STATIC_ROWS = 6, 10
#: Comparisons that have charts, of which each takes at most about 100 kB.
_MAX_DRAWN = 20
_SCRIPTS = ("base.js", "rankings.js", "search.js", "topics.js", "navigation.js")


def document(report: Report) -> str:
    """The page of a report; it names the gates that were not judged."""
    from pytest_riskguard.reports import provenance as origin

    known, provenance = report.gates, report.provenance
    views, said = _views(report.verdicts, known), answer(report.verdicts, known)
    budget = MAX_BYTES // max(len(views), 1)
    name = said.title
    if len(views) == 1 and views[0].card.tone == said.tone:  # with the cause, where there is only one comparison
        name = "; ".join(filter(None, (views[0].title, title(known))))
    return whole_page(
        "page.html",
        title=f"{MARKS[said.tone]} {name}",
        style="print.css",
        # its parts in one function, so that no name is visible outside of it
        script='"use strict";\n(() => {\n' + "".join(map(asset, _SCRIPTS)) + "})();\n",
        comparisons=views,
        gates=sum(len(view.gates) for view in views),
        unjudged=missing(known),
        head=origin.head(provenance) if provenance else (),
        origin=provenance and origin.section(provenance),
        policy_changes=report.policy_changes,
        standings=standings(report.verdicts, known),
        topic_anchor=topic_anchor,
        static_rows=STATIC_ROWS,
        words=words,
        details=details,
        settings=settings,
        data=Markup(  # noqa: S704
            script_json({"comparisons": [view.data(budget) for view in views], "shown": STATIC_ROWS})
        ),
    )


@frozen
class GateView:
    """A verdict with its part of the page; ``anchor`` is its address there."""

    anchor: str
    verdict: Verdict
    known: KnownGate | None

    @property
    def ended(self) -> str:
        """How it ended, as a class of the style."""
        return "care" if words.word(self.verdict) == "pass with care" else self.verdict.outcome

    @property
    def mark(self) -> str:
        """How it ended as a sign."""
        return MARKS[Card(self.verdict).tone]

    @property
    def words(self) -> str:
        """How it ended in words, and how often the gate failed before."""
        return words.word(self.verdict) + after(0 if self.known is None else self.known.failures)


@frozen
class ComparisonView:
    """A comparison ready to be shown; ``id`` is its own in the page, its first gate is the one on the card.

    A chart is that of the first gate that has one of its kind.
    """

    id: str
    gates: list[GateView]
    charts: list[Plot]
    rows: list[TopicRow]
    advice: str
    steps: list[words.Step]
    full: bool = True
    has_rivals: bool = False

    @property
    def lead(self) -> GateView:
        """The gate that the card is about."""
        return self.gates[0]

    @property
    def card(self) -> Card:
        """Its facts."""
        return Card(self.lead.verdict)

    @property
    def title(self) -> str:
        """The answer in a line."""
        verdict = self.lead.verdict
        whose = verdict.service or (_short(verdict.candidate) if self.has_rivals else "")
        return ": ".join(filter(None, (whose, self.advice, words.line(verdict)))).replace(" -> ", " → ")

    @property
    def worst(self) -> tuple[ResponsibleTopic, ...]:
        """The queries on the card."""
        return self.card.worst[:MAX_WORST]

    @property
    def scale(self) -> tuple[float, float]:
        """The ends of the scale of the card's dumbbells: 0 and 1, or further out where scores are."""
        scores = [score for topic in self.worst for score in (topic.baseline, topic.candidate)]
        return min((0.0, *scores)), max((1.0, *scores))

    @property
    def counts(self) -> str:
        """How its gates ended."""
        return answer([gate.verdict for gate in self.gates]).counts

    def data(self, budget: int) -> dict[str, Any]:
        """For the script; topics that do not fit into the budget are left out, the least harmful first."""
        verdicts, kept = [gate.verdict for gate in self.gates], self.rows[: fitting(self.rows, budget)]
        systems = (self.lead.verdict.baseline, self.lead.verdict.candidate)
        return {
            "id": self.id,
            "anchors": [gate.anchor for gate in self.gates],
            "judged": not self.lead.verdict.asked.of_rankings,
            "measure": _short(self.lead.verdict.measure or ""),
            "systems": [_short(name) for name in systems],
            "count": len(self.rows),
            **topic_data(kept),
            "panels": panels(verdicts, [row.topic for row in kept]),
        }


def _short(text: str) -> str:
    return clean(text, limit=words.MAX_NAME)


def _views(verdicts: Sequence[Verdict], known: Sequence[KnownGate]) -> list[ComparisonView]:
    """The comparisons, those that fail first."""
    owners = {place: gate for gate in known for place in gate.verdicts}
    ids, complete = anchors([verdict.gate for verdict in verdicts]), not missing(known)
    views = []
    for number, places in enumerate(comparisons(verdicts), 1):
        lead, *_ = gates = [GateView(ids[place], verdicts[place], owners.get(place)) for place in places]
        drawn = dict[str, Plot]()
        for chart in (chart for gate in gates for chart in charts(gate.verdict)):
            drawn.setdefault(chart.key, chart)
        reproduce = None if lead.known is None else lead.known.reproduce
        view = ComparisonView(
            id=f"{OWN}comparison-{number}",
            gates=gates,
            charts=[*drawn.values()] if number <= _MAX_DRAWN else [],
            rows=topic_rows(max((gate.verdict for gate in gates), key=lambda verdict: verdict.topics.count)),
            advice=words.own_advice(lead.verdict, verdicts, complete=complete),
            steps=[*words.steps(lead.verdict, verdicts, complete=complete, reproduce=reproduce)],
            full=number <= _MAX_FULL,
            has_rivals=has_rivals(verdicts),
        )
        views.append(view)
    return views


# ---- queries: their scores once, the figures of each gate, and both rankings

#: Longest query, name or value of a tag, id and title of a document.
MAX_QUERY, MAX_TAG, _MAX_ID, _MAX_TITLE = 200, 60, 120, 160


class TopicRow(NamedTuple):
    """A topic in one gate."""

    topic: str
    query: str
    tags: tuple[tuple[str, str], ...]
    baseline: float
    candidate: float
    difference: float
    share: float | None
    contribution: float
    standardised: float
    marks: str


def topic_rows(verdict: Verdict) -> list[TopicRow]:
    """Every topic if the verdict has exhibits, else the topics responsible; worst first."""
    responsible = {topic.topic: topic for topic in verdict.responsible_topics}
    card, rows = Card(verdict), []
    columns = card.columns
    for place, topic in enumerate(columns.topics):
        candidate, baseline, known = columns.candidate[place], columns.baseline[place], responsible.get(topic)
        flagged = "flagged" * columns.flagged(place)
        tags = tuple(
            (clean(tag, limit=MAX_TAG), clean(values[place], limit=MAX_TAG))
            for tag, values in columns.tags.items()
            if values[place]
        )
        row = TopicRow(
            topic,
            clean(columns.queries[place] or "", limit=MAX_QUERY),
            tags,
            baseline,
            candidate,
            candidate - baseline,
            None if known is None or verdict.asked.of_rankings else known.share,
            columns.contributions[place],
            columns.standardised[place],
            flagged if known is None else marks(known, flips=topic in card.decisive_topics),
        )
        rows.append(row)
    return sorted(rows, key=lambda row: (round(row.contribution, 12), row.topic))


def topic_data(rows: Sequence[TopicRow]) -> dict[str, Any]:
    """The topics for the script, column by column; tags as places in a list of the different ones."""
    known: dict[tuple[str, str], int] = {}
    tags = [[known.setdefault(tag, len(known)) for tag in row.tags] for row in rows]
    return {
        "topics": [clean(row.topic, limit=MAX_TOPIC) for row in rows],
        "queries": [row.query for row in rows],
        "known_tags": [list(tag) for tag in known],
        "tags": tags,
        **{name: [getattr(row, name) for row in rows] for name in TopicRow._fields[3:]},
    }


def panels(verdicts: Sequence[Verdict], topics: Sequence[str]) -> dict[str, Any]:
    """Both rankings of a topic, for the script: documents as id, title and address, and for each topic its entries.

    An entry is a document by its place, its grade, both ranks and its effect.
    """
    known = [verdict.documents for verdict in reversed(verdicts) if verdict.documents is not None]
    found = {topic.topic: topic.documents for one in known for topic in one.topics}
    titles = {name: title for one in known for name, title in one.titles.items()}
    urls = {name: url for one in known for name, url in one.urls.items()}
    depth = known[-1].depth if known else 0
    documents: dict[str, int] = {}
    entries = []
    for place, topic in enumerate(topics):
        if topic in found:
            shown = [
                (
                    documents.setdefault(row.document, len(documents)),
                    row.grade,
                    row.baseline_rank,
                    row.candidate_rank,
                    row.effect or None,
                )
                for row in found[topic]
                if row.best_rank <= depth
            ]
            entries.append([place, shown])
    named = [
        (clean(name, limit=_MAX_ID), clean(titles.get(name, ""), limit=_MAX_TITLE), web_address(urls.get(name, "")))
        for name in documents
    ]
    return {"depth": depth, "documents": named, "topics": entries}
