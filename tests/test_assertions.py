"""``assert_not_significantly_risky`` and ``check`` on plain mappings and ``TopicScores``."""

import inspect
import math
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pytest_riskguard import (
    RiskyError,
    assert_georisk_not_worse,
    assert_not_significantly_risky,
    assertions,
    check,
)
from pytest_riskguard.data import TopicScores
from pytest_riskguard.gates.kinds import KINDS, options_of
from pytest_riskguard.plugin.fixture import Riskguard
from tests.plugin.world import CHURN, GOOD, LOSS, differences

BASELINE = {topic: before for topic, (before, _) in differences({}).items()}


def scores(ranks):
    return {topic: after for topic, (_, after) in differences(ranks).items()}


def test_a_pass_returns_the_verdict(monkeypatch):
    monkeypatch.setenv("PYTEST_CURRENT_TEST", "a.py::b[c (d)] (call)")
    verdict = assert_not_significantly_risky(scores(GOOD), BASELINE)
    assert (verdict.outcome, verdict.candidate, verdict.baselines) == ("pass", "candidate", ("baseline",))
    assert (verdict.measure, verdict.inputs, verdict.gate) == (None, None, "a.py::b[c (d)]")


def test_a_failure_is_an_assertion_error_that_carries_the_verdict():
    with pytest.raises(AssertionError, match=r"\Athe mean fell 0\.50 -> 0\.34; ") as raised:
        assert_not_significantly_risky(scores(LOSS), BASELINE)
    assert isinstance(raised.value, RiskyError)
    assert raised.value.verdict.responsible_topics[0].topic == "t07"
    assert raised.value.verdict.gate == "tests/test_assertions.py::" + (
        "test_a_failure_is_an_assertion_error_that_carries_the_verdict"
    )
    assert "--riskguard-report" not in str(raised.value)  # which knows nothing of an assertion
    assert RiskyError.__module__ == "builtins"
    copy = pickle.loads(pickle.dumps(raised.value))  # noqa: S301 - as process pools send it
    assert str(copy) == str(raised.value)
    assert copy.verdict.to_dict() == raised.value.verdict.to_dict()


@pytest.mark.parametrize(
    ("options", "passes"),
    [
        ({"alpha": 5}, True),
        ({"alpha": 5, "on_churn": "fail"}, False),
        ({"tolerance": 2, "alpha": 5, "on_churn": "fail"}, True),
    ],
)
def test_options_reach_the_gate(options, passes):
    assert check("not_significantly_risky", scores(CHURN), BASELINE, **options).passed is passes


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"alpha": -1}, ValueError),
        ({"method": "magic"}, ValueError),
        ({"weights": {**dict.fromkeys(BASELINE, 1.0), "t00": math.nan}}, ValueError),
        ({"weights": {**dict.fromkeys(BASELINE, 1.0), "t00": "2"}}, ValueError),
        ({"weights": dict.fromkeys([*BASELINE, 7, "7"], 1.0)}, ValueError),
        ({"clusters": dict.fromkeys([*BASELINE, 7, "7"], "a")}, ValueError),
        ({"clusters": dict.fromkeys(BASELINE, 1)}, TypeError),
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
        ({}, "bad_scores"),
        ({**scores(GOOD), 1: 0.5, "1": 0.5}, "bad_scores"),
    ],
)
def test_scores_that_cannot_be_compared_fail_as_incomparable(candidate, reason):
    with pytest.raises(RiskyError, match=rf"\Acannot be compared: .* \({reason}\)\n") as raised:
        assert_not_significantly_risky(candidate, BASELINE)
    assert raised.value.verdict.outcome == "incomparable"


def test_topics_may_be_numbers_and_missing_ones_may_score_zero():
    numbered: dict[Any, float] = dict.fromkeys(range(40), 0.5)
    candidate = {str(number): 0.5 for number in range(1, 40)}
    verdict = check("not_significantly_risky", candidate, numbered, missing="zero")
    assert verdict.topics.missing_in_candidate == ("0",)
    assert verdict.topics.count == 40


def test_what_is_no_mapping_is_a_type_error():
    with pytest.raises(TypeError, match=r"candidate: expected rows with named fields, .* found 0.5 \(float\)"):
        assert_not_significantly_risky([0.5, 0.4], BASELINE)
    with pytest.raises(
        TypeError, match=r"candidate: expected scores \(a mapping topic -> score, .* found 0.5 \(float\)"
    ):
        assert_not_significantly_risky(0.5, BASELINE)
    with pytest.raises(TypeError, match=r"^replicate 1: expected scores"):
        check("not_significantly_risky", BASELINE, BASELINE, replicates=[0.5])
    with pytest.raises(TypeError, match=r"baselines: expected a mapping name -> scores .*, found float"):
        assert_georisk_not_worse(BASELINE, 0.5)


@pytest.mark.parametrize("kind", KINDS)
def test_assertions_take_every_option_of_their_kind(kind):
    options = options_of(KINDS[kind])
    in_assertions = {name for name in options if options[name].in_assertions}
    for function, offered in (
        (getattr(assertions, f"assert_{kind}"), in_assertions),
        (getattr(Riskguard, f"assert_{kind}"), set(options)),
    ):
        parameters = inspect.signature(function).parameters
        assert set(parameters) & set(options) == offered
        assert not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
        for name in offered:
            assert parameters[name].default == options[name].default
            assert f"\n{name} : " in function.__doc__
            assert options[name].help in function.__doc__
        assert function.__name__ == f"assert_{kind}"
        asks_about_means = not (KINDS[kind].is_pool or KINDS[kind].by_topic)
        assert ({"weights", "clusters", "replicates"} <= set(parameters)) is (
            asks_about_means and offered != set(options)
        )


def test_nothing_but_the_kinds_has_an_assertion():
    for name in ("not_inferior", "assert_nothing"):
        with pytest.raises(AttributeError, match=f"^module '{assertions.__name__}' has no attribute '{name}'$"):
            getattr(assertions, name)


@pytest.mark.parametrize("option", ["slice", "weighted"])
def test_what_needs_a_topics_file_is_not_an_option_of_plain_scores(option):
    forbidden: dict[str, Any] = {option: "kind=code"}
    with pytest.raises(TypeError, match=f"{option}: it needs a topics file, which plain scores do not have"):
        check("not_significantly_risky", scores(GOOD), BASELINE, **forbidden)


@pytest.mark.parametrize("kind", ["not_significantly_risky", "no_topic_collapse"])
def test_what_plain_scores_cannot_have_may_be_given_with_its_default(kind):
    defaults: dict[str, Any] = {"slice": None, "weighted": False}
    assert check(kind, scores(GOOD), BASELINE, **defaults).outcome == "pass"


def test_replicates_are_for_kinds_that_judge_them():
    with pytest.raises(ValueError, match="replicates have no meaning for no_topic_collapse: leave them out"):
        check("no_topic_collapse", scores(GOOD), BASELINE, replicates=[BASELINE])
    with pytest.raises(ValueError, match="clusters have no meaning for no_topic_collapse: leave them out"):
        check("no_topic_collapse", scores(GOOD), BASELINE, clusters=dict.fromkeys(BASELINE, "a"))
    with pytest.raises(ValueError, match="weighted has no meaning for no_topic_collapse: leave it out"):
        check("no_topic_collapse", scores(GOOD), BASELINE, weights=dict.fromkeys(BASELINE, 1.0))


def test_clusters_of_plain_scores_are_those_of_a_topics_file():
    topics = list(BASELINE)
    together = {topic: f"need {place // 2}" for place, topic in enumerate(topics)}
    verdict = assert_not_significantly_risky(scores(GOOD), BASELINE, clusters=together)
    assert verdict.topics.clusters == len(topics) // 2


def test_wrong_options_of_an_assertion_are_named():
    with pytest.raises(TypeError, match="unknown option 'alhpa'; did you mean 'alpha'"):
        assert_not_significantly_risky(scores(GOOD), BASELINE, alhpa=1)
    for error in (TypeError, ValueError):
        with pytest.raises(error, match="level: expected a number between"):
            assert_not_significantly_risky(scores(GOOD), BASELINE, level="high")
    with pytest.raises(ValueError, match="max_loss has no meaning for georisk_not_worse"):
        assert_georisk_not_worse(scores(GOOD), {"prod": BASELINE}, max_loss=0.5)


def test_a_gate_that_no_scores_could_fail_is_refused():
    candidate, baseline = (
        TopicScores(name, "AP", tuple(sorted(BASELINE)), np.full(len(BASELINE), 0.5))
        for name in ("candidate", "baseline")
    )
    with pytest.raises(ValueError, match=r"tolerance: 2 is at least the most that can be lost \(2\)"):
        assert_not_significantly_risky(candidate, baseline, tolerance=2)
    with pytest.raises(ValueError, match="'NumQ' counts topics: no ranking is better or worse"):
        assert_not_significantly_risky(replace(candidate, measure="NumQ"), baseline)
    own = replace(candidate, measure="clicks")  # may be anything
    assert assert_not_significantly_risky(own, replace(baseline, measure="clicks"), tolerance=2).passed
