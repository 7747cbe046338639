"""The report as Markdown, for pull requests and the step summaries of CI systems."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from pathlib import Path

from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports import comparisons, words
from pytest_riskguard.reports.card import Card
from pytest_riskguard.reports.comparisons import Report, answer, urgency
from pytest_riskguard.reports.details import details, worst_topics
from pytest_riskguard.reports.parts import Section, Table
from pytest_riskguard.reports.provenance import line
from pytest_riskguard.reports.terminal import remarks, repeats
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


def section(content: Section, level: int = 2, *, most: int | None = None, headed: bool = True) -> list[str]:
    """Lines of a section; ``most`` are the rows of a table."""
    found = [f"{'#' * level} {prose(content.title)}", ""] if headed else []
    found += [f"- {prose(said)}" for said in content.text] + [""] * bool(content.text)
    for part in content.parts:
        if isinstance(part, Section):
            found += section(part, level + 1, most=most)
        elif isinstance(part, Table):
            found += [f"**{prose(part.title)}**", ""] if part.title else []
            found += [*table(part.filled, most=len(part.rows) if most is None else most), ""]
            found += [prose(part.note), ""] if part.note else []
    found += [f"- {prose(said)}" for said in content.warnings] + [""] * bool(content.warnings)
    return found + [text for note in content.notes for text in (prose(note), "")]


#: Topics that are shown, and rows of a table that is folded. The JSON report has them all.
MAX_WORST, _MAX_ROWS = 6, 30
#: Charts of a gate that did not pass; a gate that passed gets only the first.
_MAX_FAILED = 2
#: Bytes that fit into a comment on GitHub (65,536 characters), with room for a marker before them.
COMMENT_LIMIT = 65_000
#: Bytes that fit into the summary of a step on GitHub (1 MiB), with room for what other tools write there.
SUMMARY_LIMIT = 1_000_000


class Extent(IntEnum):
    """How much is written: the table of gates, what happened in those that failed, or all."""

    TABLE, BRIEF, ALL = range(3)


_LEFT_OUT = {Extent.TABLE: "everything but the table of gates", Extent.BRIEF: "statistics and passing gates"}


@frozen
class Picture:
    """A chart as SVG: the name of its file, what it shows in words, the file's content."""

    file: str
    description: str
    svg: str


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


def render(report: Report, *, limit: int | None = None, pictures: Sequence[Sequence[Picture]] = ()) -> str:
    """The report, of at most ``limit`` bytes of UTF-8: the least important parts are dropped first; a line says so.

    ``pictures`` are those of each verdict, if files are written beside it.
    """
    head = [f"## riskguard: {answer(report.verdicts, report.gates).title}", ""]
    came_from = [*report.policy_changes, *([] if report.provenance is None else [line(report.provenance)])]
    head += [text for said in came_from for text in (_sentence(said), "")]
    return fitting(head, report, limit=limit, pictures=pictures)


def fitting(
    head: Sequence[str],
    report: Report,
    *,
    limit: int | None,
    most: Extent = Extent.ALL,
    pictures: Sequence[Sequence[Picture]] = (),
) -> str:
    """The head and what follows it, as much of it as fits: first without details, then fewer and fewer gates."""
    number = len(report.verdicts)

    def whole(extent: Extent, rows: int | None = None) -> str:
        missing = [] if rows is None else [counted(number - rows, "gate")]
        missing += [_LEFT_OUT[extent]] if extent < most else []
        lines = [*head, *_body(report, extent, pictures, rows)]
        if missing:
            lines += [f"Left out to save space: {' and '.join(missing)}. The JSON and HTML reports have it.", ""]
        return "\n".join(lines)

    for extent in sorted(Extent, reverse=True):
        if extent <= most and _fits(text := whole(extent), limit):
            return text
    rows = bisect_left(range(number), True, key=lambda n: not _fits(whole(Extent.TABLE, n + 1), limit))
    return whole(Extent.TABLE, rows)


def _fits(text: str, limit: int | None) -> bool:
    return limit is None or len(text.encode()) <= limit


def _body(report: Report, extent: Extent, pictures: Sequence[Sequence[Picture]], rows: int | None) -> list[str]:
    """The gates that failed, all of them in a table, those that were not judged, and those that passed, folded."""
    verdicts, gates = report.verdicts, report.gates
    ordered = sorted(range(len(verdicts)), key=lambda place: urgency(verdicts[place]))
    failures, complete = comparisons.failures_before(gates), not comparisons.missing(gates)
    commands = {place: gate.reproduce for gate in gates for place in gate.verdicts}
    failed, passed, said = list[str](), list[str](), set[str]()
    same_as = repeats([verdicts[place] for place in ordered])
    for number, place in enumerate(ordered):
        verdict = verdicts[place]
        if extent == Extent.TABLE or (verdict.passed and extent < Extent.ALL):
            continue
        lines = _happened(verdict, same_as.get(number))
        for step in words.steps(verdict, verdicts, complete=complete, reproduce=commands.get(place)):
            lines.append(f"- {prose(step.text)}{': ' if step.command else ''}{code(step.command, limit=500)}")
        lines += [""] if lines[-1] else []
        for warning in (one for one in words.unsaid(verdict) if one.message not in said):
            said.add(warning.message)
            lines += [f"Warning ({code(warning.code)}): {prose(warning.message, limit=1000)}", ""]
        for picture in pictures[place] if pictures else ():
            lines += [f"![{prose(picture.description, limit=500)}]({picture.file})", ""]
        if extent == Extent.ALL:
            lines += _details(verdict)
        title = f"{_word(verdict, failures.get(place))} {code(verdict.gate)}: {_sentence(words.line(verdict))}"
        if verdict.passed:
            passed += folded(title, lines)
        else:
            failed += [f"### {title}", "", *lines]
    overview = [_row(verdicts[place], failures.get(place)) for place in ordered[:rows]]
    lines = failed + ([*grid(_COLUMNS, overview), ""] if verdicts else [])
    if unjudged := comparisons.summary(gates):
        lines += [*(f"- {prose(one)}" for one in unjudged), ""]
    return lines + [text for remark in remarks(verdicts) for text in (prose(remark), "")] + passed


def _sentence(text: str) -> str:
    return prose(text.replace(" -> ", " → "))


def _happened(verdict: Verdict, same_as: str | None) -> list[str]:
    """What happened, and the worst queries, unless the section of another gate has them."""
    card, said = Card(verdict), [_sentence(words.paragraph(verdict)), ""]
    if same_as is not None:
        return [*said, f"Queries and documents: see {code(same_as)}.", ""]
    if not card.worst:
        return said
    count = len(card.worst) + card.more
    which = f"The {words.extreme(verdict)} {MAX_WORST} of {count}" if count > MAX_WORST else f"All {count}"
    systems = f"{code(words.opponent(verdict))} to {code(verdict.candidate, limit=60)}"
    return [*said, f"{which}, {systems}:", "", *table(worst_topics(verdict, most=MAX_WORST), most=MAX_WORST), ""]


def _details(verdict: Verdict) -> list[str]:
    """Statistics and other sections, each folded."""
    lines = [_sentence(words.why(verdict)), ""] if words.why(verdict) else []
    for part in details(verdict):
        lines += folded(part.title, section(part, most=_MAX_ROWS, headed=False)[:-1])
    return lines


def _word(verdict: Verdict, failures: int | None) -> str:
    said, passed = words.word(verdict), verdict.outcome == "pass"
    return (said if passed else f"**{said.upper()}**") + comparisons.after(failures)


_COLUMNS = {**dict.fromkeys(("outcome", "gate", "measure", "estimate"), "text"), "mean": "number"}


def _row(verdict: Verdict, failures: int | None) -> list[str]:
    """Its row in the table of gates."""
    return [
        _word(verdict, failures) + (f" ({prose(verdict.reason)})" if verdict.reason else ""),
        code(verdict.gate, limit=200),
        code(verdict.measure or ""),
        _sentence(words.estimate(verdict)),
        words.means(verdict).replace("->", "→"),
    ]
