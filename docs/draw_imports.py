"""Draws which part of the package imports which: ``python docs/draw_imports.py > imports.svg``.

A part is a folder or a module at the top of the package. Parts stand in rows: each imports only parts of rows below
its own. An arrow is left out where a longer way along arrows says the same: the picture has the order and not every
import, and docs/architecture.md lists the parts in order. The documentation site draws it anew at each build.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from html import escape
from itertools import pairwise
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "pytest_riskguard"

ROW, BOX, LETTER, GAP = 84, 40, 8.2, 22
#: How often rows are sorted by their neighbours; arrows cross little after a few times.
SWEEPS = 12

Graph = dict[str, set[str]]
#: Of a row: parts, and for an arrow that only passes through, its two ends and the row.
Slot = str | tuple[str, str, int]


def part_of(module: Path) -> str:
    """The part that a module belongs to."""
    return module.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_parts(module: Path) -> set[str]:
    """Parts of the package that a module imports, anywhere in it, but not for type checking alone."""
    parts: set[str] = set()
    nodes: list[ast.AST] = [ast.parse(module.read_text(encoding="utf-8"))]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            nodes.extend(node.orelse)
            continue
        names: list[str] = []
        if isinstance(node, ast.ImportFrom):
            if node.level:
                raise ValueError(f"{module}:{node.lineno}: relative imports are not used here")
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        parts |= {name.split(".")[1] for name in names if name.startswith("pytest_riskguard.")} - {"__version__"}
        nodes.extend(ast.iter_child_nodes(node))
    return parts


def imports() -> Graph:
    """Each part of the package with the parts that it imports."""
    graph: Graph = {}
    for module in sorted(PACKAGE.rglob("*.py")):
        part = part_of(module)
        if part != "__init__":
            graph.setdefault(part, set()).update(imported_parts(module) - {part})
    return graph


def levels(graph: Graph) -> dict[str, int]:
    """For each part the number of imports on the longest way down from it."""
    level: dict[str, int] = {}
    while len(level) < len(graph):
        ready = [part for part in graph if part not in level and graph[part] <= level.keys()]
        if not ready:
            raise ValueError(f"imports in a circle among {', '.join(sorted(graph.keys() - level.keys()))}")
        level.update({part: max((level[below] + 1 for below in graph[part]), default=0) for part in ready})
    return level


def reduced(graph: Graph) -> Graph:
    """The graph without imports that a longer way along imports says already."""
    level, reach = levels(graph), dict[str, set[str]]()
    for part in sorted(graph, key=level.__getitem__):
        reach[part] = graph[part].union(*(reach[below] for below in graph[part]))
    return {
        part: {below for below in targets if not any(below in reach[other] for other in targets)}
        for part, targets in graph.items()
    }


def chains(graph: Graph, level: dict[str, int]) -> Iterator[list[tuple[int, Slot]]]:
    """The way of each arrow: a slot in every row from its upper end to its lower."""
    for part in sorted(graph):
        for below in sorted(graph[part]):
            between = range(level[part] - 1, level[below], -1)
            passed: list[tuple[int, Slot]] = [(row, (part, below, row)) for row in between]
            yield [(level[part], part), *passed, (level[below], below)]


def rows_of(level: dict[str, int], ways: list[list[tuple[int, Slot]]]) -> list[list[Slot]]:
    """The slots of every row, from the lowest, sorted so that arrows cross little."""
    rows: list[list[Slot]] = [[] for _ in range(max(level.values()) + 1)]
    for part in sorted(level):
        rows[level[part]].append(part)
    for way in ways:
        for number, slot in way[1:-1]:
            rows[number].append(slot)
    neighbours: dict[Slot, list[tuple[int, Slot]]] = {}
    for way in ways:
        for upper, lower in pairwise(way):
            neighbours.setdefault(upper[1], []).append(lower)
            neighbours.setdefault(lower[1], []).append(upper)
    for sweep in range(SWEEPS):
        position = {slot: (i + 0.5) / len(row) for row in rows for i, slot in enumerate(row)}
        upwards = sweep % 2 == 1
        numbers = range(len(rows)) if upwards else reversed(range(len(rows)))
        for number in numbers:
            row, side = rows[number], number - 1 if upwards else number + 1
            weight = {}
            for slot in row:
                near = [position[other] for at, other in neighbours.get(slot, []) if at == side]
                weight[slot] = sum(near) / len(near) if near else position[slot]
            row.sort(key=weight.__getitem__)
            position |= {slot: (i + 0.5) / len(row) for i, slot in enumerate(row)}
    return rows


def width(slot: Slot) -> float:
    """Of a box, or of the room that an arrow takes."""
    return 26 + LETTER * len(slot) if isinstance(slot, str) else 10


def curve(points: list[tuple[float, float]]) -> str:
    """An arrow from the lower edge of the first box to the upper edge of the last; straight where it passes boxes."""
    path = ""
    for (x, y), (to_x, to_y) in pairwise(points):
        start, end = y + BOX / 2, to_y - BOX / 2
        middle = (start + end) / 2
        path += f"{'L' if path else 'M'}{x:.1f} {start:.1f}"
        path += f"C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {end:.1f}"
    return path


def svg(graph: Graph) -> str:
    """The picture; colours are those of the text around it."""
    level, arrows = levels(graph), reduced(graph)
    ways = list(chains(arrows, level))
    rows = rows_of(level, ways)
    total = [sum(map(width, row)) + GAP * (len(row) + 1) for row in rows]
    full = max(total)
    centre: dict[Slot, tuple[float, float]] = {}
    for number, row in enumerate(rows):
        spread = (full - sum(map(width, row))) / (len(row) + 1)
        x = spread
        for slot in row:
            centre[slot] = (x + width(slot) / 2, ROW * (len(rows) - 1 - number) + BOX / 2 + 4)
            x += width(slot) + spread
    height = ROW * (len(rows) - 1) + BOX + 8
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {full:.0f} {height}" role="img" '
        f'style="max-width: {full:.0f}px" font-family="sans-serif" font-size="14" fill="none" stroke="currentColor">',
        "<title>Which part of pytest_riskguard imports which; every arrow points down</title>",
        '<defs><marker id="down" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L8 4L0 8z" fill="currentColor" stroke="none"/></marker></defs>',
    ]
    lines += [f'<path d="{curve([centre[slot] for _, slot in way])}" marker-end="url(#down)"/>' for way in ways]
    for part in sorted(graph):
        x, y = centre[part]
        box = f'x="{x - width(part) / 2:.1f}" y="{y - BOX / 2:.1f}" width="{width(part):.1f}" height="{BOX}" rx="6"'
        lines.append(f"<rect {box}/>")
        text = f'x="{x:.1f}" y="{y + 5:.1f}" text-anchor="middle" fill="currentColor" stroke="none"'
        lines.append(f"<text {text}>{escape(part)}</text>")
    return "\n".join([*lines, "</svg>", ""])


if __name__ == "__main__":
    sys.stdout.write(svg(imports()))
