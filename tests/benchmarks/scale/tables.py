"""Rows as the tables and the chart that docs/performance.md shows."""

from __future__ import annotations

import csv
import io
import math
import os
import platform
import shutil
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from tests.benchmarks.scale.comparisons import Row

#: What the versions of a result depend on.
PACKAGES = ("pytest-riskguard", "numpy", "scipy", "ir-measures", "pytrec-eval-terrier", "ranx", "arch")
#: Programs that are measured where they are installed.
PROGRAMS = {"trec_eval": "trec_eval", "Rscript": "R (boot)"}
HEADER = ("task", "size", "tool", "seconds", "MB", "time ratio", "memory ratio")

_WIDTH, _HEIGHT, _MARGIN = 640, 360, 56
_COLOURS = ("#1f6feb", "#d1242f", "#6e7781", "#8250df")


def as_csv(rows: Sequence[Row]) -> str:
    """One line for each measurement."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    for row in rows:
        ratios = ("" if ratio is None else _figures(ratio) for ratio in (row.time_ratio, row.memory_ratio))
        megabytes = "" if row.megabytes is None else f"{row.megabytes:.0f}"
        writer.writerow((row.task, row.size, row.contestant, _figures(row.seconds), megabytes, *ratios))
    return text.getvalue()


def as_text(table: str) -> str:
    """A table of ``as_csv`` for a terminal."""
    cells = list(csv.reader(table.splitlines()))
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in cells)


def machine() -> str:
    """The machine and the versions, as a CSV of two columns."""
    rows = [("processor", _processor()), ("usable cores", str(len(os.sched_getaffinity(0))))]
    rows += [("system", platform.system()), ("Python", platform.python_version())]
    for package in PACKAGES:
        try:
            rows.append((package, version(package)))
        except PackageNotFoundError:
            rows.append((package, "not installed"))
    rows += [(name, "installed" if shutil.which(program) else "not installed") for program, name in PROGRAMS.items()]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([("what", "version"), *rows])
    return text.getvalue()


def growth_chart(rows: Sequence[Row]) -> str:
    """Seconds over the number of rows, both on logarithmic scales, as SVG; sizes are ``topics x documents``."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        size = math.prod(int(part.replace(",", "")) for part in row.size.split(" x "))
        lines.setdefault(row.contestant, []).append((math.log10(size), math.log10(row.seconds)))
    points = [point for line in lines.values() for point in line]
    left, right = math.floor(min(x for x, _ in points)), math.ceil(max(x for x, _ in points))
    low, high = math.floor(min(y for _, y in points)), math.ceil(max(y for _, y in points))

    def across(x: float) -> float:
        return _MARGIN + (x - left) / max(right - left, 1) * (_WIDTH - 2 * _MARGIN)

    def down(y: float) -> float:
        return _HEIGHT - _MARGIN - (y - low) / max(high - low, 1) * (_HEIGHT - 2 * _MARGIN)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        'font-family="sans-serif" font-size="13">',
        "<title>Seconds to score a run with six measures, over its rows</title>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
    ]
    for x in range(left, right + 1):
        parts.append(f'<path d="M{across(x):.1f} {down(low):.1f}V{down(high):.1f}" stroke="#d0d7de"/>')
        parts.append(f'<text x="{across(x):.1f}" y="{down(low) + 20:.1f}" text-anchor="middle">{10**x:,}</text>')
    for y in range(low, high + 1):
        parts.append(f'<path d="M{across(left):.1f} {down(y):.1f}H{across(right):.1f}" stroke="#d0d7de"/>')
        parts.append(f'<text x="{across(left) - 8:.1f}" y="{down(y) + 4:.1f}" text-anchor="end">{10.0**y:g} s</text>')
    for colour, (name, line) in zip(_COLOURS, lines.items(), strict=False):
        path = " ".join(f"{across(x):.1f},{down(y):.1f}" for x, y in sorted(line))
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        last = max(line)
        parts.append(
            f'<text x="{across(last[0]) - 6:.1f}" y="{down(last[1]) - 8:.1f}" fill="{colour}" '
            f'text-anchor="end">{name}</text>'
        )
    parts.append(f'<text x="{_WIDTH / 2}" y="{_HEIGHT - 12}" text-anchor="middle">rows of the run</text></svg>')
    return "\n".join(parts) + "\n"


def _figures(value: float) -> str:
    """Two figures or more, and never an exponent."""
    places = 1 if value >= 10 else 2 if value >= 0.1 or value <= 0 else 1 - math.floor(math.log10(value))
    return f"{value:.{places}f}"


def _processor() -> str:
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
