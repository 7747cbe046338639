"""Plans: what a gate could see, from two systems and from a baseline alone."""

import csv
import math
from typing import Any

import numpy as np
import pytest

from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.gates.power import Plan, plan_of
from pytest_riskguard.gates.ruling import Ruling
from pytest_riskguard.inference.power import (
    minimum_detectable_effect,
    power_of,
    topics_for_equivalence,
    topics_needed,
)
from pytest_riskguard.risk.tradeoff import linear
from tests.gates.conftest import pair
from tests.inference.test_power import beta_differences
from tests.strict import gate_of


def scores(name: str, values: np.ndarray) -> TopicScores:
    return TopicScores(name, "AP", tuple(f"t{number:04d}" for number in range(len(values))), values)


def planned(
    differences: np.ndarray, *, effects: tuple[float, ...] = (0.05,), power: float = 0.8, **of: object
) -> Plan:
    gate = gate_of("plan", **of)  # type: ignore[arg-type]
    baseline = np.full(len(differences), 0.5)
    return plan_of(gate, scores("new", baseline + differences), scores("old", baseline), power=power, effects=effects)


def noise(n: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-0.3, 0.3, n)


@pytest.mark.parametrize("alpha", [0, 1, 5])
def test_by_student_t_a_plan_is_the_textbooks(alpha):
    d = noise(60)
    x = linear(d, alpha=alpha)
    sd = float(np.std(x, ddof=1))
    plan = planned(d, alpha=alpha, method="student_t", tolerance=0.01, level=0.9, effects=(0.05, 0.01), power=0.7)
    assert plan.standard_deviation == pytest.approx(sd)
    assert plan.urisk == pytest.approx(float(np.mean(x)))
    seen = minimum_detectable_effect(sd, 60, level=0.9, power=0.7)
    assert plan.minimum_detectable_effect == pytest.approx(0.01 + seen)
    first, second = plan.effects
    assert first.topics_needed == max(topics_needed(sd, 0.04, level=0.9, power=0.7) or 0, 10)
    assert (second.size, second.topics_needed) == (0.01, None)  # tolerated, so no number of topics finds it
    assert plan.topics_for_tolerance == topics_needed(sd, plan.urisk + 0.01, level=0.9, power=0.7)
    urisk = -alpha / 2 * float(np.mean(np.abs(d)))  # where wins and losses are as likely
    balanced = math.sqrt((1 + (1 + alpha) ** 2) / 2 * float(np.mean(d**2)) - urisk**2)
    assert plan.churn_power == pytest.approx(power_of(-urisk - 0.01, balanced, 60, level=0.9))


@pytest.mark.parametrize(("changed", "stuck"), [(3, True), (4, False), (5, False)])
def test_a_gate_that_cannot_fail_says_so_and_how_many_changes_it_needs(changed, stuck):
    d = np.append(np.full(changed, -0.4) + 0.001 * np.arange(changed), np.zeros(50 - changed))
    plan = planned(d, alpha=1, effects=(5.0,))
    assert (plan.changed, plan.changes_needed, plan.cannot_fail) == (changed, 4, stuck)
    assert (plan.minimum_detectable_effect is None) is (plan.churn_power == 0) is stuck
    # however large the effect, the same share of topics must be changes enough
    assert plan.effects[0].topics_needed == math.ceil(4 * 50 / changed)
    # and so the gate behaves
    baseline = np.full(50, 0.5)
    verdict = judge(gate_of("g", alpha=1), scores("new", baseline + d), scores("old", baseline))
    assert (verdict.outcome == "pass") is stuck


@pytest.mark.parametrize("alpha", [0, 1, 5])
@pytest.mark.parametrize(("on_churn", "tolerance"), [("fail", 0.01), ("warn", 0.01), ("warn", 0.3)])
def test_the_smallest_effect_that_is_seen_needs_the_topics_that_there_are(alpha, on_churn, tolerance):
    options: dict[str, Any] = {"alpha": alpha, "on_churn": on_churn, "tolerance": tolerance}
    seen = planned(noise(60), **options).minimum_detectable_effect
    assert seen is not None
    assert planned(noise(60), effects=(seen,), **options).effects[0].topics_needed == pytest.approx(60, abs=1)


def test_where_nothing_changed_there_is_nothing_to_plan_from():
    plan = planned(np.zeros(50))
    assert plan.changed == 0
    assert plan.minimum_detectable_effect is plan.churn_power is plan.topics_for_tolerance is None
    assert plan.effects[0].topics_needed is None
    plan = planned(0.01 * noise(60), tolerance=0.1, effects=(0.5,))
    assert plan.effects[0].topics_needed == plan.topics_for_tolerance == 10  # a verdict needs as many


# Shares of pairs of equal systems at which a gate at this alpha fires, 4000 simulated pairs each, in percent
# (docs/explanation/alpha.md). A plan foresees them from one pair; what it foresees varies from pair to pair.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "alpha", "method", "fires"),
    [
        (50, 0, "student_t", 2.2),
        (50, 1, "student_t", 31.0),
        (50, 1, "bca", 42.5),
        (250, 1, "student_t", 94.8),
    ],
)
def test_the_chance_that_churn_alone_fails_is_the_one_that_simulation_finds(n, alpha, method, fires):
    rng = np.random.default_rng(n)
    foreseen = [planned(beta_differences(rng, (n,)), alpha=alpha, method=method).churn_power for _ in range(25)]
    assert 100 * float(np.mean(foreseen)) == pytest.approx(fires, abs=5)


def test_from_a_baseline_alone_the_law_is_the_assumed_one():
    values = np.random.default_rng(3).beta(1, 2, 200)
    sd = float(np.std(values, ddof=1))
    rng = np.random.default_rng(4)
    for alpha in (0, 5):
        plan = plan_of(
            gate_of("g", alpha=alpha), None, scores("old", values), correlation=0.8, power=0.8, effects=(0.02,)
        )
        x = linear(rng.normal(0, sd * math.sqrt(2 * 0.2), 100_000), alpha=alpha)
        assert plan.candidate is None
        assert plan.changed is None
        assert plan.standard_deviation == pytest.approx(float(np.std(x)), rel=0.01)
        assert plan.urisk == pytest.approx(float(np.mean(x)), abs=4 * float(np.std(x)) / x.size**0.5)
        assert plan.topics_for_tolerance is None


# What docs/explanation/topics.md says of Cranfield, nDCG@10: 14 systems whose scores correlate with BM25's above 0.75
# and changed on six topics or more.
@pytest.mark.nightly
@pytest.mark.parametrize(("alpha", "least", "most"), [(0, 0.96, 1.02), (1, 0.80, 1.01), (5, 0.65, 1.03)])
def test_the_assumption_of_normal_differences_does_as_well_on_real_runs_as_is_said(shared, alpha, least, most):
    with (shared / "data/cranfield_runs/scores_ndcg10.csv").open() as lines:
        names, *rows = [row[1:] for row in csv.reader(lines)]
    table = np.array(rows, dtype=float)
    ours = table[:, names.index("bm25s_lucene")]
    gate, baseline, ratios = gate_of("g", alpha=alpha), scores("old", ours), []
    for values in table.T:
        correlation = float(np.corrcoef(values, ours)[0, 1])
        if correlation < 0.75 or np.count_nonzero(values != ours) < 6:
            continue
        observed = plan_of(gate, scores("new", values), baseline, power=0.8, effects=())
        assumed = plan_of(gate, None, baseline, correlation=correlation, power=0.8, effects=())
        ratios.append(assumed.minimum_detectable_effect / observed.minimum_detectable_effect)
    assert len(ratios) == 14
    assert [min(ratios), max(ratios)] == pytest.approx([least, most], abs=0.005)


def test_a_plan_for_the_bootstrap_takes_its_critical_values_from_the_data():
    d = noise(60) + 0.02
    gate = gate_of("plan", alpha=5, tolerance=0.6)
    plan = planned(d, alpha=5, tolerance=0.6, effects=(0.7,))
    sd, upper = plan.standard_deviation, Ruling(gate, Evidence.of(d)).critical(side="upper")
    interval = Ruling(gate, Evidence.of(d)).interval("bca")
    lower = (plan.urisk - interval.lower) / (sd / math.sqrt(60))
    error = sd / math.sqrt(60)
    ruling = Ruling(gate, Evidence.of(d), alpha=5)
    by_student_t = (ruling.interval("student_t").upper - plan.urisk) / error
    assert (interval.upper - plan.urisk) / error < upper < by_student_t  # what the break-even test asks for
    needed = topics_needed(sd, 0.1, level=0.95, power=0.8, critical=upper, n=60)
    assert plan.effects[0].topics_needed == needed != topics_needed(sd, 0.1, level=0.95, power=0.8)
    shown = topics_needed(sd, plan.urisk + 0.6, level=0.95, power=0.8, critical=lower, n=60)
    by_student_t = topics_needed(sd, plan.urisk + 0.6, level=0.95, power=0.8)
    assert plan.topics_for_tolerance == shown != by_student_t
    verdict = judge(gate_of("g", kind="not_inferior", alpha=5, tolerance=0.6), *pair(d))
    assert verdict.power.topics_for_tolerance == shown


def churn_failure_rate(d: np.ndarray, gate: Gate, **judged: Any) -> float | None:
    return judge(gate, *pair(d), **judged).power.churn_failure_rate


@pytest.mark.parametrize(
    ("options", "shift"),  # it fails as a loss, as churn, or passes
    [
        ({}, -0.2),
        ({"on_churn": "warn"}, 0),  # how often it warns
        ({"alpha": 5, "tolerance": 0.1, "level": 0.9}, 0.2),
        ({"method": "student_t"}, 0),
    ],
)
def test_a_verdict_says_how_often_churn_fails_it_as_its_plan_does(options, shift):
    d = noise(40) + shift
    rate = churn_failure_rate(d, gate_of("plan", **options))
    assert rate == planned(d, **options).churn_power
    assert rate is not None
    assert 0 < rate < 1


@pytest.mark.parametrize("sign", [1, -1])
def test_topics_that_show_equivalence_go_by_the_limit_nearer_to_its_bound(sign):
    # losses that are rare and large: the interval reaches further down than up
    d = sign * np.array([-0.2] * 2 + [0.012] * 38)
    verdict = judge(gate_of("g", kind="equivalent", tolerance=0.03), *pair(d))
    ruling = Ruling(gate_of("g", kind="equivalent", tolerance=0.03), Evidence.of(d))
    estimate, deviation = float(d.mean()), float(np.std(d, ddof=1))
    critical = {side: ruling.critical(side=side) for side in ("lower", "upper")}
    assert abs(critical["lower"] - critical["upper"]) > 0.1
    nearer, other = ("lower", "upper") if estimate < 0 else ("upper", "lower")
    expected = topics_for_equivalence(
        deviation, estimate, criticals=(critical[nearer], critical[other]), n=40, tolerance=0.03, level=0.95
    )
    swapped = topics_for_equivalence(
        deviation, estimate, criticals=(critical[other], critical[nearer]), n=40, tolerance=0.03, level=0.95
    )
    assert math.ceil(expected) != math.ceil(swapped)
    assert verdict.power.topics_for_tolerance == math.ceil(expected)


NAMES = tuple(f"t{place:05d}" for place in range(40))
CLUSTERS = Topics({}, {topic: {"cluster": str(place // 2)} for place, topic in enumerate(NAMES)})
REPLICATE = TopicScores("old/1", "nDCG@10", NAMES, 0.5 - noise(40, seed=2))


@pytest.mark.parametrize(
    ("options", "judged"),
    [
        ({"alpha": 0}, {}),
        ({"tradeoff": "smooth", "tolerance": 0.0}, {}),
        ({"kind": "not_inferior"}, {}),
        ({}, {"replicates": [REPLICATE]}),
        ({}, {"topics": CLUSTERS}),
    ],
)
def test_where_no_formula_holds_it_is_not_known_how_often_churn_fails(options, judged):
    assert churn_failure_rate(noise(40), gate_of("plan", **options), **judged) is None
    assert churn_failure_rate(noise(9), gate_of("plan")) is None
