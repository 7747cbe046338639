"""What would flip a verdict, where Student-t decides: every limit has a closed form, computed here once more."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import t as student_t

from pytest_riskguard.gates import flips
from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.flips import flip_set, passes_without_each, without_each
from pytest_riskguard.gates.judge import rule
from pytest_riskguard.gates.ruling import Ruling
from tests.gates.conftest import pair
from tests.strict import gate_of

Array = npt.NDArray[np.float64]

RISK = gate_of("g", alpha=2, method="student_t")
WARN = gate_of("g", alpha=2, method="student_t", on_churn="warn")
NOT_INFERIOR = gate_of("g", "not_inferior", alpha=2, method="student_t", tolerance=0.1)
NO_NOISE = np.zeros((0, 14))


def traded(d: Array, alpha: float) -> Array:
    """A loss counts 1 + alpha times."""
    return np.where(d < 0, (1 + alpha) * d, d)


def limit(x: Array, side: str = "upper", level: float = 0.95) -> float:
    """Student-t's limit of the mean."""
    half = float(student_t.ppf((1 + level) / 2, x.size - 1)) * float(x.std(ddof=1)) / math.sqrt(x.size)
    return float(x.mean()) + (half if side == "upper" else -half)


def differences(seed: int, n: int = 14, mean: float = -0.02) -> Array:
    drawn: Array = np.random.default_rng(seed).normal(mean, 0.1, n)
    return drawn


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("gate", [RISK, NOT_INFERIOR], ids=["risk", "not_inferior"])
def test_the_limit_without_each_topic(gate, seed):
    d = differences(seed)
    d[3] = 0.0
    expected = [limit(traded(np.delete(d, i), 2), gate.side) for i in range(14)]
    for passing in (True, False):
        limits, lets_through = passes_without_each(Ruling(gate, Evidence.of(d)), passing=passing)
        assert limits == pytest.approx(expected, abs=1e-12)
        others = [Ruling(gate, Evidence.of(np.delete(d, i))) for i in range(14)]
        shown = [gate.side == "upper" or other.changes_show for other in others]
        reached = [value + gate.tolerance >= 0 for value in expected]
        assert lets_through.tolist() == [one and other for one, other in zip(reached, shown, strict=True)]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("alpha", [0.5, 2])
def test_where_churn_warns_a_limit_of_the_mean_is_enough(alpha, seed):
    d = differences(seed, mean=-0.055)
    gate = gate_of("g", alpha=alpha, method="student_t", on_churn="warn")
    limits, lets_through = passes_without_each(Ruling(gate, Evidence.of(d)), passing=False)
    at_zero = [limit(np.delete(d, i)) for i in range(14)]
    assert limits == pytest.approx([limit(traded(np.delete(d, i), alpha)) for i in range(14)], abs=1e-12)
    assert lets_through.tolist() == [value >= 0 for value in at_zero]
    assert any(lets_through) or seed != 1


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("spread", "mean"), [(0.2, -0.06), (0.02, -0.04)])
def test_where_noise_is_subtracted_the_mean_must_hold_too(spread, mean, seed):
    rng = np.random.default_rng(seed)
    noise = rng.normal(0, spread, (2, 14))
    d = differences(seed, mean=mean)
    expected, at_zero = (
        [
            limit(np.delete(traded(d, alpha) - np.mean([traded(row, alpha) for row in noise], axis=0), i))
            for i in range(14)
        ]
        for alpha in (2, 0)
    )
    limits, lets_through = passes_without_each(Ruling(RISK, Evidence(d, noise)), passing=True)
    assert limits == pytest.approx(expected, abs=1e-12)
    assert lets_through.tolist() == [a >= 0 and b >= 0 for a, b in zip(expected, at_zero, strict=True)]


@pytest.mark.parametrize("seed", range(3))
def test_the_limit_without_each_weighted_topic_is_that_of_the_others_with_their_weights(seed):
    rng = np.random.default_rng(seed)
    d, weights = differences(seed), rng.uniform(1, 2, 14)
    limits, lets_through = passes_without_each(Ruling(WARN, Evidence(d, NO_NOISE, weights)), passing=False)
    for i in range(14):
        rest = Ruling(WARN, Evidence(np.delete(d, i), NO_NOISE[:, 1:], np.delete(weights, i)))
        assert limits[i] == pytest.approx(limit(rest.scores), abs=1e-12)
        assert lets_through[i] == (limit(rest.scores) >= 0 or limit(rest.plain.scores) >= 0)


@pytest.mark.parametrize("mean", [-0.07, -0.03])
def test_a_verdict_flips_where_the_gate_on_the_other_topics_says_the_opposite(mean):
    for seed in range(6):
        comparison = rule(gate_of("g", alpha=0, method="student_t"), *pair(differences(seed, mean=mean)))
        outcome = comparison.answer[0]
        left = without_each(comparison, outcome)
        passes = [limit(np.delete(comparison.differences, i)) >= 0 for i in range(14)]
        assert left.failed == (outcome == "fail")
        assert left.flips.tolist() == [one == left.failed for one in passes]
        undecided = without_each(comparison, "inconclusive")
        assert (undecided.failed, bool(undecided.flips.any())) == (False, False)


@pytest.mark.parametrize(("max_ruled", "max_mde"), [(20_000, 0.05), (20_000, 0.09), (20_000, 0.5), (0, 0.09)])
def test_a_failure_flips_only_where_the_gate_could_still_have_seen_the_loss(max_ruled, max_mde, monkeypatch):
    monkeypatch.setattr(flips, "MAX_RULED_ANEW", max_ruled)  # of many topics, one makes no difference to that
    gate = gate_of("g", alpha=0, method="student_t", max_mde=max_mde)
    flipping = 0
    for seed in range(12):
        comparison = rule(gate, *pair(differences(seed, mean=-0.06)))
        if comparison.answer[0] == "fail":
            rests = [comparison.ruling.without(i) for i in range(14)]
            could_see = [(rest if max_ruled else comparison.ruling).detects_max_mde for rest in rests]
            expected = [rest.lets_through and sees for rest, sees in zip(rests, could_see, strict=True)]
            assert without_each(comparison, "fail").flips.tolist() == expected
            flipping += sum(rest.lets_through for rest in rests)
        elif comparison.answer[0] == "pass":  # leaving a topic out of a pass asks for no power
            rests = [comparison.ruling.without(i) for i in range(14)]
            assert without_each(comparison, "pass").flips.tolist() == [not rest.lets_through for rest in rests]
    assert flipping > 3


def test_no_more_topics_are_taken_out_than_leave_ten():
    d = np.append(np.full(4, -0.3), np.linspace(0.001, 0.01, 10))
    names = tuple(f"t{i}" for i in range(14))
    gate = gate_of("g", alpha=2, method="student_t", level=0.2)  # fails while one of the four is left
    assert flip_set(Ruling(gate, Evidence.of(d)), names) == names[:4]
    assert flip_set(Ruling(gate, Evidence.of(d[1:])), names[1:]) == names[1:4]
    assert flip_set(Ruling(RISK, Evidence.of(d[:10] - 1)), names[:10]) is None
    assert flip_set(Ruling(RISK, Evidence.of(differences(3, 14, -0.5))), names) is None
