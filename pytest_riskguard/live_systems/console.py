"""What people see while a live system is queried: a line that counts topics, and why a stuck run ends."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import NoReturn, Protocol, TextIO

from pytest_riskguard.config.asking import Asking
from pytest_riskguard.live_systems.retrieval import Progress
from pytest_riskguard.live_systems.time_limit import GRACE

#: Seconds between two changes of the line.
_EVERY = 0.1
#: Columns of a terminal that the line may take.
_ROOM = 79


class Console(Protocol):
    """Where a retrieval shows how far it is, and what ends a process that it blocks."""

    def progress(self) -> AbstractContextManager[Progress | None]:
        """A function to call with the number of topics done and their total, or None if no one would see it."""

    def end_stuck_run(self, asking: Asking) -> None:
        """End the process: a call that cannot be interrupted would block it forever."""


class TerminalConsole:
    """Standard error of a command."""

    def __init__(self, *, exit_status: int) -> None:
        self._exit_status = exit_status

    @contextmanager
    def progress(self) -> Iterator[Progress | None]:
        """The line, if standard error is a terminal."""
        if not sys.stderr.isatty():
            yield None
            return
        line = Line(sys.stderr, room=_ROOM)
        try:
            yield line.show
        finally:
            line.erase()

    def end_stuck_run(self, asking: Asking) -> NoReturn:
        """End the process with the exit status for what cannot be compared."""
        with suppress(OSError, ValueError):
            print(f"\nriskguard: {stuck(asking)}", file=sys.stderr, flush=True)
        os._exit(self._exit_status)


def stuck(asking: Asking) -> str:
    """Why a run ends that a search blocks."""
    return (
        f"a search gave no answer in {asking.timeout:g} s, and could not be interrupted for {GRACE:g} s more; "
        "the run ends here. Set a time limit in its client."
    )


class Line:
    """Text in the ``room`` after the cursor, overwritten and finally erased, so that the rest of the line stays.

    What is written in the context of ``outside`` reaches the terminal; ``clock`` gives seconds.
    """

    def __init__(
        self,
        file: TextIO,
        *,
        room: int,
        outside: Callable[[], AbstractContextManager[object]] = nullcontext,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._file, self._room, self._outside, self._clock = file, room, outside, clock
        self._shown, self._next = "", float("-inf")

    def show(self, done: int, total: int) -> None:
        """Show progress, not more often than a person can read."""
        if (now := self._clock()) < self._next:
            return
        self._next = now + _EVERY
        texts = (f"retrieving {done}/{total} topics", f"{done}/{total}", "")
        self._write(next(text for text in texts if len(text) <= self._room or not text))

    def erase(self) -> None:
        """Leave the line as it was."""
        self._write("")

    def _write(self, text: str) -> None:
        if text == self._shown:
            return
        back = "\b" * len(self._shown)
        left = max(len(self._shown) - len(text), 0)
        with self._outside():
            self._file.write(back + text + " " * left + "\b" * left)
            self._file.flush()
        self._shown = text
