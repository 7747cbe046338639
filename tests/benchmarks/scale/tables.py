"""Rows as the tables that docs/performance.md shows."""

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
