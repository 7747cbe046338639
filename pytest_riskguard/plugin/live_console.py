"""The terminal of pytest while a live system is queried: the line that counts topics."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

import pytest

from pytest_riskguard.live_systems.console import Line
from pytest_riskguard.live_systems.retrieval import Progress

#: Environment variables of CI systems, as pytest knows them.
_CI = ("CI", "BUILD_NUMBER")
#: Capture methods that keep output of the search off the terminal.
_CAPTURES = ("fd", "sys")


class PytestConsole:
    """A ``Console`` that writes where pytest does."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    @contextmanager
    def progress(self) -> Iterator[Progress | None]:
        """A function that shows progress in the present line, or None if no one would see it.

        rich can draw such a line too, but needs the streams that pytest has already replaced.
        With ``-s`` the search itself may print into the same line.
        """
        capture = self._config.pluginmanager.get_plugin("capturemanager")
        writer = self._config.get_terminal_writer()
        # Not writer.write(), which would count erased characters when it computes the column.
        file: TextIO | None = getattr(writer, "_file", None)
        if capture is None or file is None or not _watched(self._config):
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
