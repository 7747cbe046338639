"""10,000 simulated years of pull requests through the rule of judgement, with and without a budget of looks."""

import math
from dataclasses import replace

import numpy as np
import pytest

from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.kinds import gate_of
from pytest_riskguard.gates.power_plan import Drawn
from pytest_riskguard.gates.ruling import Ruling
from pytest_riskguard.inference.many_looks import share_of_next_look

YEARS, LOOKS, TOPICS = 10_000, 60, 50
#: The probability of a false alarm that one gate at level 0.95 has, and a year of gates with a budget.
ERROR = 0.025


@pytest.mark.nightly
@pytest.mark.parametrize("changed", [8, 25])
@pytest.mark.parametrize("alike", [0.0, 0.7])
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_a_year_with_a_budget_has_no_more_false_alarms_than_one_gate(changed, alike, alpha):
    """Changes whose URisk is 0: each topic loses just as rarely as alpha asks for.

    A change is like the one before where ``alike`` of its topics keep their directions.
    """
    rng = np.random.default_rng([17, changed, int(10 * alike), int(alpha)])
    loses = 1 / (2 + alpha)
    sizes = rng.beta(0.6, 3, (LOOKS, changed)) + 0.01
    signs = np.where(rng.random((YEARS, changed)) < loses, -1.0, 1.0)
    alarms, uncorrected = np.zeros(YEARS, dtype=bool), np.zeros(YEARS, dtype=bool)
    passed = np.zeros(YEARS, dtype=int)
    for look in range(LOOKS):
        fresh = np.where(rng.random((YEARS, changed)) < loses, -1.0, 1.0)
        signs = np.where(rng.random((YEARS, changed)) < alike, signs, fresh)
        failed = np.zeros(YEARS, dtype=bool)
        for number in np.unique(passed):
            share = share_of_next_look(int(number), looks=40)
            gate = replace(gate_of("g", alpha=alpha, tolerance=0.0), level=1 - 2 * ERROR * share)
            drawn = Drawn(gate, sizes[look], signs, TOPICS)
            _, may_fail = drawn.screened(alpha, 0.0)
            for year in np.flatnonzero(may_fail & (passed == number)):
                failed[year] = not Ruling(gate, Evidence.of(drawn.differences(int(year)))).passes
        alarms |= failed
        passed += ~failed
        plain = Drawn(gate_of("g", alpha=alpha, tolerance=0.0, method="student_t"), sizes[look], signs, TOPICS)
        uncorrected |= plain.screened(alpha, 0.0)[1]
    assert np.mean(alarms) <= ERROR + 3 * math.sqrt(ERROR * (1 - ERROR) / YEARS)
    if alpha == 0:
        assert np.mean(uncorrected) > 0.3
