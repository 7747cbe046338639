"""Numbers and chart data that a verdict carries and that decide nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import repeat

import numpy as np
import numpy.typing as npt

from pytest_riskguard.distributions import ndtri
from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.findings import (
    MAX_LISTED,
    Estimates,
    Exhibits,
    Lines,
    ReportedInterval,
    TopicColumns,
    TopicCounts,
)
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.gates.responsible import standardised_parts
from pytest_riskguard.gates.ruling import Comparison
from pytest_riskguard.inference.intervals import Interval, critical_value
from pytest_riskguard.inference.sample import Sample
from pytest_riskguard.risk import counts
from pytest_riskguard.risk.checks import FloatArray, first_in_order


def reported(intervals: Iterable[Interval], *, decisive: str | None) -> tuple[ReportedInterval, ...]:
    """Intervals as the verdict has them; ``decisive`` is the method of the one that decided."""
    return tuple(ReportedInterval(i.method, i.level, i.lower, i.upper, i.method == decisive) for i in intervals)


def paired_estimates(comparison: Comparison) -> Estimates:
    """Means, URisk and figures derived from it, and the tests of the literature; not the gate's own rule."""
    evidence, aligned = comparison.evidence, comparison.aligned
    ruling = comparison.ruling
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
        strata=urisk_by_stratum(evidence, comparison.gate.alpha),
    )


def urisk_by_stratum(evidence: Evidence, alpha: float) -> Mapping[str, float]:
    """What each stratum says on its own, the largest first; none without strata."""
    if evidence.strata is None:
        return {}
    return {
        name: part.estimate(alpha) for name, (_, part) in zip(evidence.strata.names, evidence.by_stratum, strict=True)
    }


#: Alphas at which curves have points, besides the gate's own: those of the literature are among them.
ALPHAS = (0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 15.0, 20.0)
#: Beyond this many topics each point takes a while: curves, which are all but straight, then have only these.
MANY_TOPICS, FEW_ALPHAS = 200_000, (0.0, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
#: How many bins a density has, and the share of the distribution outside them on either side.
BINS = 120
TAIL = 5e-4
#: How far below its edge the first bin begins to count mass, as a share of the width of all bins together.
EDGE = 1e-9


def exhibits(comparison: Comparison) -> Exhibits:
    """What the charts of a gate on two systems show."""
    gate, evidence = comparison.gate, comparison.evidence
    topics = topic_columns(
        comparison,
        contributions=evidence.parts(gate.alpha) / comparison.n,
        standard=standardised_parts(evidence, gate.alpha),
    )
    if gate.by_topic or comparison.n < 2:
        return Exhibits(topics)
    return Exhibits(topics, charts_of(curve=_curve(comparison), density=density(comparison.ruling.sample)))


def charts_of(**lines: Lines | None) -> dict[str, Lines]:
    """The charts that there are."""
    return {name: drawn for name, drawn in lines.items() if drawn is not None}


def topic_columns(comparison: Comparison, *, contributions: FloatArray, standard: FloatArray) -> TopicColumns:
    """The topics that charts draw; ``standard`` are their ``contributions`` in standard deviations."""
    candidate, baseline = comparison.aligned.candidate, comparison.aligned.baseline
    places, tags = _drawn(contributions), comparison.aligned.tags
    topics = candidate.topics if places.size == comparison.n else tuple(candidate.topics[i] for i in places.tolist())
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
        standardised=tuple(standard[places].tolist()),
        critical_value=critical_value(comparison.n, level=comparison.gate.level) if comparison.n > 1 else None,
        tags={name: tuple(tags.get(topic, {}).get(name, "") for topic in topics) for name in names},
    )


def _drawn(contributions: FloatArray) -> npt.NDArray[np.intp]:
    """The places of all topics; if these are too many, of those with the lowest and highest contributions."""
    if contributions.size <= 2 * MAX_LISTED:
        return np.arange(contributions.size)
    parts, last = np.round(contributions * contributions.size, 12), contributions.size - 1
    lowest, highest = first_in_order(parts, MAX_LISTED), last - first_in_order(-parts[::-1], MAX_LISTED)
    return np.sort(np.concatenate([lowest, highest]))


def alphas_for(gate: Gate, *, n_topics: int = 0) -> tuple[float, ...]:
    """Where curves have their points: from 0 to 20, or as far as the gate's own alpha."""
    alphas, growth = (FEW_ALPHAS, 10.0) if n_topics > MANY_TOPICS else (ALPHAS, 1.5)
    beyond: list[float] = []
    while (last := max((*alphas, *beyond))) < gate.alpha:
        beyond.append(min(last * growth, gate.alpha))
    return tuple(sorted({*alphas, *beyond, gate.alpha}))


def _curve(comparison: Comparison) -> Lines | None:
    """URisk over alpha; the smooth trade-off has no alpha to vary, and equivalence is asked at alpha 0 alone."""
    gate = comparison.gate
    if gate.tradeoff != "linear" or gate.side == "both":
        return None
    alphas = alphas_for(gate, n_topics=comparison.n)
    urisk, trisk, intervals = [], [], []
    for alpha in alphas:  # one ruling at a time: what is computed from a million scores takes up memory
        ruling = comparison.ruling.at(alpha)
        urisk.append(ruling.estimate)
        trisk.append(ruling.test.statistic)
        intervals.append(ruling.deciding if ruling.enough_topics else None)
    lower = tuple(i.lower if i and math.isfinite(i.lower) else None for i in intervals)
    upper = tuple(i.upper if i and math.isfinite(i.upper) else None for i in intervals)
    return Lines(alphas, {"urisk": tuple(urisk), "trisk": tuple(trisk), "lower": lower, "upper": upper})


def density(scores: FloatArray | Sample) -> Lines | None:
    """The bootstrap law of the mean in bins: the middle of each, and its mass over its width.

    None where every replicate has the same mean.
    """
    sample = Sample.of(scores)
    if sample.constant:
        return None
    low, high = sample.at_scores([ndtri(TAIL), -ndtri(TAIL)]).tolist()
    edges = np.linspace(low, high, BINS + 1)
    just_below = low - (high - low) * EDGE  # a step at which the distribution begins belongs to the first bin
    cumulated = np.array([sample.cdf(float(edge)) for edge in (just_below, *edges[1:])])
    mass = np.maximum(np.diff(cumulated) / np.diff(edges), 0.0)
    return Lines(tuple(((edges[1:] + edges[:-1]) / 2).tolist()), {"density": tuple(mass.tolist())})
