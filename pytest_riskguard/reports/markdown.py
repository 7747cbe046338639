"""The report as Markdown, for pull requests and the step summaries of CI systems."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from functools import cached_property
from pathlib import Path

from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports import comparisons
from pytest_riskguard.reports.card import card, unsaid, word
from pytest_riskguard.reports.comparisons import KnownGate, answer, urgency
from pytest_riskguard.reports.figures import figures
from pytest_riskguard.reports.parts import Table
from pytest_riskguard.reports.provenance import Provenance, line
from pytest_riskguard.reports.sections import Part, sections, topics, worst_topics
from pytest_riskguard.reports.shown import Shown
from pytest_riskguard.reports.terminal.failure import remarks, repeats
from pytest_riskguard.reports.wording import headlines
from pytest_riskguard.reports.wording.sentences import from_to
from pytest_riskguard.text import clean, counted

#: Characters that names keep. A full stop after ``www`` would make a link, because links are found first.
_KEPT_IN_CODE = re.compile(
    r"(?<=[a-z])_(?=[a-z])|(?<!www)\.|[-,;=/+%?()']|(?P<escaped>[!-/:-@\[-`{-~])", re.IGNORECASE
)
#: Characters that prose keeps because they mean nothing inside a line, so that the source stays readable: an interval
#: in brackets, which would be a link only if an address followed; the underscore in a word; the colon before a space.
_KEPT = re.compile(
    r"""\[[-+][\d.e+-]+,\ [-+][\d.e+-]+\](?![(\[:]) | (?<=[a-z])_(?=[a-z]) | :(?=\ |$)
    | (?<!^)[(),;.=+\-/'"%?]  # at the head of a line some of these begin a list
    | (?P<escaped>[!-/:-@\[-`{-~])""",
    re.VERBOSE,
)
#: What makes a mention (@), a reference (#1, !1, $1, %1, &1 of GitLab, GH-1), a mail address or a link.
_LINKING = re.compile(
    r"[@#!$&%~^](?=\w|\")|:(?=//)|(?<=www)(?=\.)|(?<=GH)(?=-\d)|(?<=mailto)(?=:)|(?<=xmpp)(?=:)", re.IGNORECASE
)
#: ``1.`` and ``1)`` at the head of a line, which begin a list.
_NUMBERED = re.compile(r"(?<=^)\d(?=\d*[.)])")
_GAP = "\u200b"


def code(text: str, *, limit: int = 120) -> str:
    """A name, an id or a query, to be shown and copied as it is; empty text has no box."""
    shown = clean(text, limit=limit)
    if not shown:
        return ""
    # The empty comment breaks up mail addresses, which are detected in the rendered text.
    escaped = _escaped(_KEPT_IN_CODE, shown).replace("&#64;", "&#64;<!-- -->")
    return f"<code>{escaped}</code>"


def prose(text: str, *, limit: int = 4000) -> str:
    """A sentence of this package that contains other people's text."""
    broken = _LINKING.sub(lambda match: match.group() + _GAP, clean(text, limit=limit))
    escaped = _escaped(_KEPT, broken)
    return _NUMBERED.sub(_reference, escaped).replace(_GAP, "&#8203;")


def _escaped(kept: re.Pattern[str], text: str) -> str:
    return kept.sub(lambda match: _reference(match) if match["escaped"] else match.group(), text)


def _reference(match: re.Match[str]) -> str:
    return f"&#{ord(match.group())};"


def table(content: Table, *, most: int) -> list[str]:
    """Lines of a table: its first rows, and how many there are."""
    escapes = [{"name": code, "text": _words, "number": _own}[kind] for kind in content.kinds]
    rows = [[escape(cell) for escape, cell in zip(escapes, row, strict=True)] for row in content.cells[:most]]
    lines = grid(content.columns, rows)
    return lines if len(rows) == len(content.rows) else [*lines, "", f"The first {most} of {len(content.rows)}."]


def grid(columns: Mapping[str, str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of a table whose cells are Markdown; ``columns`` as a ``Table`` has them."""
    labels = [_words(label) for label in columns]
    rules = ["---:" if kind == "number" else "---" for kind in Table("", columns, ()).kinds]
    return [f"| {' | '.join(cells)} |" for cells in (labels, rules, *rows)]


def _words(text: str) -> str:
    """Words in a cell, which is not at the head of a line, where more characters have a meaning."""
    return prose(f"x {text.replace('->', '→')}").removeprefix("x").lstrip()


def _own(text: str) -> str:
    """Words and figures of this package, in which no other character has a meaning in Markdown."""
    return text.replace("->", "→").replace("<", "&#60;")


def folded(title: str, lines: Iterable[str]) -> list[str]:
    """The lines, folded under a title; nothing if there are none."""
    body = list(lines)
    return ["<details>", f"<summary>{title}</summary>", "", *body, "", "</details>", ""] if body else []


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


@frozen
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


def _folded(part: Part) -> list[str]:
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


#: Bytes that fit into a comment on GitHub (65,536 characters), with room for a marker before them.
COMMENT_LIMIT = 65_000
#: Bytes that fit into the summary of a step on GitHub (1 MiB), with room for what other tools write there.
SUMMARY_LIMIT = 1_000_000


@frozen
class _Judged:
    """A verdict, how often its gate failed before, and the pictures drawn of it."""

    verdict: Verdict
    failures: int
    drawn: Sequence[Picture]

    @cached_property
    def row(self) -> list[str]:
        """Its row in the table of gates."""
        return _row(self)


def render(
    verdicts: Sequence[Verdict],
    *,
    gates: Sequence[KnownGate] = (),
    provenance: Provenance | None = None,
    policy_changes: Sequence[str] = (),
    limit: int | None = None,
    pictures: Sequence[Sequence[Picture]] = (),
) -> str:
    """The report, of at most ``limit`` bytes of UTF-8: the least important parts are dropped first; a line says so.

    ``gates`` are all that the run knew: those without a verdict are named; ``provenance`` is a line at the
    top, ``policy_changes`` another one above it.
    ``pictures`` are those of each verdict, if picture files are written next to the report.
    """
    failures, all_drawn = comparisons.failures_before(gates), pictures or [()] * len(verdicts)
    pairs = enumerate(zip(verdicts, all_drawn, strict=True))
    judged = [_Judged(verdict, failures.get(place, 0), drawn) for place, (verdict, drawn) in pairs]
    came_from = [said.replace(" -> ", " → ") for said in policy_changes]
    came_from += [] if provenance is None else [line(provenance)]
    text = _document(judged, gates, Extent.ALL, passing=Extent.ALL, came_from=came_from)
    if _fits(text, limit):
        return text
    for extent, left_out in (
        (Extent.ALL, "details of passing gates"),
        (Extent.TOPICS, "documents, slices and judgements, and details of passing gates"),
        (Extent.BRIEF, "topics, documents, slices and judgements, and details of passing gates"),
        (Extent.TABLE, "everything but the table of gates"),
    ):
        text = _document(judged, gates, extent, passing=Extent.TABLE, left_out=left_out, came_from=came_from)
        if _fits(text, limit):
            return text
    return _cut(judged, gates, limit or 0, came_from)


def _fits(text: str, limit: int | None) -> bool:
    return limit is None or len(text.encode()) <= limit


def _cut(judged: Sequence[_Judged], gates: Sequence[KnownGate], limit: int, came_from: Sequence[str]) -> str:
    """As many gates as fit, those that did not pass first."""
    first = sorted(judged, key=lambda one: urgency(one.verdict))

    def cut_to(rows: int) -> str:
        left_out = f"{counted(len(judged) - rows, 'gate')}, and everything but the table of gates"
        return _document(
            first, gates, Extent.TABLE, passing=Extent.TABLE, left_out=left_out, came_from=came_from, rows=rows
        )

    return cut_to(bisect_left(range(len(first)), True, key=lambda rows: not _fits(cut_to(rows + 1), limit)))


def _document(
    judged: Sequence[_Judged],
    gates: Sequence[KnownGate],
    extent: Extent,
    *,
    passing: Extent,
    left_out: str = "",
    came_from: Sequence[str] = (),
    rows: int | None = None,
) -> str:
    verdicts = [one.verdict for one in judged]
    lines = [f"## riskguard: {answer(verdicts, gates).title}", ""]
    lines += [text for said in came_from for text in (prose(said), "")]
    overview = [*grid(_COLUMNS, [one.row for one in judged[:rows]]), ""] if judged else []
    sections = _sections(judged, extent, passing, complete=not comparisons.missing(gates))
    alone = len(judged) == 1 and not judged[0].verdict.passed
    lines += [*sections, *overview] if alone else overview
    if unjudged := comparisons.summary(gates):
        lines += [*(f"- {prose(line)}" for line in unjudged), ""]
    for remark in remarks(verdicts):
        lines += [prose(remark), ""]
    lines += [] if alone else sections
    if left_out:
        lines += [f"Left out to save space: {left_out}. The JSON and HTML reports have everything.", ""]
    return "\n".join(lines)


def _sections(judged: Sequence[_Judged], extent: Extent, passing: Extent, *, complete: bool) -> list[str]:
    """Failures first; those that passed are folded."""
    lines: list[str] = []
    if not (extent or passing):
        return lines
    ordered = sorted(judged, key=lambda one: urgency(one.verdict))
    run = [one.verdict for one in judged]
    same_as = repeats([one.verdict for one in ordered], most=MAX_WORST)
    for place, one in enumerate(ordered):
        verdict = one.verdict
        first = ordered[same_as[place]].verdict.gate if place in same_as else None
        if how_much := passing if verdict.passed else extent:
            body = section(verdict, how_much, one.drawn, same_as=first, run=run, complete=complete)
            heading = f"{_word(one)} {code(verdict.gate)}: {prose(headlines.line(verdict).replace(' -> ', ' → '))}"
            lines += folded(heading, body) if verdict.passed else [f"### {heading}", "", *body]
    return lines


def _word(one: _Judged) -> str:
    said, passed = word(one.verdict), one.verdict.outcome == "pass"
    return (said if passed else f"**{said.upper()}**") + comparisons.after(one.failures)


_COLUMNS = {**dict.fromkeys(("outcome", "gate", "measure", "estimate"), "text"), "mean": "number"}


def _row(one: _Judged) -> list[str]:
    verdict, estimates = one.verdict, one.verdict.estimates
    means = ""
    if estimates.baseline_mean is not None and estimates.candidate_mean is not None:
        means = from_to(estimates.baseline_mean, estimates.candidate_mean).replace("->", "→")
    remark = verdict.reason or Shown(verdict).identical
    return [
        _word(one) + (f" ({prose(remark)})" if remark else ""),
        code(verdict.gate, limit=200),
        code(verdict.measure or ""),
        prose(headlines.estimate(verdict)),
        means,
    ]
