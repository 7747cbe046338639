"""Losses excused by replicates of the baseline: said in a warning, or refused where one is the candidate itself."""

from dataclasses import replace

import numpy as np
import pytest

from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.gates.verdict import Verdict
from tests.gates.conftest import topic_scores
from tests.strict import gate_of

BASE = np.linspace(0.4, 0.6, 20)
LOST = BASE - np.linspace(0.05, 0.15, 20)
GATE = gate_of("g", alpha=1, method="student_t")
OLD = topic_scores("prod", BASE)


def judged(*replicates: TopicScores, gate: Gate = GATE, candidate: TopicScores | None = None) -> Verdict:
    return judge(gate, candidate or topic_scores("new", LOST), OLD, replicates=replicates)


def replicate(number: int, values: np.ndarray, digest: str | None = None) -> TopicScores:
    return replace(topic_scores(f"prod/replicates/{number}", values), digest=digest)


OWN_RUN = (
    "new is the run stored as replicate 7 of prod, or scores the same on every topic, so its whole loss would count "
    "as noise of prod; if it is not another run of the same system, store the baseline without it, with "
    "`riskguard baseline remove prod` and `riskguard baseline add prod RUN`"
)


@pytest.mark.parametrize(
    "own",
    [
        replicate(7, LOST),
        replicate(7, LOST + 5e-13),
        replicate(7, BASE, digest="sha256:new"),
    ],
)
def test_the_candidates_own_run_is_no_replicate_of_the_baseline(own):
    new = replace(topic_scores("new", LOST), digest="sha256:new")
    for others in ((own,), (replicate(1, BASE + 0.01), own)):
        verdict = judged(*others, candidate=new)
        assert (verdict.outcome, verdict.reason, str(verdict.error)) == ("incomparable", "bad_baseline", OWN_RUN)


def test_the_own_run_is_harmless_where_the_gate_would_pass_without_replicates():
    better = topic_scores("new", BASE + 0.1)
    assert judged(replicate(1, BASE + 0.1), candidate=better).outcome != "incomparable"


def test_a_loss_of_the_mean_that_only_replicates_excuse_is_named_with_the_lowest_of_them():
    low, lower = LOST + np.tile([0.02, -0.01], 10), LOST + np.tile([0.01, -0.02], 10)
    verdict = judged(replicate(1, low), replicate(2, lower), replicate(3, low))
    (excused,) = [warning for warning in verdict.warnings if warning.code == "loss_excused"]
    assert verdict.outcome == "pass"
    assert excused.parameters == {
        "replicate": "prod/replicates/2",
        "mean": pytest.approx(lower.mean()),
        "baseline_mean": pytest.approx(0.5),
    }


def test_churn_that_replicates_excuse_is_not_named():
    base, churn = np.linspace(0.4, 0.6, 60), np.tile([0.2, -0.2], 30)
    new, old = topic_scores("new", base + churn * 0.99), topic_scores("prod", base)
    assert judge(GATE, new, old).reason == "churn"
    verdict = judge(GATE, new, old, replicates=[replicate(1, base - churn)])
    assert verdict.outcome == "pass"
    assert "loss_excused" not in [warning.code for warning in verdict.warnings]


def test_a_loss_beyond_the_replicates_fails_without_that_warning():
    verdict = judged(replicate(1, BASE - 0.01))
    assert (verdict.outcome, "loss_excused" in [warning.code for warning in verdict.warnings]) == ("fail", False)
