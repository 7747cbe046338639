"""The simulation by the number of changes: populations have the URisk that they say, and its rule is the gate's."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.ruling import Ruling
from tests.benchmarks.calibration import populations
from tests.benchmarks.calibration.few_changes import Cell, p_values
from tests.benchmarks.calibration.populations import BETS, CONTINUOUS, LATTICE, REAL, REWEIGHTED, SHIFTED, weigh
from tests.shared_data import SHARED
from tests.strict import NotSignificantlyRisky

SOURCES = [
    pytest.param(REAL, marks=pytest.mark.skipif(not SHARED.is_dir(), reason="no folder 'shared' with the real runs")),
    CONTINUOUS,
    LATTICE,
]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("kind", [SHIFTED, REWEIGHTED, BETS])
@pytest.mark.parametrize(("alpha", "urisk"), [(0.0, 0.0), (1.0, 0.0), (5.0, -0.01)])
def test_a_population_has_the_urisk_that_is_asked_for(source, kind, alpha, urisk):
    pair = populations.pairs_of(source)[3]
    d = pair.draw(kind, np.random.default_rng(0), 200_000, alpha=alpha, urisk=urisk, errors=0.0)
    x = weigh(d, alpha)
    assert np.mean(x) == pytest.approx(urisk, abs=5 * x.std() / np.sqrt(x.size))


@pytest.mark.parametrize(("kind", "alpha"), [(SHIFTED, 0.0), (SHIFTED, 1.0), (BETS, 5.0), (REWEIGHTED, 1.0)])
@pytest.mark.parametrize(("n", "m"), [(40, 4), (12, 8)])
def test_the_rule_is_that_of_the_gate(kind, alpha, n, m):
    cell = Cell(CONTINUOUS, kind, n, m, alpha, 12, seed=4, loss=1.5 if kind == SHIFTED else 0.0)
    rule, gate = p_values(cell).rule, NotSignificantlyRisky("g", alpha=alpha)
    judged = np.array([Ruling(gate, whole(d, n)).p_value for d in cell.draw()])
    matters = judged < 1 - 0.95
    assert rule[matters] == pytest.approx(judged[matters], rel=1e-9)
    assert np.all(rule[~matters] > 1 - 0.95)


def whole(d: np.ndarray, n: int) -> Evidence:
    """Differences of changed topics among n topics."""
    return Evidence(np.concatenate([d, np.zeros(n - d.size)]), np.zeros((0, n)))
