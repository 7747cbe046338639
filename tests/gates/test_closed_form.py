"""What would flip a verdict, where Student-t decides: every limit has a closed form, computed here once more."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import brentq
from scipy.stats import t as student_t

from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.flips import left_out
from pytest_riskguard.gates.flips.alpha_star import alpha_star
from pytest_riskguard.gates.flips.flip_set import flip_set
from pytest_riskguard.gates.flips.left_out import LeftOut, passes_without_each, without_each
from pytest_riskguard.gates.judge import rule
from pytest_riskguard.gates.kinds import Gate
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
def test_the_limit_without_each_topic(gate: Gate, seed):
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


def test_without_a_weighted_topic_too_few_may_be_left():
    weights = np.ones(11)
    weights[0] = 1.6  # 10.7 effective topics; without a light one fewer than 10
    ruling = Ruling(RISK, Evidence(differences(1, 11), NO_NOISE[:, :11], weights))
    limits, lets_through = passes_without_each(ruling, passing=True)
    assert np.flatnonzero(np.isfinite(limits)).tolist() == [0]
    assert lets_through[1:].all()


def test_the_topics_that_flip_a_verdict_come_most_decisive_first():
    limits, flips_it = np.array([0.1, 0.3, -0.2, 0.3, np.nan]), np.array([True, True, False, True, False])
    assert LeftOut(limits, flips_it, failed=True).pivots == (1, 3, 0)
    assert LeftOut(-limits, flips_it, failed=False).pivots == (1, 3, 0)
    assert LeftOut(limits + 1e-14 * np.arange(5), flips_it, failed=True).pivots == (1, 3, 0)  # rounding is no order


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
    monkeypatch.setattr(left_out, "MAX_RULED_ANEW", max_ruled)  # of many topics, one makes no difference to that
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


@pytest.mark.parametrize("n", [9, 10, 11])
def test_nothing_is_left_out_where_fewer_than_ten_topics_would_be_left(n):
    comparison = rule(RISK, *pair(differences(1, n)))
    left = without_each(comparison, comparison.answer[0])
    assert np.isfinite(left.limits).tolist() == [n > 10] * n


class Asked:
    """Which rulings a search asks for: at these alphas, or without so many topics."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.alphas: list[float] = []
        self.counts: list[int] = []
        at: Callable[[Ruling, float], Ruling] = Ruling.at
        without: Callable[[Ruling, Any], Ruling] = Ruling.without

        def spied_at(ruling: Ruling, alpha: float) -> Ruling:
            self.alphas.append(alpha)
            return at(ruling, alpha)

        def spied_without(ruling: Ruling, places: Any) -> Ruling:
            self.counts.append(np.size(places))
            return without(ruling, places)

        monkeypatch.setattr(Ruling, "at", spied_at)
        monkeypatch.setattr(Ruling, "without", spied_without)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    return Asked(monkeypatch)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("gate", [RISK, NOT_INFERIOR], ids=["risk", "not_inferior"])
def test_alpha_star_is_where_the_limit_reaches_the_bound_and_found_in_few_steps(gate: Gate, seed, asked):
    d = differences(seed, 40, 0.04)
    d += 0.04 - d.mean()

    def margin(alpha: float) -> float:
        return limit(traded(d, alpha), gate.side) + gate.tolerance

    root = brentq(margin, 0, 1000, xtol=1e-12)
    star = alpha_star(Ruling(gate, Evidence.of(d)))
    assert isinstance(star, float)
    assert star <= root * (1 + 1e-9)
    assert star == float(f"{star:.6g}")
    if gate.side == "lower":  # the break-even test may end it earlier
        assert Ruling(gate, Evidence.of(d), alpha=star).passes
        assert not Ruling(gate, Evidence.of(d), alpha=star * (1 + 2e-4)).passes
        return
    assert root * (1 - 2e-4) <= star
    first_guess = asked.alphas[2]  # after 0, and 1 for the slopes
    assert first_guess == pytest.approx(root, rel=1e-4)
    assert len(asked.alphas) <= 8


def test_alpha_star_is_none_for_a_loss_and_for_the_smooth_trade_off():
    assert alpha_star(Ruling(RISK, Evidence.of(differences(1, mean=-0.2)))) is None
    assert alpha_star(Ruling(RISK, Evidence(differences(1), NO_NOISE, kind="smooth"))) is None


def test_alpha_star_is_any_where_nothing_that_counts_is_lost(asked):
    wins = np.abs(differences(1))
    assert alpha_star(Ruling(RISK, Evidence.of(wins))) == "any"
    assert alpha_star(Ruling(RISK, Evidence.of(wins - wins.min() - 1e-13))) == "any"  # rounding is no loss
    assert asked.alphas == [0.0, 0.0]
    losing_replicate = Evidence(wins, -np.abs(differences(2))[None, :])
    assert alpha_star(Ruling(RISK, losing_replicate)) == "any"
    assert asked.alphas[-1] == 1.0  # the noise loses, so that it is asked how scores change with alpha


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("gate", [RISK, NOT_INFERIOR], ids=["risk", "not_inferior"])
def test_a_flip_set_is_found_by_asking_about_it_and_about_one_topic_fewer(gate: Gate, seed, asked):
    d = differences(seed, 40, -0.04)
    x = traded(d, 2)
    order = np.argsort(x, kind="stable")
    names = tuple(f"t{i}" for i in range(40))
    if gate.side == "lower":
        left = [Ruling(gate, Evidence.of(d[order[count:]])).passes for count in range(31)]
        found = flip_set(Ruling(gate, Evidence.of(d)), names)
        assert (found is None) == (not any(left))
        assert found is None or (left[len(found)] and not left[len(found) - 1])
        return
    size = next(count for count in range(1, 31) if limit(x[order[count:]], gate.side) + gate.tolerance >= 0)
    assert flip_set(Ruling(gate, Evidence.of(d)), names) == tuple(names[i] for i in order[:size])
    assert abs(asked.counts[0] - size) <= 1
    assert {size, size - 1} <= {*asked.counts, 0}
    assert len(asked.counts) <= 4


def test_no_more_topics_are_taken_out_than_leave_ten(asked):
    d = np.append(np.full(4, -0.3), np.linspace(0.001, 0.01, 10))
    names = tuple(f"t{i}" for i in range(14))
    gate = gate_of("g", alpha=2, method="student_t", level=0.2)  # fails while one of the four is left
    assert flip_set(Ruling(gate, Evidence.of(d)), names) == names[:4]
    assert flip_set(Ruling(gate, Evidence.of(d[1:])), names[1:]) == names[1:4]
    assert flip_set(Ruling(RISK, Evidence.of(d[:10] - 1)), names[:10]) is None
    assert flip_set(Ruling(RISK, Evidence.of(differences(3, 14, -0.5))), names) is None
    assert max(asked.counts) == 4


@pytest.mark.parametrize(("passing", "seen"), [(False, "lowest"), (True, "highest")])
def test_where_each_topic_costs_an_interval_those_that_carry_the_verdict_are_looked_at(passing, seen, monkeypatch):
    """Only so many as time allows, and the largest parts on either side for the reader."""
    monkeypatch.setattr(left_out, "ALONE", 2)
    monkeypatch.setattr(left_out, "MAX_SCORES", 5 * 26)
    monkeypatch.setattr(left_out, "NEAR", 1e9)  # all of them are near
    d = differences(4, 26)
    ruling = Ruling(gate_of("g", alpha=0, method="basic"), Evidence.of(d))
    limits, lets_through = passes_without_each(ruling, passing=passing)
    order = np.argsort(d).tolist()
    carry = order[:5] if seen == "lowest" else order[-5:]
    assert sorted(np.flatnonzero(np.isfinite(limits)).tolist()) == sorted({*carry, *order[:2], *order[-2:]})
    unknown = np.isnan(limits)
    assert lets_through[unknown].tolist() == [passing] * int(unknown.sum())


def near(x: Array, bound: float, reach: float) -> npt.NDArray[np.bool_]:
    """Topics without which Student-t's limit could reach the bound, if it moved so many times as far as it should."""
    moves = (np.abs(x - x.mean()) + abs(limit(x) - x.mean())) / (x.size - 1)
    return np.asarray(reach * moves >= abs(limit(x) - bound))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("alpha", [0.5, 2])
def test_of_many_weighted_topics_those_that_bring_either_limit_near_the_bound_are_looked_at(alpha, seed, monkeypatch):
    rng = np.random.default_rng(seed)
    evidence = Evidence(differences(seed, 30, -0.1), np.zeros((0, 30)), rng.uniform(1, 2, 30))
    gate = gate_of("g", alpha=alpha, method="student_t", on_churn="warn", tolerance=0.02)
    ruling = Ruling(gate, evidence)
    x, plain = evidence.scores(alpha), evidence.scores(0)
    reach = abs(limit(plain)) / float(np.median(np.abs(plain - plain.mean()) + abs(limit(plain) - plain.mean())) / 29)
    monkeypatch.setattr(left_out, "NEAR", reach)
    monkeypatch.setattr(left_out, "ALONE", 1)
    expected = near(x, -0.02, reach) | near(plain, 0.0, reach)  # the mean alone has no tolerance
    assert 10 < expected.sum() < 28
    parts = evidence.parts(alpha)
    expected[[int(np.argmin(parts)), int(np.argmax(parts))]] = True
    limits, _ = passes_without_each(ruling, passing=ruling.lets_through)
    assert np.isfinite(limits).tolist() == expected.tolist()


@pytest.mark.parametrize("most", [40, 39])
def test_of_more_topics_than_one_pass_takes_those_near_the_bound_are_looked_at(most, monkeypatch):
    monkeypatch.setattr(left_out, "MAX_AT_ONCE", most)
    monkeypatch.setattr(left_out, "ALONE", 1)
    d = differences(5, 40, -0.1)
    reach = abs(limit(d)) / float(np.median(np.abs(d - d.mean()) + abs(limit(d) - d.mean())) / 39)
    monkeypatch.setattr(left_out, "NEAR", reach)
    expected = near(d, 0.0, reach) | (most == 40)
    expected[[int(np.argmin(d)), int(np.argmax(d))]] = True
    gate = gate_of("g", alpha=0, method="student_t")
    limits, _ = passes_without_each(Ruling(gate, Evidence.of(d)), passing=False)
    assert np.isfinite(limits).tolist() == expected.tolist()
