"""The systems of a pool: GeoRisk over alpha (as Figs. 2 and 3 of Dincer et al., SIGIR 2016), ranks, and a map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.html.charts.axes import (
    BELOW,
    Entry,
    Frame,
    Scale,
    Symbol,
    beside,
    legend,
    plot,
    scale_of,
    stacked,
)
from pytest_riskguard.reports.html.charts.drawing import (
    MARGIN,
    SMALL,
    WIDTH,
    Chart,
    Colour,
    Point,
    bar,
    box,
    clipped,
    curve,
    dashes,
    diamond,
    disc,
    line,
    mark,
    ring,
    stroke,
    text_width,
    words,
)
from pytest_riskguard.reports.html.charts.risk_charts import ALPHA, alpha_scale
from pytest_riskguard.reports.html.charts.topic_charts import exhibits
from pytest_riskguard.reports.shown import Shown
from pytest_riskguard.text import clean, counted, percent, plain, short

#: With more systems than this only the candidate and its reference are named.
MAX_NAMED_SYSTEMS = 12
#: How many ranks the chart of ranks shows.
MAX_RANKS = 30
#: The widest name beside a line.
_NAME = 118.0

#: The important ones are drawn last, on top of the others.
_DRAWN_ORDER = ("other", "reference", "candidate")
_COLOURS = {"candidate": Colour.LOSS, "reference": Colour.WIN, "other": Colour.GREY}
_SYMBOLS: dict[str, Symbol] = {"candidate": diamond, "reference": disc, "other": ring}


def _role(verdict: Verdict, system: str) -> str:
    if system == verdict.candidate:
        return "candidate"
    return "reference" if verdict.pool is not None and system == verdict.pool.decided_by else "other"


def _drawn_order(roles: Mapping[str, str]) -> list[str]:
    return sorted(roles, key=lambda system: (_DRAWN_ORDER.index(roles[system]), system))


def _name(system: str, role: str) -> str:
    shown = clean(system, limit=40)
    return shown if role in ("other", shown) else f"{shown} ({role})"


def georisk(verdict: Verdict) -> Chart | None:
    """A line for each system."""
    curves = exhibits(verdict).georisk
    if curves is None or not curves.lines or not curves.x:
        return None
    alphas, lines = curves.x, {system: [value or 0.0 for value in line] for system, line in curves.lines.items()}
    roles = {system: _role(verdict, system) for system in lines}
    order = _drawn_order(roles)
    named = [system for system in order if len(order) <= MAX_NAMED_SYSTEMS or roles[system] != "other"]
    names = {system: clipped(clean(system), width=_NAME, size=SMALL, middle=True) for system in named}
    gutter = max((text_width(name, SMALL) for name in names.values()), default=0.0) + 12
    entries = [
        Entry(diamond, Colour.LOSS, "candidate"),
        Entry(disc, Colour.WIN, "reference"),
        Entry(stroke, Colour.GREY, "rest of the pool"),
        Entry(dashes, Colour.MUTED, f"this gate: alpha {short(verdict.alpha)}"),
    ]
    keys, top = legend(entries, left=MARGIN, top=2, right=WIDTH - MARGIN)
    frame = plot(
        alpha_scale(alphas[-1]),
        scale_of(value for values in lines.values() for value in values),
        top=top,
        height=230,
        x_title=ALPHA,
        y_title="GeoRisk (no unit)",
        right=WIDTH - MARGIN - gutter,
    )
    highest = sorted(lines, key=lambda system: (-lines[system][0], system))[:5]
    return Chart(
        "georisk",
        "GeoRisk over alpha",
        description=(
            f"GeoRisk of {counted(len(order), 'system')}. At alpha {short(alphas[0])} the highest are "
            f"{', '.join(clean(system, limit=40) for system in highest)}."
        ),
        caption="A line that falls belongs to a system that fails on topics where others do not.",
        drawing=frame.axes
        + keys
        + frame.upright(verdict.alpha, colour=Colour.MUTED)
        + "".join(
            _curve(_name(system, roles[system]), roles[system], alphas, lines[system], frame) for system in order
        )
        + _names(named, names, {system: lines[system][-1] for system in named}, frame),
        height=frame.y.start + BELOW,
    )


def _curve(name: str, role: str, alphas: Sequence[float], values: Sequence[float], frame: Frame) -> str:
    """The line of a system; those that matter have a point at each alpha."""
    points = [(frame.x(alpha), frame.y(value)) for alpha, value in zip(alphas, values, strict=True)]
    first, last = (f"{plain(values[end], 3)} at alpha {short(alphas[end])}" for end in (0, -1))
    width = 1.5 if role == "other" else 2.5
    drawn = mark(f"{name}: GeoRisk from {first} to {last}", curve(points, colour=_COLOURS[role], width=width))
    if role == "other":
        return drawn
    return drawn + "".join(
        mark(
            f"{name}, alpha {short(alpha)}: GeoRisk {plain(value, 3)}",
            _SYMBOLS[role](*point, 3.5, _COLOURS[role]),
        )
        for point, alpha, value in zip(points, alphas, values, strict=True)
    )


def _names(named: list[str], names: dict[str, str], ends: dict[str, float], frame: Frame) -> str:
    """The names of lines at their ends, moved apart."""
    heights = [frame.y(ends[system]) for system in named]
    placed = stacked(heights, low=frame.room.top, high=frame.room.bottom)
    right = frame.room.right
    return "".join(
        line((right, end), (right + 7, place), colour=Colour.LINE)
        + words(right + 9, place + 4, names[system], size=SMALL)
        for system, end, place in zip(named, heights, placed, strict=True)
    )


def ranks(verdict: Verdict) -> Chart | None:
    """How often the candidate has each rank over resampled topics."""
    pool = verdict.pool
    if pool is None or len(pool.rank_probabilities) < 2:
        return None
    shares, own = [100 * share for share in pool.rank_probabilities], Shown(verdict).rank
    count = min(len(shares), MAX_RANKS)
    entries = [Entry(diamond, Colour.LOSS, "its rank on these topics"), Entry(bar, Colour.GREY, "other ranks")]
    keys, top = legend(entries, left=MARGIN, top=2, right=WIDTH - MARGIN)
    frame = plot(
        Scale(0.5, count + 0.5),
        scale_of([1.1 * max(shares[:count])], most=4, zero=True),  # with room for the diamond
        top=top,
        height=160,
        x_title="rank by GeoRisk (1 is best)",
        y_title="replicates (%)",
        whole=True,
    )
    marks = []
    for rank, share in enumerate(shares[:count], 1):
        now = rank == own
        left, right, height = frame.x(rank - 0.38), frame.x(rank + 0.38), frame.y(share)
        shape = box(left, height, right, frame.room.bottom, colour=Colour.LOSS if now else Colour.GREY)
        sign = diamond(frame.x(rank), max(height - 8, frame.room.top), 4, Colour.LOSS) if now else ""
        marks.append(mark(f"rank {rank}: {plain(share, 1)}% of replicates", shape, sign))
    return Chart(
        "ranks",
        "The candidate's rank",
        description=(f"Rank {own} of {len(shares)} by GeoRisk; best in {plain(shares[0], 1)}% of replicates."),
        caption="Its rank in bootstrap replicates of the topics.",
        drawing=frame.axes + keys + "".join(marks),
        height=frame.y.start + BELOW,
    )


def components(verdict: Verdict) -> Chart | None:
    """The pool on its first two principal axes (as Fig. 1 of Dincer et al., ECIR 2014)."""
    shown = exhibits(verdict).components
    if shown is None or len(shown.lines) < 2:
        return None
    places = {system: (axes[0] or 0.0, axes[1] or 0.0) for system, axes in shown.lines.items()}
    roles = {system: _role(verdict, system) for system in places}
    order = _drawn_order(roles)
    entries = [
        Entry(diamond, Colour.LOSS, "candidate"),
        Entry(disc, Colour.WIN, "reference"),
        Entry(ring, Colour.GREY, "rest of the pool"),
    ]
    keys, top = legend(entries, left=MARGIN, top=2, right=WIDTH - MARGIN)
    first, second = (f"axis {place} ({percent(shown.x[place - 1], 0)} of the sum of squares)" for place in (1, 2))
    frame = plot(
        scale_of(x for x, _ in places.values()),
        scale_of([y for _, y in places.values()], zero=True),
        top=top,
        height=250,
        x_title=first,
        y_title=second,
    )
    at: dict[str, Point] = {system: (frame.x(x), frame.y(y)) for system, (x, y) in places.items()}
    named = [system for system in reversed(order) if len(order) <= MAX_NAMED_SYSTEMS or roles[system] != "other"]
    marks = [
        mark(
            f"{_name(system, roles[system])}: {plain(places[system][0], 3)}, {plain(places[system][1], 3)}",
            _SYMBOLS[roles[system]](*at[system], 4.5, _COLOURS[roles[system]]),
        )
        for system in order
    ]
    return Chart(
        "components",
        "Map of the pool",
        description=f"{counted(len(order), 'system')} on two principal axes of their scores.",
        caption=(
            "Systems that are near each other do well on the same topics. The first axis is close to the mean "
            "score; systems far from the dashed line are of another kind."
        ),
        drawing=frame.axes
        + keys
        + frame.across(0, colour=Colour.LIMIT)
        + "".join(marks)
        + beside([(at[system], system) for system in named], within=frame.room, taken=at.values()),
        height=frame.y.start + BELOW,
    )
