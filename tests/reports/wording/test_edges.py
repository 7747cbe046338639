"""Sentences at their edges: one query, no loss, a tolerance, replicates, changes too small for two decimals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_riskguard.gates.findings import Explanation, Power, Slice
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import gate_of
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.card import card
from pytest_riskguard.reports.wording import worded
from pytest_riskguard.reports.wording.sentences import from_to
from tests.gates.conftest import judge_pool, pair, topic_scores
from tests.verdicts import altered

LEVEL = 0.5
ONE_LOSS = np.concatenate([[-0.4], np.zeros(29)])


def asked(differences: Any, **options: Any) -> Verdict:
    return worded(judge(gate_of("g", **options), *pair(np.asarray(differences), level=LEVEL)))


def with_replicates(differences: Any, *noise: Any, alpha: float = 1) -> Verdict:
    candidate, baseline = pair(np.asarray(differences), level=LEVEL)
    replicates = [topic_scores(f"r{place}", baseline.values + each) for place, each in enumerate(noise)]
    return worded(judge(gate_of("g", alpha=alpha), candidate, baseline, replicates=replicates))


def test_a_pass_on_one_lost_query_that_no_gate_could_fail_is_weak():
    shown = card(asked(ONE_LOSS, alpha=1))
    assert shown.tone == "caution"
    assert "This pass is weak: URisk is -0.03." in shown.paragraph
    assert card(asked(-ONE_LOSS, alpha=1)).tone == "go"
    assert card(asked(ONE_LOSS, alpha=1, tolerance=0.1)).tone == "go"


def test_a_risk_that_only_the_tolerance_lets_pass_is_called_tolerated():
    fell = np.tile([-0.03, -0.05], 20)
    assert card(asked(fell, alpha=0, tolerance=0.1)).line == (
        "the mean fell by 0.04, less than the tolerated 0.1; 40 of 40 queries lost"
    )
    assert card(asked(-fell, alpha=0, tolerance=0.1)).line.startswith("the mean rose 0.50 -> 0.54, more than chance ")
    rose = np.tile([-0.05, 0.2, 0.1, 0.0], 15)  # the mean clearly, URisk not: losses count six times
    assert card(asked(rose, alpha=0)).line.startswith("the mean rose 0.50 -> 0.56, more than chance explains")
    assert card(asked(rose, alpha=5)).line == card(asked(rose, alpha=0)).line
    around = np.tile([-0.05, 0.05], 20)
    assert card(asked(around, alpha=0, tolerance=0.1)).line == (
        "no sign of harm; 20 of 40 queries lost, 20 gained, the mean stayed at 0.50"
    )


@pytest.mark.parametrize(
    ("shift", "line"), [(-0.004, "not shown to be riskier than prod; "), (0.004, "no riskier than prod; ")]
)
def test_a_candidate_that_looks_riskier_is_not_called_less_risky(shift, line):
    rng = np.random.default_rng(5)
    base = rng.uniform(0.3, 0.7, 60)
    noise = rng.normal(0, 0.05, 60)
    prod, bm25 = topic_scores("prod", base), topic_scores("bm25", base + rng.normal(0, 0.05, 60))
    candidate = topic_scores("candidate", base + noise - noise.mean() + shift)
    verdict = worded(judge_pool(gate_of("g", kind="georisk_not_worse", alpha=0), candidate, [prod, bm25]))
    assert verdict.outcome == "pass"
    assert ((verdict.estimates.georisk_difference or 0) < 0) == (shift < 0)
    assert card(verdict).line.startswith(line)


def test_tiny_differences_of_georisk_and_of_means_are_not_printed_as_equal():
    base = np.linspace(0.3, 0.7, 30)
    prod, bm25 = topic_scores("prod", base), topic_scores("bm25", base[::-1].copy())
    verdict = worded(
        judge_pool(gate_of("g", kind="georisk_not_worse"), topic_scores("candidate", base - 1e-8), [prod, bm25])
    )
    text = card(verdict).paragraph
    assert "The mean is 1.0e-08 below that of prod." in text
    assert "By GeoRisk the candidate is 5.1e-09 riskier than prod" in text


def test_wins_are_the_reason_only_where_others_lost():
    few = card(asked([0.2] + [0.0] * 4)).paragraph
    assert few.startswith("1 of 5 queries improved and 0 got worse. The mean rose (0.50 -> 0.54). ")
    assert "because 1 other query improved" in card(asked([0.2, -0.1] + [0.0] * 3)).paragraph


def test_one_loss_is_the_only_one():
    verdict = asked(ONE_LOSS, kind="no_topic_collapse", max_loss=0.5)
    assert "lost more than 0.50; the only loss is t00000 by 0.40." in card(verdict).paragraph


@pytest.mark.parametrize(("limit", "printed"), [(0.4, "0.40"), (0.3, "0.30"), (0.125, "0.125"), (0.001, "0.001")])
def test_a_limit_is_the_one_that_was_given(limit, printed):
    assert (
        f"none may lose more than {printed}"
        in card(asked([-0.45, *ONE_LOSS[1:]], kind="no_topic_collapse", max_loss=limit)).line
    )


def test_a_win_that_is_inconclusive_is_not_said_to_be_insignificant():
    verdict = asked(np.tile([0.1, 0.3], 15), alpha=1, max_mde=0.001)
    assert verdict.reason == "too_weak"
    assert "Nothing significant" not in card(verdict).paragraph
    assert "No significant risk was found" in card(verdict).paragraph


def test_an_interval_below_the_bound_is_a_surprise_only_above_it():
    text = card(asked(np.full(30, -1e-8), alpha=1, tolerance=0)).paragraph
    assert "URisk is -2.0e-08, and its interval lies below the bound." in text


def test_replicates_alone_make_no_candidate_better():
    rng = np.random.default_rng(1)
    same = with_replicates(np.zeros(30), *rng.normal(0, 0.05, (3, 30)))
    assert same.outcome == "pass"
    assert card(same).line == "nothing changed; 30 queries score as before"
    assert not any(warning.code == "significantly_better" for warning in same.warnings)
    assert "URisk is +0.00, against" in card(same).paragraph


def test_a_weak_pass_with_replicates_names_the_excess():
    rng = np.random.default_rng(2)
    changes, noise = rng.normal(0, 0.1, 40), rng.normal(0, 0.02, (3, 40))
    noise -= noise.mean(axis=1, keepdims=True)
    verdict = with_replicates(changes - changes.mean() - 0.02, *noise, alpha=0)
    assert verdict.outcome == "pass"
    assert "This pass is weak: the excess of URisk is -" in card(verdict).paragraph


def test_two_pivots_are_alternatives():
    verdict = altered(asked(ONE_LOSS, alpha=1), outcome="fail", explanation=Explanation("", ("t1", "t2")))
    assert "Without either t1 or t2 it would pass." in card(verdict).paragraph


def test_slices_too_small_for_a_test_are_not_counted_as_risky():
    tested = [Slice("kind", value, 12, 0, 12, -1, -2, -2, -1, 1e-5, 0, True) for value in "ab"]
    small = Slice("kind", "c", 4, 4, 0, 1, 1, None, None, None, 0, None)
    verdict = asked(np.tile([-0.05, 0.05], 20), alpha=0)
    one = card(altered(verdict, explanation=Explanation("", slices=(*tested, small)))).paragraph
    assert "Each of the 2 slices with at least 10 queries is significantly risky on its own." in one
    two = card(altered(verdict, explanation=Explanation("", slices=tuple(tested)))).paragraph
    assert "Each of the 2 slices is significantly risky on its own." in two


def test_a_pass_over_a_pool_that_leans_down_is_weak():
    rng = np.random.default_rng(3)
    base = rng.uniform(0.3, 0.7, 60)
    systems = [topic_scores(name, base + rng.normal(0, 0.05, 60)) for name in ("prod", "bm25")]
    candidate = topic_scores("new", base + rng.normal(-0.018, 0.05, 60))
    weak = worded(judge_pool(gate_of("g", kind="georisk_not_worse", alpha=1), candidate, systems))
    assert f"weak: the difference of GeoRisk is {weak.estimates.georisk_difference:.3f}." in card(weak).paragraph


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        (0.58, 0.65, "0.58 -> 0.65"),
        (0.5356, 0.5352, "0.5356 -> 0.5352"),
        (0.5446, 0.5456, "0.545 -> 0.546"),
        (0.5, 0.5, "0.50 -> 0.50"),
        (0.5, 0.5 - 1e-9, "0.5000 -> 0.5000"),
        (1.0, 0.0, "1.00 -> 0.00"),
    ],
)
def test_rounding_hardly_changes_how_far_a_score_moved(before, after, text):
    assert from_to(before, after) == text


def test_the_rate_of_failing_is_an_approximation():
    verdict = altered(asked(np.tile([-0.3, 0.32, 0.0], 20), alpha=5, on_churn="fail"), power=Power(None, None, 0.616))
    assert verdict.reason == "churn"
    assert "would fail in about 62% of cases." in card(verdict).paragraph
    almost = altered(verdict, power=Power(None, None, 0.9999))
    assert "would fail in over 99% of cases." in card(almost).paragraph
