"""Every warning of a verdict, with its figures."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pytest_riskguard.data.scores import Judged, TopicScores
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.gates.judge import compare
from pytest_riskguard.gates.verdict import VerdictWarning
from pytest_riskguard.gates.warnings import warnings
from tests.gates.conftest import pair, pooled, topic_scores
from tests.strict import gate_of

pytestmark = pytest.mark.usefixtures("few_draws")

NOISE = np.random.default_rng(1).normal(0, 0.1, 300)
NAMES = tuple(f"t{i:05d}" for i in range(60))


def changes(first: Sequence[float], n: int) -> np.ndarray:
    """Differences of which the first are these, and the others 0."""
    return np.append(np.asarray(first, dtype=float), np.zeros(n - len(first)))


def _by_subject(found: Sequence[VerdictWarning]) -> dict[str, dict[str, Any]]:
    """The figures of warnings by what they are about, which is their code unless it stands for several."""
    return {
        str(one.parameters.get("about", one.code)): {k: v for k, v in one.parameters.items() if k != "about"}
        for one in found
    }


def raised(
    differences: Sequence[float] | np.ndarray, *, weights: Sequence[float] = (), **options: Any
) -> dict[str, dict[str, Any]]:
    """The figures of each warning by its code, in order, of a gate on these differences."""
    candidate, baseline = pair(differences, level=0.95)
    topics = None
    if weights:
        topics = Topics(dict.fromkeys(candidate.topics, ""), {}, dict(zip(candidate.topics, weights, strict=True)))
        options["weighted"] = True
    return _of(candidate, baseline, topics=topics, **options)


def _of(
    candidate: TopicScores,
    baseline: TopicScores,
    *,
    topics: Topics | None = None,
    **options: Any,
) -> dict[str, dict[str, Any]]:
    comparison = compare(gate_of("g", **options), candidate, baseline, topics=topics)
    found = warnings(comparison)
    return _by_subject(found)


FEW: dict[str, object] = {}
#: What 30 topics without a change may have missed at tolerance 0.02 and alpha 1.
UNSEEN = {
    "change": "loss",
    "share": pytest.approx(1 - 0.025 ** (1 / 30)),
    "size": pytest.approx(0.01 / (1 - 0.025 ** (1 / 30))),
}
#: Changes of which BCa makes a failure, Student-t does not, and neither, or only the first, does the break-even test.
CHANCE = (-0.9, -0.7, -0.1, -0.05, 0.02, 0.02, -0.05, -0.02)
LOSS = (-0.9, -0.7, -0.2, -0.05, -0.02, -0.02, -0.05, -0.02)


def few(count: int, **more: Any) -> dict[str, Any]:
    return {"topics": NAMES[:count], "needs_student_t": True, "cannot_fail": False, **more}


@pytest.mark.parametrize(
    ("differences", "options", "expected"),
    [
        (np.zeros(30), {}, {"no_variation": {}}),
        (
            np.zeros(30),
            {"kind": "not_inferior", "tolerance": 0.02},
            {"no_variation": {}, "unseen_changes": UNSEEN},
        ),
        (np.zeros(30), {"kind": "not_inferior", "tolerance": 0.12}, {"no_variation": {}}),  # only losses above 0.5
        (np.full(30, -0.1), {}, {"no_variation": {}}),
        (np.full(20, -0.1), {}, {"no_variation": {}, "few_topics": FEW}),
        (
            np.full(30, 0.125),
            {},
            {"no_variation": {}, "significantly_better": {"mean_difference": pytest.approx(0.125)}},
        ),
        (NOISE[:24], {"alpha": 0}, {"few_topics": FEW}),
        (NOISE[:25], {"alpha": 0}, {}),
        (
            changes([-0.3] * 3, 50),
            {"method": "student_t"},
            {"few_changed_topics": few(3, needs_student_t=False, cannot_fail=True)},
        ),
        (changes([-0.3] * 4, 50), {}, {}),
        (changes([-0.3] * 5, 50), {"alpha": 0}, {"few_changed_topics": few(5)}),
        (changes([-0.3] * 6, 50), {"alpha": 0}, {}),
        (
            changes([-0.3], 50),
            {"kind": "not_inferior", "tolerance": 0.05, "method": "student_t"},
            {"few_changed_topics": few(1, needs_student_t=False)},
        ),
        (
            changes([-0.3] * 4, 50),
            {"method": "student_t", "alpha": 0},
            {"few_changed_topics": few(4, needs_student_t=False)},
        ),
        (changes([0.1, 0.2, 0.3, 0.2, 0.1], 50), {"alpha": 0}, {"few_changed_topics": few(5)}),
        (NOISE[:60] * 2 + 0.01, {"alpha": 5, "on_churn": "warn"}, {"churn": {}}),
        (NOISE[:60] * 2 + 0.01, {"alpha": 5}, {}),
        (NOISE[:30], {"kind": "no_topic_collapse"}, {}),
    ],
)
def test_the_warnings_of_a_gate(differences, options, expected):
    found = raised(differences, **options)
    assert found == expected
    assert [*found] == [*expected]


@pytest.mark.parametrize(
    ("differences", "weights", "options", "expected"),
    [
        (NOISE[:30], [20.0] + [1.0] * 29, {}, {"effective": pytest.approx(49**2 / 429), "needed": 10}),
        (NOISE[:10], [3.0] + [1.0] * 9, {}, {"effective": pytest.approx(8.0), "needed": 10}),
        (NOISE[:9], [3.0] + [1.0] * 8, {}, None),  # too few topics without any weights
        (NOISE[:30], [8.0, 8.0] + [1.0] * 28, {}, {"effective": pytest.approx(44**2 / 156), "needed": None}),
        (
            NOISE[:30],
            [8.0, 8.0] + [1.0] * 28,
            {"method": "student_t"},
            {"effective": pytest.approx(44**2 / 156), "needed": None},
        ),
        (NOISE[:30], [1.0] * 30, {}, None),
    ],
)
def test_weights_that_leave_few_topics_are_warned_of(differences, weights, options, expected):
    assert raised(differences, weights=weights, alpha=0, **options).get("few_effective_topics") == expected


def test_intervals_that_disagree_are_shown_with_both_limits_and_the_test_that_decides():
    for differences, decisive in ((CHANCE, "student_t"), (LOSS, "bca")):
        found = raised(changes(differences, 60), alpha=0)
        assert [*found] == ["methods_disagree"]
        comparison = compare(gate_of("g", alpha=0), *pair(changes(differences, 60), level=0.95))
        upper = {interval.method: interval.upper for interval in comparison.ruling.intervals}
        assert upper["bca"] < 0 < upper["student_t"]
        assert found["methods_disagree"] == {
            "method": "bca",
            "limit": upper["bca"],
            "student_t_limit": upper["student_t"],
            "decisive": decisive,
        }
    assert raised(changes(CHANCE, 60), alpha=0, method="student_t") == {}
    three = raised(changes([-0.3] * 3, 50))
    assert [*three] == ["few_changed_topics", "methods_disagree"]
    assert three["few_changed_topics"] == few(3, cannot_fail=True)
    assert three["methods_disagree"]["decisive"] == "student_t"


def test_what_a_run_lacks_and_what_nobody_judged_is_said():
    candidate, baseline = pair(NOISE[:30], level=0.5)
    shorter = TopicScores("candidate", "nDCG@10", candidate.topics[2:], candidate.values[2:], unknown=("x", "y"))
    without = TopicScores("baseline", "nDCG@10", baseline.topics[:-1], baseline.values[:-1])
    half = TopicScores("baseline", "nDCG@10", baseline.topics[:15], baseline.values[:15])
    found = _of(shorter, baseline, missing="zero")
    assert found["missing_topics"] == {"system": "the candidate", "topics": NAMES[:2]}
    assert found["unknown_topics"] == {"topics": ("x", "y")}
    unanswered = {"system": "the baseline", "topics": ("t00029",)}
    assert _of(candidate, without, missing="zero")["missing_topics"] == unanswered
    accepted = {"system": "the baseline", "topics": NAMES[15:29], "count": 30}  # neither side answered the last
    assert _of(replace(candidate, unanswered=NAMES[29:30]), half, missing="zero")["free_wins"] == accepted
    assert _of(candidate, baseline, alpha=0) == {}


@pytest.mark.parametrize(("theirs", "is_said"), [(0.35, True), (0.36, False), (0.9, False), (None, False)])
def test_a_baseline_of_which_little_is_judged_may_have_wrong_ids(theirs, is_said):
    candidate, baseline = pair(changes([0, 0.1], 30), level=0.5)
    candidate = replace(candidate, judged=Judged(30, 30, 0.6))
    baseline = replace(baseline, judged=None if theirs is None else Judged(30, 30, theirs))
    expected = {"system": "the baseline", "share": theirs, "of_candidate": 0.6} if is_said else None
    assert _of(candidate, baseline).get("little_judged") == expected


def pool(*, n: int = 60, seed: int = 4) -> list[TopicScores]:
    """Four systems that are equally good."""
    rng = np.random.default_rng(seed)
    difficulty = rng.uniform(0.3, 0.7, n)
    return [topic_scores(name, difficulty + rng.uniform(-0.2, 0.2, n)) for name in ("new", "a", "b", "c")]


def of_pool(systems: Sequence[TopicScores], **options: Any) -> dict[str, dict[str, Any]]:
    gate = gate_of("g", kind="georisk_not_worse", **options)
    found = warnings(pooled(gate, *systems))
    return _by_subject(found)


@pytest.mark.parametrize(
    ("n", "options", "expected"),
    [
        (24, {}, {"few_topics": {}}),
        (25, {}, {}),
        (25, {"alpha": 1.5}, {"few_topics": {}}),
        (49, {"alpha": 1.5}, {"few_topics": {}}),
        (50, {"alpha": 1.5}, {}),
        (9, {}, {}),
    ],
)
def test_the_warnings_of_a_pool(n, options, expected):
    assert of_pool(pool(n=n), **{"alpha": 1.0, "level": 0.5, **options}) == expected


@pytest.mark.parametrize(("count", "is_said"), [(5, True), (6, False)])
def test_so_few_changes_of_a_pool_may_be_chance(count, is_said):
    _, *baselines = pool()
    candidate = topic_scores("new", baselines[0].values + changes([0.1] * count, 60))
    assert ("few_changed_topics" in of_pool([candidate, *baselines])) is is_said
