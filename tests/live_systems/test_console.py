"""What a command shows while a system is queried, and how it ends if a call cannot be interrupted."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest

from pytest_riskguard.live_systems.console import TerminalConsole


class Terminal(io.StringIO):
    """Standard error that a person watches."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_how_far_it_is_and_nothing_stays(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    with TerminalConsole(exit_status=3).progress() as progress:
        progress(3, 30)
        assert stream.getvalue() == "retrieving 3/30 topics"
    text = stream.getvalue()
    assert text.endswith("\b" * 22 + " " * 22 + "\b" * 22)


def test_nothing_is_written_where_nobody_watches(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with TerminalConsole(exit_status=3).progress() as progress:
        assert progress is None
    assert stream.getvalue() == ""


@pytest.mark.parametrize("ending", ["", "sys.stderr.close(); "])
def test_a_stuck_run_ends_with_the_status_of_what_cannot_be_compared(ending):
    code = (
        "import sys, threading\n"
        "from pytest_riskguard.config.asking import Asking\n"
        "from pytest_riskguard.live_systems.console import TerminalConsole\n"
        "threading.Thread(target=threading.Event().wait).start()\n"
        f"{ending}TerminalConsole(exit_status=3).end_stuck_run(Asking(timeout=5))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 3
    assert ending or "riskguard: a search gave no answer in 5 s, and could not be interrupted" in done.stderr
