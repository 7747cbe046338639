"""The gates that a run knew, and how each of them ended: no report leaves out a gate that was not judged."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, NamedTuple

from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.card import Card, Tone
from pytest_riskguard.reports.words import advice
from pytest_riskguard.serialization import Words, to_plain
from pytest_riskguard.text import clean, counted, named

if TYPE_CHECKING:
    from pytest_riskguard.reports.provenance import Provenance

#: How a gate can end, in the words of reports.
BECAME: Mapping[str, str] = {
    "judged": "judged",
    "no_verdict": "asked for no verdict",
    "broken": "its file cannot be read",
    "failed": "failed before it was judged",
    "crashed": "its worker crashed",
    "lost": "its worker sent no verdict",
    "interrupted": "interrupted",
    "not_run": "not run, because the run ended first",
    "skipped": "skipped",
    "deselected": "deselected",
    "not_collected": "not collected",
}
#: A test that uses the fixture for something else is not a missing gate.
_COMPLETE = ("judged", "no_verdict")
#: How many gates a terminal names for each reason.
_MAX_NAMED = 10
#: Characters of a command that reports show.
_MAX_COMMAND = 2000


@frozen
class KnownGate:
    """One test that is a gate.

    Attributes
    ----------
    id : str
        The node id; for a gate of a file that was not collected, the one it would have had.
    line : int or None
        From 1.
    became : str
        A key of ``BECAME``; later versions may have more.
    failures : int
        Attempts before the last one that failed.
    verdicts : tuple of int
        Places of its verdicts in the report, from 0.
    command : str or None
        What judges it again; None where ``pytest --riskguard`` does.
    """

    id: str
    line: int | None
    became: Annotated[str, Words(tuple(BECAME), open=True)]
    failures: int
    verdicts: tuple[int, ...]
    command: str | None = None

    @property
    def reproduce(self) -> str:
        """The command that judges it again."""
        return clean(self.command or shlex.join(["pytest", "--riskguard", self.id]), limit=_MAX_COMMAND)

    @property
    def file(self) -> str:
        """The file that declares it."""
        return self.id.split("::")[0]

    @property
    def place(self) -> str:
        """File and line."""
        return self.file if self.line is None else f"{self.file}:{self.line}"

    @property
    def words(self) -> str:
        """How it ended."""
        return BECAME.get(self.became, clean(self.became))


class Report(NamedTuple):
    """What every format writes: verdicts, the gates that the run knew (none if it was no run of tests), their origin.

    ``policy_changes`` are what the judged commit changed about how it is judged, if anything.
    """

    verdicts: Sequence[Verdict]
    gates: Sequence[KnownGate] = ()
    provenance: Provenance | None = None
    policy_changes: Sequence[str] = ()

    @property
    def commit(self) -> str | None:
        """The commit that was judged, where the report says it."""
        return None if self.provenance is None else self.provenance.commit

    @property
    def shown(self) -> Report:
        """The report as people read it: each verdict says whose it is."""
        return self._replace(verdicts=by_service(self.verdicts, self.gates))


def by_service(verdicts: Sequence[Verdict], gates: Sequence[KnownGate]) -> list[Verdict]:
    """The verdicts as reports show them: where gates are of several riskguard.yaml, each is named with its service.

    A service is the folder of its file, without the folders that all have in common.
    """
    files = {gate.file: gate.file.split("/") for gate in gates if gate.file.endswith((".yaml", ".yml"))}
    common = len(os.path.commonprefix([parts[:-1] for parts in files.values()]))  # noqa: RUF071 - of lists
    names = {file: "/".join(parts[common:]).removesuffix("/riskguard.yaml") for file, parts in files.items()}
    services = {place: names[gate.file] for gate in gates if gate.file in names for place in gate.verdicts}
    shown = list(verdicts)
    for place, verdict in enumerate(verdicts):
        if len(files) > 1 and place in services and not verdict.service:
            asked = replace(verdict.asked, name=f"{services[place]}: {verdict.gate}")
            shown[place] = replace(verdict, asked=asked, service=services[place])
    return shown


def has_rivals(verdicts: Sequence[Verdict]) -> bool:
    """Whether a gate was asked about several candidates, so that its name alone does not say which."""
    return len({verdict.candidate for verdict in verdicts}) > 1


def missing(gates: Sequence[KnownGate]) -> list[KnownGate]:
    """The gates without a verdict although there should be one."""
    return [gate for gate in gates if gate.became not in _COMPLETE]


def title(gates: Sequence[KnownGate]) -> str:
    """How many gates were not judged; empty if all or none were."""
    count = len(missing(gates))
    return f"{count} of {counted(len(gates), 'gate')} not judged" if 0 < count < len(gates) else ""


def summary(gates: Sequence[KnownGate]) -> list[str]:
    """The gates that were not judged, one line for each reason."""
    by_reason: dict[str, list[str]] = {}
    for gate in missing(gates):
        by_reason.setdefault(gate.words, []).append(clean(gate.id))
    return [f"not judged ({words}): {named(ids, most=_MAX_NAMED)}" for words, ids in by_reason.items()]


def failures_before(gates: Sequence[KnownGate]) -> dict[int, int]:
    """How often the gate of a verdict failed before its last attempt, by the verdict's place; none if never."""
    return {place: gate.failures for gate in gates if gate.failures for place in gate.verdicts}


def after(failures: int | None) -> str:
    """What follows an outcome that took several attempts: `` (after 1 failure)``, or nothing."""
    return f" (after {counted(failures, 'failure')})" if failures else ""


def check(gates: Sequence[KnownGate], verdicts: int) -> None:
    """Check that each verdict is the verdict of one gate; the ``ValueError`` names a gate that lacks its own."""
    owners: dict[int, str] = {}
    for gate in gates:
        if (gate.became == "judged") != bool(gate.verdicts) and gate.became != "crashed":
            raise ValueError(
                f"gates: {gate.id!r:.200} is {gate.became!r:.60} with {counted(len(gate.verdicts), 'verdict')}"
            )
        for place in gate.verdicts:
            if not 0 <= place < verdicts:
                raise ValueError(f"gates: the verdict of {gate.id!r:.200} is missing (verdicts[{place}])")
            if place in owners:
                raise ValueError(f"gates: verdicts[{place}] belongs to {owners[place]!r:.200} and {gate.id!r:.200}")
            owners[place] = gate.id


#: The order in which a reader needs verdicts.
_ORDER: tuple[Tone, ...] = ("stop", "caution", "go")


def comparisons(verdicts: Sequence[Verdict]) -> list[list[int]]:
    """The places of verdicts on the same names, measure and inputs; failures first, then what passes with care."""
    together: dict[str, list[int]] = {}
    for place in sorted(range(len(verdicts)), key=lambda place: urgency(verdicts[place])):
        together.setdefault(compared(verdicts[place], place), []).append(place)
    return list(together.values())


def urgency(verdict: Verdict) -> int:
    """What to sort verdicts by: those that stop a change, those that want care, the others."""
    return _ORDER.index(Card(verdict).tone)


@frozen
class Answer:
    """What a run says about a change, in every report alike: a tone, what to do, and how many gates say so.

    ``is_divided``: some of several candidates of one service may ship.
    """

    tone: Tone
    advice: str
    counts: str
    is_divided: bool

    @property
    def title(self) -> str:
        """The answer in a line."""
        return f"{self.advice}: {self.counts}"


def answer(verdicts: Sequence[Verdict], gates: Sequence[KnownGate] = ()) -> Answer:
    """The answer of all gates of a run; ``gates`` are those that it knew."""
    verdicts, unjudged = by_service(verdicts, gates), missing(gates)
    candidates = {verdict.candidate for verdict in verdicts}
    shipped = candidates - {verdict.candidate for verdict in verdicts if not verdict.passed}
    how, what = advice(verdicts, complete=not unjudged)
    is_divided = what == "Don't ship" and bool(shipped) and len({verdict.service for verdict in verdicts}) == 1
    if is_divided:
        what = f"{len(shipped)} of {len(candidates)} candidates may ship"
    return Answer(how, what, "; ".join(filter(None, (_counts(verdicts), title(gates)))), is_divided)


def _counts(verdicts: Sequence[Verdict]) -> str:
    """How gates ended: ``2 of 3 gates failed``, ``3 gates passed, 1 with care``."""
    if not verdicts:
        return "no gate was judged"
    stopped = [verdict.outcome for verdict in verdicts if not verdict.passed]
    if stopped:
        word = "failed" if len({*stopped}) > 1 or "fail" in stopped else stopped[0]
        whole = counted(len(verdicts), "gate")
        return f"{whole if len(stopped) == len(verdicts) else f'{len(stopped)} of {whole}'} {word}"
    passed = [Card(verdict).tone for verdict in verdicts if verdict.outcome == "pass"]
    careful, undecided = passed.count("caution"), len(verdicts) - len(passed)
    if not passed:
        return f"{counted(undecided, 'gate')} inconclusive"
    some = "" if not careful else " with care" if careful == len(passed) else f", {careful} with care"
    return f"{counted(len(passed), 'gate')} passed{some}" + (f", {undecided} inconclusive" if undecided else "")


def said_once(verdicts: Sequence[Verdict]) -> list[list[int]]:
    """The places of verdicts that short reports say together: incomparable for one problem about the same systems."""
    together = dict[object, list[int]]()
    for place, verdict in enumerate(verdicts):
        same = verdict.service, verdict.candidate, verdict.baselines, verdict.problem
        together.setdefault(place if verdict.problem is None else same, []).append(place)
    return [*together.values()]


def compared(verdict: Verdict, place: int) -> str:
    """What a verdict compares, as text. Without digests nothing says that two comparisons are the same."""
    inputs = verdict.inputs
    if inputs is None or inputs.candidate is None or None in inputs.baselines.values():
        return str(place)
    return json.dumps(
        [verdict.service, verdict.candidate, verdict.baselines, verdict.measure, to_plain(inputs)], sort_keys=True
    )
