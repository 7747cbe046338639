"""All topics in one line of block characters, from the largest loss to the largest win.

Losses hang from the top of the line, wins stand on its bottom, and between them is a row of dots for what did not
change, or else a bar: no colour is needed to tell them apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.detail import Detail
from pytest_riskguard.reports.text import signed

#: A strip is no longer than this, however wide the screen is.
_LONGEST, _SHORTEST = 72, 8


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
#: A win of which only is known that it is one.
_WIN = "+"


def strip(verdict: Verdict, detail: Detail) -> list[str]:
    """One line, and a second where a mark stands for several topics; nothing where nothing changed.

    A verdict holds every topic where a report is written too; otherwise it knows how many won, but not by how much.
    """
    losses, unchanged, wins = _sorted(verdict)
    counts = (len(losses), unchanged, len(wins))
    if not (losses or wins):
        return []
    sizes_known = wins[:1] != [0.0]
    before = f"  losses {signed(-losses[0])} " if losses else "  no loss "
    after = " no win" if not wins else f" {signed(wins[0])} wins" if sizes_known else " wins of any size"
    cells = _cells(counts, min(max(detail.width - len(before) - len(after) - 1, _SHORTEST), _LONGEST))
    marks, scale = _BLOCKS if detail.blocks else _ASCII, max([*losses[:1], *wins[:1]]) or 1.0
    drawn = [_mark(size / scale, marks.losses) for size in _largest(losses, cells[0])]
    drawn += marks.same * cells[1] or marks.between * bool(losses and wins)
    standing = [_mark(size / scale, marks.wins) for size in _largest(wins, cells[2])]
    drawn += reversed(standing) if sizes_known else _WIN * cells[2]
    line = f"{before}{''.join(drawn)}{after}"
    several = max(-(-count // shown) for count, shown in zip(counts, cells, strict=True) if shown)
    return [line, f"    each mark is the largest change of up to {several} topics"] if several > 1 else [line]


def _sorted(verdict: Verdict) -> tuple[list[float], int, list[float]]:
    """Sizes of the losses, largest first; how many topics did not change; sizes of the wins, 0 where not known."""
    if verdict.exhibits is None:
        given = [topic.difference for topic in verdict.responsible_topics]
    else:
        columns = verdict.exhibits.topics
        given = [ours - theirs for ours, theirs in zip(columns.candidate, columns.baseline, strict=True)]
    differences = sorted(round(difference, 12) for difference in given)
    losses = [-difference for difference in differences if difference < 0]
    if verdict.exhibits is None:
        wins = [0.0] * verdict.topics.wins
        return losses, max(verdict.topics.count - len(losses) - len(wins), 0), wins
    wins = [difference for difference in reversed(differences) if difference > 0]
    return losses, len(differences) - len(losses) - len(wins), wins


def _cells(counts: tuple[int, int, int], room: int) -> tuple[int, ...]:
    """How many marks the losses, the topics that stayed and the wins get: none is left out, and none mixed.

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
    """Sizes in descending order as so many groups, each shown by its largest: a single collapse stays in sight."""
    return [sizes[cell * len(sizes) // cells] for cell in range(cells)]


def _mark(share: float, levels: str) -> str:
    """The smallest change is a mark too."""
    return levels[min(int(round(share * len(levels), 9)), len(levels) - 1)]
