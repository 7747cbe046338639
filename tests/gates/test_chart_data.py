"""What charts draw: the verdict's own figures, spread out."""

import math

import numpy as np
import pytest

from pytest_riskguard.gates.explain import ALPHAS
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import gate_of
from pytest_riskguard.risk import georisk
from tests.gates.conftest import judge_pool, topic_scores

RNG = np.random.default_rng(5)
BASE = np.round(RNG.uniform(0.2, 0.8, 60), 3)
OURS = np.clip(np.round(BASE + RNG.normal(-0.03, 0.12, 60), 3), 0, 1)


def reported(**options):
    gate = gate_of("g", **{"alpha": 2.0, **options})
    return judge(gate, topic_scores("new", OURS), topic_scores("old", BASE), report=True)


@pytest.mark.parametrize("kind", ["not_significantly_risky", "not_inferior"])
def test_the_curve_has_the_verdicts_figures_at_its_alpha(kind):
    verdict = reported(kind=kind, alpha=2.5, tolerance=0.01)
    curve, decisive = verdict.exhibits, verdict.decisive_interval
    at = curve.alphas.index(2.5)
    assert curve.curves["urisk"][at] == verdict.estimates.urisk
    assert (curve.curves["lower"][at], curve.curves["upper"][at]) == (decisive.lower, decisive.upper)
    assert list(curve.alphas) == sorted({*ALPHAS, 2.5})
    assert all(np.diff(curve.curves["urisk"]) < 0), "a loss that counts more lowers URisk"


def test_what_has_no_law_or_no_alpha_has_no_chart():
    assert reported(kind="no_topic_collapse", alpha=0.0, max_loss=0.3).exhibits.curves == {}
    assert reported(tradeoff="smooth", alpha=1.0).exhibits.curves == {}
    few = judge(gate_of("g"), topic_scores("new", OURS[:5]), topic_scores("old", BASE[:5]), report=True)
    assert set(few.exhibits.curves["upper"]) == {None}
    assert few.exhibits.curves["urisk"][0] == pytest.approx(np.mean(OURS[:5] - BASE[:5]))


def test_a_pool_has_a_curve_for_every_system():
    third = np.clip(BASE + 0.05, 0, 1)
    systems = [topic_scores("new", OURS), topic_scores("old", BASE), topic_scores("bm25", third)]
    gate = gate_of("g", kind="georisk_not_worse", alpha=5.0)
    verdict = judge_pool(gate, systems[0], systems[1:], report=True)
    curves = verdict.exhibits
    assert set(curves.curves) == set(verdict.estimates.georisk)
    at = curves.alphas.index(5.0)
    expected = georisk(np.array([s.values for s in systems]), alpha=5.0)
    assert [curves.curves[s.name][at] for s in systems] == pytest.approx(list(expected))
    assert {name: values[at] for name, values in curves.curves.items()} == dict(verdict.estimates.georisk)
    parts = verdict.exhibits.contributions
    assert math.fsum(parts) == pytest.approx(verdict.estimates.georisk_difference, abs=1e-12)
