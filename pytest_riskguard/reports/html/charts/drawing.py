"""What all charts share: data with marks, straight lines, colours by value, and how a drawing becomes a chart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from pytest_riskguard.gates.findings import Exhibits, TopicColumns
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.html.charts.palette import CONFIG, Colour

Row = dict[str, Any]


@dataclass(frozen=True)
class Chart:
    """A chart: its Vega-Lite specification, and the words that go with it.

    ``key`` names it within its gate; ``description`` says what can be seen, ``caption`` how to read it.
    """

    key: str
    title: str
    description: str
    caption: str
    spec: dict[str, Any]
    wide: bool = False


def chart(
    key: str, title: str, drawing: Any, *, description: str, caption: str, wide: bool = False, margin: int = 24
) -> Chart:
    """An altair drawing as a chart of the page; ``margin`` leaves room for the longest label on the left."""
    # drawings differ only in their data, so it is enough that tests validate them
    spec: dict[str, Any] = drawing.to_dict(validate=False)
    spec["config"] = CONFIG
    # room for fonts wider than the one used for measuring
    spec["padding"] = {"left": margin, "right": 16, "top": 6, "bottom": 6}
    return Chart(key, title, description, caption, spec, wide)


def plot(rows: Iterable[Mapping[str, Any]], mark: str, **style: Any) -> alt.Chart:
    """A mark for each of these rows, not encoded yet."""
    return alt.Chart(alt.InlineData(values=list(rows)), mark=alt.MarkDef(type=mark, **style))


def line_at(value: float, *, axis: str, colour: str = Colour.LIMIT, dash: Sequence[float] = (5, 4)) -> alt.Chart:
    """A straight line through the whole chart, without a description of its own."""
    line = plot([{"at": value}], "rule", color=colour, strokeDash=list(dash), strokeWidth=1.5, aria=False)
    return line.encode(**{axis: "at:Q"})


def diagonal(low: float, high: float, **style: Any) -> alt.Chart:
    """The line where both axes have the same value."""
    ends = [{"x": low, "y": low}, {"x": high, "y": high}]
    return plot(ends, "line", strokeWidth=1.5, aria=False, **style).encode(x="x:Q", y="y:Q")


def colours(by: str, **colour_of: str) -> alt.Color:
    """A colour for each value of a field, without a legend: captions name the colours."""
    scale = alt.Scale(domain=list(colour_of), range=list(colour_of.values()))
    return alt.Color(f"{by}:N", scale=scale, legend=None)


def exhibits(verdict: Verdict) -> Exhibits:
    """The data of charts; empty if the verdict has none."""
    return verdict.exhibits or Exhibits(TopicColumns((), (), (), (), (), (), None, {}))
