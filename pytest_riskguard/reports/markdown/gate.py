"""One gate in Markdown: its card, and statistics, documents, slices, judgements folded; its charts as pictures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.card import card, unsaid
from pytest_riskguard.reports.figures import figures
from pytest_riskguard.reports.markdown.escape import code, folded, prose, table
from pytest_riskguard.reports.sections import Section, sections, topics, worst_topics
from pytest_riskguard.reports.shown import Shown
from pytest_riskguard.text import clean

#: Topics that are shown, rows of a table that is folded, and of the tables of sections; the JSON report has them all.
MAX_WORST, MAX_ROWS, _MAX_FOLDED_ROWS = 6, 10, 30
_MAX_PARAGRAPH = 4000
#: Sections that are shown, each folded.
_FOLDED = ("documents", "slices", "judgements")
#: Charts of a gate that did not pass; a gate that passed gets only the first.
_MAX_FAILED = 2


class Extent(IntEnum):
    """How much is written about a gate: its row in the table of gates alone, or more and more of its section."""

    TABLE, BRIEF, TOPICS, ALL = range(4)


@dataclass(frozen=True)
class Picture:
    """A chart as SVG: the name of its file, what it shows in words, the file's content."""

    file: str
    description: str
    svg: str


def section(
    verdict: Verdict,
    extent: Extent,
    pictures: Sequence[Picture] = (),
    *,
    same_as: str | None = None,
    run: Sequence[Verdict] = (),
    complete: bool = True,
) -> list[str]:
    """The gate in lines, most important first; ``same_as`` names a gate whose section has the same queries.

    ``run`` and ``complete`` are as ``card`` takes them.
    """
    shown = card(verdict, run=run, complete=complete)
    lines = [prose(shown.paragraph.replace(" -> ", " → "), limit=_MAX_PARAGRAPH), ""]
    if same_as is not None:
        lines += [f"Queries and documents: see {code(same_as)}.", ""]
    elif extent >= Extent.TOPICS and shown.worst:
        lines += _worst(verdict, len(shown.worst) + Shown(verdict).more_losers)
    for step in shown.steps:
        lines.append(f"- {prose(step.text)}{': ' if step.command else ''}{code(step.command, limit=500)}")
    lines += [""] if shown.steps else []
    for warning in unsaid(verdict):
        lines += [f"Warning ({code(warning.code)}): {prose(warning.message, limit=1000)}", ""]
    for picture in pictures:
        lines += [f"![{prose(picture.description, limit=500)}]({picture.file})", ""]
    return lines + (_details(verdict, shown.why) if extent >= Extent.ALL else [])


def _worst(verdict: Verdict, count: int) -> list[str]:
    """The worst topics with their queries and scores."""
    opponent, candidate = Shown(verdict).opponent, clean(verdict.candidate, limit=60)
    which = (
        f"The {Shown(verdict).extreme} {MAX_WORST} of {count}"
        if count > MAX_WORST
        else f"All {count}"
        if count > 1
        else "The only one"
    )
    content = worst_topics(Shown(verdict))
    return [
        f"{which}, {code(opponent)} to {code(candidate)}:",
        "",
        *table(content, most=MAX_WORST)[: min(count, MAX_WORST) + 2],
        "",
    ]


def _details(verdict: Verdict, why: str) -> list[str]:
    """Statistics and sections, each folded."""
    if verdict.outcome == "incomparable":
        return []
    parts = {part.key: part for part in sections(verdict)}
    lines = [line for text in (why, *figures(verdict)) if text for line in (prose(text), "")]
    if Shown(verdict).losers:
        lines += table(topics(Shown(verdict)), most=MAX_ROWS)
    lines = folded("Statistics", lines)
    for key in _FOLDED:
        lines += _folded(parts[key]) if key in parts else []
    return lines


def _folded(part: Section) -> list[str]:
    lines = [prose(part.text), ""] if part.text and part.tables else []
    for content in part.tables[:MAX_ROWS]:
        lines += [prose(content.title), "", *table(content, most=_MAX_FOLDED_ROWS), ""]
    if len(part.tables) > MAX_ROWS:
        lines += [f"The first {MAX_ROWS} of {len(part.tables)}.", ""]
    for note in dict.fromkeys(content.note for content in part.tables if content.note):
        lines += [prose(note), ""]
    return folded(part.title, lines[:-1])


def pictures(path: Path, verdicts: Sequence[Verdict]) -> list[list[Picture]]:
    """The charts of each verdict, for files beside the report at ``path``: Markdown shows pictures but draws none.

    A picture that several verdicts share, such as those of several alphas, is shown with the first of them.
    """
    from pytest_riskguard.reports.html.charts import charts

    by_verdict, number, drawn = [], 0, set[str]()
    for verdict in verdicts:
        drawings: list[Picture] = []
        for chart in charts(verdict)[: 1 if verdict.passed else _MAX_FAILED]:
            if chart.file in drawn:
                continue
            drawn.add(chart.file)
            number += 1
            name = f"{_plain(path.stem)}.{_plain(verdict.gate)}-{number}.svg"
            drawings.append(Picture(name, f"{chart.title}. {chart.description}", chart.file))
        by_verdict.append(drawings)
    return by_verdict


def _plain(name: str) -> str:
    """Part of a file name that every system accepts, and every Markdown reader as the address of a picture."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")[:60] or "gate"
