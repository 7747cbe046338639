"""The context of a judgement in this process: the screen, whether a report is wanted, who receives verdicts.

This is the only state that is not handed from function to function, because pytest's hooks and the assertions of a
test cannot hand anything to each other. It belongs to the process and not to a thread: a test may judge in threads of
its own. Every run of pytest loads this module: it imports nothing from the package, and its records are named tuples,
which take an eighth of the time to define that dataclasses take.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pytest_riskguard.gates.verdict import Verdict

#: The environment variables by which GitHub Actions reads annotations, and is given the summary of a step.
ACTIONS, SUMMARY = "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"


def github_reads() -> bool:
    """Whether GitHub Actions reads what is printed, or a summary."""
    return os.environ.get(ACTIONS) == "true" or bool(os.environ.get(SUMMARY))


#: Variables that agents set for the programs they run: any of them, and Claude Code, Codex, Copilot, Cursor, Gemini.
AGENTS = (
    "AI_AGENT",
    "AGENT",
    "CLAUDECODE",
    "CODEX_SANDBOX",
    "CODEX_THREAD_ID",
    "COPILOT_CLI",
    "CURSOR_AGENT",
    "GEMINI_CLI",
)


def agent_reads(*, terminal: bool | None = None) -> bool:
    """Whether an agent or a script reads what is printed: no terminal does, and the environment says so.

    ``RISKGUARD_BRIEF`` decides it, as 0 or anything else; ``terminal`` is about standard output unless it is given.
    """
    if sys.stdout.isatty() if terminal is None else terminal:
        return False
    asked = os.environ.get("RISKGUARD_BRIEF")
    return asked != "0" if asked else any(map(os.environ.get, AGENTS))


class Screen(NamedTuple):
    """In how many columns a failure is shown, and whether with its statistics, as ``-v`` asks for."""

    width: int = 100
    verbose: bool = False


class RunContext(NamedTuple):
    """What a judgement needs to know about the run that it is part of.

    ``locate`` turns a node id into one for the folder where pytest was called. With ``report_wanted`` verdicts hold
    the data of charts. Every verdict that an assertion or the fixture gives is passed to
    all ``listeners``.
    """

    screen: Screen = Screen()
    locate: Callable[[str], str] = str
    report_wanted: bool = False
    listeners: tuple[Callable[[Verdict], None], ...] = ()


_current = RunContext()


def current() -> RunContext:
    """The context of this process."""
    return _current


@contextmanager
def changed(**changes: Any) -> Iterator[RunContext]:
    """The context with some of its fields changed, until the block ends."""
    global _current
    before, _current = _current, _current._replace(**changes)
    try:
        yield _current
    finally:
        _current = before


def record(verdict: Verdict) -> Verdict:
    """Hand a verdict to the listeners, and return it."""
    for listener in _current.listeners:
        listener(verdict)
    return verdict
