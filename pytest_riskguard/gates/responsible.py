"""Why a verdict is what it is: the topics responsible, and groups of topics that changed together."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import fields, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.findings import MAX_LISTED, Explanation, ResponsibleTopic, TopicGroup
from pytest_riskguard.gates.pool import PoolComparison
from pytest_riskguard.gates.slices import Tagged, slices, tagged, tagged_topics
from pytest_riskguard.gates.verdict import Findings, Verdict
from pytest_riskguard.risk.checks import ROUNDING_ERROR, FloatArray, exact_sum, stable_order


class Responsible(NamedTuple):
    """Losses and flagged wins, at most ``MAX_LISTED`` of each, and how many more of each there are."""

    losers: tuple[ResponsibleTopic, ...]
    winners: tuple[ResponsibleTopic, ...]
    more_losers: int
    more_winners: int


def responsible_topics(comparison: Comparison) -> Responsible:
    """The topics that lost, most harmful first, and separately the wins that are flagged.

    Flagged: the standardised part lies outside the Student-t critical values of the gate's level (SIGIR'14 Eq. 21).
    Where both limits are asked for and the upper one decides, the topics that won are responsible, the largest win
    first, and no win is listed separately. Where there are more than ``MAX_LISTED`` losses, topics that lost more
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
    flagged_wins = np.flatnonzero((differences > ROUNDING_ERROR) & (standard > critical) & (sense > 0))
    flagged_wins = flagged_wins[np.argsort(np.round(-parts[flagged_wins], 12), kind="stable")]
    more_losers, more_winners = max(losses.size - MAX_LISTED, 0), max(flagged_wins.size - MAX_LISTED, 0)
    always = {*exceeded, int(np.argmin(sense * differences))}
    losses, flagged_wins = _first(losses, always), flagged_wins[:MAX_LISTED]

    def rows(places: npt.NDArray[np.intp], shares: Sequence[float | None]) -> tuple[ResponsibleTopic, ...]:
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
    winners = rows(flagged_wins, [None] * flagged_wins.size)
    return Responsible(rows(losses, shares), winners, more_losers, more_winners)


def _first(places: npt.NDArray[np.intp], always: Collection[int]) -> npt.NDArray[np.intp]:
    """The first ``MAX_LISTED`` places in their order, of which those in ``always`` are dropped last."""
    if places.size <= MAX_LISTED:
        return places
    preferred = np.isin(places, np.fromiter(always, dtype=np.intp, count=len(always)))
    return places[np.sort(np.argsort(~preferred, kind="stable")[:MAX_LISTED])]


def bounded(findings: Findings, found: Responsible) -> Findings:
    """The findings with lists of at most ``MAX_LISTED`` topics, and how many each of them leaves out."""
    flips, explained = findings.estimates.flip_set, findings.explanation or Explanation()
    missing = findings.topics.missing_in_candidate
    left_out = {
        "responsible_topics": found.more_losers,
        "flagged_wins": found.more_winners,
        "flip_set": len(flips or ()) - MAX_LISTED,
        "pivotal_topics": len(explained.pivotal_topics) - MAX_LISTED,
        "missing_in_candidate": len(missing) - MAX_LISTED,
    }
    left_out = {name: count for name, count in left_out.items() if count > 0}
    if not left_out:
        return findings
    return replace(
        findings,
        topics=replace(findings.topics, left_out=left_out, missing_in_candidate=missing[:MAX_LISTED]),
        estimates=replace(findings.estimates, flip_set=flips and flips[:MAX_LISTED]),
        explanation=replace(explained, pivotal_topics=explained.pivotal_topics[:MAX_LISTED]),
    )


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


def with_groups(verdict: Verdict) -> Verdict:
    """A verdict that was read, with the groups among the topics that its report draws, where these are all."""
    columns = None if verdict.exhibits is None else verdict.exhibits.topics
    if columns is None or not columns.tags or len(columns.topics) < verdict.topics.count:
        return verdict
    baseline, rows = np.array(columns.baseline), zip(*columns.tags.values(), strict=True)
    tags = {topic: dict(zip(columns.tags, row, strict=True)) for topic, row in zip(columns.topics, rows, strict=True)}
    found = groups(
        np.array(columns.candidate) - baseline,
        np.array(columns.contributions) * baseline.size,
        columns.topics,
        tagged_topics(columns.topics, tags, clustered=bool(verdict.topics.clusters)),
    )
    return verdict.with_groups(found)
