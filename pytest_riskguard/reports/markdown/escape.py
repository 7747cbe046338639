"""Markdown: tables, folds, and other people's text, which is never a table, a tag, a link, a mention or a reference.

Two ways. Names and ids stand in ``<code>``, where GitHub and GitLab look for neither mentions nor references; what
could be markup is written as character references, which no parser takes for it, so that a reader copies the text
itself. Prose is escaped likewise, and what begins a mention, a reference or a link is broken by a space of no width.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pytest_riskguard.text import clean

#: What names keep. A full stop behind ``www`` would make a link, for links are looked for before the box is.
_KEPT_IN_CODE = re.compile(
    r"(?<=[a-z])_(?=[a-z])|(?<!www)\.|[-,;=/+%?()']|(?P<escaped>[!-/:-@\[-`{-~])", re.IGNORECASE
)
#: What prose keeps, so that its source stays readable: means nothing inside a line. The interval of a figure, which
#: would be a link only with an address behind it; the underscore inside a word; the colon before a space.
_KEPT = re.compile(
    r"""\[[-+][\d.e+-]+,\ [-+][\d.e+-]+\](?![(\[:]) | (?<=[a-z])_(?=[a-z]) | :(?=\ |$)
    | (?<!^)[(),;.=+\-/'"%?]  # at the head of a line some of these begin a list
    | (?P<escaped>[!-/:-@\[-`{-~])""",
    re.VERBOSE,
)
#: What makes a mention (@), a reference (#1, !1, $1, %1, &1 of GitLab, GH-1), a mail address or a link.
_LINKING = re.compile(
    r"[@#!$&%~^](?=\w|\")|:(?=//)|(?<=www)(?=\.)|(?<=GH)(?=-\d)|(?<=mailto)(?=:)|(?<=xmpp)(?=:)", re.IGNORECASE
)
#: ``1.`` and ``1)`` at the head of a line, which begin a list.
_NUMBERED = re.compile(r"(?<=^)\d(?=\d*[.)])")
_GAP = "\u200b"


def code(text: str, *, limit: int = 120) -> str:
    """A name, an id or a query, to be shown and copied as it is; empty text has no box."""
    shown = clean(text, limit=limit)
    if not shown:
        return ""
    # The empty comment keeps apart what a mail address is made of: they are looked for in the text as it is shown.
    escaped = _escaped(_KEPT_IN_CODE, shown).replace("&#64;", "&#64;<!-- -->")
    return f"<code>{escaped}</code>"


def prose(text: str, *, limit: int = 4000) -> str:
    """A sentence of this package that other people's text is part of."""
    broken = _LINKING.sub(lambda match: match.group() + _GAP, clean(text, limit=limit))
    escaped = _escaped(_KEPT, broken)
    return _NUMBERED.sub(_reference, escaped).replace(_GAP, "&#8203;")


def _escaped(kept: re.Pattern[str], text: str) -> str:
    return kept.sub(lambda match: _reference(match) if match["escaped"] else match.group(), text)


def _reference(match: re.Match[str]) -> str:
    return f"&#{ord(match.group())};"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of a table; a column whose name ends with a colon is set to the right."""
    names = [name.removesuffix(":") for name in columns]
    rules = ["---:" if name.endswith(":") else "---" for name in columns]
    return [_cells(names), _cells(rules), *map(_cells, rows)]


def _cells(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def folded(title: str, lines: Iterable[str]) -> list[str]:
    """Lines that a reader unfolds; none where there are none."""
    body = list(lines)
    return ["<details>", f"<summary>{title}</summary>", "", *body, "", "</details>", ""] if body else []
