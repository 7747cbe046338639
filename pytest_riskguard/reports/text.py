"""Data made safe and short for a terminal or a log: query texts and ids are other people's text."""

from __future__ import annotations

import unicodedata


def clean(text: str, *, limit: int = 200) -> str:
    """One printable line: control and format characters (ESC, bidi overrides, newlines, surrogates) removed."""
    kept = "".join(" " if c.isspace() else c for c in text if c.isspace() or _printable(c))
    line = " ".join(kept.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _printable(character: str) -> bool:
    return unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Co", "Cn"}


def listed(items: tuple[str, ...], *, most: int) -> str:
    """Items in a row, and how many more there are."""
    shown = ", ".join(clean(item, limit=60) for item in items[:most])
    rest = len(items) - most
    return f"{shown} and {rest} more" if rest > 0 else shown


def counted(number: int, one: str, many: str | None = None) -> str:
    """``1 topic``, ``2 topics``."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def signed(value: float, digits: int = 4) -> str:
    """A number with its sign, and never a negative zero."""
    return f"{round(value, digits) + 0.0:+.{digits}f}"


def plain(value: float, digits: int = 4) -> str:
    """A number with fixed decimals, and never a negative zero."""
    return f"{round(value, digits) + 0.0:.{digits}f}"


def short(value: float) -> str:
    """A parameter as a person typed it: ``1``, ``0.5``."""
    return f"{value:.12g}"
