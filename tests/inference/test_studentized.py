"""The law of the studentized mean: brute force, draws, and what holds for any data."""

import itertools
import math
import os
import subprocess
import sys

import numpy as np
import pytest

from pytest_riskguard.inference import studentized
from pytest_riskguard.inference.intervals import interval
from pytest_riskguard.inference.sample import Sample
from pytest_riskguard.inference.studentized import StudentizedLaw, _drawn


def studentized_law(x: np.ndarray) -> StudentizedLaw:
    return studentized.studentized_law(Sample.of(x))


LEVELS = (0.0005, 0.005, 0.025, 0.5, 0.975, 0.995, 0.9995)


def all_statistics(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """T* of every multiset of n draws that varies, ascending, and their probabilities."""
    n = x.size
    statistics, masses = [], []
    for drawn in itertools.combinations_with_replacement(range(n), n):
        counts = np.bincount(drawn, minlength=n)
        mass = math.factorial(n) / math.prod(math.factorial(int(c)) for c in counts) / n**n
        replicate = np.repeat(x, counts)
        if np.all(replicate == replicate[0]):
            continue
        error = replicate.std(ddof=1) / math.sqrt(n)
        statistics.append((replicate.mean() - x.mean()) / error)
        masses.append(mass)
    order = np.argsort(statistics)
    return np.array(statistics)[order], np.array(masses)[order] / math.fsum(masses)


def drawn_statistics(x: np.ndarray, replicates: int, *, seed: int = 0) -> np.ndarray:
    """By the definition, with numpy's own draws."""
    rng, n = np.random.default_rng(seed), x.size
    drawn = x[rng.integers(0, n, size=(replicates, n))]
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (drawn.mean(axis=1) - x.mean()) / (drawn.std(axis=1, ddof=1) / math.sqrt(n))
    return t[np.isfinite(t)]


def losing(n: int, r: float, *, seed: int = 0) -> np.ndarray:
    d = np.random.default_rng(seed).normal(size=n)
    return np.where(d < 0, r * d, d)


SHAPES = {
    "normal": lambda n: losing(n, 1),
    "losses": lambda n: losing(n, 6),
    "tied": lambda n: np.round(losing(n, 2)) / 10,
    "zeros": lambda n: np.where(np.arange(n) % 2, losing(n, 1), 0.0),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [5, 6, 7])
def test_few_topics_have_the_law_of_all_multisets(shape, n):
    x = SHAPES[shape](n)
    law = studentized_law(x)
    statistics, masses = all_statistics(x)
    below = np.cumsum(masses)
    gaps = np.flatnonzero(np.diff(statistics) > 1e-7)
    assert gaps.size > 10
    for k in gaps:
        assert law.cdf((statistics[k] + statistics[k + 1]) / 2) == pytest.approx(below[k], abs=1e-11)
    for p in LEVELS:
        expected = statistics[np.searchsorted(below, p - 1e-13)]
        assert float(law.quantiles(p)) == pytest.approx(expected, rel=1e-9, abs=1e-9)


DRAWN = {
    "normal": losing(50, 1),
    "losses": losing(50, 6),
    "heavy losses": losing(250, 11),
    "few topics": losing(25, 2),
    "skew": np.random.default_rng(3).exponential(size=60),
    "zeros": np.where(np.random.default_rng(4).random(100) < 0.6, 0.0, losing(100, 2)),
    "rounded": np.round(losing(60, 2), 1),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", DRAWN)
def test_weighted_draws_agree_with_plain_ones(name):
    x = DRAWN[name]
    law = studentized_law(x)
    replicates = 50_000
    t = drawn_statistics(x, replicates, seed=1)
    for p in LEVELS:
        share = np.mean(t <= float(law.quantiles(p)))
        assert abs(share - p) < 4 * math.sqrt(p * (1 - p) / replicates)


@pytest.mark.parametrize(
    "x",
    [losing(10, 1), np.append(np.zeros(46), [0.2, -0.1, -0.35, 0.15]), np.repeat([0.0, 1.0, 2.0], [6, 3, 2])],
    ids=["ten topics", "four of fifty changed", "five of eleven gained"],
)
def test_weighted_draws_agree_with_enumeration(x):
    sample = Sample.of(x)
    exact, drawn = studentized.studentized_law(sample), StudentizedLaw(*_drawn(sample))
    # draws have about 0.4 % of noise in the tails, 0.3 % of 1 in the middle
    for p in (0.0005, 0.025, 0.3, 0.7, 0.975, 0.9995):
        t = float(exact.quantiles(p))
        assert drawn.cdf(t) == pytest.approx(exact.cdf(t), abs=0.06 * min(p, 1 - p))


KINDS = {
    "enumerated": np.append(np.zeros(47), [0.2, -0.1, -0.35]),
    "inverted": losing(60, 3),
    "replicates": np.append(losing(40, 2), 15.0),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_statistic_has_neither_unit_nor_origin(kind):
    x = KINDS[kind]
    law = studentized_law(x)
    for shift, scale in ((0.37, 0.01), (-5.0, 1e40)) if kind == "enumerated" else ((-5.0, 0.01),):
        moved = studentized_law(shift + scale * x)
        for p in LEVELS:
            assert float(moved.quantiles(p)) == pytest.approx(float(law.quantiles(p)), abs=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_mirrored_data_have_the_mirrored_law(kind, monkeypatch):
    monkeypatch.setattr(studentized, "MAX_ROWS", 64)
    monkeypatch.setattr(studentized, "_kept_law", studentized._kept_law.__wrapped__)  # of so few draws none is kept
    x = KINDS[kind]
    law, mirrored = studentized_law(x), studentized_law(-x)
    for p in LEVELS:
        assert float(mirrored.quantiles(1 - p)) == pytest.approx(-float(law.quantiles(p)), rel=1e-9, abs=1e-9)
    for t in (-2.1, -0.3, 0.2, 1.7):
        assert mirrored.cdf(-t) == pytest.approx(1 - law.cdf(t), abs=1e-9)
    own, other = interval(x, method="studentized"), interval(-x, method="studentized")
    assert other.lower == pytest.approx(-own.upper, rel=1e-9)
    assert other.upper == pytest.approx(-own.lower, rel=1e-9)


def test_a_replicate_without_the_one_far_out_keeps_its_digits():
    """The lowest statistics are those of replicates that miss it: as far off as it is, in their own small errors."""
    x = np.append(losing(49, 1), 1e12)
    law = studentized_law(x)
    t = drawn_statistics(x, 50_000)
    lowest = np.quantile(t, 0.05)
    assert lowest < -1e10
    assert float(law.quantiles(0.05)) == pytest.approx(lowest, rel=0.02)


@pytest.mark.slow
def test_the_number_of_threads_moves_no_bit():
    program = """
import numpy as np
from pytest_riskguard.inference.intervals import interval
rng = np.random.default_rng(0)
x = rng.normal(size=200)
for scores in (x, np.append(x, -60)):
    print(repr(interval(scores, method="studentized", level=0.999)))
"""
    printed = [
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "2")
    ]
    assert printed[0].count("Interval(method='studentized'") == 2
    assert printed[0] == printed[1]
