"""How often gates stop changes: on a team's own topics, or as the calibration study found it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_riskguard.gates.chain.policy_cost import PolicyCost

#: Share of pairs of equally good systems, every topic of which differs, that a gate with ``method: auto`` and
#: ``on_churn: fail`` fails, in percent, by topics and alpha. The study's table whole-gates.csv has the same figures.
EVERY_TOPIC: Mapping[int, Mapping[float, float]] = {
    12: {1: 13.0, 5: 50.3, 10: 67.5},
    20: {1: 19.0, 5: 70.1, 10: 86.6},
    25: {1: 23.0, 5: 80.0, 10: 92.5},
    50: {1: 39.6, 5: 97.0, 10: 99.8},
    100: {1: 65.2, 5: 100.0, 10: 100.0},
    250: {1: 95.8, 5: 100.0, 10: 100.0},
}
#: The same where one topic in ten differs, from other-differences.csv.
ONE_TOPIC_IN_TEN: Mapping[int, Mapping[float, float]] = {
    50: {1: 7.2, 5: 26.5},
    100: {1: 14.0, 5: 51.5},
    250: {1: 25.9, 5: 85.5},
}
#: The numbers of topics that a table shows.
SHOWN = (25, 50, 100, 250)
ALPHAS = tuple(EVERY_TOPIC[SHOWN[0]])


def cost_of_failing(alpha: float, queries: int | None, *, clusters: int | None = None) -> list[str]:
    """Lines that say how often churn would fail a gate at this alpha; ``queries`` is None if it is not known.

    Queries in ``clusters`` show as much as so many independent ones, at least.
    """
    known = max((a for a in ALPHAS if a <= alpha), default=ALPHAS[0])
    other = f", and {'more' if alpha > known else 'less'} often at alpha {alpha:g}" if alpha not in (0, known) else ""
    lines = [
        f"How often `fail` stops a change that leaves the mean alone (tolerance 0), at alpha {known:g}{other}:",
        "",
        _row("judged queries", map(str, SHOWN)),
        _row("every query moves", (_percent(EVERY_TOPIC[n][known]) for n in SHOWN))
        + _yours(queries, clusters, known),
    ]
    sparse = [ONE_TOPIC_IN_TEN.get(n, {}).get(known) for n in SHOWN]
    if any(sparse):
        lines.append(_row("one query in ten moves", ("" if share is None else _percent(share) for share in sparse)))
    return lines


def cost_on(cost: PolicyCost, *, topics: int, correlation: float) -> list[str]:
    """Lines that say how many of 100 changes on a team's own topics would fail."""
    rows = [("the mean stays", cost.harmless), *((f"it falls by {harm.size:g}", harm) for harm in cost.harmful)]
    return [
        "",
        f"Of 100 changes so many fail on your {topics} queries, simulated for scores that correlate {correlation:g}",
        "with those of the run you gave. `warn` stops only the losses.",
        "",
        f"  {'':<22}{'as a loss':>12}{'as churn':>12}",
        *(f"  {name:<22}{chances.loss:>12.0f}{chances.churn:>12.0f}" for name, chances in rows),
    ]


def _row(name: str, cells: Iterable[str]) -> str:
    return f"  {name:<22}" + "".join(f"{cell:>6}" for cell in cells)


def _yours(queries: int | None, clusters: int | None, alpha: float) -> str:
    """What the table says about this number of queries."""
    what = f"{queries}" if clusters is None else f"{clusters} clusters"
    queries = queries if clusters is None else clusters
    if queries is None or (queries in SHOWN and clusters is None):
        return ""
    below = max((n for n in EVERY_TOPIC if n <= queries), default=None)
    above = min((n for n in EVERY_TOPIC if n >= queries), default=None)
    low, high = (None if n is None else _percent(EVERY_TOPIC[n][alpha]) for n in (below, above))
    if low == high:
        share = str(low)
    elif low is None:
        share = f"up to {high}"
    else:
        share = f"at least {low}" if high is None else f"{low} to {high}"
    return f"   (your {what}: {share})"


def _percent(share: float) -> str:
    return f"{share:.0f}%"
