"""The data of a report's charts: the topics of a verdict, and curves over alpha."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import repeat

import numpy as np
import numpy.typing as npt

from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.findings import MAX_LISTED, Exhibits, Lines, TopicColumns
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.gates.pool import PoolComparison
from pytest_riskguard.risk import georisk
from pytest_riskguard.risk.checks import FloatArray, first_in_order

#: Alphas at which curves have points, besides the gate's own: those of the literature are among them.
ALPHAS = (0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 15.0, 20.0)
#: Beyond this many topics each point takes a while: curves, which are all but straight, then have only these.
MANY_TOPICS, FEW_ALPHAS = 200_000, (0.0, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)


def exhibits(comparison: Comparison) -> Exhibits:
    """What the charts of a gate show; the topics of a pool are those of candidate and the reference that decided."""
    curve = _georisk_curves(comparison) if isinstance(comparison, PoolComparison) else _curve(comparison)
    return Exhibits(_topic_columns(comparison), curve)


def _topic_columns(comparison: Comparison) -> TopicColumns:
    """The topics that charts draw."""
    pair, contributions = comparison.pair, comparison.parts / comparison.n
    candidate, baseline = pair.aligned.candidate, pair.aligned.baseline
    places, tags = _drawn(contributions), pair.aligned.about.tags
    topics = candidate.topics if places.size == pair.n else tuple(candidate.topics[i] for i in places.tolist())
    names = sorted({name for topic in topics for name in tags.get(topic, ())}) if tags else []
    queries: Iterable[str | None] = repeat(None, len(topics))
    if candidate.queries or baseline.queries:
        queries = (candidate.queries.get(topic, baseline.queries.get(topic)) for topic in topics)
    return TopicColumns(
        topics=topics,
        queries=tuple(queries),
        candidate=tuple(candidate.values[places].tolist()),
        baseline=tuple(baseline.values[places].tolist()),
        contributions=tuple(contributions[places].tolist()),
        standardised=tuple(comparison.standardised[places].tolist()),
        critical_value=pair.critical_value,
        tags={name: tuple(tags.get(topic, {}).get(name, "") for topic in topics) for name in names},
    )


def _drawn(contributions: FloatArray) -> npt.NDArray[np.intp]:
    """The places of all topics; if these are too many, of those with the lowest and highest contributions."""
    if contributions.size <= 2 * MAX_LISTED:
        return np.arange(contributions.size)
    parts, last = np.round(contributions * contributions.size, 12), contributions.size - 1
    lowest, highest = first_in_order(parts, MAX_LISTED), last - first_in_order(-parts[::-1], MAX_LISTED)
    return np.sort(np.concatenate([lowest, highest]))


def _alphas_for(gate: Gate, n: int) -> tuple[float, ...]:
    """Where curves have their points: from 0 to 20, or as far as the gate's own alpha."""
    alphas, growth = (FEW_ALPHAS, 10.0) if n > MANY_TOPICS else (ALPHAS, 1.5)
    beyond: list[float] = []
    while (last := max((*alphas, *beyond))) < gate.alpha:
        beyond.append(min(last * growth, gate.alpha))
    return tuple(sorted({*alphas, *beyond, gate.alpha}))


def _curve(comparison: Comparison) -> Lines | None:
    """URisk over alpha, with the limits that decide; the smooth trade-off and equivalence have no alpha to vary."""
    gate, n = comparison.gate, comparison.n
    if gate.by_topic or n < 2 or gate.tradeoff != "linear" or gate.side == "both":
        return None
    alphas = _alphas_for(gate, n)
    lines: dict[str, list[float | None]] = {"urisk": [], "lower": [], "upper": []}
    for alpha in alphas:  # one ruling at a time: what is computed from a million scores takes up memory
        ruling = comparison.ruling.at(alpha)
        limits = (ruling.deciding.lower, ruling.deciding.upper) if ruling.enough_topics else (math.nan, math.nan)
        for name, value in zip(lines, (ruling.estimate, *limits), strict=True):
            lines[name].append(value if math.isfinite(value) else None)
    return Lines(alphas, {name: tuple(values) for name, values in lines.items()})


def _georisk_curves(comparison: PoolComparison) -> Lines | None:
    """GeoRisk of all systems over alpha; the smooth trade-off has no alpha to vary."""
    if comparison.gate.tradeoff != "linear":
        return None
    alphas = _alphas_for(comparison.gate, 0)
    by_alpha = [georisk(comparison.scores, alpha=alpha).tolist() for alpha in alphas]
    return Lines(alphas, dict(zip(comparison.names, zip(*by_alpha, strict=True), strict=True)))
