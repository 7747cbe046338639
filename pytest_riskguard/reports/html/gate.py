"""What the template shows of one verdict; topics as rows, in the page and as JSON for its script."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pytest_riskguard.formats.serialization import rounded
from pytest_riskguard.gates.findings import TopicColumns
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.figures import figures
from pytest_riskguard.reports.html.charts import Chart, charts
from pytest_riskguard.reports.known_gates import after
from pytest_riskguard.reports.sections import Section, sections
from pytest_riskguard.reports.shown import OUTCOMES, Shown
from pytest_riskguard.text import clean, plain, signed

_MARKS = {"pass": "✓", "fail": "✗", "inconclusive": "?", "incomparable": "!"}

#: Rows that are in the page itself, and how many the script shows at a time.
STATIC_ROWS = 25
#: The longest table that is written into the page as a whole.
MAX_STATIC_ROWS = 30
#: Bytes that the topics of all gates may take together, so that the page stays below 5 MB.
MAX_BYTES = 3_000_000
#: Characters that could end the script element or one of its lines, as JSON escapes.
_ESCAPES = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


class TopicRow(NamedTuple):
    """A topic of the table, in the order of its columns; ``documents`` is the id of the place that shows them."""

    topic: str
    query: str
    tags: str
    baseline: float
    candidate: float
    difference: float
    contribution: float
    standardised: float
    marks: str
    documents: str

    @property
    def numbers(self) -> list[str]:
        """The figures as text."""
        return [
            plain(self.baseline),
            plain(self.candidate),
            signed(self.difference),
            signed(self.contribution, 5),
            signed(self.standardised, 2),
        ]


@dataclass(frozen=True)
class GateView:
    """A verdict with the texts and drawings of its section; ``name`` is its id in the page."""

    name: str
    verdict: Verdict
    shown: Shown
    figures: list[str]
    sections: tuple[Section, ...]
    charts: list[Chart]
    rows: list[TopicRow]
    #: Attempts that failed before the one with this verdict.
    failures: int = 0

    @property
    def badge(self) -> tuple[str, str]:
        """The outcome as a sign and in words."""
        word = OUTCOMES.get(self.verdict.outcome, self.verdict.outcome)
        return _MARKS[self.verdict.outcome], word + after(self.failures)

    @property
    def against(self) -> str:
        """The baseline, or the reference of a pool."""
        pool = self.verdict.pool
        return ", ".join(self.verdict.baselines) if pool is None else pool.decided_by


def view(verdict: Verdict, *, name: str, failures: int = 0) -> GateView:
    """A verdict ready to be shown."""
    comparable, rows = verdict.outcome != "incomparable", topic_rows(verdict, name=name)
    lines, drawings = (figures(verdict), charts(verdict)) if comparable else ([], [])
    return GateView(name, verdict, Shown(verdict), lines, sections(verdict), drawings, rows, failures)


def topic_rows(verdict: Verdict, *, name: str) -> list[TopicRow]:
    """Every topic if the verdict has exhibits, else the topics responsible and the flagged wins."""
    sign = Shown(verdict).sign
    documents = {moved.topic: f"{name}-documents-{place}" for place, moved in enumerate(verdict.documents or (), 1)}
    responsible = {topic.topic: topic for topic in (*verdict.responsible_topics, *verdict.flagged_wins)}
    pivotal = set(verdict.explanation.pivotal_topics) if verdict.explanation else set()
    columns = TopicColumns.of(responsible.values()) if verdict.exhibits is None else verdict.exhibits.topics
    rows = []
    for place, topic in enumerate(columns.topics):
        known, candidate, baseline = responsible.get(topic), columns.candidate[place], columns.baseline[place]
        flagged = columns.flagged(place) if known is None else known.flagged
        flips = topic in pivotal or (known is not None and known.flips_verdict)
        tags = ", ".join(f"{tag}: {values[place]}" for tag, values in columns.tags.items() if values[place])
        row = TopicRow(
            topic=clean(topic, limit=120),
            query=clean(columns.queries[place] or "", limit=200),
            tags=clean(tags, limit=120),
            # as the JSON report has them, so that page and script round the same numbers
            baseline=rounded(baseline) or 0.0,
            candidate=rounded(candidate) or 0.0,
            difference=rounded(candidate - baseline) or 0.0,
            contribution=rounded(columns.contributions[place] * sign) or 0.0,
            standardised=rounded(columns.standardised[place] * sign) or 0.0,
            marks=Shown.marks(known, flagged=flagged, flips=flips),
            documents=documents.get(topic, ""),
        )
        rows.append(row)
    return sorted(rows, key=lambda row: (round(sign * row.contribution, 12), row.topic))


def embedded(tables: Mapping[str, Sequence[TopicRow]], *, budget: int) -> str:
    """A JSON object from gate to its rows; tables that are too long keep only the most harmful topics.

    A table that is in the page as a whole needs no rows here.
    """
    long = {name: rows for name, rows in tables.items() if len(rows) > MAX_STATIC_ROWS}
    share = budget // max(len(long), 1)
    parts = (
        f'{script_json(name)}:{{"of":{len(rows)},"rows":[{",".join(_fitting(rows, share))}]}}'
        for name, rows in long.items()
    )
    return "{" + ",".join(parts) + "}"


def _fitting(rows: Sequence[TopicRow], budget: int) -> list[str]:
    texts: list[str] = []
    for row in rows:
        text = script_json(row)
        budget -= len(text.encode()) + 1
        if budget < 0:
            break
        texts.append(text)
    return texts


def script_json(value: object) -> str:
    """JSON for the inside of a script element."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(_ESCAPES)
