"""What a command shows while a system is queried."""

from __future__ import annotations

import io
import sys

from pytest_riskguard.live_systems.console import TerminalConsole


class Terminal(io.StringIO):
    """Standard error that a person watches."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_how_far_it_is_and_nothing_stays(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    with TerminalConsole().progress() as progress:
        progress(3, 30)
        assert stream.getvalue() == "retrieving 3/30 topics"
    text = stream.getvalue()
    assert text.endswith("\b" * 22 + " " * 22 + "\b" * 22)


def test_nothing_is_written_where_nobody_watches(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with TerminalConsole().progress() as progress:
        assert progress is None
    assert stream.getvalue() == ""
