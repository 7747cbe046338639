"""The simulation of families: URisk is what it says, and both corrections decide as those of the package do."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.families import Compared, in_families
from pytest_riskguard.gates.ruling import Ruling
from tests.benchmarks.calibration import family_study
from tests.benchmarks.calibration.family_study import LIKE, LOSS, SAME, Cell, simulate
from tests.benchmarks.calibration.populations import SHIFTED
from tests.shared_data import SHARED
from tests.strict import NotSignificantlyRisky

needs_runs = pytest.mark.skipif(not SHARED.is_dir(), reason="no folder 'shared' with the real runs")


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
@pytest.mark.nightly
@pytest.mark.parametrize(
    "cell",
    [
        Cell(LIKE, SHIFTED, 5, 50, 12, 1, 40, seed=2, loss=LOSS),
        Cell(SAME, SHIFTED, 3, 100, 60, 0, 40, seed=2, loss=LOSS),
    ],
)
def test_both_corrections_decide_as_those_of_the_package_do(cell):
    watched = slice(0, 1) if cell.loss else slice(None)
    judged = np.array([[any(fails[watched]) for fails in family] for family in both_by_the_package(cell)])
    ((_, found),) = simulate(cell)
    assert [found["Holm"], found["auto"]] == pytest.approx(np.mean(judged, axis=0).tolist())
