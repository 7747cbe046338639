"""The simulation of families: URisk is what it says, and both corrections decide as those of the package do."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from pytest_riskguard.gates.chain.families import Compared, in_families
from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.ruling import Ruling
from tests.benchmarks.calibration import family_study
from tests.benchmarks.calibration.family_study import LIKE, LOSS, SAME, UNLIKE, Cell, least_p_values, simulate, tilted
from tests.benchmarks.calibration.few_changes import flip_p
from tests.benchmarks.calibration.populations import BETS, REWEIGHTED, SHIFTED, Pair, weigh
from tests.shared_data import SHARED
from tests.strict import NotSignificantlyRisky

needs_runs = pytest.mark.skipif(not SHARED.is_dir(), reason="no folder 'shared' with the real runs")


@needs_runs
@pytest.mark.parametrize(("where", "kind"), [*product((LIKE, SAME), (SHIFTED, BETS, REWEIGHTED)), (UNLIKE, SHIFTED)])
@pytest.mark.parametrize("alpha", [0, 1])
def test_every_gate_has_the_urisk_that_is_asked_for(where, kind, alpha):
    loss = 0.0 if (where, kind) == (SAME, BETS) else LOSS
    cell = Cell(where, kind, 3, 100, 60, alpha, 150, seed=1, loss=loss)
    x = weigh(np.array(list(cell.families())), alpha)
    t = np.mean(x, axis=2) / (np.std(x, axis=2) / np.sqrt(60))
    assert np.mean(t[:, 0]) == pytest.approx(-loss, abs=1.2)
    assert np.mean(t[:, 1:]) == pytest.approx(0, abs=0.4)


def both_by_the_package(cell: Cell) -> list[list[list[bool]]]:
    """For each family, which gates fail by Holm's method and by ``auto``, judged as gates are."""
    gates, found = [NotSignificantlyRisky("g", alpha=float(cell.alpha))] * cell.gates, []
    for family in cell.families():
        evidence = [Evidence.of(np.concatenate([d, np.zeros(cell.topics - d.size)])) for d in family]
        p = [Ruling(gate, one).p_value for gate, one in zip(gates, evidence, strict=True)]
        compared = [Compared(family_study._topics(cell, i), None, one) for i, one in enumerate(evidence)]
        families = [in_families(gates, p, correction=by, compared=compared) for by in ("holm", "auto")]
        found.append([[one.adjusted_p_value <= 0.05 for one in family] for family in families])
    return found


@needs_runs
@pytest.mark.slow
@pytest.mark.parametrize(
    "cell",
    [
        Cell(LIKE, SHIFTED, 3, 50, 12, 0, 60, seed=2),
        Cell(LIKE, SHIFTED, 5, 50, 12, 1, 40, seed=2, loss=LOSS),
        Cell(LIKE, REWEIGHTED, 3, 50, 12, 0, 60, seed=2),
        Cell(SAME, SHIFTED, 3, 100, 60, 0, 40, seed=2, loss=LOSS),
        Cell(SAME, SHIFTED, 3, 100, 60, 1, 40, seed=2),
        Cell(SAME, SHIFTED, 3, 50, 12, 0, 40, seed=2),
    ],
)
def test_both_corrections_decide_as_those_of_the_package_do(cell):
    watched = slice(0, 1) if cell.loss else slice(None)
    judged = np.array([[any(fails[watched]) for fails in family] for family in both_by_the_package(cell)])
    found = simulate(cell)
    assert [found.holm, found.auto] == pytest.approx(np.mean(judged, axis=0).tolist())


@pytest.mark.parametrize("alpha", [0, 1])
def test_enumerated_flips_are_the_break_even_test(alpha):
    d = np.random.default_rng(0).choice([-0.3, -0.1, 0.1, 0.2], (30, 8)) + 0.0
    expected = [flip_p(one, alpha) for one in d]
    assert family_study.enumerated_flips(d, alpha) == pytest.approx(expected)


def test_what_cannot_fail_alone_has_no_low_p_value():
    d = np.random.default_rng(1).normal(-0.04, 0.1, (20, 3, 10))
    cell = Cell(LIKE, SHIFTED, 3, 40, 10, 1, 20, seed=0)
    gate = NotSignificantlyRisky("g", alpha=1.0)
    least = least_p_values(d, cell)
    for family, lowest in zip(d, least, strict=True):
        for one, low in zip(family, lowest, strict=True):
            own = Ruling(gate, Evidence.of(np.concatenate([one, np.zeros(30)]))).p_value
            assert own >= low - 1e-9 or own > 0.05
    assert np.any(least <= 0.05)


def test_tilted_topics_have_a_mean_of_0_in_every_gate():
    x = np.random.default_rng(2).normal(0.03, 0.2, (200, 4))
    shares = tilted(x)
    assert shares @ x == pytest.approx(np.zeros(4), abs=1e-4)
    assert tilted(np.abs(x)) is None


def test_pairs_whose_losses_are_far_larger_than_wins_are_left_out():
    assert family_study.acceptable(np.array([0.1, -0.2, 0.3]))
    assert not family_study.acceptable(np.array([0.1, -0.6]))
    assert not family_study.acceptable(np.array([0.6, -0.1]))
    assert not family_study.acceptable(np.array([0.6, 0.1]))


def test_seeds_of_cells_differ_and_loss_changes_the_first_gate_alone(monkeypatch):
    pairs = (Pair(np.random.default_rng(3).normal(0.0, 0.2, 60)),)
    monkeypatch.setattr(family_study, "eligible", lambda *_: pairs)
    cell = Cell(LIKE, SHIFTED, 3, 50, 12, 0, 4, seed=5)
    null, loss = (np.array(list(one.families())) for one in (cell, replace(cell, loss=LOSS)))
    assert np.all(loss[:, 0] < null[:, 0])
    assert loss[:, 1:].tolist() == null[:, 1:].tolist()
    assert np.any(np.array(list(replace(cell, seed=6).families())) != null)
