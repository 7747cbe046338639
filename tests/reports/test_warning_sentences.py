"""The message of every warning code."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_riskguard.gates.findings import ChainedRun, Lineage, TopicCounts
from pytest_riskguard.gates.verdict import Verdict, VerdictWarning
from pytest_riskguard.gates.warning_codes import SAID
from pytest_riskguard.reports.warning_sentences import worded
from tests.reports.cases import CASES
from tests.snapshots import golden
from tests.verdicts import altered

#: A verdict on 40 topics of which 3 changed, and one on a pool.
VERDICT = altered(CASES["loss"](), topics=TopicCounts(count=40, changed=3))
POOL = CASES["georisk"]()
LINEAGE = Lineage(
    tuple(ChainedRun(name, mean, -0.2) for name, mean in zip("abcd", (0.6, 0.57, 0.55, 0.5), strict=True))
)

DISAGREES = {"method": "bca", "limit": -0.01, "student_t_limit": 0.02, "decisive": "bca"}
WARNINGS: list[tuple[str, Verdict, dict[str, Any]]] = [
    ("missing_topics", VERDICT, {"system": "the candidate", "topics": ("a", "b")}),
    ("free_wins", VERDICT, {"system": "the baseline", "topics": ("a",), "count": 30}),
    ("little_judged", VERDICT, {"system": "the baseline", "share": 0.34, "of_candidate": 0.65}),
    ("order_as_written", VERDICT, {"system": "the candidate", "topics": 12, "mean": 0.5, "mean_as_written": 0.25}),
    ("rank_contradicts_score", VERDICT, {"system": "the baseline", "topics": ("a", "b")}),
    ("unknown_topics", VERDICT, {"topics": ("a",)}),
    ("rescored", VERDICT, {}),
    ("rescored", VERDICT, {"means": (("prod", 0.7912, 0.80334), ("prod/replicates/1", 0.5, 0.5))}),
    ("few_effective_topics", VERDICT, {"effective": 7.321, "needed": 10}),
    ("few_effective_topics", VERDICT, {"effective": 12.0, "needed": None}),
    ("cannot_fail", VERDICT, {"mean": 0.01234, "most": 0.3, "above": 4}),
    ("outweighed", VERDICT, {"topics": ("a", "b"), "share": 0.0456}),
    ("no_variation", VERDICT, {}),
    ("unseen_changes", VERDICT, {"change": "loss", "share": 0.0711, "size": 0.2814}),
    ("no_variation", POOL, {"reference": "prod"}),
    ("few_changed_topics", VERDICT, {"topics": ("a", "b", "c"), "needs_student_t": True, "cannot_fail": True}),
    ("few_changed_topics", VERDICT, {"topics": ("a",), "needs_student_t": False, "cannot_fail": False}),
    ("few_changed_topics", altered(POOL, topics=TopicCounts(count=60)), {"topics": ("a", "b"), "reference": "s1"}),
    ("few_topics", VERDICT, {}),
    ("churn", VERDICT, {}),
    (
        "methods_disagree",
        VERDICT,
        {
            "method": "bca",
            "limit": -0.01,
            "student_t_limit": 0.02,
            "decisive": "bca",
        },
    ),
    ("significantly_better", VERDICT, {"mean_difference": 0.03}),
    ("georisk_vanishes", altered(POOL, alpha=50.0), {"largest": 1.2e-09, "largest_at_0": 0.51}),
    ("rests_on_unjudged", VERDICT, {"documents": 3}),
    ("slow_slide", replace(VERDICT, baselines=("prod",), lineage=LINEAGE), {}),
    ("loss_excused", VERDICT, {"replicate": "prod/replicates/1", "mean": 0.4, "baseline_mean": 0.5}),
    ("unbacked_scores", VERDICT, {"systems": ("prod",)}),
    ("unbacked_scores", VERDICT, {"systems": ("prod", "prod/replicates/1")}),
    ("topics_changed", VERDICT, {"systems": ("prod", "prod/replicates/1")}),
    ("stale_labels", VERDICT, {"topics": ("t1", "t2"), "documents": 3, "file": "docs.jsonl"}),
    ("cut_off", VERDICT, {"missing": 35, "count": 60}),
    ("upside_down", VERDICT, {"mean": 0.21, "reverse": 0.6}),
    ("few_results", VERDICT, {"most": "1 result", "wanted": 10}),
    ("few_in_baseline", VERDICT, {"most": "1 result", "wanted": 10}),
    ("history_unusable", VERDICT, {"baseline": "prod", "problem": "no manifest"}),
]


def test_each_warning_is_put_into_words_as_somebody_read_them():
    said = []
    for code, verdict, parameters in WARNINGS:
        warned = altered(verdict, warnings=(VerdictWarning(code, parameters=parameters),))
        said += [f"{code}: {warning.message}\n" for warning in worded(warned).warnings]
    golden(Path(__file__).parent / "golden" / "warnings.txt", "".join(said))
    assert {code for code, *_ in WARNINGS} == {*SAID}


def test_a_message_that_is_there_stays():
    warned = altered(VERDICT, warnings=(VerdictWarning("of_a_later_version", "as that version said"),))
    assert worded(warned).warnings == warned.warnings
