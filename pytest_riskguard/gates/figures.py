"""Numbers and chart data that a verdict carries and that decide nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import repeat
from typing import Literal

import numpy as np
import numpy.typing as npt

from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.findings import (
    MAX_LISTED,
    AgainstReference,
    Estimates,
    Exhibits,
    Lines,
    PoolFigures,
    ReportedInterval,
    TopicColumns,
    TopicCounts,
)
from pytest_riskguard.gates.flips import alpha_star, flip_set
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.gates.pool import PoolComparison
from pytest_riskguard.inference.intervals import Interval
from pytest_riskguard.risk import counts, georisk, zrisk
from pytest_riskguard.risk.checks import FloatArray, first_in_order


def reported(intervals: Iterable[Interval], *, decisive: str | None) -> tuple[ReportedInterval, ...]:
    """Intervals as the verdict has them; ``decisive`` is the method of the one that decided."""
    return tuple(ReportedInterval(i.method, i.level, i.lower, i.upper, i.method == decisive) for i in intervals)


def estimates(comparison: Comparison) -> Estimates:
    """The figures of an answer, with what would flip it."""
    failed = comparison.answer[0] == "fail"
    places: tuple[int, ...] | None = None
    star: float | Literal["any"] | None = None
    if isinstance(comparison, PoolComparison):
        if comparison.ruling.enough_topics:
            places = flip_set(comparison) if failed else ()
    elif comparison.gate.by_topic:
        places = comparison.too_many
    elif comparison.identical:
        any_alpha = comparison.gate.tradeoff == "linear" and comparison.gate.side != "both"
        places, star = (), "any" if any_alpha else None
    elif comparison.answer[0] != "inconclusive" and not comparison.overruled:
        places = flip_set(comparison) if failed else ()
        star = alpha_star(comparison.ruling)
    flips = None if places is None else tuple(comparison.topics[place] for place in places)
    found = replace(paired_estimates(comparison.pair), flip_set=flips, alpha_star=star)
    return _of_pool(comparison, found) if isinstance(comparison, PoolComparison) else found


def paired_estimates(comparison: Comparison) -> Estimates:
    """Means, URisk and figures derived from it, and the tests of the literature; not the gate's own rule."""
    evidence, aligned, ruling = comparison.evidence, comparison.aligned, comparison.ruling
    return Estimates(
        candidate_mean=evidence.mean(aligned.candidate.values),
        baseline_mean=evidence.mean(aligned.baseline.values),
        mean_difference=comparison.mean_difference,
        urisk=ruling.estimate,
        standard_error=ruling.test.standard_error,
        trisk=ruling.test.statistic,
        p_value=ruling.test.p_value,
        break_even_p_value=None if comparison.gate.by_topic else ruling.break_even,
        noise_urisk=evidence.noise_estimate(comparison.gate.alpha),
        collapsed=len(comparison.collapsed) if comparison.gate.by_topic else None,
    )


def _of_pool(comparison: PoolComparison, found: Estimates) -> Estimates:
    by_z = zrisk(comparison.scores, alpha=comparison.gate.alpha, kind=comparison.gate.tradeoff)
    return replace(
        found,
        zrisk=dict(zip(comparison.names, by_z.tolist(), strict=True)),
        georisk=dict(zip(comparison.names, comparison.georisk.tolist(), strict=True)),
        georisk_difference=comparison.ruling.decisive.difference.estimate
        if comparison.ruling.enough_topics
        else None,
    )


def pool_figures(comparison: PoolComparison) -> PoolFigures | None:
    """The candidate against each reference; None for too few topics."""
    if not comparison.ruling.enough_topics:
        return None
    return PoolFigures(
        comparison.reference.name,
        tuple(
            AgainstReference(
                reference=reference.name,
                georisk_difference=ruling.difference.estimate,
                lower=ruling.deciding.lower,
                upper=ruling.deciding.upper,
                adjusted_p_value=ruling.adjusted_p_value,
                passes=ruling.passes,
            )
            for reference, ruling in zip(comparison.references, comparison.ruling.against, strict=True)
        ),
    )


def topic_counts(comparison: Comparison) -> TopicCounts:
    """How many topics there are, how many moved, and which were missing or unknown."""
    aligned, evidence = comparison.aligned, comparison.evidence
    tally = counts(aligned.candidate.values, aligned.baseline.values)
    return TopicCounts(
        count=comparison.n,
        changed=comparison.changed,
        wins=tally.wins,
        losses=tally.losses,
        ties=tally.ties,
        missing_in_candidate=aligned.missing_in_candidate,
        clusters=0 if evidence.clusters is None else evidence.units,
        effective=None if comparison.gate.by_topic else evidence.effective_topics(comparison.gate.alpha),
        strata=_urisk_by_stratum(evidence, comparison.gate.alpha),
    )


def _urisk_by_stratum(evidence: Evidence, alpha: float) -> Mapping[str, float]:
    """What each stratum says on its own, the largest first; none without strata."""
    if evidence.strata is None:
        return {}
    parts = (part.estimate(alpha) for _, part in evidence.by_stratum)
    return dict(zip(evidence.strata.names, parts, strict=True))


#: Alphas at which curves have points, besides the gate's own: those of the literature are among them.
ALPHAS = (0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 15.0, 20.0)
#: Beyond this many topics each point takes a while: curves, which are all but straight, then have only these.
MANY_TOPICS, FEW_ALPHAS = 200_000, (0.0, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)


def exhibits(comparison: Comparison) -> Exhibits:
    """What the charts of a gate show; the topics of a pool are those of candidate and the reference that decided."""
    columns = _topic_columns(comparison)
    if isinstance(comparison, PoolComparison):
        return Exhibits(columns, georisk=_georisk_curves(comparison))
    return Exhibits(columns, curve=_curve(comparison))


def _topic_columns(comparison: Comparison) -> TopicColumns:
    """The topics that charts draw."""
    pair, contributions = comparison.pair, comparison.parts / comparison.n
    candidate, baseline = pair.aligned.candidate, pair.aligned.baseline
    places, tags = _drawn(contributions), pair.aligned.tags
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
    lines: dict[Literal["urisk", "lower", "upper"], list[float | None]] = {"urisk": [], "lower": [], "upper": []}
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
