"""Charts as files next to a Markdown report, which can show pictures but not draw them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_riskguard.gates.verdict import Verdict

#: Charts of a gate that did not pass; a gate that passed gets only the first.
_MAX_FAILED = 2


@dataclass(frozen=True)
class Picture:
    """A chart as SVG: the name of its file, what it shows in words, the file's content."""

    file: str
    description: str
    svg: str


def pictures(path: Path, verdicts: Sequence[Verdict]) -> list[list[Picture]]:
    """The charts of each verdict, to be written beside the report at ``path``."""
    from pytest_riskguard.reports.html.charts import charts
    from pytest_riskguard.reports.html.charts.svg import svg

    by_verdict, number = [], 0
    for verdict in verdicts:
        drawings: list[Picture] = []
        if verdict.outcome != "incomparable":
            for chart in charts(verdict)[: 1 if verdict.passed else _MAX_FAILED]:
                number += 1
                drawn = svg(chart.spec, name=chart.key, title=chart.title, description=chart.description)
                name = f"{_plain(path.stem)}.{_plain(verdict.gate)}-{number}.svg"
                drawings.append(Picture(name, f"{chart.title}. {chart.description}", _alone(drawn)))
        by_verdict.append(drawings)
    return by_verdict


def _plain(name: str) -> str:
    """A part of a file name that every system accepts, and every Markdown accepts as the address of a picture."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")[:60] or "gate"


def _alone(drawn: str) -> str:
    """A chart of the page as a file: of its own size, on white, because it is shown without the page's colours."""
    sized = re.sub(
        r'viewBox="0 0 ([\d.]+) ([\d.]+)"',
        r'viewBox="0 0 \1 \2" width="\1" height="\2" font-family="sans-serif"',
        drawn,
        count=1,
    )
    return sized.replace(">", '><rect width="100%" height="100%" fill="#fff"/>', 1)
