"""Whole commands, run alternately: their wall time, their peak memory, and what they printed.

This module imports nothing large: on Linux a process begins with the peak memory of the one that started it.
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
#: Bytes per unit of ``ru_maxrss``.
UNIT = 1 if sys.platform == "darwin" else 1024


#: What pytest says last, which differs each time.
_DURATION = re.compile(r" in \d+\.\d+s(?: \(\d+:\d+:\d+\))?")


class NotMeasuredError(Exception):
    """A command failed, or is not installed."""


@dataclass(frozen=True)
class Measured:
    """Medians over the rounds; ``megabytes`` is the largest process of a command, ``status`` how it ended."""

    seconds: float
    megabytes: float
    output: str
    status: int = 0


def alternately(
    commands: Mapping[str, Sequence[str]], *, rounds: int, environment: Mapping[str, str] | None = None
) -> dict[str, Measured]:
    """Run each command once a round, one after the other, so that all share the machine's moods.

    ``NotMeasuredError`` if a command fails or prints something else the next time.
    """
    times: dict[str, list[Measured]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            times[name].append(_run(name, command, environment or {}))
    measured = {}
    for name, results in times.items():
        if len({(result.output, result.status) for result in results}) > 1:
            raise NotMeasuredError(f"{name}: expected the same output each time, found several")
        seconds = statistics.median(result.seconds for result in results)
        megabytes = statistics.median(result.megabytes for result in results)
        measured[name] = Measured(seconds, megabytes, results[0].output, results[0].status)
    return measured


def _run(name: str, command: Sequence[str], environment: Mapping[str, str]) -> Measured:
    given = {**os.environ, "PYTHONPATH": str(ROOT), "RISKGUARD_CACHE": "off", **environment}
    given.pop("PYTHONDONTWRITEBYTECODE", None)  # modules are compiled once, as where a package is installed
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=given, text=True)
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        output, problem = process.stdout.read(), process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1) or "Traceback" in problem:  # 1: a gate failed
        raise NotMeasuredError(f"{name}: ended with {process.returncode}: {problem[-2000:] or output[-2000:]}")
    return Measured(seconds, usage.ru_maxrss * UNIT / 1e6, _DURATION.sub("", output), process.returncode)
