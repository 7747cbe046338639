"""The charts of a verdict: every difference, the risk over alpha; SVG, which needs no library."""

from __future__ import annotations

import math
from collections.abc import Iterator

from pytest_riskguard.gates.findings import ROUNDING_ERROR
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.html.charts.plots import Plot
from pytest_riskguard.reports.numbers import brief, decimals, plain, short, signed
from pytest_riskguard.reports.words import risk_name
from pytest_riskguard.text import clean, counted

#: Topics that are bars, half of them from either end.
MAX_BARS = 250


def charts(verdict: Verdict) -> list[Plot]:
    """The charts that the verdict has something to show in, the most telling first; none if nothing was compared."""
    if verdict.outcome == "incomparable":
        return []
    return [chart for draw in (_differences, _urisk) for chart in draw(verdict)]


# ---- every topic


def named(topic: str, query: str | None) -> str:
    """A topic by its query, with its id in brackets.

    The word before the id sets the direction: after a query from right to left a browser would write ``0.88 → 0.00``
    behind an id of digits as ``0.00 → 0.88``.
    """
    shown, asked = clean(topic, limit=60), clean(query or "", limit=160)
    return f"{asked} (topic {shown})" if asked and asked != shown else shown


def _differences(verdict: Verdict) -> Iterator[Plot]:
    """A bar for each topic; of very many for those at either end."""
    if verdict.exhibits is None:
        return
    columns, counts = verdict.exhibits, verdict.topics
    topics = [
        (after - before, topic, query, before, after)
        for topic, query, before, after in zip(
            columns.topics, columns.queries, columns.baseline, columns.candidate, strict=True
        )
    ]
    if all(abs(topic[0]) <= ROUNDING_ERROR for topic in topics):
        return
    topics.sort(key=lambda topic: (round(topic[0], 12), topic[1]))
    shown = topics if len(topics) <= MAX_BARS else topics[: MAX_BARS // 2] + topics[-MAX_BARS // 2 :]
    some = f" Shown are {len(shown)} of {counts.count} topics, those that changed most." * (len(shown) < counts.count)
    drawn = Plot(
        "Difference of each topic",
        f"{counted(len(shown), 'topic')}, largest loss first",
        _with_unit(verdict, "difference"),
        description=f"{counts.losses} lost, {counts.wins} won, {counts.ties} did not change.",
        caption=f"Each topic by how much its score changed, the largest loss on the left.{some}",
        zero=True,
        key="topics",
    )
    if verdict.max_loss is not None:
        drawn.line(_across(-verdict.max_loss), means="largest loss allowed", colour="muted", dashed=True)
    for place, (difference, topic, query, before, after) in enumerate(shown):
        if abs(difference) > ROUNDING_ERROR:
            digits = decimals((before, after), apart=[(before, after)])
            scores = f"{plain(before, digits)} → {plain(after, digits)}, {signed(difference, digits)}"
            colour, means = ("loss", "worse") if difference < 0 else ("win", "better")
            text = f"{named(topic, query)}: {scores}"
            drawn.bar(place, difference, text, colour=colour, means=means, topic=topic)
    yield drawn


# ---- the risk


def _urisk(verdict: Verdict) -> Iterator[Plot]:
    """URisk with the limits of the interval that decides."""
    name, data = risk_name(verdict), verdict.exhibits
    if not data or verdict.asked.is_pool or not any(any(line) for line in data.curves.values()):
        return
    values = [value or 0.0 for value in data.curves["urisk"]]
    first, last = (f"{brief(values[end])} at alpha {short(data.alphas[end])}" for end in (0, -1))
    drawn = Plot(
        f"{name} over alpha",
        "alpha (a loss counts 1 + alpha times)",
        _with_unit(verdict, name),
        description=f"{name} goes from {first} to {last}.",
        caption="How the risk changes as losses count more. Upright lines: the interval that decides at each alpha.",
        key="urisk",
    )
    at = f"this gate: alpha {short(verdict.alpha)}"
    drawn.line([(verdict.alpha, -math.inf), (verdict.alpha, math.inf)], means=at, colour="muted", dashed=True)
    drawn.line(_across(-verdict.tolerance), means="bound", colour="limit", dashed=True)
    drawn.line(zip(data.alphas, values, strict=True), colour="win")
    for alpha, value, *ends in zip(data.alphas, values, data.curves["lower"], data.curves["upper"], strict=True):
        said, known = f"alpha {short(alpha)}: URisk {brief(value)}", [end for end in ends if end is not None]
        if known:
            said += f", interval {brief(min(known))} to {brief(max(known))}"
        drawn.point(alpha, value, said, low=min(known, default=None), high=max(known, default=None))
    yield drawn


def _across(height: float) -> list[tuple[float, float]]:
    return [(-math.inf, height), (math.inf, height)]


def _with_unit(verdict: Verdict, name: str) -> str:
    """An axis title: the quantity and its unit, where the verdict knows it."""
    return f"{name} ({clean(verdict.measure, limit=40)})" if verdict.measure else name
