"""What all charts share: sizes, colours, axes, and how a specification becomes data that can be tested."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports import georisk
from pytest_riskguard.text import clean

#: Widths of a chart that has the page to itself, and of one that shares it.
WIDE, HALF = 900, 420

#: Colours that can be told apart whatever one's colour vision (Okabe and Ito, 2008), and greys. The page's style
#: replaces each by another in the dark, so a chart uses no others.
INK, MUTED, GRID = "#1f2328", "#59636e", "#d8dee4"
LOSS, WIN, SAME, LIMIT, OTHER = "#d55e00", "#0072b2", "#8c959f", "#009e73", "#cc79a7"

_CONFIG: dict[str, Any] = {
    "background": "transparent",
    "font": "sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": MUTED,
        "titleColor": INK,
        "gridColor": GRID,
        "domainColor": SAME,
        "tickColor": SAME,
        "labelFontSize": 11,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 8,
        "labelLimit": 110,
        # apart even where a browser draws wider letters than were reckoned with
        "labelSeparation": 8,
    },
    "text": {"fill": INK, "fontSize": 11},
    "header": {"labelColor": INK, "titleColor": INK},
}

Row = dict[str, Any]


@dataclass(frozen=True)
class Chart:
    """A chart: its Vega-Lite specification, and what stands beside it in words.

    ``key`` names it within its gate; ``description`` says what can be seen, for those who do not see it; ``caption``
    how to read it.
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
    """A drawing of altair as a chart of the page; ``margin`` is what its longest label may be wider than drawn."""
    # what is drawn here is always the same but for the data, so tests validate it, once and for all
    spec: dict[str, Any] = drawing.to_dict(validate=False)
    spec["config"] = _CONFIG
    # room for fonts wider than the one that the drawing was measured with
    spec["padding"] = {"left": margin, "right": 16, "top": 6, "bottom": 6}
    return Chart(key, title, description, caption, spec, wide)


def plot(rows: Iterable[Mapping[str, Any]], *, width: int | None = None, height: int | None = None) -> alt.Chart:
    """A chart of these rows, without marks yet."""
    drawn = alt.Chart(alt.InlineData(values=list(rows)))
    size: dict[str, Any] = {}
    if width is not None:
        size["width"] = width
    if height is not None:
        size["height"] = height
    return drawn.properties(**size)


def line_at(value: float, *, axis: str, colour: str = LIMIT, dash: Sequence[float] = (5, 4)) -> alt.Chart:
    """A straight line through the whole chart, which says nothing of its own."""
    drawn = plot([{"at": value}]).mark_rule(color=colour, strokeDash=list(dash), strokeWidth=1.5, aria=False)
    at = alt.X("at:Q") if axis == "x" else alt.Y("at:Q")
    return drawn.encode(at)


def colours(by: str, **named: str) -> alt.Color:
    """A colour for each value of a field; there is no legend, for the caption names the colours."""
    scale = alt.Scale(domain=list(named), range=list(named.values()))
    return alt.Color(f"{by}:N", scale=scale, legend=None)


def unique(names: Iterable[str], *, limit: int = 60) -> list[str]:
    """Names made printable, each still different from the others."""
    taken: dict[str, int] = {}
    found = []
    for name in names:
        shown = clean(name, limit=limit)
        taken[shown] = taken.get(shown, 0) + 1
        found.append(shown if taken[shown] == 1 else f"{shown} ({taken[shown]})")
    return found


def measure(verdict: Verdict) -> str:
    """The unit that scores and differences are in."""
    return clean(verdict.measure, limit=40) if verdict.measure else "score"


def side(role: str, name: str, *, limit: int) -> str:
    """Candidate or baseline with its name, which may be that very word."""
    return role if name == role else f"{role} {clean(name, limit=limit)}"


def sign(verdict: Verdict) -> int:
    """What figures of risk are multiplied by in the verdict's convention."""
    return -1 if verdict.convention == "minus" else 1


def risk_name(verdict: Verdict) -> str:
    """URisk or the difference of GeoRisk, as axes name it."""
    if verdict.kind == "georisk_not_worse":
        return f"difference of {georisk.name(verdict)}"
    excess = "excess " if verdict.estimates.noise_urisk is not None else ""
    minus = "-" if verdict.convention == "minus" else ""
    return f"{excess}URisk{minus}({georisk.parameter(verdict)})"


def with_unit(verdict: Verdict, name: str) -> str:
    """An axis title: the quantity and its unit, where it has one that the verdict knows."""
    if verdict.measure is None or name.startswith("difference of GeoRisk"):
        return name
    return f"{name} ({clean(verdict.measure, limit=40)})"
