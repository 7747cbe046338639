"""Far tails against every resample counted in whole numbers, and against finer lattices."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest_riskguard.inference._bootstrap.choice import mean_law
from pytest_riskguard.inference._bootstrap.far_tail import (
    FarTail,
    SmoothPiece,
    StepPiece,
)
from pytest_riskguard.inference._bootstrap.inversion_law import smooth_law
from pytest_riskguard.inference._bootstrap.laws import ComputedLaw, MeanLaw
from pytest_riskguard.inference._bootstrap.sample import Sample
from scipy.special import bdtr, log_ndtr, ndtri_exp

from tests.inference.made_up_scores import made_up

#: Changes in four clusters, and one far from them: steps that no sum over frequencies resolves.
CLUSTERED = [-51, -38, -27, -49, -49, -38, 61, -49, -50, -49, -16, -38, -51, -38, -49, -49, -50, -38, -38, -49]


def counted(steps: list[int]) -> tuple[list[int], list[int]]:
    """Sums of n draws, in whole steps, and in how many of the n^n ways each comes about."""
    n, low = len(steps), min(steps)
    # the generating function to the power of n, its coefficients as digits of one large number
    bits = n * n.bit_length() + 1
    power = sum(times << (bits * (step - low)) for step, times in Counter(steps).items()) ** n
    digits = power.to_bytes(power.bit_length() // 8 + 1, "little")
    ways = []
    for place in range(n * (max(steps) - low) + 1):
        first = place * bits
        part = int.from_bytes(digits[first // 8 : (first + bits) // 8 + 1], "little")
        ways.append(part >> (first % 8) & ((1 << bits) - 1))
    return [n * low + place for place in range(len(ways))], ways


def log_share(ways: int, n: int) -> float:
    return math.log(ways) - n * math.log(n)


def off(law: MeanLaw, value: float, *, inclusive: bool, below: float, above: float) -> float:
    """How far the smaller of two tails is off, as a share of it; they are given as logarithms."""
    score = law.score(value, inclusive=inclusive)
    smaller = below if below < above else above
    return abs(float(log_ndtr(score if below < above else -score)) - smaller)


QUICK = ("tenths", "few changes", "one far out", "two values")


def lattice_samples() -> dict[str, list[int]]:
    rng = np.random.default_rng(5)
    samples = {
        "clustered": CLUSTERED,
        "tenths": rng.integers(-10, 11, size=20).tolist(),
        "losses count twice": [2 * k if k < 0 else k for k in rng.integers(-6, 5, size=40).tolist()],
        "few changes": [0] * 90 + rng.integers(-8, 9, size=10).tolist(),
        "one far out": [0] * 48 + [1, -30],
        "two values": [-1] * 9 + [1],
        "hundreds": rng.integers(-3, 4, size=300).tolist(),
    }
    return {name: list(map(int, sample)) for name, sample in samples.items()}


@pytest.mark.parametrize(
    "name",
    [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in lattice_samples() if name not in QUICK)],
)
def test_every_step_of_a_lattice_out_to_the_last_has_its_probability(name):
    steps = lattice_samples()[name]
    n = len(steps)
    sums, ways = counted(steps)
    assert sum(ways) == n**n
    law, below = mean_law(np.array(steps) / 10), 0
    for total, here in zip(sums, ways, strict=True):
        value = total / 10 / n
        for inclusive, up_to in ((False, below), (True, below + here)):
            if 0 < up_to < n**n and here:
                shares = {"below": log_share(up_to, n), "above": log_share(n**n - up_to, n)}
                assert off(law, value, inclusive=inclusive, **shares) < 3e-7
        below += here


@pytest.mark.parametrize("counts", [(3, 2, 15), (2, 1, 47), (10, 5, 15), (4, 96), (3, 3, 3, 3)])
def test_few_distinct_scores_have_the_probabilities_of_their_counts(counts):
    n, scores = sum(counts), np.random.default_rng(len(counts)).normal(size=len(counts))
    x = np.repeat(scores, counts)
    drawn = [c for c in itertools.product(range(n + 1), repeat=len(counts) - 1) if sum(c) <= n]
    times = np.array([(*c, n - sum(c)) for c in drawn])
    means = times @ scores / n
    order = np.argsort(means)
    factorials = np.array([math.lgamma(k + 1) for k in range(n + 1)])
    logs = factorials[n] + np.sum(times * np.log(np.array(counts) / n) - factorials[times], axis=1)
    means, logs = means[order], logs[order]
    below, above = np.logaddexp.accumulate(logs), np.logaddexp.accumulate(logs[::-1])[::-1]
    law = mean_law(x)
    for k in range(1, means.size, max(1, means.size // 50)):
        if means[k] - means[k - 1] > 1e-9:
            middle = float(means[k - 1] + means[k]) / 2
            assert off(law, middle, inclusive=True, below=below[k - 1], above=above[k]) < 1e-7


def test_two_scores_are_binomial_in_any_number():
    for n, count in ((11, 3), (200, 7), (5000, 2500)):
        x = np.append(np.zeros(n - count), np.full(count, 1 / 3))
        law = mean_law(x)
        for drawn in (0, 1, count // 2, 2 * count, min(n - 1, 4 * count)):
            p = float(bdtr(drawn, n, count / n))
            if 1e-300 < p < 1 - 1e-7:
                assert log_ndtr(law.score((drawn + 0.5) / 3 / n)) == pytest.approx(math.log(p), rel=1e-7, abs=1e-7)


def finely(x: np.ndarray, side: int, z: float, step: float) -> tuple[float, float]:
    """A mean z standard errors out, half-way between two steps, and the probability of one further out.

    By one tilted convolution on the lattice, with a tilt that bisection finds.
    """
    n, y = x.size, side * (x - x.mean()) / (x.std() * math.sqrt(x.size))
    low, high = 0.0, 400.0
    for _ in range(80):
        theta = (low + high) / 2
        weights = np.exp(theta * (y - y.max()))
        if n * float(np.sum(weights * y) / np.sum(weights)) < z:
            low = theta
        else:
            high = theta
    weights /= np.sum(weights)
    log_norm = n * (math.log(float(np.mean(np.exp(theta * (y - y.max()))))) + theta * float(y.max()))
    places = np.rint(side * (x - x.min()) / step).astype(np.int64)
    places -= places.min()
    size = 2 ** math.ceil(math.log2(n * int(places.max()) + 2))
    masses = np.fft.irfft(np.fft.rfft(np.bincount(places, weights, size)) ** n, size)
    first = math.floor(n * float(np.sum(weights * places))) + 1
    origin = n * float(np.min(y))
    sums = origin + np.arange(first, min(first + size // 2, size)) * step / (x.std() * math.sqrt(n))
    tilted = np.maximum(masses[first : first + sums.size], 0.0)
    share = float(np.sum(tilted * np.exp(-theta * (sums - sums[0]))))
    value = float(x.mean() + side * sums[0] * x.std() / math.sqrt(n)) - side * step / n / 2
    return value, log_norm - theta * float(sums[0]) + math.log(share)


SLOWER = ("many", "losses count six times", "one far out")


def smooth_samples() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(2)
    losing = np.where((d := rng.normal(size=80) * 0.1) < 0, 6 * d, d)
    samples = {
        "dense": rng.normal(size=50) * 0.5,
        "many": rng.normal(size=250) * 0.05,
        "losses count six times": losing,
        "some changed": np.append(np.zeros(60), rng.normal(size=40) * 0.2),
        "one far out": np.append(rng.normal(size=49) * 0.1, -2),
    }
    return {name: np.round(x, 4) for name, x in samples.items()}


@pytest.mark.parametrize(
    ("name", "side"),
    [
        ("dense", -1),
        ("some changed", 1),
        *(pytest.param(name, side, marks=pytest.mark.slow) for name in SLOWER for side in (-1, 1)),
    ],
)
def test_a_sum_over_frequencies_is_the_probability_between_the_steps_of_a_fine_lattice(name, side):
    x, smooth = smooth_samples()[name], 0
    law = smooth_law(Sample.of(x))
    assert law is not None
    tail = law._tail(side)
    for z in (5.5, 9.0):
        if side * (x.mean() + side * z * law._sample.scale) < 0.9 * side * float(x[np.argmax(side * x)]):
            value, expected = finely(x, side, z, 1e-4)
            if law.near_score(value) == side * law._bound:
                by_frequencies = isinstance(tail._piece(tail._rung(value)), SmoothPiece)
                smooth += by_frequencies
                error = abs(tail.log_share(value, inclusive=True) - expected)
                assert error < (1e-6 if by_frequencies else 1e-4)
    assert smooth or name == "one far out"


@given(st.integers(0, 10**6), st.lists(st.floats(-15, 15), min_size=1, max_size=4))
@settings(max_examples=40, deadline=None)
def test_a_quantile_is_where_the_law_reaches_its_score(seed, scores):
    sample = Sample.of(made_up(seed))
    if sample.constant:
        return
    law = mean_law(sample)
    z = np.sort(scores)
    values = law.at_scores(z)
    assert np.all(np.diff(values) >= -sample.same)
    for score, value in zip(z.tolist(), values.tolist(), strict=True):
        slack = 1e-6 * max(1.0, abs(score))
        further = value + 4 * sample.same
        assert law.score(further) >= score - slack or value >= sample.x[-1] - sample.same
        assert law.score(value - 4 * sample.same, inclusive=False) <= score + slack
        assert (law.at_scores(np.array([score])) == value).all()


@given(st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_the_law_rises_from_one_end_of_the_scores_to_the_other(seed):
    sample = Sample.of(made_up(seed))
    if sample.constant:
        return
    law = mean_law(sample)
    about = sample.mean + np.arange(-9, 10) * sample.scale
    values = np.sort(np.concatenate([np.linspace(sample.x[0], sample.x[-1], 25), about]))
    scores = np.clip([law.score(value) for value in values.tolist()], -99, 99)
    assert np.all(np.diff(scores) >= -1e-9 * np.abs(scores[1:]))
    assert law.score(sample.x[0] - 10 * sample.same) == -math.inf
    assert law.score(sample.x[-1] + 10 * sample.same, inclusive=False) == math.inf
    assert law.at_scores(np.array([-math.inf, math.inf])).tolist() == [sample.x[0], sample.x[-1]]


def test_where_frequencies_end_and_steps_begin_the_law_does_not_fall():
    sample = Sample.of(np.random.default_rng(8).normal(size=60))
    tail = FarTail(sample, 1, smooth=True)
    kinds = [type(tail._piece(rung)) for rung in range(len(tail._ladder._sizes) + 20)]
    last = kinds.index(StepPiece) - 1
    assert SmoothPiece not in kinds[last + 1 :]
    border = tail._end_of(last)
    around = border + np.linspace(-1, 1, 41) * 1e-3 * sample.scale
    shares = [tail.log_share(value, inclusive=True) for value in around.tolist()]
    assert all(following <= share for share, following in itertools.pairwise(shares))
    for share in np.linspace(shares[0], shares[-1], 41).tolist():
        value = tail.value(share)
        assert around[0] - 1e-9 <= value <= around[-1] + 1e-9
        assert tail.log_share(value + 1e-9 * sample.scale, inclusive=False) <= share + 1e-7
        assert tail.log_share(value - 1e-9 * sample.scale, inclusive=True) >= share - 1e-7


def test_the_replicate_without_changed_topics_is_an_atom_of_the_far_tail_too():
    x = np.zeros(40)
    x[:14] = -np.abs(np.random.default_rng(0).normal(0.3, 0.1, 14))
    x[14] = 0.01234567
    law = mean_law(x)
    assert law.kind == "grid"
    assert isinstance(law, ComputedLaw)
    up_to, below = law._tail(1).log_share(0.0, inclusive=True), law._tail(1).log_share(0.0, inclusive=False)
    assert math.exp(up_to) - math.exp(below) == pytest.approx((25 / 40) ** 40, rel=1e-9)
    assert law.score(0.0, inclusive=False) == pytest.approx(-float(ndtri_exp(up_to)), rel=1e-12)
