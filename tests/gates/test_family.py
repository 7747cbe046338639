"""Several gates judged together: levels, adjusted p-values and intervals say the same."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pytest_riskguard.gates.families import adjusted_by_draws, in_families
from pytest_riskguard.gates.judge import compare, judge
from pytest_riskguard.gates.ruling import Ruling
from pytest_riskguard.gates.verdict import Family
from pytest_riskguard.inference.families import joint_flips, pooled_draws
from tests.gates.conftest import pair, pooled
from tests.strict import gate_of


@pytest.mark.parametrize("on_churn", ["fail", "warn"])
@pytest.mark.parametrize("seed", range(3))
def test_a_gate_fails_exactly_where_its_adjusted_p_value_and_its_interval_say_so(seed, on_churn):
    rng = np.random.default_rng(seed)
    pairs = [pair(rng.normal(-0.06 * (i % 4) / 3, 0.15, int(rng.integers(12, 80)))) for i in range(8)]
    compared = [compare(gate_of("g", alpha=float(i % 3), on_churn=on_churn), *both) for i, both in enumerate(pairs)]
    for one, both, family in zip(compared, pairs, in_families(compared), strict=True):
        comparison = one.within(family)
        interval = comparison.ruling.deciding
        failed = comparison.answer[0] == "fail"
        assert failed == (family.adjusted_p_value <= 0.05)
        assert failed == (one.p_value <= 1 - family.level)
        assert interval.level == family.level >= 0.95 - 1e-12
        if on_churn == "fail":
            assert failed == (interval.upper < -1e-12)
        if one is compared[seed]:
            verdict = judge(one.gate, *both, family=family, known=one if seed % 2 else None)
            assert (verdict.outcome == "fail") == failed
            assert (verdict.family, verdict.level) == (family, 0.95)
            assert verdict.decisive_interval.level == family.level
            assert verdict.decisive_interval.upper == interval.upper


def test_without_correction_or_p_value_there_is_no_family():
    gate, some = gate_of("g"), compare(gate_of("g"), *harmed())
    few = compare(gate, *harmed(9))
    first, second, third = in_families([None, some, few])
    assert first is third is None
    assert second.level == pytest.approx(0.95)
    assert (second.size, second.adjusted_p_value) == (1, some.p_value)
    assert in_families([None, few]) == [None, None]
    sure = compare(gate_of("g", level=0.999999), *harmed())
    with pytest.raises(ValueError, match=r"level 0\.9999995 would be left to one of 2 gates at level 0\.999999, and"):
        in_families([sure, sure])
    with pytest.raises(ValueError, match=r"a family of gates has one level, got 0\.9, 0\.95"):
        in_families([some, compare(gate_of("g", level=0.9), *harmed())])


@pytest.mark.usefixtures("few_draws")
def test_a_pool_in_a_family_is_corrected_by_holm_and_draws_as_many_replicates_as_before():
    alone = pooled(gate_of("g", kind="georisk_not_worse"), *harmed(), together=7)
    first, second = in_families([alone, compare(gate_of("g"), *harmed())])
    assert (first.correction, second.correction) == ("holm", "holm")
    within: Any = alone.within(first)
    assert within.ruling.together == 7


# --------------------------------------------------------------------------------------------------------------------
# auto: which correction suits the gates
# --------------------------------------------------------------------------------------------------------------------


def ask(gate, differences, topics=None):
    """A comparison of these differences."""
    both = pair(differences)
    return compare(gate, *(both if topics is None else (replace(one, topics=topics) for one in both)))


def sparse(rng, changed, n, mean=0.0):
    """Differences on n topics, of which so many changed."""
    return np.concatenate([rng.normal(mean, 0.1, changed), np.zeros(n - changed)])


def apart(seed=0, *, gates=4, changed=12, means=(-0.09, 0.0, -0.02, 0.01), n=40, **options):
    """Gates on disjoint topics."""
    rng = np.random.default_rng(seed)
    return [
        ask(
            gate_of(f"g{i}", **options),
            sparse(rng, changed, n, means[i % 4]),
            tuple(f"{i}-{topic}" for topic in range(n)),
        )
        for i in range(gates)
    ]


def together(seed=0, *, gates=3, changed=60, n=80, means=(-0.03, 0.0, -0.01), **options):
    """Gates on the same topics."""
    rng = np.random.default_rng(seed)
    common = rng.normal(0, 0.1, n) * (np.arange(n) < changed)
    return [
        ask(gate_of(f"g{i}", **options), np.where(common != 0, common + rng.normal(means[i % 3], 0.05, n), 0.0))
        for i in range(gates)
    ]


@pytest.mark.parametrize(
    ("asked", "used"),
    [
        (apart(), "pooled_draws"),
        (apart(gates=3, changed=10), "pooled_draws"),
        (apart(gates=3, changed=9), "holm"),
        (apart(gates=2, changed=30), "holm"),
        ([*apart(gates=2, changed=30), *apart(gates=5, changed=0)[4:]], "holm"),
        (apart(level=0.99), "pooled_draws"),
        (apart(level=0.999), "holm"),
        (apart(changed=500, n=600), "pooled_draws"),
        (apart(changed=501, n=600), "holm"),
        ([*apart(gates=3), *apart(alpha=3)[3:]], "holm"),
        ([*apart(gates=3), *apart(tolerance=0.1)[3:]], "holm"),
        ([*apart(gates=3), *apart(tradeoff="smooth")[3:]], "holm"),
        (together(), "joint_flips"),
        (together(gates=2, changed=40), "joint_flips"),
        ([*together(), *together(gates=1, changed=39)], "holm"),
        ([*together(), *together(alpha=5)], "joint_flips"),
        ([*together(), *apart(gates=1)], "holm"),
        ([*together()[:1]], "holm"),
    ],
)
def test_auto_says_which_correction_suits_the_gates(asked, used):
    found = in_families(asked)
    assert {family.correction for family in found} == {used}
    assert {family.size for family in found} == {len(asked)}
    assert max(family.adjusted_p_value for family in found) <= 1
    if used != "holm":
        assert {family.level for family in found} == {asked[0].gate.level}


@pytest.mark.parametrize(("most", "used"), [(179, "holm"), (180, "joint_flips")])
def test_more_changes_than_can_be_flipped_are_left_to_holm(most, used, monkeypatch):
    monkeypatch.setattr("pytest_riskguard.gates.families.MOST_FLIPPED", most)
    assert in_families(together())[0].correction == used


@pytest.mark.parametrize(("asked", "by_measure"), [(apart(), True), (together(), False)])
def test_any_gate_whose_topics_do_not_count_alike_leaves_the_family_to_holm(asked, by_measure):
    rulings, n = [one.ruling for one in asked], len(asked)

    def drawn(evidence, measure=None):
        changed = [Ruling(rulings[0].gate, evidence), *rulings[1:]]
        return adjusted_by_draws(
            changed, [0.01] * n, topics=[one.topics for one in asked], measures=[measure, *[None] * (n - 1)]
        )

    assert drawn(asked[0].evidence) is not None
    assert (drawn(asked[0].evidence, "AP") is None) is by_measure
    count = asked[0].n
    for change in (
        {"weights": np.linspace(1, 2, count)},
        {"noise": np.full((1, count), 0.1)},
        {"clusters": np.arange(count)},
    ):
        assert drawn(replace(asked[0].evidence, **change)) is None


def test_gates_are_drawn_by_what_each_topic_would_win_or_lose_or_from_the_pool_of_their_scores():
    same, others = together(changed=60, n=60, tolerance=0.005), apart(tolerance=0.02)
    gains, losses, lost = (np.array(of_all) for of_all in zip(*(one.ruling.bets for one in same), strict=True))
    flipped = joint_flips(gains, losses, lost, n=60, tolerated=[60 * 0.005] * len(same))
    assert flipped[0] < 0.025
    scores = [one.evidence.scores(one.gate.alpha) for one in others]
    for asked, drawn in ((same, flipped), (others, pooled_draws(scores, bound=-0.02))):
        expected = np.maximum([one.p_value for one in asked], np.minimum(2 * drawn, 1.0))
        assert [family.adjusted_p_value for family in in_families(asked)] == expected.tolist()
    x = sparse(np.random.default_rng(0), 50, 100, -0.06)
    apart_in_one = in_families([ask(gate_of("a"), x), ask(gate_of("b"), x[::-1])])  # no topic changed in both
    assert max(family.adjusted_p_value for family in apart_in_one) < 0.05


@pytest.mark.parametrize("make", [apart, together])
def test_where_churn_only_warns_both_conditions_are_drawn(make):
    conditions = {"alpha": 1.0, "tolerance": 0.005}
    warned = in_families(make(on_churn="warn", **conditions))
    strict, plain = (in_families(make(**asked)) for asked in (conditions, {"alpha": 0.0}))
    for both, one, other in zip(warned, strict, plain, strict=True):
        assert both.adjusted_p_value == max(one.adjusted_p_value, other.adjusted_p_value)


def harmed(count=40):
    """A gate whose own rule fails."""
    return pair(np.random.default_rng(0).normal(-0.05, 0.1, count))


def test_a_gate_fails_where_its_own_rule_and_the_draws_of_its_family_say_so():
    gate, both = gate_of("g"), harmed()
    assert judge(gate, *both).outcome == "fail"
    family = Family("pooled_draws", 10, 0.95, 0.05)
    failed, passed = (judge(gate, *both, family=replace(family, adjusted_p_value=p)) for p in (0.05, 0.0501))
    assert (failed.outcome, failed.reason) == ("fail", judge(gate, *both).reason)
    assert (passed.outcome, passed.reason) == ("pass", None)
    assert passed.decisive_interval == failed.decisive_interval == judge(gate, *both).decisive_interval
    assert failed.estimates.flip_set
    assert passed.estimates.flip_set is None
    assert passed.estimates.alpha_star is None
    assert not any(raised.code == "churn" for raised in passed.warnings)


def test_what_a_gate_of_a_family_could_detect_is_more_than_alone():
    both = pair(np.random.default_rng(1).normal(0.02, 0.1, 40))
    alone = judge(gate_of("g"), *both).power.minimum_detectable_effect
    family = judge(gate_of("g"), *both, family=Family("joint_flips", 10, 0.95, 0.9))
    assert family.power.minimum_detectable_effect > alone
    between = (alone + family.power.minimum_detectable_effect) / 2
    assert judge(gate_of("g", max_mde=between), *both).outcome == "pass"
    weak = judge(gate_of("g", max_mde=between), *both, family=Family("joint_flips", 10, 0.95, 0.9))
    assert (weak.outcome, weak.reason) == ("inconclusive", "too_weak")
    excused = judge(gate_of("g", max_mde=1e-6), *harmed(), family=Family("joint_flips", 10, 0.95, 0.9))
    assert excused.outcome == "inconclusive"
    assert judge(gate_of("g", max_mde=1e-6), *harmed()).estimates.flip_set is None  # it never passes
