"""Gates that differ in nothing but their names share an answer and its explanation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from pytest_riskguard.evaluation import TopicScores
from pytest_riskguard.evaluation.topics import Topics
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import gate_of
from pytest_riskguard.gates.verdict import Family, Verdict
from tests.gates.conftest import pair

RNG = np.random.default_rng(7)
LOSS = RNG.normal(-0.1, 0.1, 60)
BETTER = RNG.normal(0.1, 0.1, 60)


@pytest.mark.parametrize(
    "other",
    [
        {"alpha": 2.0},
        {"level": 0.999},
        {"method": "percentile"},
        {"rescored": True},
        {"report": True},
        {"topics": Topics({}, tags={"t00001": {"length": "long"}, "t00002": {"length": "long"}})},
        {"replicates": 2},
        {"family": Family("holm", 2, 0.975, 0.2)},
        {"candidate": BETTER},
    ],
    ids=lambda other: next(iter(other)),
)
def test_an_answer_is_shared_only_where_nothing_it_depends_on_differs(other: dict[str, Any]):
    """Judged after the same gate without this, the verdict is that of systems which nobody judged before."""

    def verdict(systems: Sequence[TopicScores], **given: Any) -> Verdict:
        candidate, baseline, *noise = systems
        options = {name: given.pop(name) for name in ("alpha", "level", "method") if name in given}
        replicates = noise[: given.pop("replicates", 0)]
        return judge(gate_of("g", **options), candidate, baseline, replicates=replicates, **given)

    def systems(differences: np.ndarray) -> list[TopicScores]:
        rng = np.random.default_rng(3)
        noise = [pair(rng.normal(0, 0.03, 60))[0] for _ in range(2)]
        return [*pair(differences), *noise]

    given = dict(other)
    known, unknown = systems(LOSS), systems(given.get("candidate", LOSS))
    first = verdict(known)
    if (moved := given.pop("candidate", None)) is not None:
        known[0] = pair(moved)[0]
    after = verdict(known, **given)
    assert after.to_dict() == verdict(unknown, **given).to_dict()
    assert after.to_dict() != first.to_dict()
