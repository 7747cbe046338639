"""10,000 simulated years of pull requests through the rule of judgement, with and without a budget of looks."""

import math
from dataclasses import replace

import numpy as np
import pytest

from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.kinds import gate_of
from pytest_riskguard.gates.ruling import Ruling
from pytest_riskguard.inference.break_even import break_even_quantile
from pytest_riskguard.inference.intervals import critical_value
from pytest_riskguard.inference.many_looks import share_of_next_look

YEARS, LOOKS, TOPICS = 10_000, 60, 50
#: The probability of a false alarm that one gate at level 0.95 has, and a year of gates with a budget.
ERROR = 0.025


def may_fail(gate, sizes, signs):
    """Which draws Student-t, or the break-even test but for rounding, finds to be losses: no others fail."""
    weights = np.where(signs < 0, -(1 + gate.alpha), 1.0)
    sums, squares = weights @ sizes, (weights**2) @ (sizes**2)
    errors = np.sqrt(np.maximum(squares - sums**2 / TOPICS, 0.0) / (TOPICS - 1) * TOPICS)
    by_student_t = sums <= -critical_value(TOPICS, level=gate.level) * errors * (1 - 1e-9)
    if gate.method == "student_t":
        return by_student_t
    lowest = break_even_quantile(sizes, (1 + gate.alpha) * sizes, (1 - gate.level) / 2, tolerated=0.0)
    spread = float(np.sqrt(np.sum(sizes**2) * (1 + gate.alpha)))
    return by_student_t | (sums <= lowest + 0.02 * spread)


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
            for year in np.flatnonzero(may_fail(gate, sizes[look], signs) & (passed == number)):
                differences = np.append(signs[year] * sizes[look], np.zeros(TOPICS - changed))
                failed[year] = not Ruling(gate, Evidence.of(differences)).passes
        alarms |= failed
        passed += ~failed
        plain = gate_of("g", alpha=alpha, tolerance=0.0, method="student_t")
        uncorrected |= may_fail(plain, sizes[look], signs)
    assert np.mean(alarms) <= ERROR + 3 * math.sqrt(ERROR * (1 - ERROR) / YEARS)
    if alpha == 0:
        assert np.mean(uncorrected) > 0.3
