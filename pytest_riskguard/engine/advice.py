"""The commands that a verdict advises, built whole from what was judged: each runs as it is where it is printed.

A command that would need something that nobody gave, such as the path of a run in memory, is not built.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pytest_riskguard.config.load import find_config
from pytest_riskguard.data.formats import system_name
from pytest_riskguard.engine.question import Baseline, LiveRun, Question, RunFile, ScoreFile, Source, Stored, label
from pytest_riskguard.gates.kinds import KINDS, options_of
from pytest_riskguard.gates.verdict import Commands, Verdict
from pytest_riskguard.text import clean, plain, short

#: The words that a command of ``riskguard baseline`` needs, by its name.
Words = Callable[[str], Sequence[str]]
#: Characters of the longest command.
_MAX_COMMAND = 2000


def seen_from(verdict: Verdict, *folders: Path, words: Words) -> Verdict:
    """The verdict for a screen: paths as they are typed in the first folder, commands with the words they need."""
    if (error := verdict.error) is None:
        return verdict
    remedy = None if error.remedy is None else str(error.remedy.here(words))
    return replace(verdict, problem=error.seen_from(*folders), remedy=remedy)


def advised(verdict: Verdict, commands: Callable[[], Commands]) -> Verdict:
    """The verdict with the commands, if it advises any."""
    return replace(verdict, commands=commands()) if verdict.advises else verdict


def about_runs(question: Question, verdict: Verdict, *, where: Sequence[str], here: Path) -> Commands:
    """What can be typed in the folder ``here``; ``where`` are words that name judgements, store or riskguard.yaml.

    A question with more options than alpha is not spelled out.
    """
    gate, options = question.gate, options_of(type(question.gate))
    words = ["judge-next", _named(question.baseline, here), _named(question.candidate, here), *where]
    words += ["--measure", question.measure]
    words += [] if gate.kind == next(iter(KINDS)) else ["--gate", gate.kind]
    unusual = {name for name, known in options.items() if getattr(gate, name) != known.default}
    words += ["--alpha", short(gate.alpha)] if "alpha" in unusual else []
    is_short = unusual <= {"alpha"} and verdict.family is None and not isinstance(question.candidate, ScoreFile)
    return _commands(question, verdict, _command(words) if is_short else "", where, here)


def about_gate(
    id: str,
    question: Question,
    verdict: Verdict,
    *,
    config: Path,
    here: Path,
    runs: Mapping[str, Source],
    candidate: Source | None,
) -> Commands:
    """The same of a gate of riskguard.yaml; ``runs`` took the place of stored baselines, ``candidate`` of its own."""
    where = config_words(config, here)
    words = ["judge-next", *([] if candidate is None else [_path(candidate, here)])]
    words += ["--gate", None if id in KINDS else id, *where]
    for name, run in runs.items():
        path = _path(run, here)
        words += ["--baseline", path and f"{name}={path}"]
    return _commands(question, verdict, _command(words), where, here)


def _commands(question: Question, verdict: Verdict, judge_next: str, where: Sequence[str], here: Path) -> Commands:
    verify = _command(["baseline", "verify", *where])
    source, means = question.candidate, (verdict.estimates.baseline_mean, verdict.estimates.candidate_mean)
    if not isinstance(question.baseline, Stored) or question.pool or None in means:
        return Commands(judge_next, "", verify)
    note = f"significantly better: {verdict.measure or 'mean'} {plain(means[0])} to {plain(means[1])}"
    words: list[str | None] = ["baseline", "update", question.baseline.name]
    words += [] if isinstance(source, LiveRun) else [_path(source, here)]
    words += ["--scores"] if isinstance(source, ScoreFile) else []
    return Commands(judge_next, _command([*words, "--note", note, *where]), verify)


def config_words(config: Path, here: Path) -> list[str]:
    """``--config PATH``, unless commands in the folder ``here`` find this riskguard.yaml themselves."""
    return [] if find_config(here) == config else ["--config", _from(here, config)]


def _command(words: Sequence[str | None]) -> str:
    """The words as a command of a shell; empty if one is missing, or cannot be printed as it is."""
    command = f"riskguard {shlex.join(filter(None, words))}"
    return command if None not in words and clean(command, limit=_MAX_COMMAND) == command else ""


def _from(here: Path, path: Path) -> str:
    """A path as it can be typed here."""
    try:
        return Path(os.path.relpath(path, here)).as_posix()
    except ValueError:  # on another drive
        return str(path)


def _path(source: Baseline, here: Path) -> str | None:
    """The file of a system, with its part; None if there is none, or other words than its path say how it is read."""
    if not isinstance(source, RunFile | ScoreFile):
        return None
    file = source.file
    if file.columns or file.format or file.ties or not file.path.exists():
        return None
    return _from(here, file.path) + (f"#{file.part}" if file.part else "")


def _named(source: Baseline, here: Path) -> str | None:
    """A system as the commands take it: ``[NAME=]PATH``, or the name of a stored baseline."""
    if isinstance(source, Stored):
        return source.name if source.earlier is None and not (here / source.name).exists() else None
    path = _path(source, here)
    if path is None or not isinstance(source, RunFile | ScoreFile) or source.name in (None, system_name(source.file)):
        return path
    return f"{label(source)}={path}"
