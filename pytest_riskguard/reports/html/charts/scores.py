"""The candidate's score against the baseline's, topic by topic."""

from __future__ import annotations

import altair as alt

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.html.charts.drawing import (
    HALF,
    LOSS,
    SAME,
    WIN,
    Chart,
    Row,
    chart,
    colours,
    measure,
    plot,
    side,
)
from pytest_riskguard.reports.html.charts.topics import SINGLE, rows
from pytest_riskguard.text import counted, plain

#: Cells on each side where there are too many topics for a point each.
CELLS = 24


def scatter(verdict: Verdict) -> Chart | None:
    """A point for each topic, or one for each cell with its size by the number of topics."""
    if verdict.exhibits is None or not verdict.exhibits.topics.topics:
        return None
    found = rows(verdict, verdict.exhibits.topics)
    low = min(min(row["candidate"], row["baseline"]) for row in found)
    high = max(max(row["candidate"], row["baseline"]) for row in found)
    single = len(found) <= SINGLE
    points = found if single else cells(found, low, high)
    unit = measure(verdict)
    baseline = verdict.baselines[0] if verdict.pool is None else verdict.pool.decided_by
    marks = plot(points).mark_circle(opacity=0.75, size=44)
    marks = marks.encode(
        x=alt.X("baseline:Q", title=f"{side('baseline', baseline, limit=30)} ({unit})"),
        y=alt.Y("candidate:Q", title=f"{side('candidate', verdict.candidate, limit=18)} ({unit})"),
        color=colours("change", loss=LOSS, win=WIN, same=SAME),
        description=alt.Description("label:N"),
        **({} if single else {"size": alt.Size("count:Q", legend=None, scale=alt.Scale(range=[8, 300]))}),
    )
    diagonal = plot([{"x": low, "y": low}, {"x": high, "y": high}])
    line = diagonal.mark_line(color=SAME, strokeWidth=1.5, aria=False).encode(x="x:Q", y="y:Q")
    drawn = alt.layer(line, marks).properties(width=HALF, height=300)
    what = "A point is a topic" if single else "A point is the larger, the more topics are there"
    below = sum(row["change"] == "loss" for row in found)
    above = sum(row["change"] == "win" for row in found)
    return chart(
        "scatter",
        "Candidate against baseline",
        drawn,
        description=(
            f"{counted(len(found), 'topic')}: {below} below the diagonal, {above} above, "
            f"{len(found) - below - above} on it."
        ),
        caption=f"{what}: below the diagonal the candidate scores lower (orange), above it higher (blue).",
    )


def cells(found: list[Row], low: float, high: float) -> list[Row]:
    """How many topics lie in each cell of a grid, losses, wins and ties apart."""
    width = (high - low) / CELLS or 1.0
    counts: dict[tuple[int, int, str], int] = {}
    for row in found:
        place = (_cell(row["baseline"], low, width), _cell(row["candidate"], low, width), row["change"])
        counts[place] = counts.get(place, 0) + 1
    return [
        {
            "baseline": low + (x + 0.5) * width,
            "candidate": low + (y + 0.5) * width,
            "change": change,
            "count": count,
            "label": (
                f"{counted(count, 'topic')} with baseline near {plain(low + (x + 0.5) * width, 2)} and candidate "
                f"near {plain(low + (y + 0.5) * width, 2)}"
            ),
        }
        for (x, y, change), count in sorted(counts.items())
    ]


def _cell(value: float, low: float, width: float) -> int:
    return min(int((value - low) / width), CELLS - 1)
