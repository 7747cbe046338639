"""Verdicts of every kind, for golden outputs: small, made up, the same on every machine."""

import functools
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from pytest_riskguard import check
from pytest_riskguard.data import TopicScores
from pytest_riskguard.errors import RunFormatError
from pytest_riskguard.gates.findings import (
    Documents,
    Exhibits,
    IfJudged,
    Judgements,
    RankedDocument,
    Slice,
    TopicDocuments,
)
from pytest_riskguard.gates.kinds import gate_of
from pytest_riskguard.gates.verdict import Family, Verdict, refused
from tests.plugin.world import CHURN, GOOD, LOSS, QUERIES, TOPICS, differences
from tests.verdicts import altered


def scores(name: str, values: dict[str, float], measure: str = "AP") -> TopicScores:
    topics = tuple(sorted(values))
    return TopicScores(name, measure, topics, np.array([values[topic] for topic in topics]), queries=QUERIES)


def ranked(name: str, ranks: dict[str, int]) -> TopicScores:
    """AP of a system that has the relevant document at these ranks, elsewhere at 2."""
    return scores(name, {topic: after for topic, (_, after) in differences(ranks).items()})


def judged(ranks: dict[str, int], kind: str = "not_significantly_risky", **options: Any) -> Verdict:
    return check(kind, ranked("candidate", ranks), ranked("prod", {}), **options)


def with_exhibits(verdict: Verdict, ranks: dict[str, int]) -> Verdict:
    """With the scores of all topics, as a verdict has them where a report is written."""
    pairs = differences(ranks)
    columns = Exhibits(
        topics=TOPICS,
        queries=tuple(QUERIES.values()),
        candidate=tuple(after for _, after in pairs.values()),
        baseline=tuple(before for before, _ in pairs.values()),
        contributions=(0.0,) * len(TOPICS),
        standardised=(0.0,) * len(TOPICS),
        critical_value=2.0,
        tags={},
    )
    return replace(verdict, exhibits=columns)


def pool() -> Verdict:
    hard = {topic: 0.2 + 0.02 * number for number, topic in enumerate(TOPICS)}
    systems = {
        "prod": {topic: score + 0.05 * (number % 3) for number, (topic, score) in enumerate(hard.items())},
        "bm25": {topic: score + 0.04 * (number % 2) for number, (topic, score) in enumerate(hard.items())},
        "dense": {topic: score + 0.03 * (number % 5) for number, (topic, score) in enumerate(hard.items())},
    }
    candidate = {
        topic: score - 0.15 * (number % 4 == 0) for number, (topic, score) in enumerate(systems["prod"].items())
    }
    others = [scores(name, values) for name, values in systems.items()]
    return check("georisk_not_worse", scores("candidate", candidate), others, alpha=1.0)


def explained() -> Verdict:
    """A failure with all that a verdict can say of documents, judgements and slices."""
    verdict = with_exhibits(judged(CHURN, alpha=5, on_churn="fail"), CHURN)
    worst = [topic.topic for topic in verdict.responsible_topics]
    moved = RankedDocument
    return altered(
        verdict,
        slices=(
            Slice("intent", "code", 12, 0, 12, -0.4, -2.4, -2.6, -2.3, 2e-5, True),
            Slice("intent", "words", 18, 15, 3, 0.34, 0.08, -0.35, 0.42, 0.81, False),
            Slice("length", "one word", 4, 0, 4, -0.4, -2.4, None, None, None, None),
        ),
        measure="AP@10",
        documents=Documents(
            10,
            (
                TopicDocuments(
                    worst[0],
                    True,
                    (
                        moved("manual-17", 2, 1, 20, -0.4),
                        moved("manual-3", None, 3, None, -0.1),
                        moved("faq-9", 1, 4, 12, -0.05),
                        moved("faq-2", 1, None, 2, 0.1),
                        moved("blog-99", None, None, 1),
                        moved("blog-98", 0, 30, 3),
                    ),
                ),
                TopicDocuments(worst[1], True, (moved("manual-18", 2, 2, 10, -0.4),)),
                TopicDocuments(worst[2], True, (moved("blog-99", None, None, 1),)),
                TopicDocuments(worst[3], True, (moved("manual-19", 2, 2, 10, -0.4),)),
            ),
        ),
        judgements=Judgements(
            candidate=12,
            baseline=3,
            documents=14,
            cases=(
                IfJudged("irrelevant", -0.96, "fail"),
                IfJudged("relevant", 0.02, "pass"),
                IfJudged("candidate_relevant", 0.31, "pass"),
                IfJudged("baseline_relevant", -1.2, "fail"),
            ),
            depends=True,
        ),
    )


def few() -> Verdict:
    return check(
        "not_significantly_risky",
        scores("candidate", {"t01": 0.5, "t02": 0.4}),
        scores("prod", {"t01": 0.5, "t02": 0.5}),
    )


def unreadable() -> Verdict:
    problem = "expected 6 columns (topic Q0 docid rank score tag), found 5: 't07 Q0 FT9 2 11.8'"
    gate, error = gate_of("no-risk"), RunFormatError(Path("runs/candidate.run"), 118, problem)
    return refused(Verdict(gate, "incomparable", None, "AP", "candidate", ("prod",)), error)


def in_family() -> Verdict:
    return altered(judged(LOSS, level=1 - 0.05 / 3), level=0.95, family=Family("holm", 3, 1 - 0.05 / 3, 0.0006))


CASES: dict[str, Callable[[], Verdict]] = {
    "loss": lambda: judged(LOSS),
    "churn": lambda: judged(CHURN, alpha=5, on_churn="fail"),
    "churn-let-through": lambda: judged(CHURN, alpha=5, on_churn="warn"),
    "pass": lambda: judged(GOOD),
    "inconclusive": few,
    "incomparable": unreadable,
    "collapse": lambda: judged(LOSS, "no_topic_collapse", max_loss=0.42, max_share=0.85, protected=["t02"]),
    "not-inferior": lambda: judged(CHURN, "not_inferior", alpha=0, tolerance=0.05),
    "equivalent": lambda: judged(GOOD, "equivalent", tolerance=0.05),
    "georisk": pool,
    "family": in_family,
    "explained": explained,
}


def _named(made: Callable[[], Verdict]) -> Verdict:
    """A verdict whose gate has the same name whichever test asks for it first."""
    with mock.patch.dict(os.environ, PYTEST_CURRENT_TEST="test_ranking.py::test_ranking (call)"):
        return made()


# frozen, so one of each will do
CASES = {name: functools.cache(functools.partial(_named, made)) for name, made in CASES.items()}
