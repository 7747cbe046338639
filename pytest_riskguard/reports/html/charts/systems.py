"""The systems of a pool: GeoRisk over alpha (as Figs. 2 and 3 of Dincer et al., SIGIR 2016), ranks, and a map."""

from __future__ import annotations

import altair as alt

from pytest_riskguard.gates.findings import PoolFigures
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.html.charts.drawing import (
    HALF,
    INK,
    LIMIT,
    LOSS,
    SAME,
    WIN,
    Chart,
    Row,
    chart,
    colours,
    line_at,
    plot,
    sign,
    unique,
)
from pytest_riskguard.reports.html.charts.risk import alpha_axis
from pytest_riskguard.text import clean, counted, plain, short

#: Up to so many systems all are named; of more only the candidate and its reference.
NAMED = 12
#: Ranks that the chart of ranks shows.
RANKS = 30


def _role(pool: PoolFigures | None, verdict: Verdict, system: str) -> str:
    if system == verdict.candidate:
        return "candidate"
    return "reference" if pool is not None and system == pool.decided_by else "other"


_COLOURS = {"candidate": LOSS, "reference": WIN, "other": SAME}


def georisk(verdict: Verdict) -> Chart | None:
    """A line for each system."""
    curves = verdict.exhibits.georisk if verdict.exhibits else None
    if curves is None:
        return None
    turn, last = sign(verdict), curves.alphas[-1]
    names = dict(zip(curves.systems, unique(curves.systems, limit=30), strict=True))
    found: list[Row] = []
    for system, values in curves.systems.items():
        role = _role(verdict.pool, verdict, system)
        found += [
            {
                "system": names[system],
                "alpha": alpha,
                "georisk": turn * value,
                "role": role,
                "label": f"{names[system]}, alpha {short(alpha)}: GeoRisk {plain(turn * value)}",
            }
            for alpha, value in zip(curves.alphas, values, strict=True)
        ]
    # the lines that matter are drawn last, on top of the others
    found.sort(key=lambda row: list(_COLOURS).index(row["role"]), reverse=True)
    at = {
        "x": alpha_axis(last),
        "y": alt.Y("georisk:Q", title=f"GeoRisk{'-' if turn < 0 else ''} (no unit)", scale=alt.Scale(zero=False)),
        "color": colours("role", **_COLOURS),
    }
    base = plot(found)
    named = [row for row in found if row["alpha"] == last and (len(names) <= NAMED or row["role"] != "other")]
    roles = [row for row in found if row["role"] != "other"]
    drawn = alt.layer(
        line_at(verdict.alpha, axis="x", colour=SAME, dash=(1, 0)),
        base.mark_line(strokeWidth=1.5, aria=False).encode(**at, detail="system:N"),
        plot(roles).mark_circle(size=40, opacity=1).encode(**at, description=alt.Description("label:N")),
        plot(named)
        .mark_text(align="left", dx=6, limit=110, aria=False)
        .encode(x=at["x"], y=at["y"], text="system:N"),
    ).properties(width=HALF - 60, height=280)
    ordered = sorted(curves.systems, key=lambda system: -curves.systems[system][0])
    return chart(
        "georisk",
        "GeoRisk over alpha",
        drawn,
        description=(
            f"GeoRisk of {counted(len(names), 'system')}. At alpha {short(curves.alphas[0])} the highest are "
            f"{', '.join(names[system] for system in ordered[:5])}."
        ),
        caption=(
            "Orange: the candidate; blue: the reference that it is judged against; grey: the rest of the pool. A "
            "line that falls belongs to a system that fails on topics where others do not."
        ),
    )


def ranks(verdict: Verdict) -> Chart | None:
    """How often the candidate has which rank when topics are drawn anew."""
    pool = verdict.pool
    if pool is None or len(pool.rank_probabilities) < 2:
        return None
    found = [
        {
            "rank": rank,
            "share": 100 * share,
            "now": "now" if rank == pool.rank else "other",
            "label": f"rank {rank}: {plain(100 * share, 1)} % of replicates",
        }
        for rank, share in enumerate(pool.rank_probabilities[:RANKS], 1)
    ]
    bars = plot(found, width=HALF, height=200).mark_bar(stroke=None)
    bars = bars.encode(
        x=alt.X("rank:O", title="rank by GeoRisk (1 is best)", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("share:Q", title="replicates (%)"),
        color=colours("now", now=LOSS, other=SAME),
        description=alt.Description("label:N"),
    )
    best = plain(100 * pool.rank_probabilities[0], 1)
    return chart(
        "ranks",
        "The candidate's rank",
        bars,
        description=f"Rank {pool.rank} of {len(pool.systems)} by GeoRisk; best in {best} % of replicates.",
        caption=f"Its rank in {pool.replicates} replicates of the topics; orange is its rank on these topics.",
    )


def components(verdict: Verdict) -> Chart | None:
    """The pool on its first two principal axes (as Fig. 1 of Dincer et al., ECIR 2014)."""
    shown = verdict.exhibits.components if verdict.exhibits else None
    if shown is None:
        return None
    names = dict(zip(shown.systems, unique(shown.systems, limit=30), strict=True))
    found = []
    for system, (x, y) in ((name, place[:2]) for name, place in shown.systems.items()):
        role = _role(verdict.pool, verdict, system)
        found.append(
            {
                "system": names[system],
                "x": x,
                "y": y,
                "role": role,
                "label": f"{names[system]}{'' if role == 'other' else f' ({role})'}: {plain(x, 3)}, {plain(y, 3)}",
            }
        )
    found.sort(key=lambda row: list(_COLOURS).index(str(row["role"])), reverse=True)
    named = [row for row in found if len(found) <= NAMED or row["role"] != "other"]
    titles = [
        f"axis {place} ({plain(100 * share, 0)} % of variance)" for place, share in enumerate(shown.explained[:2], 1)
    ]
    at = {
        "x": alt.X("x:Q", title=titles[0], scale=alt.Scale(zero=False, padding=20)),
        "y": alt.Y("y:Q", title=titles[1], scale=alt.Scale(zero=False, padding=14)),
    }
    drawn = alt.layer(
        line_at(0, axis="y", colour=LIMIT),
        plot(found)
        .mark_circle(size=70, opacity=1)
        .encode(**at, color=colours("role", **_COLOURS), description=alt.Description("label:N")),
        plot(named).mark_text(align="center", dy=-11, color=INK, limit=120, aria=False).encode(**at, text="system:N"),
    ).properties(width=HALF, height=300)
    return chart(
        "components",
        "Map of the pool",
        drawn,
        description=f"{counted(len(found), 'system')} on two principal axes of their scores.",
        caption=(
            "Systems that are near each other do well on the same topics. The first axis is close to the mean "
            f"score; far from the dashed line are systems of another kind. Orange: "
            f"{clean(verdict.candidate, limit=40)}."
        ),
    )
