"""The whole document: title, table of gates, a section for each; shortened to fit where it is shown."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports import known_gates
from pytest_riskguard.reports.card import card, word
from pytest_riskguard.reports.comparisons import answer, urgency
from pytest_riskguard.reports.known_gates import KnownGate
from pytest_riskguard.reports.markdown.escape import code, folded, grid, prose
from pytest_riskguard.reports.markdown.gate import MAX_WORST, Extent, Picture, section
from pytest_riskguard.reports.policy_changes import PolicyChanges
from pytest_riskguard.reports.provenance import Provenance, line
from pytest_riskguard.reports.sections import Column
from pytest_riskguard.reports.shown import Shown
from pytest_riskguard.reports.terminal.failure import remarks, repeats
from pytest_riskguard.reports.wording.numbers import from_to
from pytest_riskguard.text import counted

#: Bytes that fit into a comment on GitHub (65,536 characters), with room for a marker before them.
COMMENT_LIMIT = 65_000
#: Bytes that fit into the summary of a step on GitHub (1 MiB), with room for what other tools write there.
SUMMARY_LIMIT = 1_000_000
#: Outcomes as a title counts them, in its order.
_OUTCOMES = {
    "fail": "failed",
    "incomparable": "incomparable",
    "inconclusive": "inconclusive",
    "pass with care": "passed with care",
    "pass": "passed",
}


class _Judged(NamedTuple):
    """A verdict, how often its gate failed before, and the pictures drawn of it."""

    verdict: Verdict
    failures: int
    drawn: Sequence[Picture]


def render(
    verdicts: Sequence[Verdict],
    *,
    gates: Sequence[KnownGate] = (),
    provenance: Provenance | None = None,
    policy_changes: PolicyChanges | None = None,
    limit: int | None = None,
    pictures: Sequence[Sequence[Picture]] = (),
) -> str:
    """The report, of at most ``limit`` bytes of UTF-8: the least important parts are dropped first; a line says so.

    ``gates`` are all that the run knew: those without a verdict are named; ``provenance`` is a line at the
    top, ``policy_changes`` another one above it.
    ``pictures`` are those of each verdict, if picture files are written next to the report.
    """
    failures, all_drawn = known_gates.failures_before(gates), pictures or [()] * len(verdicts)
    pairs = enumerate(zip(verdicts, all_drawn, strict=True))
    judged = [_Judged(verdict, failures.get(place, 0), drawn) for place, (verdict, drawn) in pairs]
    came_from = [] if policy_changes is None else [said.replace(" -> ", " → ") for said in policy_changes.lines]
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
    counts = "; ".join(filter(None, (_title(verdicts), known_gates.title(gates))))
    lines = [f"## riskguard: {f'{answer(verdicts, gates).advice}: ' if verdicts else ''}{counts}", ""]
    lines += [text for said in came_from for text in (prose(said), "")]
    overview = [*grid(_COLUMNS, map(_row, judged[:rows])), ""] if judged else []
    sections = _sections(judged, extent, passing, complete=not known_gates.missing(gates))
    alone = len(judged) == 1 and not judged[0].verdict.passed
    lines += [*sections, *overview] if alone else overview
    if unjudged := known_gates.summary(gates):
        lines += [*(f"- {prose(line)}" for line in unjudged), ""]
    for remark in remarks(verdicts):
        lines += [prose(remark), ""]
    lines += [] if alone else sections
    if left_out:
        lines += [f"Left out to save space: {left_out}. The JSON and HTML reports have everything.", ""]
    return "\n".join(lines)


def _sections(judged: Sequence[_Judged], extent: Extent, passing: Extent, *, complete: bool) -> list[str]:
    """Failures first; those that passed are folded."""
    lines, ordered = [], sorted(judged, key=lambda one: urgency(one.verdict))
    run = [one.verdict for one in judged]
    same_as = repeats([one.verdict for one in ordered], most=MAX_WORST)
    for place, one in enumerate(ordered):
        verdict = one.verdict
        first = ordered[same_as[place]].verdict.gate if place in same_as else None
        if how_much := passing if verdict.passed else extent:
            body = section(verdict, how_much, one.drawn, same_as=first, run=run, complete=complete)
            heading = f"{_word(one)} {code(verdict.gate)}: {prose(card(verdict).line.replace(' -> ', ' → '))}"
            lines += folded(heading, body) if verdict.passed else [f"### {heading}", "", *body]
    return lines


def _title(verdicts: Sequence[Verdict]) -> str:
    if not verdicts:
        return "no gate was judged"
    ended = [word(verdict) for verdict in verdicts]
    counts = {words: ended.count(outcome) for outcome, words in _OUTCOMES.items()}
    (words, count), *others = [(words, count) for words, count in counts.items() if count]
    return ", ".join([f"{counted(count, 'gate')} {words}", *(f"{number} {other}" for other, number in others)])


def _word(one: _Judged) -> str:
    said, passed = word(one.verdict), one.verdict.outcome == "pass"
    return (said if passed else f"**{said.upper()}**") + known_gates.after(one.failures)


_COLUMNS = (*map(Column, ("outcome", "gate", "measure", "estimate")), Column("mean", "number"))


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
        prose(card(verdict).estimate),
        means,
    ]
