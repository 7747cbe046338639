"""The inversion of the studentized mean, step by step; the whole is in test_studentized."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pytest_riskguard.inference._bootstrap.inversion import STEP
from pytest_riskguard.inference._bootstrap.sample import Sample
from pytest_riskguard.inference._bootstrap.studentized_inversion import InvertedLaw, Pair, inverted_law
from scipy.special import ndtr


def losing(n: int, r: float) -> np.ndarray:
    d = np.random.default_rng(n).normal(size=n)
    return np.where(d < 0, r * d, d)


def test_the_rest_is_what_the_sum_does_not_tell_of_the_sum_of_squares():
    sample = Sample.of([-2.0, 0.0, 0.0, 1.0, 3.0])
    pair = Pair(sample)
    y = (sample.x - sample.mean) / sample.deviation
    slope = float(np.mean(y**3))
    rest = y**2 - 1 - slope * y
    assert (pair.n, pair.shares.tolist()) == (5, [0.2, 0.4, 0.2, 0.2])
    assert pair.y == pytest.approx(np.unique(y), abs=1e-15)
    assert pair.slope == pytest.approx(slope, rel=1e-13)
    assert pair.spread == pytest.approx(rest.std(), rel=1e-13)
    phi = pair.phi(3, 2)
    assert phi.shape == (4, 5)
    for k, first in enumerate((0.0, 0.5, 1.5, 2.5)):
        for j, second in enumerate((-2, -1, 0, 1, 2)):
            turned = np.exp(1j * STEP / math.sqrt(5) * (first * y + second * rest / rest.std()))
            assert phi[k, j] == pytest.approx(complex(np.mean(turned) ** 5), abs=1e-13)


@pytest.mark.parametrize("r", [1.0, 4.0])
def test_f_is_the_sum_over_all_values_of_the_rest(r):
    """Where the joint law is a normal one, T* <= q means that u is below the root of a quadratic in the rest."""
    sample = Sample.of(losing(60, r))
    pair = Pair(sample)
    rows, columns, n = 64, 64, sample.n
    first = np.append(0.0, np.arange(rows) + 0.5) * STEP
    second = np.arange(-columns, columns + 1) * STEP
    normal = np.exp(-np.add.outer(first**2, second**2) / 2).astype(np.complex128)
    law = InvertedLaw(sample, pair, normal)
    assert law.frequencies == (rows, columns)
    rest = np.linspace(-8, 8, 4001)
    masses = np.exp(-(rest**2) / 2)
    masses /= masses.sum()
    for t in (-3.0, -0.7, 0.0, 1.2, 4.0):
        c2 = t * t / (n - 1 + t * t)
        # u^2 = c^2 (1 + slope u + spread/root(n) rest), u = z/root(n)
        constant = 1 + pair.spread / math.sqrt(n) * rest
        root = np.sqrt(np.maximum(c2**2 * pair.slope**2 + 4 * c2 * constant, 0.0))
        roots = (c2 * pair.slope + math.copysign(1, t) * root) / 2
        expected = float(np.sum(masses * ndtr(roots * math.sqrt(n))))
        assert law.cdf(t) == pytest.approx(expected, abs=1e-9)
    assert max(law.moved_by_last()) < 1e-12
    assert law.rises(1e-9)
    assert law.left_out == 1e-9
    for p in (0.001, 0.3, 0.5, 0.99):
        assert law.cdf(law.quantile(p)) == pytest.approx(p, abs=1e-9)


@pytest.mark.parametrize(
    ("n", "r", "frequencies", "left_out", "quantiles"),
    [
        (23, 1.0, (128, 128), 2.1066e-08, [-3.12283504679, -1.84555492881, 0.0280548626804, 2.41105728133]),
        (22, 1.0, (128, 64), 5.28856e-10, [-4.77773899731, -2.25992854176, -0.0135704755147, 1.96201282959]),
        (40, 3.0, (64, 64), 6.50608e-11, [-3.08212672496, -1.82884175559, 0.0258048783665, 2.29854938629]),
        (60, 6.0, (64, 64), 1.83187e-14, [-2.99516189711, -1.80644002288, 0.0254012311097, 2.30032413626]),
    ],
)
def test_limits_by_inversion_are_those_they_always_were(n, r, frequencies, left_out, quantiles):
    law = inverted_law(Sample.of(losing(n, r)))
    assert law is not None
    assert law.kind == "inverted"
    assert law.frequencies == frequencies
    assert law.left_out == pytest.approx(left_out, rel=1e-2, abs=1e-13)
    assert [law.quantile(p) for p in (0.0005, 0.025, 0.5, 0.975)] == pytest.approx(quantiles, abs=1e-8)


def test_frequencies_are_doubled_until_they_no_longer_move_f_or_are_too_many():
    """Of the sum or of the rest, whichever still move F; near the most that are allowed, 1e-6 is accepted."""
    law = inverted_law(Sample.of(losing(22, 1.0) ** 3))
    assert law is not None
    assert law.frequencies == (256, 256)
    assert law.left_out == pytest.approx(9.88234e-07, rel=1e-3)
    uneven = inverted_law(Sample.of(-np.random.default_rng(1).exponential(size=24)))
    assert uneven is not None
    assert uneven.frequencies == (512, 128)
    assert uneven.quantile(0.025) == pytest.approx(-1.59868779242, abs=1e-6)
    # one that moves F by more than that is no law
    assert inverted_law(Sample.of(-np.random.default_rng(1).exponential(size=30))) is None
