"""The simulation by the number of changes: populations have the URisk that they say, and its rule is the gate's."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.ruling import Ruling
from pytest_riskguard.inference import Sample, upper_p_value
from pytest_riskguard.risk.checks import ROUNDING_ERROR
from tests.benchmarks.calibration import few_changes, lower_side, populations
from tests.benchmarks.calibration.few_changes import Cell, PValues, p_values
from tests.benchmarks.calibration.populations import BETS, CONTINUOUS, LATTICE, REAL, REWEIGHTED, SHIFTED, Pair, weigh
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


def test_a_loss_lies_so_many_standard_errors_below_0():
    pair, m, n = populations.pairs_of(CONTINUOUS)[5], 10, 100
    rng = np.random.default_rng(1)
    harmless, harmful = (
        weigh(np.array([pair.draw(SHIFTED, rng, m, alpha=1, urisk=0, errors=e) for _ in range(20_000)]), 1)
        for e in (0, 3)
    )
    # n - m of n scores are 0, and the mean of the others is 0: the standard error of the mean over n
    error = np.sqrt(m / n * np.mean(harmless**2) / n)
    assert np.mean(harmful) * m / n == pytest.approx(-3 * error, rel=0.02)


def test_scores_of_the_lattice_stay_on_it():
    for pair in populations.pairs_of(LATTICE)[:5]:
        d = pair.draw(REWEIGHTED, np.random.default_rng(0), 1000, alpha=1.0, urisk=0.0, errors=0.0)
        assert 10 * d == pytest.approx(np.round(10 * d), abs=1e-9)


def test_a_pair_without_losses_cannot_be_reweighted():
    pair = Pair(np.array([0.1, 0.2]))
    assert pair.draw(REWEIGHTED, np.random.default_rng(0), 5, alpha=1.0, urisk=0.0, errors=0.0) is None


def test_what_is_not_computed_does_not_matter(monkeypatch):
    cell = Cell(CONTINUOUS, SHIFTED, 40, 8, 1.0, 120, seed=3)
    every = p_values(cell)
    monkeypatch.setattr(few_changes, "EVERYTHING", 0)
    some = p_values(cell)
    assert np.count_nonzero(some.bca == 1) > np.count_nonzero(every.bca == 1)
    for level in (0.95, *few_changes.HIGHER_LEVELS):
        assert few_changes.fails(some.rule, level) == few_changes.fails(every.rule, level)
    assert few_changes.fails(every.bca, 0.95) > few_changes.fails(every.rule, 0.95)


def test_rules_fail_where_their_p_values_do():
    p = PValues(np.array([0.01, 0.2, 0.01]), np.array([0.2, 0.01, 0.06]), np.array([0.03, 0.01, 0.2]))
    assert p.rule == pytest.approx([0.03, 0.2, 0.06])
    assert {name: few_changes.fails(each, 0.95) for name, each in p.rules().items()} == {
        "Student-t": pytest.approx(1 / 3),
        "flips": pytest.approx(2 / 3),
        "rule": pytest.approx(1 / 3),
        "BCa and Student-t": 0,
        "BCa and flips": pytest.approx(1 / 3),
        "Student-t or flips": pytest.approx(2 / 3),
    }


def test_student_t_is_that_of_the_package():
    cell = Cell(CONTINUOUS, SHIFTED, 30, 8, 1.0, 20, seed=3)
    p = p_values(cell).student_t
    for row, found in zip(weigh(cell.draw(), 1.0), p, strict=True):
        sample = Sample.of(np.concatenate([row, np.zeros(22)]))
        packaged = upper_p_value(sample, method="student_t", bound=-ROUNDING_ERROR)
        assert found == pytest.approx(packaged if packaged < 0.99 else 1.0, abs=1e-12)


@pytest.mark.parametrize(("kind", "alpha"), [(SHIFTED, 0.0), (SHIFTED, 1.0), (BETS, 5.0), (REWEIGHTED, 1.0)])
@pytest.mark.parametrize(("n", "m"), [(40, 4), (12, 8), (60, 40)])
def test_the_rule_is_that_of_the_gate(kind, alpha, n, m):
    cell = Cell(CONTINUOUS, kind, n, m, alpha, 30, seed=4, loss=1.5 if kind == SHIFTED else 0.0)
    rule, gate = p_values(cell).rule, NotSignificantlyRisky("g", alpha=alpha)
    judged = np.array([Ruling(gate, whole(d, n)).p_value for d in cell.draw()])
    matters = judged < 1 - 0.95
    assert rule[matters] == pytest.approx(judged[matters], rel=1e-9)
    assert np.all(rule[~matters] > 1 - 0.95)


def whole(d: np.ndarray, n: int) -> Evidence:
    """Differences of changed topics among n topics."""
    return Evidence(np.concatenate([d, np.zeros(n - d.size)]), np.zeros((0, n)))


@pytest.mark.skipif(not SHARED.is_dir(), reason="no folder 'shared' with the real runs")
@pytest.mark.parametrize(("n", "m", "alpha"), [(40, 12, 0), (60, 26, 1), (50, 5, 1)])
def test_not_inferior_passes_where_the_gate_does(n, m, alpha):
    cell = lower_side.Cell(SHIFTED, n, m, alpha, 0.02, 60, seed=2)
    judged = [lower_side.ruling(d, cell).passes for d in cell.draw()]
    assert lower_side.simulate(cell).rule == np.mean(judged)


def test_gains_that_are_rare_and_large_deceive_every_rule():
    # a quarter of the changes gain 3 times what the others lose, so URisk is 0 at alpha 0
    rng, fails = np.random.default_rng(0), []
    for _ in range(300):
        sizes = rng.lognormal(sigma=0.7, size=6)
        d = np.where(rng.random(6) < 0.25, 3 * sizes, -sizes)
        fails.append(not Ruling(NotSignificantlyRisky("g", alpha=0), whole(d, 100)).passes)
    assert np.mean(fails) > 0.1
