"""A table in Markdown; its cells are escaped already."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of a table; a column whose name ends with a colon is set to the right."""
    names = [name.removesuffix(":") for name in columns]
    rules = ["---:" if name.endswith(":") else "---" for name in columns]
    return [_row(names), _row(rules), *map(_row, rows)]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def folded(title: str, lines: Iterable[str]) -> list[str]:
    """Lines that a reader unfolds; none where there are none."""
    body = list(lines)
    return ["<details>", f"<summary>{title}</summary>", "", *body, "", "</details>", ""] if body else []
