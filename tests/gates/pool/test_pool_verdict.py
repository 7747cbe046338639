"""What is asked of a pool and what its verdict holds; the pools themselves are those of ``test_judge``."""

import numpy as np
import pytest

from pytest_riskguard.data.topics import Topics
from pytest_riskguard.gates.verdict import Family
from pytest_riskguard.risk import georisk
from tests.gates.conftest import judge_pool
from tests.gates.pool.test_judge import gate, systems


def test_what_is_asked_of_a_pool_is_what_the_verdict_has():
    pool = systems(14, n=12, count=3)
    topics = Topics({}, {topic: {"half": "xy"[place % 2]} for place, topic in enumerate(pool[0].topics)})
    asked = gate(alpha=2.0, level=0.5)
    family = Family("holm", 2, 0.6, 0.9)
    verdict = judge_pool(asked, pool[0], pool[1:], family=family, topics=topics, report=True)
    assert (verdict.outcome, verdict.reason, verdict.family) == ("pass", None, family)
    assert verdict.pool is not None
    x = np.array([system.values for system in pool])
    assert verdict.pool.decided_by == "s1"
    assert [part.value for part in verdict.slices] == ["x", "y"]
    (against,) = verdict.pool.references
    (decisive,) = [interval for interval in verdict.intervals if interval.decisive]
    assert decisive.level == pytest.approx(0.6)
    assert (decisive.lower, decisive.upper) == (against.lower, against.upper)
    assert against.adjusted_p_value == verdict.estimates.decision_p_value
    assert verdict.estimates.flip_set == ()
    assert verdict.exhibits is not None
    assert verdict.exhibits.curves
    at = verdict.exhibits.alphas.index(2.0)
    assert [values[at] for values in verdict.exhibits.curves.values()] == georisk(x, alpha=2.0).tolist()
    plain = judge_pool(asked, pool[0], pool[1:])
    assert plain.exhibits is None
