"""Several candidates that were asked the same, ranked: the best first, each with what stops it."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports import words
from pytest_riskguard.reports.card import Card
from pytest_riskguard.reports.comparisons import KnownGate, by_service, urgency
from pytest_riskguard.reports.parts import Table
from pytest_riskguard.text import named

#: Candidates in a table.
MOST = 50


def standings(verdicts: Sequence[Verdict], gates: Sequence[KnownGate] = ()) -> list[Table]:
    """A table for all candidates that answered the same questions about the same baselines of one file of gates.

    Passes come before failures, then the higher mean first, then the higher risk estimate.
    """
    by_candidate: dict[tuple[str, str], list[Verdict]] = {}
    for verdict in by_service(verdicts, gates):
        by_candidate.setdefault((verdict.service, verdict.candidate), []).append(verdict)
    rivals: dict[object, list[list[Verdict]]] = {}
    for of_one in by_candidate.values():
        rivals.setdefault(frozenset(map(_question, of_one)), []).append(of_one)  # gates are named with the service
    return [_table(sorted(group, key=_place)) for group in rivals.values() if len(group) > 1]


def _question(verdict: Verdict) -> object:
    return verdict.gate, verdict.kind, verdict.measure, verdict.alpha, verdict.slice, verdict.baselines


def _place(verdicts: Sequence[Verdict]) -> tuple[int, bool, float, float]:
    first = verdicts[0]
    mean, risk = first.estimates.candidate_mean, Card(first).risk
    return -min(map(urgency, verdicts)), mean is None, -(mean or 0.0), -(risk or 0.0)


def _table(ranked: Sequence[Sequence[Verdict]]) -> Table:
    first = ranked[0][0]
    columns = {
        "candidate": "name",
        "answer": "text",
        f"mean {first.measure or ''}".rstrip(): "number",
        words.risk_name(first): "+.3f",
        "stopped by": "name",
    }
    rows = [
        [one[0].candidate, words.advice(one)[1], words.means(one[0]), Card(one[0]).risk, _stopped_by(one)]
        for one in ranked
    ]
    if (more := len(rows) - MOST) > 0:
        rows[MOST:] = [[f"and {more} more", "", "", "", ""]]
    return Table("", columns, rows)


def _stopped_by(verdicts: Sequence[Verdict]) -> str:
    """The gates that do not pass, with their measures if there are several; why nothing was compared."""
    several = len({verdict.measure for verdict in verdicts}) > 1
    names = dict.fromkeys(
        verdict.problem or verdict.gate + f" {verdict.measure}" * several
        for verdict in verdicts
        if not verdict.passed
    )
    return named([*names], most=3)
