"""The simulated year: its p-values are those of the gate's own ruling, and the budget keeps what the docs promise."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.kinds import NoDrift, NotSignificantlyRisky
from pytest_riskguard.gates.looks import BOUNDED_LOOKS, FALSE_ALARMS
from pytest_riskguard.gates.ruling import Ruling
from pytest_riskguard.inference.intervals import upper_p_value
from pytest_riskguard.risk.checks import ROUNDING_ERROR
from tests.benchmarks.calibration import year_study
from tests.benchmarks.calibration.tables import read
from tests.benchmarks.calibration.year_study import highest_p, look_p

#: What the docs promise of years of at most fifty looks, and of years of ``no_drift``, in percent.
PROMISED, PROMISED_OF_DRIFT = 2.9, 4.0


def ruling(d, topics, alpha, **options):
    gate = NotSignificantlyRisky("g", alpha=alpha, tolerance=0.0, on_churn="fail", **options)
    return Ruling(gate, Evidence.of(np.concatenate([d, np.zeros(topics - d.size)])))


def skewed(rng, shape):
    """Many small losses and few large wins."""
    return np.where(rng.random(shape) < 0.2, 4.0, -1.0) * rng.gamma(2.0, 0.02, shape) - 0.01


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0, 5.0])
def test_its_p_values_are_those_of_the_ruling_but_for_what_bca_adds(alpha):
    d = skewed(np.random.default_rng([3, int(10 * alpha)]), (24, 16))
    d = d - (0.02 + 0.02 * np.arange(24) / 24)[:, None]  # harmful, so that many are low
    low = 0
    for row in d:
        ruled, found = ruling(row, 50, alpha), look_p(row[None, :], 50, alpha, highest=0.02)
        low += ruled.p_value_of_look <= 0.02
        if ruled.p_value <= 1e-6:  # what fails at the highest level fails
            assert ruled.p_value_of_look == ruled.p_value
        elif found.size:
            bca = upper_p_value(ruled.sample, method="bca", bound=-ROUNDING_ERROR)
            assert ruled.p_value_of_look == pytest.approx(max(found[0], bca), rel=1e-6)
        else:
            assert ruled.p_value_of_look > 0.02
    assert low > 2


def test_sixteen_losses_of_sixteen_changes_are_what_fifty_looks_take():
    """At alpha 0; twelve would do for one of many looks by the ordinary rule, which skewed changes meet too often."""
    losses = -0.1 - 0.001 * np.arange(16)
    fails = [ruling(losses[:m], 50, 0.0).p_value_of_look <= highest_p(50) for m in (15, 16)]
    assert fails == [False, True]
    assert ruling(losses[:12], 50, 0.0).p_value <= highest_p(50)


def rows(name):
    header, *lines = read(name)
    return [dict(zip(header, line, strict=True)) for line in lines]


def test_what_the_package_says_of_false_alarms_is_what_was_simulated():
    found = rows("year")
    for looks, most in FALSE_ALARMS.items():
        if looks <= BOUNDED_LOOKS:
            shares = [float(row[f"years of {some}"]) / 100 for row in found for some in (20, looks)]
            simulated = -math.log1p(-max(shares))
        else:
            simulated = max(float(row[f"alarms in {looks}"]) for row in found)
        assert most == pytest.approx(simulated, abs=6e-4)


def test_the_tables_keep_what_the_docs_promise():
    found = rows("year")
    assert max(float(row[f"years of {looks}"]) for row in found for looks in (20, 50)) <= PROMISED
    grown = [row for row in rows("no-drift") if row["the difference"] == year_study.GROW]
    assert max(float(row[f"rule at {NoDrift().level:g}"]) for row in grown) <= PROMISED_OF_DRIFT
