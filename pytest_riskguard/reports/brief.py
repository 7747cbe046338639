"""The verdicts for an agent or a script: JSON of at most ``MAX_GATE`` bytes a gate, a line for each."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from pytest_riskguard.gates.findings import ResponsibleTopic
from pytest_riskguard.gates.verdict import FIRST_WARNINGS, Commands, Verdict
from pytest_riskguard.reports.card import Card
from pytest_riskguard.reports.comparisons import Report, answer, said_once, summary
from pytest_riskguard.reports.words import cause, line, remedy, unsaid, word
from pytest_riskguard.text import clean

#: Bytes of a gate, and those of its commands.
MAX_GATE, MAX_COMMANDS = 2000, 800
#: Characters of names and of sentences, queries of a gate and documents of a query: each divided by the first of
#: these numbers with which the gate fits.
_NAME, _SENTENCE, _QUERIES, _DOCUMENTS, _SCALES = 160, 400, 5, 3, (1, 2, 4, 8, 16, 32)
#: Notes on the whole run, and warnings of a gate.
_MAX_NOTES, _MAX_WARNINGS = 10, 3


def brief(report: Report, status: int, *, notes: Sequence[str] = (), command: str = "") -> str:
    """The answer, the exit status and the gates, in ASCII.

    ``command`` judges gates again that are not those of a run of tests.
    """
    report = report.shown
    owners = {place: gate for gate in report.gates for place in gate.verdicts}
    said = [clean(note) for note in (*summary(report.gates), *report.policy_changes, *notes)]
    head = _filled(answer=answer(report.verdicts, report.gates).title, exit=int(status), notes=said[:_MAX_NOTES])
    gates = []
    for places in said_once(report.verdicts):
        first = places[0]
        names = (owners[place].id if place in owners else report.verdicts[place].gate for place in places)
        again = owners[first].reproduce if first in owners else command
        gates.append(_gate(report.verdicts[first], ", ".join(names), again))
    lines = ",\n".join(gates)
    return f'{_dumped(head)[:-1]}, "gates": [\n{lines}\n]}}\n'


def _dumped(value: Any) -> str:
    return json.dumps(value, allow_nan=False).replace("##", "\\u0023#")  # which begins a command of some CI systems


def _filled(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value not in ("", [])}


def _gate(verdict: Verdict, name: str, again: str) -> str:
    for scale in _SCALES:
        text = _dumped(_said(verdict, name, again, scale))
        if len(text) <= MAX_GATE:
            break
    return text


def _said(verdict: Verdict, name: str, again: str, scale: int) -> dict[str, Any]:
    def cut(text: str | None, limit: int = _NAME) -> str:
        return clean(text or "", limit=limit // scale)

    def query(topic: ResponsibleTopic) -> dict[str, Any]:
        moved = card.documents[topic.topic].moved if topic.topic in card.documents else []
        ranks = [
            {"docid": cut(one.document), "from": one.baseline_rank, "to": one.candidate_rank, "grade": one.grade}
            for one in moved[: _DOCUMENTS // scale or 1]
        ]
        scores = {"from": round(topic.baseline, 4), "to": round(topic.candidate, 4)}
        return _filled(id=cut(topic.topic), query=cut(topic.query), **scores, moved=ranks)

    card = Card(verdict)
    worst = [] if verdict.outcome == "pass" and card.tone == "go" else card.worst[: _QUERIES // scale or 1]
    return _filled(
        gate=cut(name),
        outcome=word(verdict),
        code=cut(verdict.reason),
        reason=cut(verdict.problem or line(verdict), _SENTENCE),
        remedy=cut(remedy(verdict, verdict.commands), _SENTENCE),
        cause=cut(cause(verdict), _SENTENCE),
        candidate=cut(verdict.candidate),
        baseline=cut(verdict.baseline),
        measure=cut(verdict.measure),
        warnings=[
            cut(f"{one.code}: {one.message}" if one.code in FIRST_WARNINGS else one.code, _SENTENCE)
            for one in unsaid(verdict, with_paragraph=True)[:_MAX_WARNINGS]
        ],
        worst=[query(topic) for topic in worst],
        next=[*_commands(verdict, again)],
    )


def _commands(verdict: Verdict, again: str) -> Iterator[str]:
    """What to type next, as far as there is room. Accepting a change as the baseline is not for an agent."""
    known, left = verdict.commands or Commands(), MAX_COMMANDS
    verify = known.verify if verdict.reason == "bad_baseline" else ""
    for command in filter(None, () if verdict.passed else (verify, known.explain, known.judge_next, again)):
        left -= len(_dumped(command))
        if left >= 0:
            yield command
