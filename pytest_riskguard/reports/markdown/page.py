"""The whole document: title, table of gates, a section for each; shortened to fit where it is shown."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.markdown.escape import code, folded, grid, prose
from pytest_riskguard.reports.markdown.gate import Extent, Picture, section
from pytest_riskguard.reports.sections import Column
from pytest_riskguard.reports.shown import Shown
from pytest_riskguard.reports.terminal import uncorrected
from pytest_riskguard.text import counted, plain, signed

#: Bytes that fit into a comment on GitHub (65,536 characters), with room for a marker before them.
COMMENT_LIMIT = 65_000
#: Bytes that fit into the summary of a step on GitHub (1 MiB), with room for what other tools write there.
SUMMARY_LIMIT = 1_000_000
#: Outcomes as a title counts them, in its order.
_OUTCOMES = {"fail": "failed", "incomparable": "incomparable", "inconclusive": "inconclusive", "pass": "passed"}


def render(
    verdicts: Sequence[Verdict], *, limit: int | None = None, pictures: Sequence[Sequence[Picture]] = ()
) -> str:
    """The report, of at most ``limit`` bytes of UTF-8: the least important parts are dropped first; a line says so.

    ``pictures`` are those of each verdict, if picture files are written next to the report.
    """
    text = _document(verdicts, len(verdicts), Extent.ALL, passing=Extent.ALL, pictures=pictures)
    if _fits(text, limit):
        return text
    for extent, left_out in (
        (Extent.ALL, "details of passing gates"),
        (Extent.TOPICS, "documents, slices and judgements, and details of passing gates"),
        (Extent.BRIEF, "topics, documents, slices and judgements, and details of passing gates"),
        (Extent.TABLE, "everything but the table of gates"),
    ):
        text = _document(verdicts, len(verdicts), extent, passing=Extent.TABLE, left_out=left_out, pictures=pictures)
        if _fits(text, limit):
            return text
    return _cut(verdicts, limit or 0)


def _fits(text: str, limit: int | None) -> bool:
    return limit is None or len(text.encode()) <= limit


def _cut(verdicts: Sequence[Verdict], limit: int) -> str:
    """As many gates as fit, those that did not pass first."""
    first = sorted(verdicts, key=lambda verdict: verdict.passed)

    def cut_to(rows: int) -> str:
        left_out = f"{counted(len(verdicts) - rows, 'gate')}, and everything but the table of gates"
        return _document(first, rows, Extent.TABLE, passing=Extent.TABLE, left_out=left_out)

    return cut_to(bisect_left(range(len(first)), True, key=lambda rows: not _fits(cut_to(rows + 1), limit)))


def _document(
    verdicts: Sequence[Verdict],
    rows: int,
    extent: Extent,
    *,
    passing: Extent,
    left_out: str = "",
    pictures: Sequence[Sequence[Picture]] = (),
) -> str:
    lines = [f"## riskguard: {_title(verdicts)}", ""]
    if verdicts:
        lines += [*grid(_COLUMNS, map(_row, verdicts[:rows])), ""]
    if remark := uncorrected(verdicts):
        lines += [prose(remark), ""]
    pairs = zip(verdicts, pictures or [()] * len(verdicts), strict=True)
    for verdict, drawn in sorted(pairs, key=lambda pair: pair[0].passed):
        if how_much := passing if verdict.passed else extent:
            heading, body = f"{_word(verdict)} {code(verdict.gate)}", section(verdict, how_much, drawn)
            lines += folded(heading, body) if verdict.passed else [f"### {heading}", "", *body]
    if left_out:
        lines += [f"Left out to save space: {left_out}. The JSON and HTML reports have everything.", ""]
    return "\n".join(lines)


def _title(verdicts: Sequence[Verdict]) -> str:
    if not verdicts:
        return "no gate was judged"
    counts = {words: sum(verdict.outcome == outcome for verdict in verdicts) for outcome, words in _OUTCOMES.items()}
    return ", ".join(
        [counted(len(verdicts), "gate"), *(f"{count} {words}" for words, count in counts.items() if count)]
    )


def _word(verdict: Verdict) -> str:
    return "pass" if verdict.outcome == "pass" else f"**{verdict.outcome.upper()}**"


_COLUMNS = (
    *map(Column, ("outcome", "gate", "measure", "estimate", "requirement")),
    Column("mean change", "number"),
)


def _row(verdict: Verdict) -> list[str]:
    shown, e = Shown(verdict), verdict.estimates
    change = ""
    if e.mean_difference is not None:
        change = f"{signed(e.mean_difference)} ({plain(e.baseline_mean)} → {plain(e.candidate_mean)})"
    return [
        _word(verdict) + (f" ({prose(verdict.reason)})" if verdict.reason else ""),
        code(verdict.gate, limit=200),
        code(verdict.measure or ""),
        prose(shown.estimate),
        prose(shown.requirement),
        change,
    ]
