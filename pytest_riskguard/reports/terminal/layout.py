"""Text for a terminal: paragraphs wrapped, commands that can be copied."""

from __future__ import annotations

import importlib.util
import re
import shlex
import textwrap
from collections.abc import Iterable

from pytest_riskguard import run_context
from pytest_riskguard.text import fitted, is_wide

#: Stands for the second column of a wide character; ``text.clean`` leaves none in other people's text.
_SECOND_COLUMN = "\ue000"
#: Stands for a blank of a command: a command stays on one line, so that it can be copied.
_BLANK = "\ue001"
#: What is to be typed as it is.
_COMMAND = re.compile(r"`[^`]+`")


def wrapped(
    paragraphs: Iterable[str], *, width: int, indent: str = "  ", hanging: str = "  ", breaks_words: bool = False
) -> list[str]:
    """The lines of each paragraph; those after the first are indented further.

    They are broken between words only, unless words that are longer than a line may be broken. What stands between
    backticks, a command, is one word, which is never broken.
    """
    return [
        line.replace(_SECOND_COLUMN, "").replace(_BLANK, " ")
        for text in map(_in_columns, map(_in_one_piece, paragraphs))
        for line in textwrap.wrap(
            text,
            width=width - (_SECOND_COLUMN in text),  # a break may leave half a wide character behind
            initial_indent=indent,
            subsequent_indent=indent + hanging,
            break_long_words=breaks_words and _BLANK not in text,
            break_on_hyphens=False,
        )
    ]


def _in_one_piece(text: str) -> str:
    """The text with commands that ``textwrap`` takes for one word."""
    return _COMMAND.sub(lambda command: command.group().replace(" ", _BLANK), text)


def _in_columns(text: str) -> str:
    """The text as long as it is wide, for ``textwrap``, which counts characters."""
    if text.isascii():
        return text
    return "".join(character + _SECOND_COLUMN * is_wide(character) for character in text)


def at_most(most: int, lines: list[str], text: str, width: int) -> list[str]:
    """The first lines of a wrapped text, with an ellipsis; commands that they lack follow, each on its own line."""
    if len(lines) <= most:
        return lines
    kept = [*lines[: most - 1], fitted(f"{lines[most - 1]} …", width)]
    shown, indent = "\n".join(kept), len(lines[0]) - len(lines[0].lstrip()) + 2
    missing = [command for command in _COMMAND.findall(text) if command not in shown]
    return [*kept, *(f"{'':{indent}}{command.strip('`')}" for command in missing)]


def report_hint() -> str:
    """What a failure says of the report where none is written; a page needs the extra [report]."""
    return f"add --riskguard-report=report.{'html' if importlib.util.find_spec('jinja2') else 'md'}"


def command(test: str, *, options: str = "") -> str:
    """The command that runs one test again, from the folder where pytest was called."""
    return " ".join(filter(None, ["pytest", options, shlex.quote(run_context.current().locate(test))]))
