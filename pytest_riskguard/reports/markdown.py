"""The report as Markdown, for pull requests and the step summaries of CI systems."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import chain

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports import comparisons, words
from pytest_riskguard.reports.card import Card
from pytest_riskguard.reports.comparisons import Report, answer, urgency
from pytest_riskguard.reports.details import worst_topics
from pytest_riskguard.reports.parts import Table
from pytest_riskguard.reports.provenance import line
from pytest_riskguard.reports.standings import standings
from pytest_riskguard.reports.terminal import notes, remarks, repeats
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


def table(known: Table) -> list[str]:
    """Lines of a table: names are shown as they are, other cells are Markdown."""
    kinds = known.kinds
    rules = ["---:" if kind == "number" else "---" for kind in kinds]
    rows = [
        [code(cell) if kind == "name" else cell.replace(" -> ", " → ") for cell, kind in zip(row, kinds, strict=True)]
        for row in known.cells
    ]
    return [*(f"| {' | '.join(cells)} |" for cells in (map(prose, known.columns), rules, *rows)), ""]


#: Topics of a failure, which the JSON report has all.
MAX_WORST = 6
#: Bytes that fit into a comment on GitHub (65,536 characters), with room for a marker before them.
COMMENT_LIMIT = 65_000
#: Bytes that fit into the summary of a step on GitHub (1 MiB), with room for what other tools write there.
SUMMARY_LIMIT = 1_000_000


def render(report: Report, *, limit: int = COMMENT_LIMIT) -> str:
    """The report, of at most ``limit`` bytes of UTF-8."""
    head = [f"## riskguard: {answer(report.verdicts, report.gates).title}", ""]
    came_from = [*report.policy_changes, *([] if report.provenance is None else [line(report.provenance)])]
    head += [text for said in came_from for text in (_sentence(said), "")]
    for ranked in standings(report.verdicts, report.gates):
        head += table(ranked.filled)
    return fitting(head, report, limit=limit)


def fitting(head: Sequence[str], report: Report, *, limit: int = COMMENT_LIMIT) -> str:
    """The head, the gates that failed, and all gates in a table, as many of them as fit; a line says what is missing.

    First the gates that failed last have only their line in the table, then the table loses its last lines.
    """
    ordered = sorted(range(len(report.verdicts)), key=lambda place: urgency(report.verdicts[place]))
    failures, gates = _failures(report, ordered), len(ordered)
    lines_of, remarks_of, notes_of = _overview(report, ordered)

    def whole(sections: int, rows: int) -> str:
        missing = [counted(gates - rows, "gate")] if rows < gates else []
        missing += [f"what happened in {len(failures) - sections} that failed"] if sections < len(failures) else []
        lines = [*head, *chain(*failures[:sections])]
        lines += table(Table("", _COLUMNS, lines_of[:rows])) if gates else []
        lines += [*remarks_of, *chain(*notes_of[:rows])]
        if missing:
            lines += ["", f"Left out to save space: {' and '.join(missing)}. The JSON and HTML reports have it."]
        return "\n".join(lines).rstrip("\n") + "\n"

    def too_long(text: str) -> bool:
        return len(text.encode()) > limit

    sections = bisect_left(range(len(failures)), True, key=lambda place: too_long(whole(place + 1, gates)))
    rows = bisect_left(range(gates), True, key=lambda place: too_long(whole(sections, place + 1)))
    return whole(sections, rows)


def _failures(report: Report, ordered: Sequence[int]) -> list[list[str]]:
    """What happened in each gate that did not pass, the worst queries, what to do next, and warnings."""
    verdicts, gates = report.verdicts, report.gates
    before, complete = comparisons.failures_before(gates), not comparisons.missing(gates)
    commands = {place: gate.reproduce for gate in gates for place in gate.verdicts}
    failed, said = [verdicts[place] for place in ordered if not verdicts[place].passed], set[str]()
    same_as, found = repeats(failed), []
    for number, *others in comparisons.said_once(failed):
        verdict, place = failed[number], ordered[number]  # failures come first
        names = ", ".join([_gate(verdict, verdicts), *(_gate(failed[other], verdicts) for other in others)])
        title = f"{_word(verdict, before.get(place))} {names}: {_sentence(words.line(verdict))}"
        lines = [f"### {title}", "", _sentence(words.paragraph(verdict)), "", *_worst(verdict, same_as.get(number))]
        for step in words.steps(verdict, verdicts, complete=complete, reproduce=commands.get(place)):
            lines.append(f"- {prose(step.text)}{': ' if step.command else ''}{code(step.command, limit=500)}")
        lines += [""] if lines[-1] else []
        lines += [prose(why), ""] if (why := words.why(verdict)) else []
        for warning in (one for one in words.unsaid(verdict, with_paragraph=True) if one.message not in said):
            said.add(warning.message)
            lines += [f"Warning ({code(warning.code)}): {prose(warning.message, limit=1000)}", ""]
        found.append(lines)
    return found


def _worst(verdict: Verdict, same_as: str | None) -> list[str]:
    """The worst queries, unless the section of another gate has them."""
    card = Card(verdict)
    if same_as is not None:
        return [f"Queries and documents: see {code(same_as)}.", ""]
    if not card.worst:
        return []
    count = len(card.worst) + card.more
    which = f"The {words.extreme(verdict)} {MAX_WORST} of {count}" if count > MAX_WORST else f"All {count}"
    systems = f"{code(words.opponent(verdict))} to {code(verdict.candidate, limit=60)}"
    return [f"{which}, {systems}:", "", *table(worst_topics(verdict, most=MAX_WORST))]


_COLUMNS = {**dict.fromkeys(("outcome", "gate", "measure", "estimate"), "text"), "mean": "number"}


def _overview(report: Report, ordered: Sequence[int]) -> tuple[list[list[str]], list[str], list[list[str]]]:
    """The lines of the table, the gates that were not judged, and what is to be known of each that passed."""
    verdicts, gates = report.verdicts, report.gates
    before, complete = comparisons.failures_before(gates), not comparisons.missing(gates)
    said = notes(verdicts, complete=complete, with_commands=False)
    rows = [_row(verdicts[place], verdicts, before.get(place)) for place in ordered]
    known = [
        [f"- {_gate(verdicts[place], verdicts)}: {_sentence(note)}" for note in said[place]] for place in ordered
    ]
    unjudged = [f"- {prose(one)}" for one in comparisons.summary(gates)]
    alike = [text for remark in remarks(verdicts) for text in (prose(remark), "")]
    return rows, [*unjudged, *([""] if unjudged else []), *alike], known


def _sentence(text: str) -> str:
    return prose(text.replace(" -> ", " → "))


def _word(verdict: Verdict, failures: int | None) -> str:
    said = words.word(verdict)
    return (said if verdict.outcome == "pass" else f"**{said.upper()}**") + comparisons.after(failures)


def _gate(verdict: Verdict, run: Sequence[Verdict]) -> str:
    """The gate, with the candidate where there are several."""
    candidate = code(verdict.candidate, limit=60) if comparisons.has_rivals(run) else ""
    return f"{code(verdict.gate, limit=200)} {candidate}".rstrip()


def _row(verdict: Verdict, run: Sequence[Verdict], failures: int | None) -> list[str]:
    """Its row in the table of gates."""
    return [
        _word(verdict, failures) + (f" ({prose(verdict.reason)})" if verdict.reason else ""),
        _gate(verdict, run),
        code(verdict.measure or ""),
        _sentence(words.estimate(verdict)),
        words.means(verdict),
    ]
