"""What a failure tells its reader to type: the test again, or the same with a report."""

from __future__ import annotations

import importlib.util
import re
import shlex
from collections.abc import Callable, Sequence

from pytest_riskguard import run_context

#: A command about baselines, between backticks or on a line of its own.
_ABOUT_BASELINES = re.compile(r"(?:(?<=`)|(?<=^ {4}))riskguard baseline ([a-z-]+)[^`\n]*", re.MULTILINE)


def report_hint() -> str:
    """What a failure says of the report where none is written; a page needs the extra [report]."""
    return f"add --riskguard-report=report.{'html' if importlib.util.find_spec('jinja2') else 'md'}"


def command(test: str, *, options: str = "") -> str:
    """The command that runs one test again, from the folder where pytest was called."""
    return " ".join(filter(None, ["pytest", options, shlex.quote(run_context.current().locate(test))]))


def completed(text: str, words: Callable[[str], Sequence[str]]) -> str:
    """The text with the words that commands about baselines need here, by the name of the command."""

    def whole(command: re.Match[str]) -> str:
        lacking = [*words(command[1])]
        if not lacking or lacking[0] in command[0].split():
            return command[0]
        return f"{command[0]} {shlex.join(lacking)}"

    return _ABOUT_BASELINES.sub(whole, text)
