"""The simulation by the number of changes: populations have the URisk that they say."""

import numpy as np
import pytest

from tests.benchmarks.calibration import populations
from tests.benchmarks.calibration.populations import BETS, CONTINUOUS, LATTICE, REAL, REWEIGHTED, SHIFTED, weigh
from tests.shared_data import SHARED

SOURCES = [
    pytest.param(REAL, marks=pytest.mark.skipif(not SHARED.is_dir(), reason="no folder 'shared' with the real runs")),
    CONTINUOUS,
    LATTICE,
]


@pytest.mark.slow
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("kind", [SHIFTED, REWEIGHTED, BETS])
@pytest.mark.parametrize(("alpha", "urisk"), [(0.0, 0.0), (1.0, 0.0), (5.0, -0.01)])
def test_a_population_has_the_urisk_that_is_asked_for(source, kind, alpha, urisk):
    pair = populations.pairs_of(source)[3]
    d = pair.draw(kind, np.random.default_rng(0), 200_000, alpha=alpha, urisk=urisk, errors=0.0)
    x = weigh(d, alpha)
    assert np.mean(x) == pytest.approx(urisk, abs=5 * x.std() / np.sqrt(x.size))
