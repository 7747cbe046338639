"""What would flip a verdict, where Student-t decides: every limit has a closed form, computed here once more."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import t as student_t

from pytest_riskguard.gates import flips
from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.flips import flip_set, without_each
from pytest_riskguard.gates.judge import rule
from pytest_riskguard.gates.ruling import Ruling
from tests.gates.conftest import pair
from tests.strict import gate_of

Array = npt.NDArray[np.float64]

RISK = gate_of("g", alpha=2, method="student_t")


def limit(x: Array) -> float:
    """Student-t's upper limit of the mean."""
    return float(x.mean()) + float(student_t.ppf(0.975, x.size - 1)) * float(x.std(ddof=1)) / math.sqrt(x.size)


def differences(seed: int, n: int = 14, mean: float = -0.02) -> Array:
    drawn: Array = np.random.default_rng(seed).normal(mean, 0.1, n)
    return drawn


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
