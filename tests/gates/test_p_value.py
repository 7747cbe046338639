"""A gate's p-value against the gate: it fails at a level exactly where 1 - level has reached the p-value."""

import math

import numpy as np
import pytest

from pytest_riskguard.gates.judge import compare
from pytest_riskguard.gates.kinds import NotSignificantlyRisky
from tests.gates.conftest import pair

LEVELS = (0.3, 0.75, 0.95, 0.99, 0.9999)


@pytest.mark.parametrize("on_churn", ["fail", "warn"])
@pytest.mark.parametrize("method", ["auto", "student_t", "basic", "percentile"])
@pytest.mark.parametrize("seed", range(4))
def test_the_gate_fails_at_a_level_exactly_where_p_has_been_reached(seed, method, on_churn):
    rng = np.random.default_rng(seed)
    n = [12, 24, 80, 60][seed]
    d = rng.normal(-0.08, 0.2, n)
    if seed % 2:
        d[rng.permutation(n)[: n - int(rng.integers(3, 12))]] = 0.0
    for alpha in (0.0, 1.0, 5.0):
        base = {"alpha": alpha, "method": method, "on_churn": on_churn, "tolerance": 0.01 * (seed % 3)}
        p = compare(NotSignificantlyRisky("g", **base), *pair(d)).p_value
        for level in LEVELS:
            if not math.isclose(p, 1 - level, rel_tol=1e-6):
                outcome, _ = compare(NotSignificantlyRisky("g", level=level, **base), *pair(d)).answer
                assert (outcome == "fail") == (p <= 1 - level), (alpha, level, p)


def test_nothing_changed_never_fails():
    assert compare(NotSignificantlyRisky("g"), *pair(np.zeros(30))).p_value == 1.0
