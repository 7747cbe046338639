"""The commands that a verdict advises, built whole from what was judged: each runs as it is where it is printed.

A command that would need something that nobody gave, such as the path of a run in memory, is not built.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pytest_riskguard.config.load import find_config
from pytest_riskguard.data.formats import system_name
from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.engine.sources import Baseline, LiveRun, Question, RunFile, ScoreFile, Source, Stored, label
from pytest_riskguard.gates.kinds import KINDS, Gate, options_of
from pytest_riskguard.gates.verdict import Commands, Verdict
from pytest_riskguard.text import clean, plain

#: Characters of the longest command.
_MAX_COMMAND = 2000
#: Options of a gate that change no answer of ``judge-next``.
_NOT_ASKED = ("on_inconclusive", "reference")


def advised(verdict: Verdict, commands: Callable[[], Commands]) -> Verdict:
    """The verdict with the commands, if it advises any."""
    return replace(verdict, commands=commands()) if verdict.advises else verdict


def about_runs(question: Question, verdict: Verdict, *, where: Sequence[str], here: Path) -> Commands:
    """What can be typed in the folder ``here``; ``where`` are words that name judgements, store or riskguard.yaml."""
    candidate, baseline = _named(question.candidate, here), _named(question.baseline, here)
    judge_next: list[str | None] = ["judge-next", baseline, candidate, *where, *_reading(question)]
    if question.measure is not None:
        judge_next += ["--measure", question.measure]
    judge_next += _gate_words(question.gate, verdict)
    return Commands(
        judge_next="" if isinstance(question.candidate, ScoreFile) else _command(judge_next),
        update=_update(question, verdict, where, here),
        verify=_command(["baseline", "verify", *where]),
    )


def about_gate(
    id: str,
    question: Question,
    verdict: Verdict,
    *,
    config: Path,
    here: Path,
    runs: Mapping[str, Source],
    given: bool,
) -> Commands:
    """The same of a gate of a riskguard.yaml; its candidate was ``given`` by path, or is the file's.

    ``runs`` took the place of stored baselines, by name.
    """
    where = config_words(config, here)
    judge_next: list[str | None] = ["judge-next", _path(question.candidate, here)] if given else ["judge-next"]
    judge_next += ["--gate", None if id in KINDS else id, *where]
    for name, run in runs.items():
        path = _path(run, here)
        judge_next += ["--baseline", None if path is None else f"{name}={path}"]
    return Commands(
        judge_next=_command(judge_next),
        update=_update(question, verdict, where, here),
        verify=_command(["baseline", "verify", *where]),
    )


def config_words(config: Path, here: Path) -> list[str]:
    """``--config PATH``, unless commands in the folder ``here`` find this riskguard.yaml themselves."""
    return [] if find_config(here) == config else ["--config", _from(here, config)]


def _command(words: Sequence[str | None]) -> str:
    """The words as a command of a shell; empty if one is missing, or cannot be printed as it is."""
    if any(word is None for word in words):
        return ""
    command = f"riskguard {shlex.join(word for word in words if word is not None)}"
    return command if clean(command, limit=_MAX_COMMAND) == command else ""


def _from(here: Path, path: Path) -> str:
    """A path as it can be typed here."""
    try:
        return Path(os.path.relpath(path, here)).as_posix()
    except ValueError:  # on another drive
        return str(path)


def _path(source: Baseline, here: Path) -> str | None:
    """The file of a system, with its part; None if there is none, or other words than its path say how it is read."""
    if not isinstance(source, RunFile | ScoreFile) or source.file.columns or not source.path.exists():
        return None
    path = _from(here, source.path) + (f"#{source.file.part}" if source.file.part else "")
    return None if path.startswith("-") else path


def _named(source: Baseline, here: Path) -> str | None:
    """A system as the commands take it: ``[NAME=]PATH``, or the name of a stored baseline."""
    if isinstance(source, Stored):
        return source.name if source.earlier is None and not (here / source.name).exists() else None
    path = _path(source, here)
    if path is None or not isinstance(source, RunFile | ScoreFile):
        return None
    return path if source.name in (None, system_name(source.file)) else f"{label(source)}={path}"


def _reading(question: Question) -> Iterator[str | None]:
    """How the files of both systems are read, which must be the same for one command."""
    files = [source.file for source in (question.candidate, question.baseline) if isinstance(source, RunFile)]
    if len({(file.format, file.ties) for file in files}) > 1:
        yield None
    for file in files[:1]:
        yield from _read_words(file)


def _read_words(file: GivenFile) -> list[str]:
    """The settings that say how a file is read."""
    settings = {"format": file.format, "ties": file.ties}
    return [word for name, value in settings.items() if value for word in ("--set", f"{name}={value}")]


def _gate_words(gate: Gate, verdict: Verdict) -> Iterator[str]:
    """The options that ask a gate's question again, at the level that its family left it."""
    if verdict.family is not None:
        gate = replace(gate, level=verdict.family.level)
    if gate.kind != next(iter(KINDS)):
        yield from ("--gate", gate.kind)
    for name, known in options_of(type(gate)).items():
        value = getattr(gate, name)
        if value == known.default or name in _NOT_ASKED:
            continue
        if name == "alpha":
            yield from (known.flag, _word(value))
            continue
        for one in value if isinstance(value, tuple | list) else [value]:
            yield from ("--set", f"{name}={_word(one)}")


def _word(value: object) -> str:
    """The value of an option as it is typed."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.12g}"
    return "none" if value is None else str(value)


def _update(question: Question, verdict: Verdict, where: Sequence[str], here: Path) -> str:
    """What stores the candidate in the place of the stored baseline that it was judged against."""
    source, means = question.candidate, (verdict.estimates.baseline_mean, verdict.estimates.candidate_mean)
    if not isinstance(question.baseline, Stored) or question.pool or None in means:
        return ""
    measure = f"{verdict.measure} " if verdict.measure else ""
    note = f"significantly better: {measure}{plain(means[0])} to {plain(means[1])}"
    words: list[str | None] = ["baseline", "update", question.baseline.name]
    if not isinstance(source, LiveRun):
        words += [_path(source, here)]
        words += ["--scores"] if isinstance(source, ScoreFile) else []
        given = source.file if isinstance(source, RunFile | ScoreFile) else None
        words += [] if given is None else _read_words(given)
    return _command([*words, "--note", note, *where])
