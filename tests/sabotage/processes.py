"""Processes with a time limit, whose memory is measured, in an environment that does not depend on the machine."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

CHECKOUT = Path(__file__).resolve().parents[2]
#: Only these variables reach a run.
KEPT_VARIABLES = ("PATH", "HOME", "TMPDIR", "VIRTUAL_ENV", "COVERAGE_PROCESS_START")
RISKGUARD = [sys.executable, "-c", "from pytest_riskguard.cli import main; main()"]
# Plugins of libraries that our own tests need, which take long to load.
PYTEST_OPTIONS = ["-p", "no:hypothesispytest", "-p", "no:anyio"]
PYTEST = [sys.executable, "-m", "pytest", *PYTEST_OPTIONS]
MAX_OUTPUT = 10_000_000
#: Starts a command and reports how it ended. A process begins with the memory of its parent, which counts
#: towards its own maximum: this small parent has little, a process that runs tests may have much.
_STARTER = [
    *(sys.executable, "-I", "-S", "-c"),
    """
import os, sys
pid = os.fork()
if not pid:
    os.close(int(sys.argv[1]))
    os.execvpe(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(pid, 0)
os.write(int(sys.argv[1]), f"{status} {usage.ru_utime + usage.ru_stime} {usage.ru_maxrss}".encode())
""",
]


@dataclass(frozen=True)
class Ended:
    """How a process ended: its output, and what it and its children took."""

    status: int
    output: str
    seconds: float
    processor_seconds: float
    megabytes: float
    is_killed: bool = False


def environment(added: Mapping[str, str | None], folder: Path | None = None) -> dict[str, str]:
    """The variables of a run; None removes one, ``{project}`` stands for the folder."""
    variables = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    variables |= {"COLUMNS": "160", "PYTHONUTF8": "1", "PYTHONPATH": str(CHECKOUT)}
    for name, value in added.items():
        variables.pop(name, None)
        if value is not None:
            variables[name] = value.replace("{project}", str(folder))
    return variables


def run(command: Sequence[str] | str, cwd: Path, variables: Mapping[str, str], limit: float) -> Ended:
    """Run a command, or a line for the shell, and end it and all its children after a limit of seconds.

    Memory is that of its largest process, in units of 2**20 bytes. Both outputs go into one file, so that it cannot
    wait for a reader.
    """
    arguments = ["/bin/sh", "-c", command] if isinstance(command, str) else command
    receiver, sender = os.pipe()
    with tempfile.TemporaryFile() as output, os.fdopen(receiver) as ending:
        process = subprocess.Popen(
            [*_STARTER, str(sender), *arguments],
            cwd=cwd,
            env=dict(variables),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=[sender],
        )
        os.close(sender)

        def ended() -> str:
            process.wait()
            # the starter is killed with the others
            return ending.read() or f"{signal.SIGKILL.value} 0 0"

        return timed(process.pid, ended, output, limit)


def timed(pid: int, ended: Callable[[], str], output: IO[bytes], limit: float) -> Ended:
    """Wait for a process, and end its group after a limit of seconds.

    ``ended`` waits, and gives the status as ``os.wait4`` does, seconds of processor time and ``ru_maxrss``.
    """
    started = time.monotonic()
    timer = threading.Timer(limit, _kill_group, [pid])
    timer.start()
    try:
        status, processor_seconds, memory = ended().split()
    finally:
        timer.cancel()
        _kill_group(pid)  # what it left behind, such as workers
    seconds = time.monotonic() - started
    output.seek(0)
    return Ended(
        os.waitstatus_to_exitcode(int(status)),
        output.read(MAX_OUTPUT).decode("utf-8", "replace"),
        seconds,
        processor_seconds=float(processor_seconds),
        megabytes=int(memory) / (2**20 if sys.platform == "darwin" else 2**10),
        is_killed=seconds >= limit,
    )


def _kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):  # it has ended
        return
