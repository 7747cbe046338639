"""What people see while a live system is queried: a line that counts topics."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Protocol, TextIO

from pytest_riskguard.live_systems.retrieval import Progress

#: Seconds between two changes of the line.
_EVERY = 0.1
#: Columns of a terminal that the line may take.
_ROOM = 79


class Console(Protocol):
    """Where a retrieval shows how far it is."""

    def progress(self) -> AbstractContextManager[Progress | None]:
        """A function to call with the number of topics done and their total, or None if no one would see it."""


class TerminalConsole:
    """Standard error of a command."""

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
