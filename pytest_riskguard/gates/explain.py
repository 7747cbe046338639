"""Why a verdict is what it is: its figures, what would flip it, the topics responsible, and groups of topics."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.findings import (
    MAX_LISTED,
    AgainstReference,
    Estimates,
    Explanation,
    PoolFigures,
    Power,
    ReportedInterval,
    ResponsibleTopic,
    TopicCounts,
    TopicGroup,
)
from pytest_riskguard.gates.flips import alpha_star, flip_set, pivots
from pytest_riskguard.gates.pool import PoolComparison
from pytest_riskguard.gates.power import power_of_verdict
from pytest_riskguard.gates.slices import Tagged, slices, tagged
from pytest_riskguard.gates.verdict import Findings
from pytest_riskguard.gates.warnings import warnings
from pytest_riskguard.risk import counts, zrisk
from pytest_riskguard.risk.checks import ROUNDING_ERROR, FloatArray, exact_sum, stable_order


def explain(comparison: Comparison) -> Findings:
    """All findings about an answer; lists of topics name at most ``MAX_LISTED``, and how many more there are."""
    losers, left_out = responsible_topics(comparison)
    deciding, p_value = comparison.deciding, comparison.p_value  # before the many other laws, kept in its place
    found = estimates(comparison)
    topics, flips = topic_counts(comparison.pair), found.flip_set or ()
    explained, missing = explanation(comparison, pivots(comparison)), topics.missing_in_candidate
    lists = {"flip_set": flips, "pivotal_topics": explained.pivotal_topics, "missing_in_candidate": missing}
    left_out |= {name: len(listed) - MAX_LISTED for name, listed in lists.items()}
    pool = None
    if isinstance(comparison, PoolComparison):
        power = Power(minimum_detectable_effect=comparison.ruling.minimum_detectable_effect)
        pool = _pool_figures(comparison)
    else:
        power = power_of_verdict(comparison.detecting)
    return Findings(
        topics=replace(
            topics,
            missing_in_candidate=missing[:MAX_LISTED],
            left_out={name: count for name, count in left_out.items() if count > 0},
        ),
        estimates=replace(found, decision_p_value=p_value, flip_set=found.flip_set and flips[:MAX_LISTED]),
        intervals=tuple(
            ReportedInterval(one.method, one.level, one.lower, one.upper, one == deciding)
            for one in comparison.intervals
        ),
        responsible_topics=losers,
        warnings=warnings(comparison),
        explanation=replace(explained, pivotal_topics=explained.pivotal_topics[:MAX_LISTED]),
        power=power,
        pool=pool,
    )


def estimates(comparison: Comparison) -> Estimates:
    """The figures of the literature, and what would flip the answer."""
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
    pair = comparison.pair
    evidence, ruling, by_topic = pair.evidence, pair.ruling, pair.gate.by_topic
    found = Estimates(
        candidate_mean=evidence.mean(pair.aligned.candidate.values),
        baseline_mean=evidence.mean(pair.aligned.baseline.values),
        mean_difference=pair.mean_difference,
        urisk=ruling.estimate,
        standard_error=ruling.test.standard_error,
        trisk=ruling.test.statistic,
        p_value=ruling.test.p_value,
        break_even_p_value=None if by_topic else ruling.break_even,
        noise_urisk=evidence.noise_estimate(pair.gate.alpha),
        collapsed=len(pair.collapsed) if by_topic else None,
        flip_set=None if places is None else tuple(comparison.topics[place] for place in places),
        alpha_star=star,
    )
    if not isinstance(comparison, PoolComparison):
        return found
    by_z = zrisk(comparison.scores, alpha=comparison.gate.alpha, kind=comparison.gate.tradeoff).tolist()
    pool = comparison.ruling
    return replace(
        found,
        zrisk=dict(zip(comparison.names, by_z, strict=True)),
        georisk=dict(zip(comparison.names, comparison.georisk.tolist(), strict=True)),
        georisk_difference=pool.decisive.difference.estimate if pool.enough_topics else None,
    )


def _pool_figures(comparison: PoolComparison) -> PoolFigures | None:
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
    aligned, evidence, alpha = comparison.aligned, comparison.evidence, comparison.gate.alpha
    tally, strata = counts(aligned.candidate.values, aligned.baseline.values), {}
    if evidence.strata is not None:  # what each says on its own, the largest first
        parts = (part.estimate(alpha) for _, part in evidence.by_stratum)
        strata = dict(zip(evidence.strata.names, parts, strict=True))
    return TopicCounts(
        count=comparison.n,
        changed=comparison.changed,
        wins=tally.wins,
        losses=tally.losses,
        ties=tally.ties,
        missing_in_candidate=aligned.missing_in_candidate,
        clusters=0 if evidence.clusters is None else evidence.units,
        effective=None if comparison.gate.by_topic else evidence.effective_topics(alpha),
        strata=strata,
    )


Rows = tuple[ResponsibleTopic, ...]


def responsible_topics(comparison: Comparison) -> tuple[Rows, dict[str, int]]:
    """The topics that lost, most harmful first.

    Flagged: the standardised part lies outside the Student-t critical values of the gate's level (SIGIR'14 Eq. 21).
    Where both limits are asked for and the upper one decides, the topics that won are responsible, the largest win
    first. Where there are more than ``MAX_LISTED`` losses, topics that lost more
    than they may and the largest loss are listed before more harmful ones. Figures are computed column by column,
    since rows are many.
    """
    pair, parts, n = comparison.pair, comparison.parts, comparison.n
    candidate, baseline, differences = pair.aligned.candidate, pair.aligned.baseline, pair.differences
    sense, exceeded, standard = pair.ruling.sense, pair.collapsed, comparison.standardised
    critical = math.inf if pair.critical_value is None else pair.critical_value
    lost, harm = sense * differences < -ROUNDING_ERROR, sense * parts
    total_loss = exact_sum(np.minimum(harm[lost], 0.0))
    losses = np.flatnonzero(lost)
    losses = losses[stable_order(np.round(harm[losses], 12))]
    left_out = {"responsible_topics": losses.size - MAX_LISTED}
    if losses.size > MAX_LISTED:
        preferred = np.isin(losses, [*exceeded, int(np.argmin(sense * differences))])
        losses = losses[np.sort(np.argsort(~preferred, kind="stable")[:MAX_LISTED])]

    def rows(places: npt.NDArray[np.intp], shares: Sequence[float | None]) -> Rows:
        topics = [candidate.topics[i] for i in places.tolist()]
        columns: dict[str, Iterable[Any]] = {
            "topic": topics,
            "query": [candidate.queries.get(topic, baseline.queries.get(topic)) for topic in topics],
            "candidate": candidate.values[places].tolist(),
            "baseline": baseline.values[places].tolist(),
            "difference": differences[places].tolist(),
            "contribution": (parts[places] / n).tolist(),
            "share": shares,
            "standardised": standard[places].tolist(),
            "flagged": (np.abs(standard[places]) > critical).tolist(),
            "exceeds": [exceeded.get(place, ()) for place in places.tolist()],
        }
        return tuple(map(ResponsibleTopic, *(columns[field.name] for field in fields(ResponsibleTopic))))

    shares = (np.minimum(harm[losses], 0.0) / total_loss + 0.0).tolist() if total_loss < 0 else [None] * losses.size
    return rows(losses, shares), left_out


def explanation(comparison: Comparison, pivots: Sequence[int]) -> Explanation:
    """Pivotal topics, groups by their part in the estimate, and slices.

    Slices of a pool are by URisk against the reference: the score that the pool leads to expect on a topic depends on
    all topics, so the GeoRisk of a few is no part of the GeoRisk of all.
    """
    topics, n = comparison.topics, comparison.n
    pair = comparison.pair
    if isinstance(comparison, PoolComparison):
        pair = comparison.against(comparison.reference, asked=True)
    tags = tagged(pair.aligned)
    return Explanation(
        pivotal_topics=tuple(topics[i] for i in pivots),
        groups=groups(pair.differences, comparison.parts, topics, tags) if n <= 2 * MAX_LISTED else (),
        slices=slices(pair, tags),
    )


#: The fewest topics that changed the same way and make a group.
MIN_GROUP = 2

Groups = tuple[TopicGroup, ...]
_CHANGES: tuple[tuple[Literal["loss", "win"], float], ...] = (("loss", -1.0), ("win", 1.0))


def groups(differences: FloatArray, parts: FloatArray, topics: tuple[str, ...], tags: tuple[Tagged, ...]) -> Groups:
    """Topics of one tag that lost, and those that won, where there are at least two; the largest part first.

    ``parts`` (n_topics,) are each topic's part in the estimate, times the number of topics.
    """
    contributions = parts / parts.size
    all_groups = []
    for change, sign in _CHANGES:
        moved = sign * differences > ROUNDING_ERROR
        gains = np.maximum(sign * contributions, 0.0)
        total = exact_sum(gains[moved])
        for tagging in tags:
            members = tagging.places[moved[tagging.places]]
            if members.size < MIN_GROUP:
                continue
            members = members[np.argsort(np.round(-sign * parts[members], 12), kind="stable")]
            all_groups.append(
                TopicGroup(
                    tag=tagging.tag,
                    value=tagging.value,
                    change=change,
                    topics=tuple(topics[int(i)] for i in members),
                    contribution=exact_sum(contributions[members]),
                    share=exact_sum(gains[members]) / total if total > 0 else None,
                    tagged=int(tagging.places.size),
                )
            )
    all_groups.sort(key=lambda group: (-round(abs(group.contribution), 12), group.tag, group.value, group.change))
    return tuple(all_groups)
