"""Markdown: tables, folds, and other people's text, which is never a table, a tag, a link, a mention or a reference.

Names and ids go into ``<code>``, where GitHub and GitLab look for neither mentions nor references; possible markup is
written as character references, so that no parser reads it as markup and a reader copies the original text. Prose is
escaped the same way, and the start of a mention, a reference or a link is broken by a zero-width space.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pytest_riskguard.reports.sections import Column, Table
from pytest_riskguard.text import clean

#: Characters that names keep. A full stop after ``www`` would make a link, because links are found first.
_KEPT_IN_CODE = re.compile(
    r"(?<=[a-z])_(?=[a-z])|(?<!www)\.|[-,;=/+%?()']|(?P<escaped>[!-/:-@\[-`{-~])", re.IGNORECASE
)
#: Characters that prose keeps because they mean nothing inside a line, so that the source stays readable: an interval
#: in brackets, which would be a link only if an address followed; the underscore in a word; the colon before a space.
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
    # The empty comment breaks up mail addresses, which are detected in the rendered text.
    escaped = _escaped(_KEPT_IN_CODE, shown).replace("&#64;", "&#64;<!-- -->")
    return f"<code>{escaped}</code>"


def prose(text: str, *, limit: int = 4000) -> str:
    """A sentence of this package that contains other people's text."""
    broken = _LINKING.sub(lambda match: match.group() + _GAP, clean(text, limit=limit))
    escaped = _escaped(_KEPT, broken)
    return _NUMBERED.sub(_reference, escaped).replace(_GAP, "&#8203;")


def _escaped(kept: re.Pattern[str], text: str) -> str:
    return kept.sub(lambda match: _reference(match) if match["escaped"] else match.group(), text)


def _reference(match: re.Match[str]) -> str:
    return f"&#{ord(match.group())};"


def table(content: Table, *, most: int) -> list[str]:
    """Lines of a table: its first rows, and how many there are."""
    escapes = [code if column.kind == "name" else _own for column in content.columns]
    rows = [[escape(cell) for escape, cell in zip(escapes, row, strict=True)] for row in content.rows[:most]]
    lines = grid(content.columns, rows)
    return lines if len(content.rows) <= most else [*lines, "", f"The first {most} of {len(content.rows)}."]


def grid(columns: Iterable[Column], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of a table whose cells are Markdown."""
    columns = list(columns)
    labels = [_own(column.label) for column in columns]
    rules = ["---:" if column.kind == "number" else "---" for column in columns]
    return [f"| {' | '.join(cells)} |" for cells in (labels, rules, *rows)]


def _own(text: str) -> str:
    """Words and figures of this package, in which no other character has a meaning in Markdown."""
    return text.replace("->", "→").replace("<", "&#60;")


def folded(title: str, lines: Iterable[str]) -> list[str]:
    """The lines, folded under a title; nothing if there are none."""
    body = list(lines)
    return ["<details>", f"<summary>{title}</summary>", "", *body, "", "</details>", ""] if body else []
