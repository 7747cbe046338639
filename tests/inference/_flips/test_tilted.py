"""The tilted inversion against convolution and counting."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pytest_riskguard.inference._flips import tilted
from pytest_riskguard.inference._flips.bets import Bets
from pytest_riskguard.inference._flips.tilted import FREQUENCIES, Inversion

from tests.inference._flips.laws import bets, convolved, met_in_the_middle

SHARES = (0.3, 1.0, 1.3, 2.0, 2.9)


def whole_sizes(m: int, alpha: float, share: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng([m, int(10 * alpha), int(10 * share)])
    steps = rng.integers(200, 2000, size=m)
    lost = rng.random(m) < min(share / (2 + alpha), 0.97)
    lost[0], lost[1] = True, False
    return steps, np.full(m, 1 / (2 + alpha)), lost


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("alpha", [0.0, 1.0, 5.0])
@pytest.mark.parametrize("m", [60, 150])
def test_a_lattice_is_exact_in_every_tail(m, alpha, share):
    steps, chances, lost = whole_sizes(m, alpha, share)
    steps //= 100
    masses = convolved(steps, chances)
    observed = int(steps[lost].sum())
    found = Inversion(Bets.of(steps / 7, chances, lost)).inverted()
    assert found.exact
    assert found.p == pytest.approx(math.fsum(masses[observed:]), rel=1e-11)
    if found.p > 0.5:
        assert 1 - found.p == pytest.approx(math.fsum(masses[:observed]), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("alpha", [0.0, 1.0, 5.0])
@pytest.mark.parametrize("m", [100, 200])
def test_off_a_lattice_it_has_half_of_the_atom(m, alpha, share, monkeypatch):
    """So it is compared on a lattice which it is not told of, and which is too fine to matter otherwise."""
    steps, chances, lost = whole_sizes(m, alpha, share)
    masses = convolved(steps, chances)
    observed = int(steps[lost].sum())
    exact, atom = math.fsum(masses[observed:]), masses[observed]
    monkeypatch.setattr(tilted, "lattice_step", lambda _: None)
    found = Inversion(Bets.of(steps.astype(float), chances, lost)).inverted()
    assert found.converged or not 1e-12 < exact < 1 - 1e-6
    assert abs(found.p - (exact - atom / 2)) <= 1e-6 * found.p + found.error


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("alpha", [0.0, 2.0, 20.0])
@pytest.mark.parametrize("kind", ["smooth", "one huge", "every magnitude"])
def test_bounds_hold_whatever_is_left_out(kind, alpha, share):
    rng = np.random.default_rng([int(alpha), int(10 * share)])
    sizes = {
        "smooth": rng.exponential(size=24),
        "one huge": np.append(rng.uniform(0.01, 0.02, size=23), 3.0),
        "every magnitude": 1.6 ** -np.arange(24.0),
    }[kind]
    lost = rng.random(24) < share / (2 + alpha)
    lost[0], lost[1] = True, False
    expected = met_in_the_middle(sizes, np.full(24, 1 / (2 + alpha)), lost)
    made = bets(sizes, alpha, lost)
    for count in (64, FREQUENCIES, 2**15):
        lower, upper = Inversion(made, count).bounds()
        assert lower <= expected * (1 + 1e-12)
        assert upper >= expected * (1 - 1e-12)
    if kind == "smooth" and expected > 1e-3:
        assert upper - lower < 0.02 * expected


@pytest.mark.parametrize("lattice", [True, False])
@pytest.mark.parametrize("alpha", [0.0, 1.0, 5.0])
def test_one_topic_is_divided_out(alpha, lattice):
    steps, chances, lost = whole_sizes(300, alpha, 1.2)
    sizes = steps // 40 / 10 if lattice else steps + np.sqrt(steps)
    full = Inversion(Bets.of(sizes, chances, lost))
    divided = 0
    for place in range(0, 300, 13):
        rest = full.without(float(sizes[place]), float(chances[place]), lost=bool(lost[place]))
        if rest is None:
            continue
        divided += 1
        alone = Inversion(Bets.of(*(np.delete(values, place) for values in (sizes, chances, lost)))).inverted()
        assert rest.p == pytest.approx(alone.p, rel=1e-10)
        assert rest.exact == alone.exact
    assert divided > 0 if lattice else divided == 24
