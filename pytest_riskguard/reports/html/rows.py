"""Topics as rows of a table, most harmful first: in the page, and as JSON for its script."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.shown import Shown
from pytest_riskguard.serialization import rounded
from pytest_riskguard.text import clean, plain, signed

#: Rows that stand in the page itself, which is also how many the script shows at a time.
STATIC = 25
#: Where the table holds no more than so many, all stand in the page: there is nothing to turn over.
SCRIPTED = 30
#: Bytes that the topics of all gates may take together, so that the page stays below 5 MB.
BUDGET = 3_000_000
#: What could end the script element or a line of it, as JSON escapes.
_ESCAPES = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


@dataclass(frozen=True)
class TopicRow:
    """A topic of the table; ``documents`` is the id of the place that shows them."""

    topic: str
    query: str
    tags: str
    baseline: float
    candidate: float
    difference: float
    contribution: float
    standing: float
    marks: str
    documents: str

    @property
    def cells(self) -> list[str | float]:
        """What the script is given, in the order of the columns."""
        return [
            self.topic,
            self.query,
            self.tags,
            self.baseline,
            self.candidate,
            self.difference,
            self.contribution,
            self.standing,
            self.marks,
            self.documents,
        ]

    @property
    def shown(self) -> list[str]:
        """The figures as text."""
        return [
            plain(self.baseline),
            plain(self.candidate),
            signed(self.difference),
            signed(self.contribution, 5),
            signed(self.standing, 2),
        ]


def topic_rows(verdict: Verdict, *, name: str) -> list[TopicRow]:
    """Every topic where the verdict has exhibits, else those responsible and the flagged wins."""
    sign = Shown(verdict).sign
    documents = {each.topic: f"{name}-documents-{place}" for place, each in enumerate(verdict.documents or (), 1)}
    responsible = {each.topic: each for each in (*verdict.responsible_topics, *verdict.flagged_wins)}
    pivotal = set(verdict.explanation.pivotal_topics) if verdict.explanation else set()

    def _marks(topic: str, *, flagged: bool) -> str:
        reported = responsible.get(topic)
        flips = topic in pivotal or (reported is not None and reported.flips_verdict)
        return Shown.marks(reported, flagged=flagged, flips=flips)

    def row(
        topic: str,
        query: str | None,
        scores: tuple[float, float],
        part: float,
        standing: float,
        *,
        flagged: bool,
        tags: str = "",
    ) -> TopicRow:
        candidate, baseline = scores
        return TopicRow(
            topic=clean(topic, limit=120),
            query=clean(query or "", limit=200),
            tags=clean(tags, limit=120),
            # as the JSON report has them, so that page and script round the same numbers
            baseline=rounded(baseline) or 0.0,
            candidate=rounded(candidate) or 0.0,
            difference=rounded(candidate - baseline) or 0.0,
            contribution=rounded(part * sign) or 0.0,
            standing=rounded(standing * sign) or 0.0,
            marks=_marks(topic, flagged=flagged),
            documents=documents.get(topic, ""),
        )

    if verdict.exhibits is None:
        rows = [
            row(t.topic, t.query, (t.candidate, t.baseline), t.contribution, t.standardised, flagged=t.flagged)
            for t in responsible.values()
        ]
    else:
        columns = verdict.exhibits.topics
        critical = columns.critical_value
        rows = [
            row(
                topic,
                columns.queries[place],
                (columns.candidate[place], columns.baseline[place]),
                columns.contributions[place],
                columns.standardised[place],
                flagged=critical is not None and abs(columns.standardised[place]) > critical,
                tags=", ".join(f"{tag}: {values[place]}" for tag, values in columns.tags.items() if values[place]),
            )
            for place, topic in enumerate(columns.topics)
        ]
    return sorted(rows, key=lambda made: (round(sign * made.contribution, 12), made.topic))


def embedded(names: Sequence[str], tables: Sequence[Sequence[TopicRow]], *, budget: int) -> str:
    """An object from gate to its rows; of tables that are too long, the most harmful topics.

    A table that stands whole in the page needs no rows here.
    """
    long = [(name, rows) for name, rows in zip(names, tables, strict=True) if len(rows) > SCRIPTED]
    share = budget // max(len(long), 1)
    parts = (
        f'{script_json(name)}:{{"of":{len(rows)},"rows":[{",".join(_fitting(rows, share))}]}}' for name, rows in long
    )
    return "{" + ",".join(parts) + "}"


def _fitting(rows: Sequence[TopicRow], budget: int) -> list[str]:
    found: list[str] = []
    for row in rows:
        text = script_json(row.cells)
        budget -= len(text.encode()) + 1
        if budget < 0:
            break
        found.append(text)
    return found


def script_json(value: object) -> str:
    """JSON for the inside of a script element."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(_ESCAPES)
