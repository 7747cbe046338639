"""Which topics to judge next: how many of each stratum, so that URisk becomes as certain as it can."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pytest_riskguard.evaluation.scores import TopicScores
from pytest_riskguard.evaluation.topics import Topics
from pytest_riskguard.gates.alignment import align
from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.gates.ruling import Comparison
from pytest_riskguard.inference.allocation import neyman, stratified_error


def refuse_smooth(gate: Gate) -> None:
    """``ValueError`` for the smooth trade-off."""
    if gate.tradeoff != "linear":
        raise ValueError(f"plans need the linear trade-off, whose unit is that of the measure, got {gate.tradeoff!r}")


def of_one(gate: Gate, system: TopicScores, topics: Topics | None) -> Evidence:
    """The evidence that a system's scores would be, against one that scores 0 everywhere."""
    nothing = replace(system, values=np.zeros_like(system.values))
    return Evidence.between(align(gate, system, nothing, topics=topics), tradeoff="linear")


@dataclass(frozen=True)
class StratumDraw:
    """How many topics of a stratum are judged, how much they vary, and how many to judge next."""

    stratum: str
    share: float
    topics: int
    standard_deviation: float
    next: int


@dataclass(frozen=True)
class NextTopics:
    """How the next topics are best divided among strata, and what that does for URisk's standard error."""

    measure: str | None
    alpha: float
    candidate: str | None
    baseline: str
    strata: tuple[StratumDraw, ...]
    standard_error: float
    standard_error_after: float


#: With fewer topics, or clusters, a stratum is taken to vary as all strata do.
ENOUGH_TO_VARY = 5


def next_topics(
    gate: Gate, candidate: TopicScores | None, baseline: TopicScores, more: int, *, topics: Topics | None
) -> NextTopics:
    """Divide ``more`` topics among strata by Neyman's rule.

    Deviations are those of trade-off scores, or without a candidate of the baseline's scores: for any correlation
    between the two they have the same ratios. Clusters are taken to stay as large as they are. ``ValueError`` where
    the topics have no strata; else raises like ``align``.
    """
    refuse_smooth(gate)
    if candidate is None:
        evidence, alpha = of_one(gate, baseline, topics), 0.0
    else:
        evidence, alpha = Comparison(gate, align(gate, candidate, baseline, topics=topics)).evidence, gate.alpha
    if evidence.strata is None:
        raise ValueError(
            "--next: the topics have no strata; declare their shares (`strata` of `collection` in a riskguard.yaml), "
            "and ask about no slice"
        )
    parts = [part for _, part in evidence.by_stratum]
    counts, shares = np.array([part.n for part in parts]), evidence.strata.shares
    units = np.array([part.units for part in parts])
    variances = np.array([float(np.var(part.scores(alpha), ddof=1)) / part.units for part in parts]) * counts
    known = units >= ENOUGH_TO_VARY
    pooled = float(np.sum((units - 1) * variances) / np.sum(units - 1))
    deviations = np.sqrt(np.where(known, variances, pooled))
    given = neyman(counts, shares, deviations, more=more)
    columns = (array.tolist() for array in (shares, counts, deviations, given))
    rows = zip(evidence.strata.names, *columns, strict=True)
    return NextTopics(
        baseline.measure,
        alpha,
        None if candidate is None else candidate.name,
        baseline.name,
        tuple(StratumDraw(*row) for row in rows),
        stratified_error(counts, shares, deviations),
        stratified_error(counts + given, shares, deviations),
    )
