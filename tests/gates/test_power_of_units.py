"""Plans for topics in clusters."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pytest_riskguard.data.topics import Topics
from pytest_riskguard.gates.power import plan_of
from tests.gates.conftest import pair
from tests.strict import gate_of

SPREADS = np.repeat([0.05, 0.1, 0.3, 0.1], [30, 20, 12, 3])


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_copies_of_topics_plan_as_the_topics_do(alpha):
    """Each topic three times in a cluster: the same power, and three times the topics."""
    rng = np.random.default_rng(4)
    d = rng.normal(size=SPREADS.size) * SPREADS
    candidate, baseline = pair(d, level=0.5 + rng.normal(0, 0.1, SPREADS.size))
    names = tuple(f"{topic}-{copy}" for topic in baseline.topics for copy in range(3))
    thrice = [replace(one, topics=names, values=np.repeat(one.values, 3)) for one in (candidate, baseline)]
    topics = Topics({}, {topic: {"cluster": str(place // 3)} for place, topic in enumerate(names)})
    gate = gate_of("plan", alpha=alpha)
    of: dict[str, Any] = {"power": 0.8, "effects": (0.02, 0.05)}
    found = plan_of(gate, candidate, baseline, **of)
    clustered = plan_of(gate, *thrice, topics=topics, **of)
    assert (clustered.topics, clustered.clusters) == (3 * found.topics, found.topics)
    assert clustered.standard_deviation == pytest.approx(found.standard_deviation, rel=1e-12)
    assert clustered.minimum_detectable_effect == pytest.approx(found.minimum_detectable_effect, rel=1e-6)
    assert clustered.churn_power is None
    for one, other in zip(clustered.effects, found.effects, strict=True):
        assert one.topics_needed == 3 * other.topics_needed
    from_baseline = [
        plan_of(gate, None, one, correlation=0.9, topics=known, **of)
        for one, known in ((baseline, None), (thrice[1], topics))
    ]
    alone, together = from_baseline
    assert together.standard_deviation == pytest.approx(alone.standard_deviation, rel=1e-12)
    assert together.effects[0].topics_needed == 3 * alone.effects[0].topics_needed
