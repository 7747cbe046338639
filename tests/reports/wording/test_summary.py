"""A verdict in words, as somebody read it beside its figures."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_riskguard.data.topics import Topics
from pytest_riskguard.gates.findings import RankedDocument, TopicDocuments
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import gate_of
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.wording import worded
from pytest_riskguard.reports.wording.paragraph import lost_documents
from tests.gates.conftest import judge_pool, pair, topic_scores
from tests.gates.test_groups import tagged
from tests.snapshots import golden
from tests.verdicts import altered


def judged(*given: Any, **options: Any) -> Verdict:
    return worded(judge(*given, **options))


def judged_pool(*given: Any, **options: Any) -> Verdict:
    return worded(judge_pool(*given, **options))


def told(verdict: Verdict) -> str:
    assert verdict.explanation is not None
    return verdict.explanation.summary


LAWS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "grid": lambda rng, n: np.round(rng.normal(rng.choice([-0.1, 0.0]), 0.2, n), 1),
    "few": lambda rng, n: np.where(np.arange(n) < 5, rng.normal(-0.1, 0.2, n), 0.0),
    "better": lambda rng, n: rng.normal(0.06, 0.1, n),
    "lost": lambda rng, n: -np.abs(rng.normal(0, 0.1, n)),
    "won": lambda rng, n: np.abs(rng.normal(0, 0.1, n)),
    "even": lambda rng, n: rng.normal(0.01, 0.03, n),
    "one": lambda _, n: np.where(np.arange(n) == 4, -0.3, 0.0),
    "nothing": lambda _, n: np.zeros(n),
    "tiny": lambda rng, n: rng.normal(-1e-8, 1e-8, n),
}


def questions(rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    alpha = float(rng.choice([0, 0.5, 1, 5]))
    yield {"alpha": alpha, "level": float(rng.choice([0.8, 0.95]))}
    yield {"alpha": alpha, "tolerance": 0.01}
    yield {"alpha": 5, "on_churn": "warn"}
    yield {"alpha": 5, "tolerance": 0.005, "on_churn": "fail"}
    yield {"alpha": alpha, "weighted": True}
    yield {"tradeoff": "smooth", "on_churn": "fail"}
    yield {"alpha": alpha, "max_mde": 0.01}
    yield {"alpha": 1, "max_mde": 0.01, "on_churn": "fail"}
    yield {"kind": "not_inferior", "alpha": 0, "tolerance": 0.03}
    yield {"kind": "not_inferior", "alpha": 1, "tolerance": 0.03}
    yield {"kind": "not_inferior", "alpha": 0, "weighted": True}
    yield {"kind": "equivalent", "tolerance": float(rng.choice([0.02, 0.05, 0.15]))}
    yield {"kind": "equivalent", "tolerance": 0.03, "weighted": True}
    for max_loss in (0.15, 0.9):
        yield {"kind": "no_topic_collapse", "max_loss": max_loss}
        yield {"kind": "no_topic_collapse", "max_loss": max_loss, "allowed": 0.1}


def of_two(law: str) -> Iterator[tuple[dict[str, Any], Verdict]]:
    """A candidate whose differences follow a law, asked everything; where it makes sense, with replicates too."""
    rng = np.random.default_rng([3, *law.encode()])
    n = {"few": 13, "nothing": 7}.get(law, 30)
    topics = tagged(n, kind=rng.choice(["a", "b", ""], n).tolist(), size=rng.choice(list("xyz"), n).tolist())
    topics = replace(topics, weighting=rng.uniform(1, 9, n).tolist())
    candidate, baseline = pair(LAWS[law](rng, n))
    again = [topic_scores("again", baseline.values + rng.normal(0.01, 0.05, n)) for _ in range(2)]
    for options in questions(rng):
        yield options, judged(gate_of("g", **options), candidate, baseline, topics=topics)
        if options.get("kind") != "no_topic_collapse":
            replicates = {"replicates": again, "topics": topics}
            yield {**options, "replicates": 2}, judged(gate_of("g", **options), candidate, baseline, **replicates)


def of_pools() -> Iterator[tuple[dict[str, Any], Verdict]]:
    for seed, worse in enumerate((0.0, 0.06)):
        rng = np.random.default_rng(seed)
        scores = np.clip(rng.beta(2, 2, 30) + rng.normal(0, 0.1, (4, 30)), 0, 1)
        scores[0] = np.clip(scores[0] - worse, 0, 1)
        ours, *others = (topic_scores(name, row) for name, row in zip("abcd", scores, strict=True))
        for options in (
            {"alpha": 1},
            {"alpha": 5, "reference": "any"},
            {"alpha": 5, "reference": "median", "on_churn": "warn", "tolerance": 0.01},
        ):
            gate = gate_of("g", kind="georisk_not_worse", **options)
            yield options, judged_pool(gate, ours, others, topics=tagged(30, size=["x", "y", "z"] * 10))


@pytest.mark.parametrize("of", [*LAWS, pytest.param("pools", marks=pytest.mark.slow)])
def test_summaries_say_what_somebody_read(of):
    """One of each kind: they differ by more than numbers."""
    kinds: dict[str, str] = {}
    for options, verdict in of_pools() if of == "pools" else of_two(of):
        asked = " ".join(f"{key}={value}" for key, value in options.items())
        kinds.setdefault(re.sub(r"\d+", "0", told(verdict)), f"{asked}: {verdict.outcome}\n  {told(verdict)}\n")
    golden(Path(__file__).parent / "golden" / f"{of}.txt", "".join(kinds.values()))


EXAMPLE = np.concatenate([np.full(5, -0.6), [-0.1, -0.15], np.linspace(0.005, 0.02, 31), np.zeros(82)])
CODES = replace(tagged(120, intent=["code"] * 8 + ["words"] * 112))


def example() -> Verdict:
    return judged(gate_of("g", alpha=1), *pair(EXAMPLE, level=0.7), topics=CODES)


def test_the_summary_in_full():
    assert told(example()) == (
        "7 of 8 intent=code queries got worse, and no others. The mean fell significantly (0.70 -> 0.68), although "
        "31 queries improved. Counting losses twice, the loss is significantly more than the tolerated 0.005. With "
        "losses counted once and nothing tolerated, it fails as well. Without any one of 5 queries, t00000 above "
        "all, it would pass."
    )


def test_a_gate_on_a_slice_says_which():
    verdict = worded(altered(example(), slice="lang=en"))
    assert told(verdict).startswith("Of 120 lang=en queries, 7 of 8 intent=code queries got worse, and no others.")


def test_up_to_three_queries_on_which_it_rests_are_named():
    verdict = example()
    three = replace(verdict.explanation, pivotal_topics=("t1", "t2", "t3"))
    assert "Without any one of t1, t2 and t3 it would pass." in told(worded(altered(verdict, explanation=three)))


def moved(topic: str, before: int, after: int | None, *, depth: int = 10) -> TopicDocuments:
    document = RankedDocument("d", 1, before, after, -0.6)
    return TopicDocuments(topic, True, (document,), (), depth=depth)


@pytest.mark.parametrize(
    ("documents", "sentence"),
    [
        (
            [moved(f"t0000{i}", 1, 40) for i in range(4)],
            "Of 4 queries examined, the costliest relevant document left the top 10 in 4.",
        ),
        (
            [moved("t00000", 1, None), moved("t00001", 3, 11), moved("t00002", 2, 5)],
            "Of 3 queries examined, the costliest relevant document left the top 10 in 2 and fell to rank 5 in 1.",
        ),
        (
            [moved("t00000", 1, 4), moved("t00001", 2, 9), moved("t00002", 1, 30)],
            "Of 3 queries examined, the costliest relevant document left the top 10 in 1 and fell to ranks 4-9 in 2.",
        ),
        ([moved("t00003", 1, 7)], "In t00003 the costliest relevant document fell to rank 7."),
        ([moved("t00003", 1, None, depth=0)], "In t00003 the costliest relevant document left the results."),
        ([moved("t00050", 1, None)], ""),  # a topic that did not lose
        ([], ""),
    ],
)
def test_where_the_costliest_documents_went_is_one_sentence(documents, sentence):
    assert lost_documents(replace(example(), documents=tuple(documents))) == sentence


def test_other_peoples_text_stays_on_one_line_and_short():
    topics = Topics.of({}, {f"t{i:05d}": {"in\ntent": "co\u2028de " * 30 if i < 8 else "w"} for i in range(120)})
    text = told(judged(gate_of("g", alpha=1), *pair(EXAMPLE, level=0.7), topics=topics))
    assert "7 of 8 in tent=co de co de" in text
    assert len(text.splitlines()) == 1
    assert len(text) < 400


def test_an_incomparable_verdict_has_no_explanation():
    candidate, baseline = pair(EXAMPLE)
    other = replace(baseline, topics=tuple(f"u{i:03d}" for i in range(120)))
    verdict = judged(gate_of("g"), candidate, other)
    assert verdict.outcome == "incomparable"
    assert verdict.explanation is None
    assert worded(verdict) == verdict


def test_two_of_two_are_both():
    n = 30
    d = np.full(n, 0.001)
    d[[3, 7]] = [-0.4, -0.3]
    topics = tagged(n, intent=["code" if i in (3, 7, 11) else "words" for i in range(n)])
    verdict = judged(gate_of("g", kind="no_topic_collapse", max_loss=0.2), *pair(d), topics=topics)
    assert "Both are intent=code." in told(verdict)
