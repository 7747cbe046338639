"""The verdicts for an agent or a script: JSON of at most ``MAX_GATE`` bytes a gate, a line for each."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from pytest_riskguard.gates.findings import ResponsibleTopic
from pytest_riskguard.gates.verdict import FIRST_WARNINGS, Commands, Verdict
from pytest_riskguard.reports.card import Card
from pytest_riskguard.reports.comparisons import KnownGate, Report, answer, summary
from pytest_riskguard.reports.words import cause, fault, line, unsaid, word
from pytest_riskguard.text import clean

#: Bytes of a gate, and those of its commands.
MAX_GATE, MAX_COMMANDS = 2000, 500
#: How many queries a gate names, how many documents a query, and characters of a name and of a sentence: the first
#: of these that fits.
_DETAIL = ((5, 3, 160, 400), (5, 2, 80, 200), (3, 2, 50, 160), (2, 1, 30, 80), (1, 1, 10, 40))
#: Notes on the whole run.
_MAX_NOTES, _MAX_NOTE = 10, 300


def brief(report: Report, status: int, *, notes: Sequence[str] = (), command: str = "") -> str:
    """The answer, the exit status and the gates, in ASCII.

    ``command`` judges gates again that are not those of a run of tests.
    """
    report = report.shown
    owners = {place: gate for gate in report.gates for place in gate.verdicts}
    said = [clean(note, limit=_MAX_NOTE) for note in (*summary(report.gates), *report.policy_changes, *notes)]
    head = {"answer": answer(report.verdicts, report.gates).title, "exit": int(status)}
    head |= {"notes": said[:_MAX_NOTES]} if said else {}
    gates = [_gate(verdict, owners.get(place), command) for place, verdict in enumerate(report.verdicts)]
    listed = "[\n" + ",\n".join(gates) + "\n]" if gates else "[]"
    return f'{_dumped(head)[:-1]}, "gates": {listed}}}\n'


def _dumped(value: Any) -> str:
    return json.dumps(value, allow_nan=False).replace("##", "\\u0023#")  # which begins a command of some CI systems


def _gate(verdict: Verdict, gate: KnownGate | None, command: str) -> str:
    commands = [*_commands(verdict, command if gate is None else gate.reproduce)]
    for detail in _DETAIL:
        text = _dumped(_said(verdict, verdict.gate if gate is None else gate.id, commands, *detail))
        if len(text) <= MAX_GATE:
            break
    return text


def _said(
    verdict: Verdict, name: str, commands: list[str], queries: int, documents: int, name_limit: int, limit: int
) -> dict[str, Any]:
    card = Card(verdict)
    worst = () if verdict.outcome == "pass" and card.tone == "go" else card.worst[:queries]
    reason = fault(verdict) if verdict.outcome == "incomparable" else line(verdict)
    warnings = [
        clean(f"{one.code}: {one.message}", limit=limit) if one.code in FIRST_WARNINGS else one.code
        for one in unsaid(verdict, with_paragraph=True)[:documents]
    ]
    said = {
        "gate": clean(name, limit=name_limit),
        "outcome": word(verdict),
        "code": clean(verdict.reason or "", limit=name_limit),
        "reason": clean(reason, limit=limit),
        "cause": clean(cause(verdict), limit=limit),
        "candidate": clean(verdict.candidate, limit=name_limit),
        "baseline": clean(verdict.baseline, limit=name_limit),
        "measure": clean(verdict.measure or "", limit=name_limit),
        "warnings": warnings,
        "worst": [_query(card, topic, documents, name_limit) for topic in worst],
        "more": len(card.worst) - len(worst) + card.more if worst else 0,
        "next": commands,
    }
    return {key: value for key, value in said.items() if value}


def _query(card: Card, topic: ResponsibleTopic, documents: int, limit: int) -> dict[str, Any]:
    moved = card.documents[topic.topic].moved if topic.topic in card.documents else []
    said = {
        "id": clean(topic.topic, limit=limit),
        "query": clean(topic.query or "", limit=limit),
        "from": round(topic.baseline, 4),
        "to": round(topic.candidate, 4),
        "moved": [
            {
                "docid": clean(one.document, limit=limit),
                "from": one.baseline_rank,
                "to": one.candidate_rank,
                "grade": one.grade,
            }
            for one in moved[:documents]
        ],
    }
    return {key: value for key, value in said.items() if value not in ("", [])}


def _commands(verdict: Verdict, reproduce: str) -> Iterator[str]:
    """What to type next, as far as there is room. Accepting a change as the baseline is not for an agent."""
    if verdict.passed:
        return
    known, left = verdict.commands or Commands(), MAX_COMMANDS
    for command in filter(None, (known.verify, known.explain, known.judge_next, reproduce)):
        left -= len(_dumped(command))
        if left >= 0:
            yield command
