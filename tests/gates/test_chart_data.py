"""What charts draw: the verdict's own figures, spread out."""

import math

import numpy as np
import pytest

from pytest_riskguard.gates.figures import ALPHAS, BINS, TAIL, density
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import gate_of
from pytest_riskguard.gates.pool.judge import judge_pool
from pytest_riskguard.risk import georisk
from tests.gates.conftest import topic_scores

RNG = np.random.default_rng(5)
BASE = np.round(RNG.uniform(0.2, 0.8, 60), 3)
OURS = np.clip(np.round(BASE + RNG.normal(-0.03, 0.12, 60), 3), 0, 1)


def reported(**options):
    gate = gate_of("g", **{"alpha": 2.0, **options})
    return judge(gate, topic_scores("new", OURS), topic_scores("old", BASE), report=True)


def test_without_a_report_there_are_none_and_nothing_else_changes():
    verdict = judge(gate_of("g", alpha=2.0), topic_scores("new", OURS), topic_scores("old", BASE))
    assert verdict.exhibits is None
    with_exhibits = reported().to_dict()
    assert with_exhibits.pop("exhibits") is not None
    plain = verdict.to_dict()
    assert plain.pop("exhibits") is None
    assert plain == with_exhibits


@pytest.mark.parametrize("kind", ["not_significantly_risky", "not_inferior"])
def test_the_curve_has_the_verdicts_figures_at_its_alpha(kind):
    verdict = reported(kind=kind, alpha=2.5, tolerance=0.01)
    curve, decisive = verdict.exhibits.curve, verdict.decisive_interval
    at = curve.x.index(2.5)
    assert curve.lines["urisk"][at] == verdict.estimates.urisk
    assert curve.lines["trisk"][at] == verdict.estimates.trisk
    assert (curve.lines["lower"][at], curve.lines["upper"][at]) == (decisive.lower, decisive.upper)
    assert list(curve.x) == sorted({*ALPHAS, 2.5})
    assert all(np.diff(curve.lines["urisk"]) < 0), "a loss that counts more lowers URisk"


def test_other_points_of_the_curve_are_gates_of_their_own():
    curve = reported().exhibits.curve
    other = reported(alpha=10.0)
    at = curve.x.index(10.0)
    assert curve.lines["upper"][at] == other.decisive_interval.upper
    assert curve.lines["trisk"][at] == other.estimates.trisk


def test_the_density_is_that_of_the_law():
    verdict = reported()
    law = verdict.exhibits.density
    values, density = np.array(law.x), np.array(law.lines["density"])
    width = values[1] - values[0]
    assert len(values) == BINS
    assert math.fsum(density) * width == pytest.approx(1 - 2 * TAIL, abs=5e-6)  # a step at either end
    assert float(np.sum(values * density) * width) == pytest.approx(verdict.estimates.urisk, abs=2e-4)
    percentile = next(i for i in verdict.intervals if i.method == "percentile")
    below = float(np.sum(density[values < percentile.lower]) * width)
    assert below == pytest.approx(0.025, abs=0.005)


@pytest.mark.parametrize(("sign", "shift"), [(1, 0.0), (-1, 0.0), (1, -0.5)])
def test_a_law_that_ends_with_a_step_keeps_it(sign, shift):
    x = np.full(30, shift)
    x[:2] += sign * np.array([0.1, 0.3])  # (28/30)^30 = 0.126 of all resamples hold no change at all
    law = density(x)
    values, mass = np.array(law.x), np.array(law.lines["density"]) * (law.x[1] - law.x[0])
    assert math.fsum(mass) == pytest.approx(1 - TAIL, abs=TAIL)
    assert mass[np.argmin(np.abs(values - shift))] == pytest.approx((28 / 30) ** 30, abs=1e-6)


def test_what_has_no_law_or_no_alpha_has_no_chart():
    same = judge(gate_of("g"), topic_scores("new", BASE), topic_scores("old", BASE), report=True)
    assert same.exhibits.density is None
    assert reported(kind="no_topic_collapse", alpha=0.0, max_loss=0.3).exhibits.curve is None
    assert reported(tradeoff="smooth", alpha=1.0).exhibits.curve is None
    few = judge(gate_of("g"), topic_scores("new", OURS[:5]), topic_scores("old", BASE[:5]), report=True)
    assert set(few.exhibits.curve.lines["upper"]) == {None}
    assert few.exhibits.curve.lines["urisk"][0] == pytest.approx(np.mean(OURS[:5] - BASE[:5]))


def test_a_pool_has_a_curve_for_every_system():
    third = np.clip(BASE + 0.05, 0, 1)
    systems = [topic_scores("new", OURS), topic_scores("old", BASE), topic_scores("bm25", third)]
    gate = gate_of("g", kind="georisk_not_worse", alpha=5.0)
    verdict = judge_pool(gate, systems[0], systems[1:], report=True)
    curves = verdict.exhibits.georisk
    assert set(curves.lines) == set(verdict.estimates.georisk)
    at = curves.x.index(5.0)
    expected = georisk(np.array([s.values for s in systems]), alpha=5.0)
    assert [curves.lines[s.name][at] for s in systems] == pytest.approx(list(expected))
    assert {name: values[at] for name, values in curves.lines.items()} == dict(verdict.estimates.georisk)
    parts = verdict.exhibits.topics.contributions
    assert math.fsum(parts) == pytest.approx(verdict.estimates.georisk_difference, abs=1e-12)
