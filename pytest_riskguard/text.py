"""Text for messages: other people's text made safe for a terminal or a log, counts, numbers, and likely spellings."""

from __future__ import annotations

import os
import re
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path

#: What CI systems read as a command: ``::`` at the start of a line, indented or not (GitHub), and ``##[``, ``##vso[``
#: or ``##teamcity[`` anywhere in it.
_COMMAND = re.compile(r"(?<!\S)::|##(?=\w*\[)")
#: Names of topics, of systems or of gates.
Names = tuple[str, ...]
#: Characters of the longest address that may become a link.
MAX_ADDRESS = 2000


def clean(text: str, *, limit: int = 200) -> str:
    """The text as one printable line that neither a terminal nor a CI system reads as a command.

    Control and format characters (ESC, bidi overrides, newlines, surrogates) are removed; a space splits ``::`` at
    the start of a word, and ``##`` where it could begin a command.
    """
    kept = text
    if not text.isprintable():  # checking each character is slow
        dropped = {"Cc", "Cf", "Cs", "Co", "Cn"}
        kept = "".join(c for c in text if c.isspace() or unicodedata.category(c) not in dropped)
    line = _COMMAND.sub(lambda match: " ".join(match.group()), " ".join(kept.split()))
    return line if len(line) <= limit else line[: limit - 1] + "…"


def columns(text: str) -> int:
    """How many columns of a terminal the text takes: wide characters, such as Chinese ones, take two."""
    return len(text) + sum(unicodedata.east_asian_width(character) in ("W", "F") for character in text)


def fitted(text: str, width: int) -> str:
    """The text in at most so many columns; an ellipsis says that it was longer."""
    if columns(text) <= width:
        return text
    kept, taken = "", 1
    for character in text:
        taken += columns(character)
        if taken > width:
            break
        kept += character
    return f"{kept}…"


def web_address(text: str) -> str | None:
    """An address that may become a link: http or https, without the credentials it holds; None for anything else."""
    from urllib.parse import urlsplit

    if len(text) > MAX_ADDRESS or not text.isascii() or not text.isprintable() or any(c in text for c in ' "<>\\^`'):
        return None
    try:
        parts = urlsplit(text)
        if parts.scheme not in ("http", "https") or not parts.hostname or not text.startswith(f"{parts.scheme}://"):
            return None
    except ValueError:
        return None
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl() if "@" in parts.netloc else text


def document_address(text: str) -> str:
    """The address of any document, which has ``{id}`` where its id goes; ``ValueError`` for anything else."""
    if web_address(text) != text or "{id}" not in text or "{" in text.replace("{id}", ""):
        example, found = "https://help.example.com/articles/{id}", clean(text, limit=60)
        raise ValueError(
            f"expected an address with http or https that has {{id}}, such as {example}, found {found!r}"
        )
    return text


def listed(items: Sequence[str], *, most: int, left_out: int = 0) -> str:
    """The first ``most`` items with commas between them, and how many more there are, with those left out before."""
    return named([clean(item, limit=60) for item in items[:most]], left_out=len(items[most:]) + left_out)


def named(items: Sequence[str], *, most: int = 200, left_out: int = 0) -> str:
    """All items as they are, with commas between them; of very many the first, and how many more there are."""
    rest = len(items[most:]) + left_out
    return ", ".join(items[:most]) + f" and {rest} more" * (rest > 0)


def counted(number: int, one: str, many: str | None = None) -> str:
    """``1 topic``, ``2 topics``."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def sentence(text: str) -> str:
    """The text with a capital first letter and a full stop."""
    return f"{text[0].upper()}{text[1:]}."


def relative(path: Path | str, folder: Path | None) -> str:
    """A path as it is typed in a folder, by default the current one."""
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # on another drive
        return str(path)


def program() -> str:
    """The name of our command as it was typed: ``uvx pytest-riskguard`` knows no other than the package's."""
    return "pytest-riskguard" if Path(sys.argv[0]).name.startswith("pytest-riskguard") else "riskguard"


def nearest(word: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """The known word most like ``word``, ignoring case, or None if no word is close.

    ``cutoff`` is the least similarity, from 0 to 1, as ``difflib`` measures it.
    """
    import difflib

    lowered = {one.lower(): one for one in reversed([*known])}  # the first of spellings that differ only in case
    close = difflib.get_close_matches(word.lower(), lowered, n=1, cutoff=cutoff)
    return lowered[close[0]] if close else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``; did you mean 'prod'?``, or nothing where no known word is close."""
    close = nearest(word, known)
    return f"; did you mean {close!r}?" if close else ""
