"""Both systems on one list of topics, or the reason why they cannot be."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pytest_riskguard.errors import DataError
from pytest_riskguard.evaluation.scores import TopicScores
from pytest_riskguard.gates.spec import Gate


@dataclass(frozen=True)
class Aligned:
    """Scores on the same topics, and the topics that each side had to be given a 0 for."""

    candidate: TopicScores
    baseline: TopicScores
    missing_in_candidate: tuple[str, ...]
    missing_in_baseline: tuple[str, ...]


def align(gate: Gate, candidate: TopicScores, baseline: TopicScores) -> Aligned:
    """Put both sides on one list of topics.

    Runs scored with the same qrels are on one already. Per-topic scores must name the same topics, or the gate says
    that a missing topic scores 0 (``missing: zero``).

    Raises
    ------
    DataError
        ``inputs_changed``: scored with different qrels; ``no_common_topic``; ``topics_differ``, with both lists.
    """
    if len({candidate.qrels_digest, baseline.qrels_digest} - {None}) > 1:
        raise DataError(
            f"{candidate.name} and {baseline.name} were scored with different qrels; score both with the same file",
            reason="inputs_changed",
        )
    ours, theirs = set(candidate.topics), set(baseline.topics)
    if not ours & theirs:
        raise DataError(
            f"{candidate.name} ({_such_as(candidate)}) and {baseline.name} ({_such_as(baseline)}) have no topic in "
            "common",
            reason="no_common_topic",
        )
    lacking = tuple(sorted(theirs - ours)), tuple(sorted(ours - theirs))
    if any(lacking):
        if gate.missing == "refuse":
            raise _differ((candidate.name, baseline.name), lacking)
        topics = tuple(sorted(ours | theirs))
        candidate, baseline = _spread(candidate, topics), _spread(baseline, topics)
    return Aligned(
        candidate,
        baseline,
        tuple(sorted({*candidate.unanswered, *lacking[0]})),
        tuple(sorted({*baseline.unanswered, *lacking[1]})),
    )


def _such_as(scores: TopicScores) -> str:
    return f"{_counted(len(scores.topics))}, such as {scores.topics[0]!r}"


def _counted(number: int) -> str:
    return f"{number} {'topic' if number == 1 else 'topics'}"


def _differ(names: tuple[str, str], lacking: tuple[tuple[str, ...], tuple[str, ...]]) -> DataError:
    parts = [
        f"{name} lacks {_counted(len(topics))}: {', '.join(topics)}"
        for name, topics in zip(names, lacking, strict=True)
        if topics
    ]
    return DataError(
        f"the topics differ: {'; '.join(parts)}; score both on the same topics, or let missing topics score 0 "
        "(missing: zero)",
        reason="topics_differ",
    )


def _spread(scores: TopicScores, topics: tuple[str, ...]) -> TopicScores:
    values = dict(zip(scores.topics, scores.values, strict=True))
    return replace(scores, topics=topics, values=np.array([values.get(topic, 0.0) for topic in topics]))
