"""The systems of a pool: GeoRisk over alpha (as Figs. 2 and 3 of Dincer et al., SIGIR 2016), ranks, and a map."""

from __future__ import annotations

import altair as alt

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.html.charts.drawing import (
    HALF,
    Chart,
    Colour,
    Row,
    chart,
    colours,
    exhibits,
    line_at,
    plot,
    unique,
)
from pytest_riskguard.reports.html.charts.risk_charts import alpha_axis
from pytest_riskguard.reports.shown import Shown
from pytest_riskguard.text import clean, counted, percent, plain, short

#: With more systems than this only the candidate and its reference are named.
MAX_NAMED_SYSTEMS = 12
#: How many ranks the chart of ranks shows.
MAX_RANKS = 30

#: The important ones are drawn last, on top of the others.
_DRAWN_ORDER = ("other", "reference", "candidate")
_ROLES = colours("role", candidate=Colour.LOSS, reference=Colour.WIN, other=Colour.SAME)


def _role(verdict: Verdict, system: str) -> str:
    if system == verdict.candidate:
        return "candidate"
    return "reference" if verdict.pool is not None and system == verdict.pool.decided_by else "other"


def georisk(verdict: Verdict) -> Chart | None:
    """A line for each system."""
    curves = exhibits(verdict).georisk
    if curves is None:
        return None
    turn, last = Shown(verdict).sign, curves.alphas[-1]
    names = dict(zip(curves.systems, unique(curves.systems, limit=30), strict=True))
    rows: list[Row] = []
    for system, values in curves.systems.items():
        shared = {"system": names[system], "role": _role(verdict, system)}
        for alpha, value in zip(curves.alphas, values, strict=True):
            label = f"{names[system]}, alpha {short(alpha)}: GeoRisk {plain(turn * value)}"
            rows.append({**shared, "alpha": alpha, "georisk": turn * value, "label": label})
    rows.sort(key=lambda row: _DRAWN_ORDER.index(row["role"]))
    roles = [row for row in rows if row["role"] != "other"]
    named = [row for row in (rows if len(names) <= MAX_NAMED_SYSTEMS else roles) if row["alpha"] == last]
    y = alt.Y("georisk:Q", title=f"GeoRisk{'-' if turn < 0 else ''} (no unit)", scale=alt.Scale(zero=False))
    axes = {"x": alpha_axis(last), "y": y}
    drawing = alt.layer(
        line_at(verdict.alpha, axis="x", colour=Colour.SAME, dash=(1, 0)),
        plot(rows, "line", strokeWidth=1.5, aria=False).encode(**axes, color=_ROLES, detail="system:N"),
        plot(roles, "circle", size=40, opacity=1).encode(**axes, color=_ROLES, description="label:N"),
        plot(named, "text", align="left", dx=6, limit=110, aria=False).encode(**axes, text="system:N"),
        width=HALF - 60,
        height=280,
    )
    highest = sorted(curves.systems, key=lambda system: -curves.systems[system][0])[:5]
    return chart(
        "georisk",
        "GeoRisk over alpha",
        drawing,
        description=(
            f"GeoRisk of {counted(len(names), 'system')}. At alpha {short(curves.alphas[0])} the highest are "
            f"{', '.join(names[system] for system in highest)}."
        ),
        caption=(
            "Orange: the candidate; blue: the reference that it is judged against; grey: the rest of the pool. A "
            "line that falls belongs to a system that fails on topics where others do not."
        ),
    )


def ranks(verdict: Verdict) -> Chart | None:
    """How often the candidate has each rank over resampled topics."""
    pool = verdict.pool
    if pool is None or len(pool.rank_probabilities) < 2:
        return None
    shares = [100 * share for share in pool.rank_probabilities]
    rows = []
    for rank, share in enumerate(shares[:MAX_RANKS], 1):
        label = f"rank {rank}: {plain(share, 1)}% of replicates"
        rows.append({"rank": rank, "share": share, "now": "now" if rank == pool.rank else "other", "label": label})
    best = plain(shares[0], 1)
    bars = plot(rows, "bar", stroke=None).encode(
        x=alt.X("rank:O", title="rank by GeoRisk (1 is best)", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("share:Q", title="replicates (%)"),
        color=colours("now", now=Colour.LOSS, other=Colour.SAME),
        description="label:N",
    )
    return chart(
        "ranks",
        "The candidate's rank",
        bars.properties(width=HALF, height=200),
        description=f"Rank {pool.rank} of {len(pool.systems)} by GeoRisk; best in {best}% of replicates.",
        caption=f"Its rank in {pool.replicates} replicates of the topics; orange is its rank on these topics.",
    )


def components(verdict: Verdict) -> Chart | None:
    """The pool on its first two principal axes (as Fig. 1 of Dincer et al., ECIR 2014)."""
    shown = exhibits(verdict).components
    if shown is None:
        return None
    rows: list[Row] = []
    for name, (system, (x, y, *_)) in zip(unique(shown.systems, limit=30), shown.systems.items(), strict=True):
        role = _role(verdict, system)
        label = f"{name}{'' if role == 'other' else f' ({role})'}: {plain(x, 3)}, {plain(y, 3)}"
        rows.append({"system": name, "x": x, "y": y, "role": role, "label": label})
    rows.sort(key=lambda row: _DRAWN_ORDER.index(row["role"]))
    named = rows if len(rows) <= MAX_NAMED_SYSTEMS else [row for row in rows if row["role"] != "other"]
    first, second = (f"axis {place} ({percent(shown.explained[place - 1], 0)} of variance)" for place in (1, 2))
    axes = {
        "x": alt.X("x:Q", title=first, scale=alt.Scale(zero=False, padding=20)),
        "y": alt.Y("y:Q", title=second, scale=alt.Scale(zero=False, padding=14)),
    }
    texts = plot(named, "text", align="center", dy=-11, color=Colour.INK, limit=120, aria=False)
    drawing = alt.layer(
        line_at(0, axis="y"),
        plot(rows, "circle", size=70, opacity=1).encode(**axes, color=_ROLES, description="label:N"),
        texts.encode(**axes, text="system:N"),
        width=HALF,
        height=300,
    )
    return chart(
        "components",
        "Map of the pool",
        drawing,
        description=f"{counted(len(rows), 'system')} on two principal axes of their scores.",
        caption=(
            "Systems that are near each other do well on the same topics. The first axis is close to the mean "
            f"score; systems far from the dashed line are of another kind. Orange: "
            f"{clean(verdict.candidate, limit=40)}."
        ),
    )
