"""Another process that writes to a store, and stops or dies at a place in the middle if it is asked to.

It is forked from a process that has imported the package, so that it starts in a tenth of the time.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any
from unittest import mock

from pytest_riskguard.baselines.store import Store
from pytest_riskguard.errors import RiskguardError

#: A place in the middle, and the file that says that it is reached.
Stop = tuple[str, Path]
if sys.platform == "win32":  # which has no fork
    CONTEXT = multiprocessing.get_context("spawn")
else:
    CONTEXT = multiprocessing.get_context("forkserver")
    CONTEXT.set_forkserver_preload([__name__, "pytest_riskguard.data.run_scores"])
#: What Python reports to audit hooks before it changes or reads a folder or opens a file.
_STEPS = frozenset({"open", "os.listdir", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.scandir"})


class Writer:
    """Does ``what`` to baseline ``name``: ``add``, ``update``, ``replicate``, ``remove`` or ``rescore``.

    With ``stop`` it waits there to be killed; with ``last_step`` it kills itself before the step after that one, a
    step being a file that is opened or a folder that is read or changed.
    """

    def __init__(
        self,
        root: Path,
        name: str,
        run: Path,
        qrels: Path,
        what: str = "add",
        *,
        stop: Stop | None = None,
        last_step: int | None = None,
    ) -> None:
        self._problem, self._stop = run.with_suffix(f".{name}.{time.monotonic_ns()}"), stop
        self._begun, self._steps = CONTEXT.Event(), CONTEXT.Value("i", 0)
        arguments = (root, name, run, qrels, what, stop, self._problem, self._begun, self._steps, last_step)
        self._process = CONTEXT.Process(target=_write, args=arguments)
        self._process.start()

    def kill_after(self, seconds: float) -> None:
        """Kill the process this long after it began to write."""
        assert self._begun.wait(timeout=60)
        time.sleep(seconds)
        self._process.kill()
        self._process.join()

    def steps(self) -> int:
        """Number of steps, after the process has ended or killed itself."""
        self._process.join(timeout=120)
        return self._steps.value

    def kill_when_it_has_stopped(self) -> None:
        """Wait until the place is reached, and kill the process there."""
        assert self._stop is not None
        deadline = time.monotonic() + 60
        try:
            while not self._stop[1].exists():
                assert self._process.is_alive()
                assert time.monotonic() < deadline
                time.sleep(0.02)
        finally:
            self._process.kill()
            self._process.join()

    def problem(self) -> str | None:
        """Why the store refused, once the process has ended."""
        self._process.join(timeout=120)
        if self._problem.exists():
            return self._problem.read_text("utf-8")
        assert self._process.exitcode == 0
        return None


def _write(
    root: Path,
    name: str,
    run: Path,
    qrels: Path,
    what: str,
    stop: Stop | None,
    problem: Path,
    begun: Any,
    steps: Any,
    last_step: int | None,
) -> None:
    if stop is not None:
        _stop_at(*stop)
    store = Store(root)
    sys.addaudithook(_counting(steps, last_step))
    begun.set()
    scoring: dict[str, Any] = {"qrels": qrels, "topics": None}
    try:
        if what == "add":
            store.add(name, run, measures=["AP"], **scoring)
        elif what == "update":
            store.update(name, run, measures=["AP"], **scoring)
        elif what == "replicate":
            store.add_replicate(name, run, **scoring)
        elif what == "remove":
            store.remove_replicate(name, 1)
        else:
            store.rescore(name, **scoring)
    except RiskguardError as error:
        problem.write_text(str(error), "utf-8")


def _counting(steps: Any, last_step: int | None) -> Any:
    """An audit hook that counts steps in a shared number, and kills the process before the step after the last."""

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event not in _STEPS:
            return
        if steps.value == last_step:
            os.kill(os.getpid(), signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
        steps.value += 1

    return hook


def _stop_at(place: str, reached: Path) -> None:
    """Stop before, between or after the two renames of a replacement."""
    rename = Path.rename

    def pause() -> None:
        reached.touch()
        time.sleep(60)

    def paused_rename(self: Path, target: Path) -> Path:
        new = self.name.startswith(".tmp-new-")
        if (place == "before-rename" and not new) or (place == "between" and new):
            pause()
        result = rename(self, target)
        if place == "after-rename" and new:
            pause()
        return result

    mock.patch.object(Path, "rename", paused_rename).start()
