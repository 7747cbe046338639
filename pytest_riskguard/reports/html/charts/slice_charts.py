"""Slices by risk: each with its wins and losses in words and the interval of its URisk."""

from __future__ import annotations

from pytest_riskguard.gates.findings import Slice
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.html.charts.axes import BELOW, x_axis
from pytest_riskguard.reports.html.charts.chart import MARGIN, WIDTH, Chart, row_of
from pytest_riskguard.reports.html.charts.labels import Entry, Symbol, legend
from pytest_riskguard.reports.html.charts.lettering import clipped, text_width
from pytest_riskguard.reports.html.charts.markup import (
    TEXT,
    Colour,
    dashes,
    diamond,
    disc,
    line,
    mark,
    ring,
    words,
)
from pytest_riskguard.reports.html.charts.quantities import figure, limits, with_unit
from pytest_riskguard.reports.html.charts.scale import Scale, scale_of
from pytest_riskguard.reports.shown import Shown
from pytest_riskguard.text import clean, listed

#: How many slices the chart shows: those with the lowest URisk; the table has all.
MAX_SLICES = 12
_ROW = 38.0


def slices(verdict: Verdict) -> Chart | None:
    """The riskiest slices; without those in which nothing changed."""
    shown = Shown(verdict)
    rows = [part for part in shown.slices_by_risk if part.changed][:MAX_SLICES]
    if not rows:
        return None
    bound = 0.0 - verdict.tolerance
    numbers = [value for part in rows for value in (part.urisk, part.lower, part.upper) if value is not None]
    x = scale_of([*numbers, bound], zero=True).between(MARGIN + 8, WIDTH - MARGIN - 8)
    looks = {_look(part) for part in rows}
    entries = [Entry(*_LOOKS[look], _WORDS[look]) for look in _LOOKS if look in looks and shown.slices_are_tested]
    entries.append(Entry(dashes, Colour.LIMIT, "bound"))
    keys, top = legend(entries, left=MARGIN, top=2, right=WIDTH - MARGIN)
    bottom = top + _ROW * len(rows) + 4
    parts = [
        x_axis(x, top=bottom - 4, bottom=bottom, title=with_unit(verdict, shown.urisk_name)),
        keys,
        *(_slice(part, x, top + _ROW * place, bound=bound) for place, part in enumerate(rows)),
    ]
    risky = tuple(_name(part) for part in rows if part.risky)
    left_out = len(shown.slices_by_risk) - len(rows)
    caption = (
        "The risk on the topics of each tag, with its interval, riskiest first. Risky: significantly so on its own, "
        "corrected for the number of slices."
        if shown.slices_are_tested
        else "The risk on the topics of each tag. There are no intervals: this gate asks about single topics."
    )
    if left_out:
        caption += f" The table has {left_out} more."
    return Chart(
        "slices",
        "Slices by risk",
        description=(
            f"Riskiest first: {'; '.join(f'{_name(part)} {_said(part)}' for part in rows[:5])}. "
            f"Significantly risky: {listed(risky, most=5) or 'none'}."
        ),
        caption=caption,
        drawing="".join(parts),
        height=bottom + BELOW,
        main=True,
    )


_LOOKS: dict[str, tuple[Symbol, str]] = {
    "risky": (diamond, Colour.LOSS),
    "fine": (disc, Colour.WIN),
    "few": (ring, Colour.GREY),
}
_WORDS = {"risky": "risky", "fine": "not significantly risky", "few": "fewer than 10 topics: no interval"}


def _look(part: Slice) -> str:
    return "few" if part.risky is None else "risky" if part.risky else "fine"


def _name(part: Slice) -> str:
    return f"{clean(part.tag, limit=40)}={clean(part.value, limit=120)}"


def _changes(part: Slice) -> str:
    """``24 of 36 worse, 9 better``."""
    return f"{part.losses} of {part.count} worse, {part.wins} better"


def _said(part: Slice) -> str:
    said = f"URisk {figure(part.urisk)}"
    if part.lower is not None and part.upper is not None:
        said += f", interval {limits(*sorted((part.lower, part.upper)))}"
    return said


def _slice(part: Slice, x: Scale, top: float, *, bound: float) -> str:
    changes = _changes(part)
    room = WIDTH - 2 * MARGIN - text_width(changes, TEXT) - 12
    symbol, colour = _LOOKS[_look(part)]
    y = top + 27
    interval = ""
    if part.lower is not None and part.upper is not None:
        low, high = x(part.lower), x(part.upper)
        interval = line((low, y), (high, y), colour=colour, width=3)
    texts = [
        words(MARGIN, top + 15, clipped(_name(part), width=room, size=TEXT, middle=True)),
        words(WIDTH - MARGIN, top + 15, changes, anchor="end"),
    ]
    return mark(
        f"{_name(part)}: {_said(part)}; {_changes(part)}",
        row_of(top, _ROW, *texts),
        line((x.start, y), (x.end, y), colour=Colour.LINE),
        line((x(bound), y - 5), (x(bound), y + 6), colour=Colour.LIMIT, width=2, dash="4 3"),
        interval,
        symbol(x(part.urisk), y, 5, colour),
    )
