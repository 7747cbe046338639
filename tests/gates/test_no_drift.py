"""``no_drift``: what many accepted changes did together, against one earlier run."""

from itertools import pairwise

import numpy as np
import pytest

from pytest_riskguard import assert_no_drift, check
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.errors import RiskyError
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import KINDS, NoDrift, NotSignificantlyRisky, options_of


def scores(values, name):
    topics = tuple(f"t{number:03d}" for number in range(len(values)))
    return TopicScores(name, "AP", topics, np.asarray(values, dtype=float))


@pytest.fixture(scope="module")
def slide():
    """Nine runs of 100 topics; each change costs 0.004 on average and moves every topic a little."""
    rng = np.random.default_rng(11)
    run, chain = rng.uniform(0.4, 0.6, 100), []
    for number in range(9):
        chain.append(scores(run, f"v{number + 1}"))
        noise = rng.standard_normal(100) * 0.025
        run = run - 0.004 + noise - np.mean(noise)
    return chain


def test_a_loss_that_no_single_change_shows_is_a_drift(slide):
    steps = [judge(NotSignificantlyRisky(alpha=0.0), later, before) for before, later in pairwise(slide)]
    assert {step.outcome for step in steps} == {"pass"}
    verdict = judge(NoDrift(tolerance=0.01), slide[-1], slide[0])
    assert (verdict.outcome, verdict.reason, verdict.alpha) == ("fail", "loss", 0.0)
    assert verdict.decisive_interval.upper < -0.01
    assert judge(NoDrift(tolerance=0.03), slide[-1], slide[0]).outcome == "pass"


def test_churn_adds_up_over_many_changes_so_alpha_is_0_unless_it_is_given():
    start = scores(np.full(60, 0.5), "v1")
    churned = scores(0.5 + np.tile([0.2, -0.2], 30), "v9")
    assert judge(NoDrift(), churned, start).outcome == "pass"
    assert judge(NoDrift(alpha=1.0, level=0.95), churned, start).reason == "churn"
    assert {kind: options_of(cls)["alpha"].default for kind, cls in KINDS.items() if cls.looks_back} == {
        "no_drift": 0.0
    }


def test_the_assertion_tolerates_nothing_unless_it_is_told_to():
    baseline = {f"q{number:02d}": 0.5 for number in range(30)}
    candidate = {topic: score - 0.02 for topic, score in baseline.items()} | {"q00": 0.5}
    assert assert_no_drift(candidate, baseline, tolerance=0.05).kind == "no_drift"
    with pytest.raises(RiskyError, match="drifted since baseline"):
        assert_no_drift(candidate, baseline, tolerance=0.01)
    with pytest.raises(RiskyError, match="drifted since baseline"):
        assert_no_drift(candidate, baseline)
    with pytest.raises(ValueError, match="replicates have no meaning for no_drift"):
        check("no_drift", candidate, baseline, replicates=[baseline])
