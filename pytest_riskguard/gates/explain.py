"""Why a verdict is what it is: its figures, what would flip it, the topics responsible, and what charts draw."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from typing import Any, Literal

import numpy as np

from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.findings import (
    MAX_LISTED,
    Estimates,
    Exhibits,
    Power,
    ReportedInterval,
    ResponsibleTopic,
    Slice,
    TopicCounts,
)
from pytest_riskguard.gates.flips import alpha_star, flip_set
from pytest_riskguard.gates.pool import PoolComparison
from pytest_riskguard.gates.power import power_of_verdict
from pytest_riskguard.gates.slices import slices
from pytest_riskguard.gates.verdict import Findings
from pytest_riskguard.gates.warnings import warnings
from pytest_riskguard.inference.intervals import critical_value
from pytest_riskguard.risk import counts, georisk, zrisk
from pytest_riskguard.risk.checks import ROUNDING_ERROR, IntArray, exact_sum

#: Alphas at which curves have points, besides the gate's own: those of the literature are among them.
ALPHAS = (0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 15.0, 20.0)


def explain(comparison: Comparison) -> Findings:
    """All findings about an answer; lists of topics name at most ``MAX_LISTED``, and how many more there are."""
    losers, more = responsible(comparison)
    left_out = {"responsible_topics": more} if more else {}

    def first(name: str, topics: Sequence[str]) -> tuple[str, ...]:
        if len(topics) > MAX_LISTED:
            left_out[name] = len(topics) - MAX_LISTED
        return tuple(topics[:MAX_LISTED])

    pair, names = comparison.pair, comparison.topics
    deciding, p_value = comparison.deciding, comparison.p_value  # before the many other laws, kept in its place
    flips, star = _what_flips(comparison)
    estimates = _estimates(pair)
    if isinstance(comparison, PoolComparison):
        scores, gate, ruling = comparison.scores, comparison.gate, comparison.ruling
        by_z = zrisk(scores, alpha=gate.alpha, kind=gate.tradeoff).tolist()
        estimates |= {
            "zrisk": dict(zip(comparison.names, by_z, strict=True)),
            "georisk": dict(zip(comparison.names, ruling.georisk.tolist(), strict=True)),
            "georisk_difference": ruling.difference.estimate if ruling.enough_topics else None,
        }
        power = Power(minimum_detectable_effect=ruling.minimum_detectable_effect)
    else:
        power = power_of_verdict(comparison.detecting)
    return Findings(
        estimates=Estimates(
            **estimates,
            decision_p_value=p_value,
            alpha_star=star,
            flip_set=None if flips is None else first("flip_set", [names[place] for place in flips]),
        ),
        intervals=tuple(
            ReportedInterval(one.method, one.level, one.lower, one.upper, one == deciding)
            for one in comparison.ruling.intervals
        ),
        responsible_topics=losers,
        warnings=warnings(comparison),
        slices=_slices(comparison, () if more else losers),
        power=power,
        topics=_counts(pair, first("missing_in_candidate", pair.aligned.missing[0]), left_out),
    )


def _what_flips(comparison: Comparison) -> tuple[tuple[int, ...] | None, float | Literal["any"] | None]:
    """The topics without which a failure would pass, and the largest alpha at which it does; None where unknown."""
    outcome = comparison.answer[0]
    failed = outcome == "fail"
    if isinstance(comparison, PoolComparison):
        known = comparison.ruling.enough_topics
        return (flip_set(comparison) if failed else ()) if known else None, None
    gate = comparison.gate
    if gate.by_topic:
        return comparison.too_many, None
    if comparison.identical:
        return (), "any" if gate.tradeoff == "linear" and gate.side != "both" else None
    if outcome == "inconclusive" or outcome != comparison.alone[0]:  # a family's draws: no topic carries the verdict
        return None, None
    return flip_set(comparison) if failed else (), alpha_star(comparison.ruling)


def _estimates(pair: Comparison) -> dict[str, Any]:
    """The figures of two systems."""
    evidence, ruling, by_topic = pair.evidence, pair.ruling, pair.gate.by_topic
    return {
        "candidate_mean": evidence.mean(pair.aligned.candidate.values),
        "baseline_mean": evidence.mean(pair.aligned.baseline.values),
        "mean_difference": pair.mean_difference,
        "urisk": ruling.estimate,
        "standard_error": ruling.test.standard_error,
        "trisk": ruling.test.statistic,
        "p_value": ruling.test.p_value,
        "break_even_p_value": None if by_topic else ruling.break_even,
        "noise_urisk": evidence.noise_estimate(pair.gate.alpha),
        "collapsed": len(pair.collapsed) if by_topic else None,
    }


def _counts(pair: Comparison, missing: tuple[str, ...], left_out: dict[str, int]) -> TopicCounts:
    """How many topics there are, how many moved, and which were missing."""
    aligned, evidence, alpha = pair.aligned, pair.evidence, pair.gate.alpha
    return TopicCounts(
        count=pair.n,
        changed=pair.changed,
        **asdict(counts(aligned.candidate.values, aligned.baseline.values)),
        missing_in_candidate=missing,
        left_out=left_out,
        clusters=0 if evidence.clusters is None else evidence.units,
        effective=None if pair.gate.by_topic else evidence.effective_topics(alpha),
    )


def _columns(comparison: Comparison, places: IntArray, tags: Iterable[str] = ()) -> Exhibits:
    """Some topics with their figures."""
    pair = comparison.pair
    candidate, baseline = pair.aligned.candidate, pair.aligned.baseline
    topics = tuple(candidate.topics[i] for i in places.tolist())
    return Exhibits(
        topics=topics,
        queries=tuple(candidate.queries.get(topic, baseline.queries.get(topic)) for topic in topics),
        candidate=tuple(candidate.values[places].tolist()),
        baseline=tuple(baseline.values[places].tolist()),
        contributions=tuple((comparison.parts[places] / comparison.n).tolist()),
        standardised=tuple(comparison.standardised[places].tolist()),
        critical_value=critical_value(pair.n, level=pair.gate.level) if pair.n > 1 else None,
        tags={tag: tuple(pair.aligned.about.tags.get(topic, {}).get(tag, "") for topic in topics) for tag in tags},
    )


def responsible(comparison: Comparison) -> tuple[tuple[ResponsibleTopic, ...], int]:
    """The topics that lost, most harmful first, and how many more there are.

    Flagged: the standardised part lies outside the Student-t critical values of the gate's level (SIGIR'14 Eq. 21).
    Where both limits are asked for and the upper one decides, the topics that won are responsible, the largest win
    first. Of too many, topics that lost more than they may and the largest loss are kept.
    """
    pair, sense = comparison.pair, comparison.pair.ruling.sense
    moved, harm = sense * pair.differences, sense * comparison.parts
    places = np.flatnonzero(moved < -ROUNDING_ERROR)
    places = places[np.argsort(np.round(harm[places], 12), kind="stable")]
    total, more = exact_sum(np.minimum(harm[places], 0.0)), max(places.size - MAX_LISTED, 0)
    if more:
        preferred = np.isin(places, [*pair.collapsed, int(np.argmin(moved))])
        places = places[np.sort(np.argsort(~preferred, kind="stable")[:MAX_LISTED])]
    columns, losses = _columns(comparison, places), np.minimum(harm[places], 0.0)
    rows = zip(
        columns.topics,
        columns.queries,
        columns.candidate,
        columns.baseline,
        pair.differences[places].tolist(),
        columns.contributions,
        (losses / total + 0.0).tolist() if total < 0 else [None] * places.size,
        map(columns.flagged, range(places.size)),
        [pair.collapsed.get(place, ()) for place in places.tolist()],
        columns.standardised,
        strict=True,
    )
    return tuple(ResponsibleTopic(*row) for row in rows), more


def _slices(comparison: Comparison, losers: Sequence[ResponsibleTopic]) -> tuple[Slice, ...]:
    """Each slice, with the topics that are responsible there.

    Slices of a pool are by URisk against the reference: the score that the pool leads to expect on a topic depends on
    all topics, so the GeoRisk of a few is no part of the GeoRisk of all.
    """
    pair = comparison.pair
    if comparison is not pair:
        pair = Comparison(replace(pair.gate, tradeoff=comparison.gate.tradeoff), pair.aligned)
    return slices(pair, [topic.topic for topic in losers])


def exhibits(comparison: Comparison) -> Exhibits:
    """What the charts of a gate show; the topics of a pool are those of candidate and the reference that decided.

    Of very many topics, those with the lowest and the highest contributions.
    """
    places, tags = np.arange(comparison.n), comparison.pair.aligned.about.tags
    if places.size > 2 * MAX_LISTED:
        order = np.argsort(np.round(comparison.parts, 12), kind="stable")
        places = np.sort(np.append(order[:MAX_LISTED], order[-MAX_LISTED:]))
    shown = (tags.get(comparison.topics[place], {}) for place in (places.tolist() if tags else ()))
    columns = _columns(comparison, places, sorted({tag for of_topic in shown for tag in of_topic}))
    alphas, curves = _curves(comparison)
    return replace(columns, alphas=alphas, curves=curves)


def _curves(comparison: Comparison) -> tuple[tuple[float, ...], dict[str, tuple[float | None, ...]]]:
    """GeoRisk of all systems over alpha, or URisk with the limits that decide; none where no alpha varies."""
    gate, alphas = comparison.gate, tuple(sorted({*ALPHAS, comparison.gate.alpha}))
    if gate.by_topic or comparison.n < 2 or gate.tradeoff != "linear" or gate.side == "both":
        return (), {}
    if isinstance(comparison, PoolComparison):
        by_alpha = [georisk(comparison.scores, alpha=alpha).tolist() for alpha in alphas]
        return alphas, dict(zip(comparison.names, zip(*by_alpha, strict=True), strict=True))
    rows = []
    for alpha in alphas:
        ruling = comparison.ruling.at(alpha)
        limits = (ruling.deciding.lower, ruling.deciding.upper) if ruling.enough_topics else (math.nan, math.nan)
        rows.append([value if math.isfinite(value) else None for value in (ruling.estimate, *limits)])
    return alphas, dict(zip(("urisk", "lower", "upper"), zip(*rows, strict=True), strict=True))
