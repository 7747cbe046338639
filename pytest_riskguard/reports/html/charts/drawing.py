"""What all charts share: sizes and colours, marks and lines, names and units, and how a drawing becomes a chart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from pytest_riskguard.gates.findings import Exhibits, TopicColumns
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.shown import Shown
from pytest_riskguard.text import clean

Row = dict[str, Any]

#: Widths in pixels of a chart as wide as the page, and of one half as wide.
WIDE, HALF = 900, 420


#: In dark mode the page's style replaces each of these colours, so charts must use no others.
class Colour:
    """Colours that any colour vision can tell apart (Okabe and Ito, 2008), and greys."""

    INK, MUTED, GRID = "#1f2328", "#59636e", "#d8dee4"
    LOSS, WIN, SAME, LIMIT, OTHER = "#d55e00", "#0072b2", "#8c959f", "#009e73", "#cc79a7"


#: What every chart's specification is configured with.
CONFIG: dict[str, Any] = {
    "background": "transparent",
    "font": "sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": Colour.MUTED,
        "titleColor": Colour.INK,
        "gridColor": Colour.GRID,
        "domainColor": Colour.SAME,
        "tickColor": Colour.SAME,
        "labelFontSize": 11,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 8,
        "labelLimit": 110,
        "labelSeparation": 8,  # labels stay apart even where a browser's letters are wider than expected
    },
    "text": {"fill": Colour.INK, "fontSize": 11},
    "header": {"labelColor": Colour.INK, "titleColor": Colour.INK},
}


@dataclass(frozen=True)
class Chart:
    """A chart: its Vega-Lite specification, and the words that go with it.

    ``key`` names it within its gate; ``description`` says what can be seen, ``caption`` how to read it; ``main`` are
    the few that belong to every verdict.
    """

    key: str
    title: str
    description: str
    caption: str
    spec: dict[str, Any]
    wide: bool = False
    main: bool = False

    @property
    def svg(self) -> str:
        """The drawing, with its words for readers who cannot see it."""
        from pytest_riskguard.reports.html.charts.svg import svg

        return svg(self.spec, title=self.title, description=self.description)


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


def unique(names: Iterable[str], *, limit: int = 60) -> list[str]:
    """Names made printable, each still different from the others."""
    counts: dict[str, int] = {}
    printable = []
    for name in names:
        shown = clean(name, limit=limit)
        counts[shown] = counts.get(shown, 0) + 1
        printable.append(shown if counts[shown] == 1 else f"{shown} ({counts[shown]})")
    return printable


def risk_name(verdict: Verdict) -> str:
    """What the gate judges: URisk at its alpha, or the difference of GeoRisk."""
    shown = Shown(verdict)
    return f"difference of {shown.georisk_name}" if verdict.asked.is_pool else shown.urisk_name


def with_unit(verdict: Verdict, name: str) -> str:
    """An axis title: the quantity and its unit, where the verdict knows it."""
    if verdict.measure is None or name.startswith("difference of GeoRisk"):
        return name
    return f"{name} ({clean(verdict.measure, limit=40)})"
