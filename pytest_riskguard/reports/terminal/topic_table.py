"""Topics for a terminal: the worst in a table as wide as the screen, and all in one line of block characters.

The line runs from the largest loss to the largest win. Losses hang from its top, wins stand on its bottom,
and between them are dots for unchanged topics, or a bar if there are none: no colour is needed to tell them apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.sections import Table
from pytest_riskguard.reports.shown import Shown
from pytest_riskguard.reports.terminal import layout
from pytest_riskguard.run_context import Screen
from pytest_riskguard.text import clean, counted, signed

#: From this width on the table has room for long headings beside the query texts.
_WIDE = 90
_SHORT = {"baseline -> candidate": "scores", "difference": "change"}
#: Names of topics are cut to this many columns, query texts to no fewer than that.
_MAX_TOPIC, _MIN_QUERY = 24, 8


def topic_table(topics: Table, screen: Screen) -> list[str]:
    """The rows as lines, indented: topics, perhaps queries, and figures and marks, which are never cut."""
    labels = [
        _SHORT.get(column.label, column.label) if screen.width < _WIDE else column.label for column in topics.columns
    ]
    return aligned(topics, [labels, *([clean(cell) for cell in row] for row in topics.rows)], screen)


def aligned(topics: Table, rows: Sequence[Sequence[str]], screen: Screen) -> list[str]:
    """Rows of cells below one another, four columns from the left; names give way where a line would be too long."""
    from rich.cells import cell_len

    widths = [max(map(cell_len, cells)) for cells in zip(*rows, strict=True)]
    room = screen.width - 4 - 2 * (len(widths) - 1)
    for place, least in _giving_way(topics):
        widths[place] = max(min(widths[place], room - sum(widths) + widths[place]), min(least, widths[place]))
    lines = []
    for row in rows:
        cells = []
        for cell, width, column in zip(row, widths, topics.columns, strict=True):
            shown = layout.cut(cell, width)
            padding = " " * (width - cell_len(shown))
            cells.append(padding + shown if column.kind == "number" else shown + padding)
        lines.append(("    " + "  ".join(cells)).rstrip())
    return lines


def _giving_way(topics: Table) -> list[tuple[int, int]]:
    """Columns of names, those that may be cut first before the others, with the least width of each."""
    names = [place for place, column in enumerate(topics.columns) if column.kind == "name"]
    return [(place, _MIN_QUERY if place else _MAX_TOPIC) for place in reversed(names)] + [(0, _MIN_QUERY)]


#: A strip is no longer than this, however wide the screen is.
MAX_STRIP, MIN_STRIP = 72, 8


@dataclass(frozen=True)
class _Marks:
    """Characters from the smallest change to the largest."""

    losses: str
    same: str
    wins: str
    between: str


# Unicode has eight blocks that stand, but only three that hang.
_BLOCKS = _Marks("▔▀█", "·", "▁▂▃▄▅▆▇█", "│")
_ASCII = _Marks("'\"#", "-", ".:#", "|")
#: A win that may be of any size.
_WIN = "+"


def strip(verdict: Verdict, screen: Screen) -> list[str]:
    """One line, and a second if a mark stands for several topics; no line if nothing changed, or not all is known.

    A verdict holds every topic only if a report is written; otherwise it knows how many won, and by how much only
    where all of them are flagged.
    """
    if verdict.topics.left_out.get("responsible_topics") or _is_partial(verdict):
        return []
    losses, unchanged, wins = _sorted(verdict)
    counts = (len(losses), unchanged, len(wins))
    if not (losses or wins):
        return []
    sizes_known = wins[:1] != [0.0]
    before = f"  losses {signed(-losses[0])} " if losses else "  no loss "
    after = " no win" if not wins else f" {signed(wins[0])} wins" if sizes_known else f" {counted(len(wins), 'win')}"
    cells = _cells(counts, min(max(screen.width - len(before) - len(after) - 1, MIN_STRIP), MAX_STRIP))
    marks, scale = _BLOCKS if screen.blocks else _ASCII, max([*losses[:1], *wins[:1]]) or 1.0
    drawn = [_mark(size / scale, marks.losses) for size in _largest(losses, cells[0])]
    drawn += marks.same * cells[1] or marks.between * bool(losses and wins)
    standing = [_mark(size / scale, marks.wins) for size in _largest(wins, cells[2])]
    drawn += reversed(standing) if sizes_known else _WIN * cells[2]
    line = f"{before}{''.join(drawn)}{after}"
    several = max(-(-count // shown) for count, shown in zip(counts, cells, strict=True) if shown)
    return [line, f"    each mark is the largest change of up to {several} topics"] if several > 1 else [line]


def _is_partial(verdict: Verdict) -> bool:
    """Whether losses are not known: the exhibits hold only some of very many topics, or the verdict names wins."""
    if verdict.exhibits is None:
        return Shown(verdict).explained_by_wins  # then it names no losses
    return len(verdict.exhibits.topics.topics) < verdict.topics.count


def _sorted(verdict: Verdict) -> tuple[list[float], int, list[float]]:
    """Sizes of the losses, largest first; how many topics did not change; sizes of the wins, 0 if unknown."""
    if verdict.exhibits is None:
        given = [topic.difference for topic in verdict.responsible_topics]
    else:
        columns = verdict.exhibits.topics
        given = [
            candidate - baseline for candidate, baseline in zip(columns.candidate, columns.baseline, strict=True)
        ]
    differences = sorted(round(difference, 12) for difference in given)
    losses = [-difference for difference in differences if difference < 0]
    if verdict.exhibits is None:
        flagged = sorted((round(topic.difference, 12) for topic in verdict.flagged_wins), reverse=True)
        wins = flagged if len(flagged) == verdict.topics.wins else [0.0] * verdict.topics.wins
        return losses, max(verdict.topics.count - len(losses) - len(wins), 0), wins
    wins = [difference for difference in reversed(differences) if difference > 0]
    return losses, len(differences) - len(losses) - len(wins), wins


def _cells(counts: tuple[int, int, int], room: int) -> tuple[int, ...]:
    """How many marks losses, unchanged topics and wins get: no group is left out, and no mark stands for two groups.

    In proportion, rounded down but to at least 1; what rounding leaves goes to the losses first.
    """
    total = sum(counts)
    if total <= room:
        return counts
    cells = [max(count * room // total, 1) if count else 0 for count in counts]
    for side in (0, 2, 1):
        cells[side] += min(max(room - sum(cells), 0), counts[side] - cells[side])
    cells[cells.index(max(cells))] -= max(sum(cells) - room, 0)
    return tuple(cells)


def _largest(sizes: Sequence[float], cells: int) -> list[float]:
    """The largest of each of ``cells`` groups of descending sizes, so that a single collapse stays visible."""
    return [sizes[cell * len(sizes) // cells] for cell in range(cells)]


def _mark(share: float, levels: str) -> str:
    """The character for a change of this size; even the smallest change gets one."""
    return levels[min(int(round(share * len(levels), 9)), len(levels) - 1)]
