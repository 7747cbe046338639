"""Advice beside a verdict: the paths of its files, and whole commands that run where they are printed.

A command that would need something that nobody gave, such as the path of a run in memory, is not built.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from pytest_riskguard.config.load import find_config
from pytest_riskguard.data.formats import system_name
from pytest_riskguard.engine.question import LiveRun, Question, RunFile, ScoreFile, Source, Stored, label
from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.kinds import KINDS, options_of
from pytest_riskguard.gates.verdict import Commands, Verdict
from pytest_riskguard.reports.card import Card
from pytest_riskguard.reports.numbers import plain, short
from pytest_riskguard.text import clean, program, relative

#: Characters of the longest command.
_MAX_COMMAND = 2000
Words = Sequence[str | None]


@frozen
class Reader:
    """Who reads a verdict: in the first of the ``folders``, which name files in all of them.

    ``where`` has the words with which a command, by its name, finds judgements, store or riskguard.yaml; ``report``
    is the JSON report that will be there.
    """

    folders: Sequence[Path]
    where: Callable[[str], Sequence[str]]
    report: str | None = None

    @classmethod
    def of_config(cls, config: Path, *folders: Path, report: str | None = None) -> Reader:
        """One whose commands are about this riskguard.yaml: with ``--config`` unless they find it themselves."""
        words = [] if find_config(folders[0]) == config else ["--config", relative(config, folders[0])]
        return cls(folders, lambda _: words, report)

    def path(self, source: Source) -> str | None:
        """The file of a system, with its part; None if there is none, or more than its path says how it is read."""
        if not isinstance(source, RunFile | ScoreFile):
            return None
        file = source.file
        if file.columns or file.format or file.ties or not file.path.exists():
            return None
        return relative(file.path, self.folders[0]) + (f"#{file.part}" if file.part else "")

    def command(self, *words: str | None, beside: Words = ()) -> str:
        """A command with what it needs here; empty if a word is missing, or cannot be printed as it is."""
        name = words[1] if words[0] == "baseline" else words[0]
        every = [*words, *self.where(name or ""), *beside]
        command = f"{program()} {shlex.join(filter(None, every))}"
        return command if None not in every and clean(command, limit=_MAX_COMMAND) == command else ""


def advised(
    verdict: Verdict,
    question: Question,
    reader: Reader,
    *,
    judge_next: Words | None = None,
    explain: Words | None = None,
    keeps: bool = True,
    accept: str = "",
    named: str = "",
) -> Verdict:
    """The verdict with what its reader can type about it.

    ``judge_next`` and ``explain`` are the words of a gate of riskguard.yaml; ``keeps`` says whether `baseline update`
    would store this candidate; ``accept`` is what `accept` calls it, unless the baseline's name is enough; ``named``
    is where riskguard.yaml names the file at fault.
    """
    if (error := verdict.error) is not None:
        problem, remedy = error.seen_from(*reader.folders) + named, error.remedy
        said = "" if remedy is None else str(remedy.here(reader.where))
        verify = reader.command("baseline", "verify")
        return replace(verdict, commands=Commands(problem=problem, remedy=said, verify=verify))
    if question.gate.of_rankings and not verdict.passed:
        systems = _named(question.baseline, reader), _named(question.candidate, reader)
        return replace(verdict, commands=Commands(reader.command("diff", *systems)))
    look = explain_command(verdict, reader, explain)
    if not verdict.advises:
        return replace(verdict, commands=Commands(explain=look)) if look else verdict
    listing = reader.command("judge-next", *judge_next) if judge_next else _judge_next(question, verdict, reader)
    update = _update(question, verdict, reader, accept=accept, keeps=keeps)
    return replace(verdict, commands=Commands(listing, update, explain=look))


def explain_command(verdict: Verdict, reader: Reader, words: Words | None = None) -> str:
    """What explains the worst query of a failure: by the report, or by riskguard.yaml with these words."""
    worst = None if verdict.passed else next((row.topic for row in Card(verdict).worst), None)
    if worst is None or worst.startswith("-"):  # which would be an option
        return ""
    if reader.report:
        return reader.command("explain", worst, reader.report)
    return "" if words is None else reader.command("explain", worst, beside=words)


def _judge_next(question: Question, verdict: Verdict, reader: Reader) -> str:
    """The command for a question with no other option than alpha: more are not spelled out."""
    gate, options = question.gate, options_of(type(question.gate))
    unusual = {name for name, known in options.items() if getattr(gate, name) != known.default}
    if not unusual <= {"alpha"} or verdict.family is not None or isinstance(question.candidate, ScoreFile):
        return ""
    words = ["--measure", question.measure]
    words += [] if gate.kind == next(iter(KINDS)) else ["--gate", gate.kind]
    words += ["--alpha", short(gate.alpha)] if unusual else []
    return reader.command(
        "judge-next", _named(question.baseline, reader), _named(question.candidate, reader), beside=words
    )


def _update(question: Question, verdict: Verdict, reader: Reader, *, accept: str, keeps: bool) -> str:
    """The command that stores the candidate in the place of its one baseline, as the report on it says if it does."""
    source, baseline = question.candidate, question.baseline
    means = verdict.estimates.baseline_mean, verdict.estimates.candidate_mean
    if not isinstance(baseline, Stored) or question.pool or None in means:
        return ""
    note = "--note", f"significantly better: {verdict.measure or 'mean'} {plain(means[0])} to {plain(means[1])}"
    if verdict.origins is not None and verdict.origins.file is not None:
        command = reader.command("accept", reader.report, accept or baseline.name, *note)
        if command and "--qrels" not in reader.where("update"):  # which `accept` does not take
            return command
    if not keeps:
        return ""
    run = [] if isinstance(source, LiveRun) else [reader.path(source)]
    kind = ["--scores"] if isinstance(source, ScoreFile) else []
    return reader.command("baseline", "update", baseline.name, *run, *kind, *note)


def _named(source: Source, reader: Reader) -> str | None:
    """A system as the commands take it: ``[NAME=]PATH``, or the name of a stored baseline."""
    if isinstance(source, Stored):
        return None if (reader.folders[0] / source.name).exists() else source.name
    path = reader.path(source)
    if path is None or not isinstance(source, RunFile | ScoreFile) or source.name in (None, system_name(source.file)):
        return path
    return f"{label(source)}={path}"
