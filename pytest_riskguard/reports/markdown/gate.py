"""One gate in Markdown: summary, warnings, topics, documents, slices, judgements; its charts as pictures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.markdown.escape import code, folded, prose, table
from pytest_riskguard.reports.sections import Section, sections, topics
from pytest_riskguard.reports.shown import Shown

#: Topics that are shown, and rows of a table that is folded; the JSON report has all of them.
MAX_ROWS, _MAX_FOLDED_ROWS = 10, 30
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


def section(verdict: Verdict, extent: Extent, pictures: Sequence[Picture] = ()) -> list[str]:
    """The gate in lines, most important first."""
    shown, parts = Shown(verdict), {part.key: part for part in sections(verdict)}
    lines = [prose((verdict.explanation and verdict.explanation.summary) or shown.headline()), ""]
    for warning in verdict.warnings:
        lines += [f"Warning ({code(warning.code)}): {prose(warning.message, limit=1000)}", ""]
    for picture in pictures:
        lines += [f"![{prose(picture.description, limit=500)}]({picture.file})", ""]
    if extent >= Extent.TOPICS and shown.losers:
        lines += _topics(shown)
    if extent >= Extent.ALL:
        for key in _FOLDED:
            lines += _folded(parts[key]) if key in parts else []
    return lines


def _topics(shown: Shown) -> list[str]:
    count = len(shown.losers)
    which = f"the {MAX_ROWS} most harmful" if count > MAX_ROWS else "all"
    title = f"Topics responsible: {which} of {count} that lost{' too much' * shown.verdict.asked.by_topic}."
    return [title, "", *table(topics(shown), most=MAX_ROWS)[: MAX_ROWS + 2], ""]


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
    """The charts of each verdict, for files beside the report at ``path``: Markdown shows pictures but draws none."""
    from pytest_riskguard.reports.html.charts import charts

    by_verdict, number = [], 0
    for verdict in verdicts:
        drawings: list[Picture] = []
        for chart in charts(verdict)[: 1 if verdict.passed else _MAX_FAILED]:
            number += 1
            name = f"{_plain(path.stem)}.{_plain(verdict.gate)}-{number}.svg"
            drawings.append(Picture(name, f"{chart.title}. {chart.description}", chart.file))
        by_verdict.append(drawings)
    return by_verdict


def _plain(name: str) -> str:
    """Part of a file name that every system accepts, and every Markdown reader as the address of a picture."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")[:60] or "gate"
