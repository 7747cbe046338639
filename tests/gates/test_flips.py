"""What would flip a verdict: flip sets and alpha*, each against a slow search for the same."""

from typing import Any

import numpy as np
import pytest

from pytest_riskguard.gates.flips import MAX_ALPHA, alpha_star, flip_set
from pytest_riskguard.gates.judge import compare, judge
from pytest_riskguard.gates.pool import PoolComparison
from pytest_riskguard.gates.ruling import Ruling
from tests.gates.conftest import evidence, pair, pooled, topic_scores
from tests.strict import gate_of

pytestmark = pytest.mark.usefixtures("few_draws")


@pytest.mark.parametrize("seed", range(10))
def test_the_flip_set_is_the_first_number_of_worst_topics_without_which_the_gate_passes(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(11, 60))
    d = rng.normal(-0.06, 0.1, n) * (rng.random(n) < rng.choice([0.3, 1.0]))
    gate = gate_of("g", alpha=1, level=float(rng.choice([0.8, 0.95])), on_churn=str(rng.choice(["fail", "warn"])))
    if (comparison := compare(gate, *pair(d))).answer[0] != "fail":
        verdict = judge(gate, *pair(d))
        assert verdict.estimates.flip_set == (() if verdict.outcome == "pass" else None)
        return
    order = np.argsort(np.where(d < 0, 2 * d, d), kind="stable")
    counts = [k for k in range(1, n - 10 + 1) if Ruling(gate, evidence(np.delete(d, order[:k]))).lets_through]
    assert flip_set(comparison) == (tuple(order[: counts[0]].tolist()) if counts else None)


@pytest.mark.parametrize("seed", range(12))
def test_the_flip_set_of_a_gate_that_fails_again_without_more_topics_is_found(seed):
    """Not inferior: each topic gone takes evidence with it, so some counts in the middle alone may pass."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(12, 26))
    d = rng.normal(0.0, 0.1, n)
    d[: int(rng.integers(1, 3))] -= 0.4
    gate = gate_of("g", kind="not_inferior", alpha=0, tolerance=float(rng.choice([0.03, 0.05, 0.07])))
    order = np.argsort(d, kind="stable")
    counts = [k for k in range(1, n - 10 + 1) if Ruling(gate, evidence(np.delete(d, order[:k]))).lets_through]
    found = flip_set(compare(gate, *pair(d)))
    assert (None if found is None else len(found)) in (counts or [None])


def test_a_loss_everywhere_has_no_flip_set_and_equal_losses_go_by_topic():
    assert flip_set(compare(gate_of("g"), *pair(np.linspace(-0.2, -0.1, 60)))) is None
    rng = np.random.default_rng(2)
    d = np.round(rng.normal(-0.1, 0.2, 60), 1)
    gate = gate_of("g", alpha=1)
    assert flip_set(compare(gate, *pair(d))) == flip_set(compare(gate, *pair(d + rng.normal(0, 1e-16, 60))))


def pool(seed: int, **options: Any) -> PoolComparison:
    """A candidate that is a little riskier than its baseline, mostly for a few topics."""
    rng = np.random.default_rng(seed)
    base = rng.uniform(0.4, 0.6, 18)
    x = np.clip(base + rng.normal(0, 0.02, (3, 18)), 0, 1)
    x[0] = base - 0.002 + rng.normal(0, 0.01, 18)
    x[0, : int(rng.integers(1, 4))] -= 0.35
    gate = gate_of("g", kind="georisk_not_worse", **{"level": 0.5, "method": "student_t", **options})
    candidate, *baselines = (topic_scores(f"s{row}", values) for row, values in enumerate(x))
    return pooled(gate, candidate, *baselines)


@pytest.mark.parametrize(
    "options",
    [
        {},
        pytest.param({"on_churn": "warn", "alpha": 5.0}, marks=pytest.mark.slow),
    ],
)
def test_a_pool_flips_as_a_pair_does(options):
    flipped = 0
    for seed in range(2):
        comparison = pool(seed, **options)
        if comparison.answer[0] != "fail":
            continue
        order = comparison.order
        passes = [k for k in range(1, comparison.n - 9) if comparison.without(order[:k])[0]]
        assert flip_set(comparison) == (tuple(order[: passes[0]].tolist()) if passes else None)
        flipped += len(passes) > 0
    assert flipped


@pytest.mark.parametrize(("n", "tried"), [(10, False), (11, True)])
def test_no_topic_of_a_pool_of_ten_is_left_out(n, tried):
    base = np.random.default_rng(1).uniform(0.4, 0.6, n)
    x = np.array([base + 0.002, base, base[::-1]])
    x[0, 0] = 0.0  # without this topic it would pass
    candidate, *baselines = (topic_scores(f"s{row}", values) for row, values in enumerate(x))
    gate = gate_of("g", kind="georisk_not_worse", method="student_t", level=0.5)
    comparison = pooled(gate, candidate, *baselines)
    assert comparison.answer[0] == "fail"
    assert flip_set(comparison) == ((0,) if tried else None)


OPTIONS: list[dict[str, Any]] = [
    {},
    {"tolerance": 0.01},
    {"method": "percentile"},
    {"method": "student_t", "tolerance": 0.02},
    {"kind": "not_inferior", "tolerance": 0.05},
    {"level": 0.8},
]


@pytest.mark.parametrize("noisy", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_alpha_star_is_the_first_failure_of_a_scan(options, noisy):
    """A few changed topics of many, some on a grid, where limits are steps."""
    rng = np.random.default_rng([noisy, OPTIONS.index(options)])
    n = int(rng.integers(10, 40))
    d, changed = np.zeros(n), int(rng.integers(2, min(n, 20) + 1))
    d[:changed] = rng.normal(rng.choice([-0.05, 0.0, 0.05, 0.2]), 0.2, changed)
    replicates = [topic_scores("b/1", 0.5 + rng.normal(0, 0.02, n))] if noisy else []
    ruling = compare(gate_of("g", alpha=1, **options), *pair(np.round(d, 2)), *replicates).ruling
    star = alpha_star(ruling)
    top = MAX_ALPHA if star == "any" else 1e4
    scan = np.concatenate([[0.0], np.geomspace(2.0**-6, top, 30)])
    failure = next((place for place, alpha in enumerate(scan) if not ruling.at(float(alpha)).passes), None)
    if star is None or star == "any":
        assert failure == (0 if star is None else None)
        return
    assert isinstance(star, float)
    assert star == float(f"{star:.6g}")
    assert ruling.at(star).passes
    assert not ruling.at(star * 1.0003 + 1e-9).passes
    assert failure is None or scan[failure - 1] <= star * 1.0001 < scan[failure] * 1.0001


WON = np.append(np.linspace(0.1, 0.11, 30), np.zeros(70))
LOST = np.random.default_rng(1).normal(-0.03, 0.1, 60)


@pytest.mark.parametrize(
    ("options", "differences", "star"),
    [
        ({"kind": "equivalent", "tolerance": 0.2}, WON, "None"),
        ({"tradeoff": "smooth"}, WON, "None"),
        ({"kind": "not_inferior", "tolerance": 0.02}, WON, "12.1"),  # wins show less, the more a loss counts
        ({"on_churn": "warn", "tolerance": 0.02}, LOST, "0.18"),  # the mean alone fails, which is no churn
    ],
)
def test_alpha_star_of_other_gates(options, differences, star):
    assert str(judge(gate_of("g", **options), *pair(differences)).estimates.alpha_star)[:4] == star


def test_a_gate_that_passes_again_at_a_higher_alpha_has_the_alpha_of_its_first_failure():
    """Student-t's limit turns back: one huge loss among small ones makes it wide at high alphas."""
    d = np.append(np.full(12, -0.02) + 0.001 * np.arange(12), [0.06, 0.06, 0.06, 0.065, 0.07, -0.05])
    ruling = Ruling(gate_of("g", method="student_t", alpha=1, level=0.5), evidence(d))
    star = alpha_star(ruling)
    assert isinstance(star, float)
    assert ruling.at(star).passes
    assert not ruling.at(1.001 * star).passes
