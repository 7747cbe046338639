"""Whole commands, run alternately: their processor time, their peak memory, and what they printed.

This module imports nothing large: on Linux a process begins with the peak memory of the one that started it.
"""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
#: Bytes per unit of ``ru_maxrss``.
UNIT = 1 if sys.platform == "darwin" else 1024


class NotMeasuredError(Exception):
    """A command failed, or several disagree."""


@dataclass(frozen=True)
class Measured:
    """Seconds of all processors, user and system; ``megabytes`` at the peak; ``status``: how the process ended."""

    seconds: float
    megabytes: float
    output: str
    status: int = 0


def alternately(commands: Mapping[str, Sequence[str]], *, rounds: int) -> dict[str, Measured]:
    """The quickest round of each command, for what a busy machine adds is never negative; all take turns.

    ``NotMeasuredError`` if a command fails, or prints something else the next time.
    """
    quickest: dict[str, Measured] = {}
    for _ in range(rounds):
        for name, command in commands.items():
            one = run(name, command)
            earlier = quickest.get(name, one)
            if (earlier.output, earlier.status) != (one.output, one.status):
                raise NotMeasuredError(f"{name}: expected the same output each time, found several")
            quickest[name] = min(earlier, one, key=lambda measured: measured.seconds)
    return quickest


def run(name: str, command: Sequence[str]) -> Measured:
    """One process, from its start to its end; ``NotMeasuredError`` if it fails."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": path}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # modules are compiled once, as where a package is installed
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True)
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        output, problem = process.stdout.read(), process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1) or "Traceback" in problem:  # 1: a gate failed
        raise NotMeasuredError(f"{name}: ended with {process.returncode}: {problem[-2000:] or output[-2000:]}")
    seconds = usage.ru_utime + usage.ru_stime
    return Measured(seconds, usage.ru_maxrss * UNIT / 1e6, output, process.returncode)
