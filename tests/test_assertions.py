"""``assert_not_significantly_risky`` and ``check`` on plain mappings and ``TopicScores``."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

from pytest_riskguard import RiskyError, TopicScores, assert_not_significantly_risky, check
from tests.plugin.world import CHURN, GOOD, LOSS, differences

BASELINE = {topic: before for topic, (before, _) in differences({}).items()}


def scores(ranks):
    return {topic: after for topic, (_, after) in differences(ranks).items()}


def test_a_pass_returns_the_verdict():
    verdict = assert_not_significantly_risky(scores(GOOD), BASELINE)
    assert (verdict.outcome, verdict.candidate, verdict.baselines) == ("pass", "candidate", ("baseline",))
    assert (verdict.measure, verdict.inputs) == (None, None)


def test_a_failure_is_an_assertion_error_that_carries_the_verdict():
    with pytest.raises(AssertionError, match=r"\Asignificantly risky: URisk\(alpha=1\) = -0\.3233 ") as raised:
        assert_not_significantly_risky(scores(LOSS), BASELINE)
    assert isinstance(raised.value, RiskyError)
    assert raised.value.verdict.responsible_topics[0].topic == "t07"
    assert raised.value.verdict.gate == "tests/test_assertions.py::" + (
        "test_a_failure_is_an_assertion_error_that_carries_the_verdict"
    )
    assert RiskyError.__module__ == "builtins"
    copy = pickle.loads(pickle.dumps(raised.value))  # noqa: S301 - as process pools send it
    assert str(copy) == str(raised.value)
    assert copy.verdict.to_dict() == raised.value.verdict.to_dict()


@pytest.mark.parametrize(
    ("options", "passes"),
    [
        ({"alpha": 0}, True),
        ({"alpha": 5}, False),
        ({"alpha": 5, "on_churn": "warn"}, True),
        ({"tolerance": 2, "alpha": 5}, True),
    ],
)
def test_options_reach_the_gate(options, passes):
    assert check("not_significantly_risky", scores(CHURN), BASELINE, **options).passed is passes


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"alpha": -1}, ValueError),
        ({"alpha": float("nan")}, ValueError),
        ({"level": 95}, ValueError),
        ({"method": "magic"}, ValueError),
        ({"tradeoff": "smooth", "tolerance": 0.1}, ValueError),
        ({"tradeoff": "smooth", "max_mde": 0.1}, ValueError),
        ({"weights": {**dict.fromkeys(BASELINE, 1.0), "t00": math.nan}}, ValueError),
        ({"weights": {**dict.fromkeys(BASELINE, 1.0), "t00": "2"}}, ValueError),
        ({"weights": {**dict.fromkeys(BASELINE, 1.0), 7: 1.0, "7": 1.0}}, ValueError),
        ({"alhpa": 1}, TypeError),
    ],
)
def test_a_wrong_option_is_an_error_not_a_verdict(options, error):
    with pytest.raises(error):
        assert_not_significantly_risky(scores(GOOD), BASELINE, **options)


@pytest.mark.parametrize(
    ("candidate", "reason"),
    [
        ({**scores(GOOD), "t01": float("nan")}, "bad_scores"),
        ({topic: value for topic, value in scores(GOOD).items() if topic != "t01"}, "topics_differ"),
        ({f"other-{topic}": value for topic, value in scores(GOOD).items()}, "no_common_topic"),
        ({}, "no_common_topic"),
        ({**scores(GOOD), 1: 0.5, "1": 0.5}, "bad_scores"),
    ],
)
def test_scores_that_cannot_be_compared_fail_as_incomparable(candidate, reason):
    with pytest.raises(RiskyError, match=rf"\Aincomparable \({reason}\): ") as raised:
        assert_not_significantly_risky(candidate, BASELINE)
    assert raised.value.verdict.outcome == "incomparable"


def test_topics_may_be_numbers_and_missing_ones_may_score_zero():
    numbered = dict.fromkeys(range(40), 0.5)
    candidate = {str(number): 0.5 for number in range(1, 40)}
    verdict = check("not_significantly_risky", candidate, numbered, missing="zero")
    assert verdict.topics.missing_in_candidate == ("0",)
    assert verdict.topics.count == 40


def test_what_is_no_mapping_is_a_type_error():
    with pytest.raises(TypeError, match="candidate: expected a mapping topic -> score or TopicScores, found list"):
        assert_not_significantly_risky([0.5, 0.4], BASELINE)


def test_different_measures_are_a_wrong_question():
    one = TopicScores("a", "AP", ("1", "2"), np.array([0.5, 0.5]))
    other = TopicScores("b", "nDCG@10", ("1", "2"), np.array([0.5, 0.5]))
    with pytest.raises(ValueError, match="AP"):
        assert_not_significantly_risky(one, other)


def test_the_order_of_topics_changes_nothing():
    forwards = check("not_significantly_risky", scores(CHURN), BASELINE, alpha=5)
    backwards = check(
        "not_significantly_risky", dict(reversed(scores(CHURN).items())), dict(reversed(BASELINE.items())), alpha=5
    )
    assert forwards.to_dict() == backwards.to_dict()
