"""Verdicts about one candidate, its baselines and one measure, which share their topics; and the answer of a run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_riskguard.formats.serialization import to_plain
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports import known_gates
from pytest_riskguard.reports.card import MARKS, WITH_CARE, Tone, advice, tone
from pytest_riskguard.reports.known_gates import KnownGate
from pytest_riskguard.text import counted

#: Verdicts of one comparison, and comparisons, in the order in which a reader needs them.
_ORDER: tuple[Tone, ...] = ("stop", "caution", "go")


@dataclass(frozen=True)
class Comparison:
    """Verdicts about the same scores, failures first, then what passes with care; ``places`` are in the report."""

    verdicts: tuple[Verdict, ...]
    places: tuple[int, ...]

    @property
    def candidate(self) -> str:
        """The name of the candidate."""
        return self.verdicts[0].candidate

    @property
    def baselines(self) -> tuple[str, ...]:
        """The names of the baselines."""
        return self.verdicts[0].baselines

    @property
    def measure(self) -> str | None:
        """The measure; None for plain scores."""
        return self.verdicts[0].measure

    @property
    def failed(self) -> bool:
        """Whether one of the verdicts fails a build."""
        return any(not verdict.passed for verdict in self.verdicts)


def comparisons(verdicts: Sequence[Verdict]) -> list[Comparison]:
    """The verdicts by what they compare: the same names, measure and inputs; failures first, then care."""
    together: dict[str, list[int]] = {}
    for place, verdict in enumerate(verdicts):
        together.setdefault(_compared(verdict, place), []).append(place)
    found = []
    for places in together.values():
        places.sort(key=lambda place: urgency(verdicts[place]))
        found.append(Comparison(tuple(verdicts[place] for place in places), tuple(places)))
    return sorted(found, key=lambda comparison: urgency(comparison.verdicts[0]))


def urgency(verdict: Verdict) -> int:
    """What to sort verdicts by: those that stop a change, those that want care, the others."""
    return _ORDER.index(tone(verdict))


@dataclass(frozen=True)
class Answer:
    """What a run says about a change, in every report alike: a tone, what to do, and how many gates say so."""

    tone: Tone
    advice: str
    counts: str

    @property
    def mark(self) -> str:
        """The tone as a sign."""
        return MARKS[self.tone]

    @property
    def title(self) -> str:
        """The answer in a line."""
        return f"{self.advice}: {self.counts}"


def answer(verdicts: Sequence[Verdict], gates: Sequence[KnownGate] = ()) -> Answer:
    """The answer of all gates of a run; ``gates`` are those that it knew."""
    missing = known_gates.missing(gates)
    by_candidate: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        by_candidate.setdefault(verdict.candidate, []).append(verdict)
    shipped = sum(all(verdict.passed for verdict in one) for one in by_candidate.values())
    how, what = advice(verdicts, complete=not missing)
    if what == "Don't ship" and shipped:
        what = f"{shipped} of {len(by_candidate)} candidates may ship"
    return Answer(how, what, "; ".join(filter(None, (_counts(verdicts), known_gates.title(gates)))))


def _counts(verdicts: Sequence[Verdict]) -> str:
    """How gates ended: ``2 of 3 gates failed``, ``3 gates passed, 1 with care``."""
    if not verdicts:
        return "no gate was judged"
    stopped = [verdict.outcome for verdict in verdicts if not verdict.passed]
    if stopped:
        word = "failed" if len({*stopped}) > 1 or "fail" in stopped else stopped[0]
        whole = counted(len(verdicts), "gate")
        return f"{whole if len(stopped) == len(verdicts) else f'{len(stopped)} of {whole}'} {word}"
    passed = [tone(verdict) for verdict in verdicts if verdict.outcome == "pass"]
    careful, undecided = passed.count("caution"), len(verdicts) - len(passed)
    if not passed:
        return f"{counted(undecided, 'gate')} inconclusive"
    some = "" if not careful else f" {WITH_CARE}" if careful == len(passed) else f", {careful} {WITH_CARE}"
    return f"{counted(len(passed), 'gate')} passed{some}" + (f", {undecided} inconclusive" if undecided else "")


def _compared(verdict: Verdict, place: int) -> str:
    """What a verdict compares, as text. Without digests nothing says that two comparisons are the same."""
    inputs = verdict.inputs
    if inputs is None or inputs.candidate is None or None in inputs.baselines.values():
        return str(place)
    return json.dumps(
        [verdict.candidate, verdict.baselines, verdict.measure, to_plain(inputs), to_plain(verdict.yardstick)],
        sort_keys=True,
    )
