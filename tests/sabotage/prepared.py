"""Processes that have already loaded libraries: each run is a fork of one, so that it need not load them again.

Most of the time of a run goes into loading the same modules. A fork has its own memory, output, exit status and
process group, like a process that starts afresh. What a case changes about loading modules comes too late for a fork:
``runner`` starts such cases afresh.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from tests.sabotage.case import Way
from tests.sabotage.processes import PYTEST_OPTIONS, Ended, environment, timed

#: What every ``riskguard compare`` loads.
_COMMAND = (
    "pytest_riskguard.cli.main",
    "pytest_riskguard.cli.compare",
    "pytest_riskguard.cli.inputs",
    "pytest_riskguard.data.scoring",
    "pytest_riskguard.data.text_tables",
    "pytest_riskguard.reports.card",
    "pytest_riskguard.reports.terminal",
    "pytest_riskguard.reports.json",
)
#: Libraries that pytest and the plugin load; plugins are pytest's to load, which rewrites their assertions.
_LIBRARIES = (
    "pytest",
    "numpy",
    "scipy.special",
    "yaml",
    "pydantic.main",
    "pydantic.dataclasses",
    "pydantic.type_adapter",
    "ir_measures",
    "pytrec_eval",
    "email.parser",
    "asyncio",
)

#: Loads modules, then forks for each line that it reads; the fork leaves the loop.
_FORKS = """
import gc, json, os, sys, warnings
from importlib import import_module
requests, answers = map(int, sys.argv[1:3])
for name in sys.argv[3:]:
    import_module(name)
gc.freeze()  # no fork copies these objects only to look at them
lines = os.fdopen(requests)
while True:
    line = lines.readline()
    if not line:
        raise SystemExit
    folder, output, sys.argv[1:] = json.loads(line)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of numpy's threads, which take no part in the fork
        pid = os.fork()
    if not pid:
        break
    os.write(answers, b"%d\\n" % pid)
    _, status, usage = os.wait4(pid, 0)
    os.write(answers, f"{status} {usage.ru_utime + usage.ru_stime} {usage.ru_maxrss}\\n".encode())
os.setsid()
os.chdir(folder)
written = os.open(output, os.O_WRONLY)
os.dup2(written, 1)
os.dup2(written, 2)
for number in (requests, answers, written):
    os.close(number)
"""
_RUN_COMMAND = "from pytest_riskguard.cli import main; main()"
_RUN_PYTEST = """
from runpy import run_module
sys.path[0] = os.getcwd()
run_module("pytest", run_name="__main__", alter_sys=True)
"""


class Prepared:
    """A process that waits for runs of the command, and one for those of pytest; a context manager that ends them."""

    def __init__(self) -> None:
        self._waiting: dict[bool, _Waiting] = {}

    def __enter__(self) -> Prepared:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for waiting in self._waiting.values():
            waiting.close()

    def run(self, way: Way, arguments: Sequence[str], cwd: Path, limit: float) -> Ended:
        """A run with the usual variables, ended after a limit of seconds, as in ``processes.run``."""
        by_command = way is Way.CLI
        if by_command not in self._waiting:
            modules, run = (_COMMAND, _RUN_COMMAND) if by_command else (_LIBRARIES, _RUN_PYTEST)
            self._waiting[by_command] = _Waiting(_FORKS + run, modules)
        given = arguments if by_command else [*PYTEST_OPTIONS, *arguments]
        return self._waiting[by_command].run(given, cwd, limit)


class _Waiting:
    """A process that waits for runs."""

    def __init__(self, script: str, modules: Sequence[str]) -> None:
        requests, self._requests = os.pipe()
        self._answers, answers = os.pipe()
        self._process = subprocess.Popen(
            [sys.executable, "-c", script, str(requests), str(answers), *modules],
            env=environment({}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[requests, answers],
        )
        os.close(requests)
        os.close(answers)
        self._read = os.fdopen(self._answers)

    def run(self, arguments: Sequence[str], cwd: Path, limit: float) -> Ended:
        with tempfile.NamedTemporaryFile() as output:
            os.write(self._requests, f"{json.dumps([str(cwd), output.name, list(arguments)])}\n".encode())
            return timed(int(self._answer()), self._answer, output, limit)

    def _answer(self) -> str:
        line = self._read.readline()
        if not line:
            raise RuntimeError(f"the prepared process ended with status {self._process.wait()}")
        return line

    def close(self) -> None:
        os.close(self._requests)
        self._process.wait()
        self._read.close()
