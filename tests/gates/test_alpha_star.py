"""alpha*: the first alpha at which a gate fails, found without trying them all."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.flips import MAX_ALPHA, alpha_star
from pytest_riskguard.gates.ruling import Ruling
from tests.strict import gate_of

OPTIONS = [
    {},
    {"tolerance": 0.01},
    {"method": "percentile"},
    {"method": "student_t"},
    {"method": "student_t", "tolerance": 0.02},
    {"kind": "not_inferior", "tolerance": 0.05},
    {"level": 0.8},
]


def differences(rng: np.random.Generator) -> np.ndarray:
    """A few changed topics of many, some on a grid, where limits are steps."""
    n = int(rng.integers(10, 60))
    d, changed = np.zeros(n), int(rng.integers(2, min(n, 20) + 1))
    d[:changed] = rng.normal(rng.choice([-0.05, 0.0, 0.05, 0.2]), 0.2, changed)
    return np.round(d, int(rng.choice([1, 3])))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 6))])
def test_alpha_star_is_the_first_failure_of_a_scan(seed, options):
    rng = np.random.default_rng([seed, OPTIONS.index(options)])
    ruling = Ruling(gate_of("g", alpha=1, **options), Evidence.of(differences(rng)))
    star = alpha_star(ruling)
    top = MAX_ALPHA if star == "any" else 1e4
    scan = np.concatenate([[0.0], np.geomspace(2.0**-6, top, 40)])
    failure = next((place for place, alpha in enumerate(scan) if not ruling.at(float(alpha)).passes), None)
    if star is None or star == "any":
        assert failure == (0 if star is None else None)
        return
    assert isinstance(star, float)
    assert ruling.at(star).passes
    assert not ruling.at(star * 1.0003 + 1e-9).passes
    assert failure is None or scan[failure - 1] <= star * 1.0001 < scan[failure] * 1.0001


def test_a_gate_that_passes_again_at_a_higher_alpha_has_the_alpha_of_its_first_failure():
    """Student-t's limit turns back: one huge loss among small ones makes it wide at high alphas."""
    d = np.append(np.full(12, -0.02) + 0.001 * np.arange(12), [0.06, 0.06, 0.06, 0.065, 0.07, -0.05])
    ruling = Ruling(gate_of("g", method="student_t", alpha=1, level=0.5), Evidence.of(d))
    star = alpha_star(ruling)
    assert isinstance(star, float)
    assert ruling.at(star).passes
    assert not ruling.at(1.001 * star).passes


@pytest.mark.parametrize("wins", [0.16, 0.15, 0.14, 0.13])
def test_where_only_its_own_interval_passes_at_alpha_0_that_is_followed(wins):
    """Many small losses and a few large wins: Student-t and the break-even test find a loss, BCa does not."""
    d = np.append([wins, wins, wins, wins, -0.03, -0.02], np.full(34, -0.029))
    ruling = Ruling(gate_of("g", alpha=0, level=0.7), Evidence.of(d))
    star = alpha_star(ruling)
    if ruling.plain.passes:
        assert not (ruling.plain.reaches("student_t") and ruling.plain.breaks_even)
        assert isinstance(star, float)
        assert ruling.at(star).passes
        assert not ruling.at(1.0003 * star + 1e-9).passes
    else:
        assert star is None


@pytest.mark.slow
def test_with_replicates_alpha_star_is_still_the_first_failure():
    rng = np.random.default_rng(4)
    found = 0
    for _ in range(6):
        d, noise = rng.normal(0.03, 0.15, 30), rng.normal(0, 0.05, (2, 30))
        ruling = Ruling(gate_of("g", alpha=1), Evidence(d, noise))
        star = alpha_star(ruling)
        if isinstance(star, float):
            found += 1
            assert ruling.at(star).passes
            assert not ruling.at(1.0003 * star).passes
            assert all(ruling.at(star * share).passes for share in (0.1, 0.3, 0.5, 0.7, 0.9, 0.97))
    assert found
