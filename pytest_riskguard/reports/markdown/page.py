"""The whole document: title, table of gates, a section for each; shortened to fit where it is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.markdown.escape import code, folded, grid, prose
from pytest_riskguard.reports.markdown.gate import ALL, BRIEF, TOPICS, Extent, Picture, section
from pytest_riskguard.reports.sections import Column
from pytest_riskguard.reports.shown import Shown
from pytest_riskguard.reports.terminal import uncorrected
from pytest_riskguard.text import counted, plain, signed

#: Bytes that fit into a comment on GitHub (65,536 characters), with room for a marker before them.
COMMENT_LIMIT = 65_000
#: Bytes that fit into the summary of a step on GitHub (1 MiB), with room for what other tools write there.
SUMMARY_LIMIT = 1_000_000
_OUTCOMES = {
    "fail": ("failed", "**FAIL**"),
    "incomparable": ("incomparable", "**INCOMPARABLE**"),
    "inconclusive": ("inconclusive", "**INCONCLUSIVE**"),
    "pass": ("passed", "pass"),
}


def render(
    verdicts: Sequence[Verdict], *, limit: int | None = None, pictures: Sequence[Sequence[Picture]] = ()
) -> str:
    """The report, of at most ``limit`` bytes of UTF-8: the least important parts go first, and a line says so.

    ``pictures`` are those of each verdict, if picture files are written next to the report.
    """
    shown = dict(enumerate(pictures))
    text = _document(verdicts, len(verdicts), ALL, passing=ALL, pictures=shown)
    if _fits(text, limit):
        return text
    for extent, passing, left_out in (
        (ALL, None, "details of passing gates"),
        (TOPICS, None, "documents, slices and judgements, and details of passing gates"),
        (BRIEF, None, "topics, documents, slices and judgements, and details of passing gates"),
        (None, None, "everything but the table of gates"),
    ):
        text = _document(verdicts, len(verdicts), extent, passing=passing, left_out=left_out, pictures=shown)
        if _fits(text, limit):
            return text
    return _cut(verdicts, limit or 0)


def _fits(text: str, limit: int | None) -> bool:
    return limit is None or len(text.encode()) <= limit


def _cut(verdicts: Sequence[Verdict], limit: int) -> str:
    """As many gates as fit, those that did not pass first."""
    first = sorted(verdicts, key=lambda verdict: verdict.passed)
    fewest, most = 0, len(first)
    while fewest < most:
        rows = (fewest + most + 1) // 2
        fewest, most = (rows, most) if _fits(_cut_to(verdicts, first, rows), limit) else (fewest, rows - 1)
    return _cut_to(verdicts, first, fewest)


def _cut_to(verdicts: Sequence[Verdict], first: Sequence[Verdict], rows: int) -> str:
    left_out = f"{counted(len(verdicts) - rows, 'gate')}, and everything but the table of gates"
    return _document(first, rows, None, passing=None, left_out=left_out)


def _document(
    verdicts: Sequence[Verdict],
    rows: int,
    extent: Extent | None,
    *,
    passing: Extent | None,
    left_out: str = "",
    pictures: Mapping[int, Sequence[Picture]] | None = None,
) -> str:
    lines = [f"## riskguard: {_title(verdicts)}", ""]
    if verdicts:
        lines += [*grid(_COLUMNS, map(_row, verdicts[:rows])), ""]
    if remark := uncorrected(verdicts):
        lines += [prose(remark), ""]
    shown = pictures or {}
    failed = [(place, verdict) for place, verdict in enumerate(verdicts) if not verdict.passed]
    for place, verdict in failed if extent is not None else ():
        lines += [f"### {_word(verdict)} {code(verdict.gate)}", ""]
        lines += section(verdict, extent or ALL, shown.get(place, ()))
    passed = [(place, verdict) for place, verdict in enumerate(verdicts) if verdict.passed]
    for place, verdict in passed if passing is not None else ():
        body = section(verdict, passing or ALL, shown.get(place, ()))
        lines += folded(f"{_word(verdict)} {code(verdict.gate)}", body)
    if left_out:
        lines += [f"Left out to save space: {left_out}. The JSON and HTML reports have everything.", ""]
    return "\n".join(lines)


def _title(verdicts: Sequence[Verdict]) -> str:
    if not verdicts:
        return "no gate was judged"
    counts = {outcome: sum(verdict.outcome == outcome for verdict in verdicts) for outcome in _OUTCOMES}
    said = [f"{count} {_OUTCOMES[outcome][0]}" for outcome, count in counts.items() if count]
    return f"{counted(len(verdicts), 'gate')}, {', '.join(said)}"


def _word(verdict: Verdict) -> str:
    return _OUTCOMES[verdict.outcome][1].strip("*") if verdict.outcome == "pass" else _OUTCOMES[verdict.outcome][1]


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
        _OUTCOMES[verdict.outcome][1] + (f" ({prose(verdict.reason)})" if verdict.reason else ""),
        code(verdict.gate, limit=200),
        code(verdict.measure or ""),
        "" if verdict.outcome == "incomparable" or e.mean_difference is None else prose(shown.estimate),
        prose(shown.requirement),
        change,
    ]
