"""What charts draw: the verdict's own figures, spread out."""

import numpy as np
import pytest

from pytest_riskguard.data.topics import Topics
from pytest_riskguard.gates import explain
from pytest_riskguard.gates.explain import ALPHAS
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import gate_of
from tests.gates.conftest import topic_scores

RNG = np.random.default_rng(5)
BASE = np.round(RNG.uniform(0.2, 0.8, 60), 3)
OURS = np.clip(np.round(BASE + RNG.normal(-0.03, 0.12, 60), 3), 0, 1)


def reported(**options):
    gate = gate_of("g", **{"alpha": 2.0, **options})
    topics = Topics({}, {"t00001": {"kind": "brand"}})
    return judge(gate, topic_scores("new", OURS), topic_scores("old", BASE), topics=topics, report=True)


@pytest.mark.parametrize("kind", ["not_significantly_risky", "not_inferior"])
def test_the_curve_has_the_verdicts_figures_at_its_alpha(kind):
    verdict = reported(kind=kind, alpha=2.5, tolerance=0.01)
    curve, decisive = verdict.exhibits, verdict.decisive_interval
    at = curve.alphas.index(2.5)
    assert curve.curves["urisk"][at] == verdict.estimates.urisk
    assert (curve.curves["lower"][at], curve.curves["upper"][at]) == (decisive.lower, decisive.upper)
    assert list(curve.alphas) == sorted({*ALPHAS, 2.5})
    assert curve.tags == {"kind": ("", "brand", *[""] * 58)}
    assert all(np.diff(curve.curves["urisk"]) < 0), "a loss that counts more lowers URisk"


def test_what_has_no_law_or_no_alpha_has_no_chart():
    assert reported(kind="no_topic_collapse", alpha=0.0, max_loss=0.3).exhibits.curves == {}
    assert reported(tradeoff="smooth", alpha=1.0).exhibits.curves == {}
    few = judge(gate_of("g"), topic_scores("new", OURS[:5]), topic_scores("old", BASE[:5]), report=True)
    assert set(few.exhibits.curves["upper"]) == {None}
    assert few.exhibits.curves["urisk"][0] == pytest.approx(np.mean(OURS[:5] - BASE[:5]))


def test_of_very_many_topics_those_with_the_lowest_and_the_highest_parts_are_drawn(monkeypatch):
    monkeypatch.setattr(explain, "MAX_LISTED", 3)
    order = np.argsort(OURS - BASE, kind="stable")
    drawn = sorted([*order[:3], *order[-3:]])
    assert reported().exhibits.topics == tuple(f"t{place:05d}" for place in drawn)
