"""Progress of a retrieval, shown on pytest's current line if a person watches a terminal.

rich can draw such a line too, but needs the streams that pytest has already replaced.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TextIO

import pytest

#: Environment variables of CI systems, as pytest knows them.
_CI = ("CI", "BUILD_NUMBER")
#: Capture methods that keep output of the search off the terminal.
_CAPTURES = ("fd", "sys")
#: Seconds between two changes of the line.
_EVERY = 0.1


@contextmanager
def shown_progress(config: pytest.Config) -> Iterator[Callable[[int, int], None] | None]:
    """A function to call with the number of topics done and their total, or None if no one would see it.

    With ``-s`` the search itself may print into the same line.
    """
    capture = config.pluginmanager.get_plugin("capturemanager")
    writer = config.get_terminal_writer()
    # Not writer.write(), which would count erased characters when it computes the column.
    file: TextIO | None = getattr(writer, "_file", None)
    if capture is None or file is None or not _watched(config):
        yield None
        return
    room = writer.fullwidth - writer.width_of_current_line - 1
    line = Line(file, room=room, outside=capture.global_and_fixture_disabled)
    try:
        yield line.show
    finally:
        line.erase()


def _watched(config: pytest.Config) -> bool:
    """Whether a person is likely to see what the terminal reporter of this process writes."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    # The stream itself is a file while pytest captures, so ask the reporter.
    if not getattr(reporter, "isatty", False) or hasattr(config, "workerinput") or config.get_verbosity() < 0:
        return False
    return config.getoption("capture", "no") in _CAPTURES and not any(os.environ.get(name) for name in _CI)


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
