"""A gate over a pool: the rule, the reference, topics' parts, clusters, churn, and what the verdict says."""

import math
from typing import Any

import numpy as np
import pytest

from pytest_riskguard.data import TopicScores
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.errors import DataError
from pytest_riskguard.gates.explain import explain
from pytest_riskguard.gates.judge import compare
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.gates.pool import PoolComparison
from pytest_riskguard.gates.slices import slices
from pytest_riskguard.gates.verdict import Family, Verdict
from pytest_riskguard.gates.warnings import warnings
from pytest_riskguard.risk import georisk, topic_contributions, zrisk
from tests.gates.conftest import judge_pool, pooled, topic_scores, without
from tests.strict import gate_of

pytestmark = pytest.mark.usefixtures("few_draws")

X = np.random.default_rng(9).uniform(0.2, 0.8, (5, 12))
#: The first system has most of all scores, and the first topic has a score of every system: 10 x 3/12 is expected.
LOPSIDED = np.array([[1.0] * 10] + [[1.0] + [0.0] * 9] * 2)


def gate(**options: Any) -> Gate:
    return gate_of("g", kind="georisk_not_worse", **options)


def systems(seed: int, *, shift: float = 0.0, n: int = 40, count: int = 4) -> list[TopicScores]:
    """A pool of equal systems around common difficulties; the first is moved by so much."""
    rng = np.random.default_rng(seed)
    difficulty = rng.beta(2, 3, n)
    values = np.clip(difficulty + rng.normal(0, 0.15, (count, n)), 0.001, 1)
    values[0] = np.clip(values[0] + shift, 0, 1)
    return [topic_scores(f"s{i}", row) for i, row in enumerate(values)]


def judged(pool: list[TopicScores], *, topics: Topics | None = None, report: bool = False, **options) -> Verdict:
    return judge_pool(gate(**options), pool[0], pool[1:], topics=topics, report=report)


def compared(x: np.ndarray, *, topics: Topics | None = None, **options: Any) -> PoolComparison:
    """The answer alone, for systems s0, s1, ...; a whole verdict that fails leaves topics out."""
    return pooled(gate(**options), *(topic_scores(f"s{i}", row) for i, row in enumerate(x)), topics=topics)


def changed(row: int, column: int, value: float) -> np.ndarray:
    x = X.copy()
    x[row, column] = value
    return x


# ---- which systems are compared, and how


@pytest.mark.parametrize(
    ("x", "tradeoff", "message"),
    [
        (
            changed(2, 7, -0.25),
            "linear",
            "s2: the score of topic 't00007' is -0.25, expected scores that are not negative for GeoRisk",
        ),
        (
            changed(1, 3, 1.5),
            "smooth",
            "s1: the score of topic 't00003' is 1.5, expected scores from 0 to 1, and within 1 of what the pool "
            "leads to expect (tradeoff: smooth) for GeoRisk",
        ),
        (
            LOPSIDED,
            "smooth",
            "s0: the score of topic 't00000' is 1, expected scores from 0 to 1, and within 1 of what the pool "
            "leads to expect (tradeoff: smooth) for GeoRisk",
        ),
    ],
)
def test_scores_that_georisk_is_not_defined_for_are_named(x, tradeoff, message):
    with pytest.raises(DataError) as refused:
        compared(x, tradeoff=tradeoff)
    assert str(refused.value) == message
    assert refused.value.reason == "bad_scores"


def test_wrong_questions_are_errors():
    pool = systems(11)
    other = TopicScores("x", "AP", pool[1].topics, pool[1].values)
    for asked, baselines, message in (
        (gate(), [], "at least one baseline"),
        (gate(), [other], r"expected scores in one measure, found nDCG@10 \(s0\), AP \(x\)"),
        (gate(), [pool[1], pool[2], pool[1]], "two baselines of a pool are called 's1'"),
        (gate(reference="z"), pool[1:3], "reference: 'z' is not a baseline of this gate; expected s1, s2"),
        (gate(reference="s0"), pool[1:3], "reference: 's0' is not a baseline of this gate; expected s1, s2"),
    ):
        with pytest.raises(ValueError, match=message):
            judge_pool(asked, pool[0], baselines)


@pytest.mark.parametrize(
    ("options", "row"), [({"alpha": 5.0}, 1), ({"tradeoff": "smooth", "reference": "s2"}, 2), ({"alpha": 0.0}, 1)]
)
def test_figures_are_those_of_the_kernels_for_the_reference(options, row):
    pool = systems(4)
    verdict = judged(pool, **options)
    x = np.array([system.values for system in pool])
    asked: dict[str, Any] = {"alpha": verdict.alpha, "kind": verdict.tradeoff}
    e, names = verdict.estimates, ("s0", "s1", "s2", "s3")
    assert verdict.baseline == names[row]
    assert e.georisk == dict(zip(names, georisk(x, **asked), strict=True))
    assert e.zrisk == dict(zip(names, zrisk(x, **asked), strict=True))
    assert e.georisk_difference == pytest.approx(e.georisk["s0"] - e.georisk[names[row]], abs=1e-14)
    assert e.baseline_mean == pytest.approx(pool[row].values.mean())
    comparison = pooled(verdict.asked, *pool)
    assert math.fsum(comparison.contributions) == pytest.approx(e.georisk_difference, abs=1e-14)
    at_0 = georisk(x, alpha=0.0).max()
    assert comparison.largest == (georisk(x, **asked).max(), at_0)


def test_the_rule_asks_two_intervals_at_one_level_and_a_bound_that_rounding_may_miss():
    comparison = compared(X[:3], alpha=1.0, level=0.6, tolerance=0.01, method="percentile")
    assert comparison.pair.gate.tolerance == 0  # that of the gate is in units of GeoRisk
    ruling = comparison.ruling
    assert {one.level for one in ruling.intervals} == {0.6}
    assert ruling.bound == pytest.approx(-0.01 - 1e-12 * georisk(X[:3], alpha=1.0).max(), abs=1e-16)
    p = [ruling.difference.p_value(method=method, bound=ruling.bound) for method in ("percentile", "student_t")]
    assert ruling.p_value == max(p)


@pytest.mark.parametrize(("seed", "on_churn"), [(0, "fail"), (1, "warn")])
def test_a_gate_fails_exactly_where_its_p_value_says_so(seed, on_churn):
    pool = systems(seed, shift=-0.05)
    options: dict[str, Any] = {"alpha": 5.0, "on_churn": on_churn}
    p = pooled(gate(**options), *pool).p_value
    assert p is not None
    for level in (0.5, 0.8):
        assert pooled(gate(level=level, **options), *pool).ruling.lets_through == (p > 1 - level)
    verdict = judged(pool, **options)
    assert verdict.estimates.decision_p_value == p
    assert (verdict.outcome == "fail") == (p <= 0.05)


@pytest.mark.parametrize("n", [20, 40])
def test_both_intervals_must_fail(n):
    for seed in range(3):
        comparison = pooled(gate(alpha=1.0, level=0.8), *systems(seed, n=n, shift=-0.04))
        uppers = {interval.method: interval.upper for interval in comparison.ruling.intervals}
        assert (comparison.answer[0] == "pass") == (max(uppers["bca"], uppers["student_t"]) >= -1e-12)
        assert ("few_topics" in [one.code for one in warnings(comparison)]) == (n == 20)


@pytest.mark.parametrize("options", [{"on_churn": "warn"}, {"tradeoff": "smooth", "reference": "s2"}])
def test_a_pool_without_some_topics_is_the_same_question(options):
    comparison = compared(X, level=0.99, **options)
    for places in ([0, 5], [3]):
        passes, limit = comparison.without(np.array(places))
        left = compared(np.delete(X, places, axis=1), level=0.99, **options)
        assert (limit(), passes) == (left.deciding.upper, left.ruling.lets_through)


# ---- what the answer is


def test_a_pass_says_nothing_where_losses_weigh_so_much_that_no_georisk_is_left():
    asked: list[dict[str, Any]] = [{}, {"max_mde": 0.9}]
    for options in asked:
        verdict = judged(systems(12), alpha=1e5, **options)
        assert (verdict.outcome, verdict.reason) == ("inconclusive", "too_weak")


def test_churn_may_only_warn():
    rng = np.random.default_rng(0)
    difficulty = rng.beta(2, 2, 120) * 0.6 + 0.2
    pool = [difficulty + rng.normal(0, 0.01, 120) for _ in range(4)]
    pool[0] = difficulty + 0.15 * rng.choice([-1.0, 1.0], 120)
    scores = [topic_scores(f"s{i}", values) for i, values in enumerate(pool)]
    verdict = judged(scores, alpha=10.0)
    assert (verdict.outcome, verdict.reason) == ("fail", "churn")
    warned = judged(scores, alpha=10.0, on_churn="warn")
    assert (warned.outcome, warned.reason) == ("pass", None)
    assert "churn" in [notice.code for notice in warned.warnings]
    assert judged(scores, alpha=0.0).outcome == "pass"
    plain, asked = (compared(X, alpha=a, tolerance=t).ruling for a, t in ((3.0, 0.1), (0.0, 0.0)))
    assert plain.plain.p_value == asked.p_value


def test_a_candidate_that_is_its_reference_does_not_differ():
    pool = systems(7)
    pool[0] = pool[1]
    verdict = judged(pool, alpha=5.0)
    assert verdict.outcome == "pass"
    assert next(iter(verdict.estimates.georisk)) == "s1 (candidate)"
    assert [(i.lower, i.upper) for i in verdict.intervals] == [(0, 0)] * 3
    assert [notice.code for notice in verdict.warnings][:1] == ["no_variation"]


def test_fewer_than_ten_topics_are_inconclusive_and_one_is_not_computed():
    for n in (1, 2, 9):
        verdict = judged(systems(8, n=n), alpha=5.0)
        assert (verdict.outcome, verdict.reason) == ("inconclusive", "too_few_topics")
        assert (verdict.estimates.georisk_difference, verdict.estimates.flip_set) == (None, None)
        assert verdict.estimates.georisk is not None
    assert judged(systems(8, n=10), alpha=5.0).reason != "too_few_topics"


@pytest.mark.parametrize("on_churn", ["fail", "warn"])
def test_a_gate_that_could_not_have_seen_the_loss_is_inconclusive(on_churn):
    pool = systems(14)

    def seen(**options: Any) -> float:
        return judged(pool, **options).power.minimum_detectable_effect or 0.0

    effect = seen(on_churn=on_churn)
    assert judged(pool, on_churn=on_churn, max_mde=effect * 1.01).outcome == "pass"
    assert judged(pool, on_churn=on_churn, max_mde=effect * 0.99).reason == "too_weak"
    tolerant: dict[str, Any] = {"alpha": 5.0, "tolerance": 0.2}
    at_alpha, at_0 = seen(**tolerant), seen(alpha=0.0)
    assert at_alpha == pytest.approx(0.2 + seen(alpha=5.0))
    assert seen(**tolerant, on_churn=on_churn) == (at_alpha if on_churn == "fail" else max(at_alpha, at_0))


def test_what_is_asked_of_a_pool_is_what_the_verdict_has():
    pool = systems(14, n=12, count=3)
    topics = Topics({}, {topic: {"half": "xy"[place % 2]} for place, topic in enumerate(pool[0].topics)})
    family = Family("holm", 2, 0.6, 0.9)
    asked = gate(alpha=2.0, level=0.5)
    verdict = judge_pool(asked, pool[0], pool[1:], family=family, topics=topics, report=True)
    assert (verdict.outcome, verdict.reason, verdict.family) == ("pass", None, family)
    assert [part.value for part in verdict.slices] == ["x", "y"]
    (decisive,) = [interval for interval in verdict.intervals if interval.decisive]
    assert decisive.level == pytest.approx(0.6)
    assert verdict.estimates.flip_set == ()
    assert verdict.exhibits is not None
    at = verdict.exhibits.alphas.index(2.0)
    x = np.array([system.values for system in pool])
    assert [values[at] for values in verdict.exhibits.curves.values()] == georisk(x, alpha=2.0).tolist()
    assert judged(pool).exhibits is None


def test_topics_that_the_candidate_lacks_are_named():
    pool = systems(10)
    pool[0] = without(pool[0], ["t00003"])
    assert judged(pool, missing="zero").topics.missing_in_candidate == ("t00003",)


# ---- topics


def normal(z: float) -> float:
    """Phi."""
    return math.erfc(-z / math.sqrt(2)) / 2


@pytest.mark.parametrize("options", [{"alpha": 5.0}, {"alpha": 0.0}, {"tradeoff": "smooth"}])
@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_a_topics_part_is_that_of_the_mean_score_and_that_of_the_shape(options, scale):
    """sqrt(m1 P1) - sqrt(m2 P2) = (m1 - m2)/(sqrt(m1) + sqrt(m2)) mean(sqrt P) + (P1 - P2)/(...) mean(sqrt m)."""
    x = np.random.default_rng(2).uniform(0.1, 0.9, (3, 15)) * scale
    comparison = compared(x, reference="s2", **options)
    own = comparison.gate
    part = topic_contributions(x, alpha=own.alpha, kind=own.tradeoff)[[0, 2]] / 15
    mean, z = x[[0, 2]].mean(axis=1), part.sum(axis=1)
    p = np.array([normal(value) for value in z])
    by_score = (x[0] - x[2]) / 15 / np.sqrt(mean).sum() * np.sqrt(p).mean()
    slope = (p[0] - p[1]) / (z[0] - z[1])
    by_shape = (part[0] - part[1]) * slope / np.sqrt(p).sum() * np.sqrt(mean).mean()
    assert comparison.contributions == pytest.approx(by_score + by_shape, abs=1e-13)


def test_shares_of_the_loss_are_those_of_the_topics_that_lost():
    """A topic that won may have a negative part, since it counts by what the pool expects of it."""
    x = np.random.default_rng(0).uniform(0.1, 0.9, (4, 15))
    x[0, :8] = x[3, :8] + np.linspace(0.001, 0.01, 8)
    comparison = compared(x, reference="s3", alpha=5.0)
    assert any(comparison.parts[comparison.pair.differences > 0] < 0)
    losers = explain(comparison).responsible_topics
    assert math.fsum(topic.share for topic in losers) == pytest.approx(1)


def test_systems_whose_shapes_are_all_but_the_same_have_the_slope_at_their_middle():
    base = np.random.default_rng(4).uniform(0.2, 0.8, 12)
    x = np.array([base, base[::-1], base])
    x[0, 0] += 1e-6
    parts = compared(x, alpha=1.0, reference="s2").contributions
    values = georisk(x, alpha=1.0)
    assert math.fsum(parts) == pytest.approx(values[0] - values[2], rel=1e-6)
    assert abs(math.fsum(parts)) > 1e-8


def test_systems_without_any_score_have_no_part_in_anything():
    x = np.zeros((3, 12))
    x[2] = 0.5
    assert compared(x, alpha=1.0).contributions.tolist() == [0.0] * 12


@pytest.mark.parametrize("weighing", [{"alpha": 2.0}, {"tradeoff": "smooth"}])
def test_topics_of_a_pool_have_their_part_and_their_slices(weighing):
    x = np.random.default_rng(6).uniform(0.2, 0.8, (3, 24))
    topics = Topics({}, {f"t{i:05d}": {"half": "ab"[i % 2]} for i in range(24)})
    options: dict[str, Any] = {**weighing, "method": "percentile", "level": 0.6}
    comparison = compared(x, topics=topics, reference="s2", **options)
    found = explain(comparison)
    losers = found.responsible_topics
    assert {row.topic for row in losers} == {f"t{i:05d}" for i in np.flatnonzero(x[0] < x[2])}
    for row in losers:
        assert row.contribution == pytest.approx(comparison.contributions[int(row.topic[1:])], abs=1e-15)
    pair = compare(gate_of("g", **options), topic_scores("s0", x[0]), topic_scores("s2", x[2]), topics=topics)
    assert found.slices == slices(pair, [row.topic for row in losers])


# ---- topics that hang together

NEEDS, SIZE = 20, 4
CLUSTERS = np.repeat(np.arange(NEEDS), SIZE)


def needs(seed: int = 0, *, loss: float = 0.0) -> list[TopicScores]:
    """A candidate and two baselines whose scores differ by need, hardly by topic."""
    rng = np.random.default_rng(seed)
    of_needs = rng.uniform(0.3, 0.7, (3, NEEDS))
    of_needs[0] -= loss
    scores = np.clip(np.repeat(of_needs, SIZE, axis=1) + 0.01 * rng.random((3, NEEDS * SIZE)), 0, 1)
    return [topic_scores(f"s{i}", row) for i, row in enumerate(scores)]


def in_clusters(clusters: np.ndarray = CLUSTERS) -> Topics:
    return Topics({}, {f"t{i:05d}": {"cluster": str(number)} for i, number in enumerate(clusters)})


@pytest.mark.parametrize(
    ("alpha", "row", "clusters"), [(1.0, 1, CLUSTERS), (5.0, 2, np.minimum(np.arange(NEEDS * SIZE) // 3, 19))]
)
def test_the_standard_error_is_that_of_the_jackknife_over_clusters(alpha, row, clusters):
    pool, asked = needs(), gate(alpha=alpha, reference=f"s{row}")
    ruling = pooled(asked, *pool, topics=in_clusters(clusters)).ruling
    found = ruling.difference
    scores = np.array([system.values for system in pool])
    rests = [georisk(scores[:, clusters != cluster], alpha=alpha) for cluster in range(NEEDS)]
    left = np.array([values[0] - values[row] for values in rests])
    error = np.sqrt((NEEDS - 1) / NEEDS * np.sum((left - left.mean()) ** 2))
    assert found.standard_error == pytest.approx(error, rel=1e-9)
    assert found.left_out.size == ruling.units == NEEDS
    assert found.standard_error > pooled(asked, *pool).ruling.difference.standard_error


@pytest.mark.slow
def test_a_loss_of_few_needs_fails_only_as_many_topics():
    """What fails as 80 topics passes as the 20 needs that they are, and 9 clusters decide nothing."""
    both = (
        (judged(pool, topics=in_clusters()), judged(pool), pool)
        for pool in (needs(seed, loss=0.04) for seed in range(50))
    )
    verdict, alone, pool = next(one for one in both if (one[0].outcome, one[1].outcome) == ("pass", "fail"))
    assert verdict.topics.clusters == NEEDS
    assert verdict.estimates.georisk_difference == alone.estimates.georisk_difference
    assert (verdict.power.minimum_detectable_effect or 0) > (alone.power.minimum_detectable_effect or 1)
    assert judged(pool, topics=in_clusters(np.arange(NEEDS * SIZE) % 9)).reason == "too_few_topics"
