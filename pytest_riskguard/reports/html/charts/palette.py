"""Sizes and colours of charts."""

from __future__ import annotations

from typing import Any

#: Widths in pixels of a chart as wide as the page, and of one half as wide.
WIDE, HALF = 900, 420


#: The page's style replaces each of these in the dark, so a chart uses no others.
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
