"""The message of every warning code, word for word."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_riskguard.gates.findings import ChainedRun, Lineage, TopicCounts
from pytest_riskguard.gates.verdict import Verdict, VerdictWarning
from pytest_riskguard.gates.warning_codes import SAID
from pytest_riskguard.reports.warning_sentences import worded
from tests.reports.cases import CASES
from tests.verdicts import altered

#: A verdict on 40 topics of which 3 changed, and one on a pool.
VERDICT = altered(CASES["loss"](), topics=TopicCounts(count=40, changed=3))
POOL = CASES["georisk"]()
LINEAGE = Lineage(
    tuple(ChainedRun(name, mean, -0.2) for name, mean in zip("abcd", (0.6, 0.57, 0.55, 0.5), strict=True))
)

MESSAGES: list[tuple[str, Verdict, dict[str, Any], str]] = [
    (
        "missing_topics",
        VERDICT,
        {"system": "the candidate", "topics": ("a", "b")},
        "the candidate did not answer 2 topics (each scores 0): a, b",
    ),
    (
        "free_wins",
        VERDICT,
        {"system": "the baseline", "topics": ("a",), "count": 30},
        "the baseline did not answer 1 of 30 topics that the candidate answered, so any answer counts as a win "
        "there: a",
    ),
    (
        "little_judged",
        VERDICT,
        {"system": "the baseline", "share": 0.34, "of_candidate": 0.65},
        "only 34% of the first 10 documents of the baseline are judged, and 65% of the candidate's; check that all "
        "document ids of the baseline are those of the judgements",
    ),
    (
        "order_as_written",
        VERDICT,
        {"system": "the candidate", "topics": 12, "mean": 0.5, "mean_as_written": 0.25},
        "the candidate has equal scores (trec_eval compares 32 bits), which are ranked by document id: 12 topics "
        "score differently in the order as written, where the mean is 0.2500 instead of 0.5000; give each rank its "
        "own score",
    ),
    (
        "rank_contradicts_score",
        VERDICT,
        {"system": "the baseline", "topics": ("a", "b")},
        "the scores of the baseline do not fall with the rank in 2 topics (a, b): run files are ranked by score, "
        "answers of a live search in the order returned",
    ),
    ("unknown_topics", VERDICT, {"topics": ("a",)}, "the candidate answers 1 topic without judgements: a"),
    (
        "rescored",
        VERDICT,
        {},
        "the judgements or the scoring library changed since the baseline was stored, so its run was scored again",
    ),
    (
        "rescored",
        VERDICT,
        {"means": (("prod", 0.7912, 0.80334), ("prod/replicates/1", 0.5, 0.5))},
        "the judgements or the scoring library changed since the baseline was stored, so its run was scored again "
        "(mean of prod 0.7912 when stored, 0.8033 now; mean of prod/replicates/1 0.5000 when stored, 0.5000 now)",
    ),
    (
        "few_effective_topics",
        VERDICT,
        {"effective": 7.321, "needed": 10},
        "weights or clusters make 40 topics count like 7.32 of equal weight; at least 10 are needed",
    ),
    (
        "few_effective_topics",
        VERDICT,
        {"effective": 12.0},
        "weights or clusters make 40 topics count like 12 of equal weight",
    ),
    (
        "cannot_fail",
        VERDICT,
        {"mean": 0.01234, "most": 0.3, "above": 4},
        "no candidate can fail this gate, not even one that scores 0 on every topic: prod scores above 0 on 4 of 40 "
        "topics, 0.01234 on average and 0.3 at most; choose another measure, or a smaller tolerance, level or limit",
    ),
    (
        "outweighed",
        VERDICT,
        {"topics": ("a", "b"), "share": 0.0456},
        "without weights the candidate would be significantly risky: the 2 topics that lost have 4.56% of the weight "
        "(a, b)",
    ),
    (
        "no_variation",
        VERDICT,
        {},
        "no topic changed, or all of them by the same amount: the mean alone decides",
    ),
    (
        "unseen_changes",
        VERDICT,
        {"change": "loss", "share": 0.0711, "size": 0.2814},
        "no loss is as large as 0.28, but a loss as large in up to 7.1% of queries cannot be excluded, and would "
        "overturn this pass",
    ),
    (
        "no_variation",
        POOL,
        {"reference": "prod"},
        "no topic changed, or all of them by the same amount: the mean alone decides (against prod)",
    ),
    (
        "few_changed_topics",
        VERDICT,
        {"topics": ("a", "b", "c"), "needs_student_t": True, "cannot_fail": True},
        "only 3 of 40 topics changed (a, b, c): Student-t must agree with the gate's own method; with so few changes "
        "it cannot fail",
    ),
    (
        "few_changed_topics",
        VERDICT,
        {"topics": ("a",), "needs_student_t": False, "cannot_fail": False},
        "only 1 of 40 topics changed (a)",
    ),
    (
        "few_changed_topics",
        altered(POOL, topics=TopicCounts(count=60)),
        {"topics": ("a", "b"), "reference": "s1"},
        "only 2 of 60 topics changed (a, b) (against s1)",
    ),
    (
        "few_topics",
        VERDICT,
        {"enough": 25},
        "only 40 topics: with so few, intervals cover less, and gates fail more often, than their level says",
    ),
    (
        "churn",
        VERDICT,
        {},
        "the mean itself (alpha 0, tolerance 0) is not significantly down; the gate would fail at this alpha only "
        "because losses weigh more, and on_churn: warn lets it pass",
    ),
    (
        "methods_disagree",
        VERDICT,
        {
            "method": "bca",
            "limit": -0.01,
            "student_t_limit": 0.02,
            "student_t_passes": True,
            "decisive": "bca",
            "break_even_p_value": 0.004,
        },
        "Student-t (limit +0.02) and BCa (limit -0.01) disagree; BCa decided",
    ),
    (
        "significantly_better",
        VERDICT,
        {"mean_difference": 0.03},
        "the candidate is significantly better (mean +0.0300)",
    ),
    (
        "georisk_vanishes",
        altered(POOL, alpha=50.0),
        {"largest": 1.2e-9, "largest_at_0": 0.51},
        "the largest GeoRisk of the pool is 1.2e-09 at this alpha and 0.51 at alpha 0: losses weigh so much that "
        "too little is left to compare, so the gate does not pass; choose a smaller alpha",
    ),
    (
        "rests_on_unjudged",
        VERDICT,
        {"documents": 3},
        "this answer rests on 3 unjudged documents; judge-next lists those to judge first",
    ),
    (
        "slow_slide",
        replace(VERDICT, baselines=("prod",), lineage=LINEAGE),
        {},
        "passes against prod, but the mean is significantly below that of a: -0.1000 in total, with 2 "
        "accepted changes between; store that run as a baseline of its own and compare with both (baselines: [...])",
    ),
    (
        "loss_excused",
        VERDICT,
        {"replicate": "prod/replicates/1", "mean": 0.4, "baseline_mean": 0.5},
        "without the replicates the mean would be significantly down; a loss as large as theirs counts as noise "
        "(mean 0.5000 for the baseline, 0.4000 for prod/replicates/1): make sure that each is a run of the "
        "baseline's own system",
    ),
    (
        "unbacked_scores",
        VERDICT,
        {"systems": ("prod",)},
        "prod: stored without the run (--no-run), so nothing backs the stored scores",
    ),
    (
        "unbacked_scores",
        VERDICT,
        {"systems": ("prod", "prod/replicates/1")},
        "prod, prod/replicates/1: stored without the run (--no-run), so nothing backs the stored scores",
    ),
    (
        "topics_changed",
        VERDICT,
        {"systems": ("prod", "prod/replicates/1")},
        "the topics file has changed since prod, prod/replicates/1 was stored, and this gate is about a slice by its "
        "tags; once they are reviewed, rescore the baseline",
    ),
    (
        "stale_labels",
        VERDICT,
        {"topics": ("t1", "t2"), "documents": 3, "file": "docs.jsonl"},
        "relevant documents that are no longer in docs.jsonl: 3, in 2 topics (t1, t2); the outcome does not depend "
        "on them",
    ),
    (
        "history_unusable",
        VERDICT,
        {"baseline": "prod", "problem": "no manifest"},
        "the earlier runs of prod cannot be read: no manifest",
    ),
]


@pytest.mark.parametrize(("code", "verdict", "parameters", "message"), MESSAGES)
def test_each_warning_is_put_into_words(code, verdict, parameters, message):
    warned = altered(verdict, warnings=(VerdictWarning(code, parameters=parameters),))
    assert [warning.message for warning in worded(warned).warnings] == [message]


def test_no_code_is_without_a_message_here():
    assert {code for code, *_ in MESSAGES} == {*SAID}


def test_a_message_that_is_there_stays():
    warned = altered(VERDICT, warnings=(VerdictWarning("of_a_later_version", "as that version said"),))
    assert worded(warned).warnings == warned.warnings
