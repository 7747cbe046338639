"""Slow, independent ways to the laws that the package computes fast."""

import itertools
import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr, ndtri

from pytest_riskguard.inference.intervals import Interval, adjusted_score, interval
from pytest_riskguard.inference.sample import Sample

#: Methods that take a millisecond or two; the studentized one takes a few hundred.
FAST = ("student_t", "basic", "percentile", "bca")


def intervals(x: np.ndarray, *, methods: Sequence[str] = FAST, level: float = 0.95) -> list[Interval]:
    """Several intervals of one mean."""
    sample = Sample.of(x)
    return [interval(sample, method=method, level=level) for method in methods]


def all_multisets(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means of every multiset of n draws, ascending, and their probabilities."""
    n = x.size
    means, masses = [], []
    for drawn in itertools.combinations_with_replacement(range(n), n):
        counts = np.bincount(drawn, minlength=n)
        ways = math.factorial(n) // math.prod(math.factorial(int(count)) for count in counts)
        means.append(math.fsum(counts * x) / n)
        masses.append(ways / n**n)
    order = np.argsort(means)
    return np.array(means)[order], np.array(masses)[order]


def changed_topics_law(changed: np.ndarray, n: int, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Means when the changed topics are drawn c_1, c_2, ... times (at most ``most`` in all): plain multinomial."""
    counts = np.array([c for c in itertools.product(range(most + 1), repeat=changed.size) if sum(c) <= most])
    drawn = counts.sum(axis=1)
    factorials = np.array([math.lgamma(k + 1) for k in range(n + 1)])
    logs = factorials[n] - factorials[n - drawn] - factorials[counts].sum(axis=1) - drawn * math.log(n)
    masses = np.exp(logs + (n - drawn) * math.log((n - changed.size) / n))
    means = counts @ changed / n
    order = np.argsort(means)
    return means[order], masses[order]


def counted(steps: list[int]) -> tuple[list[int], list[int]]:
    """Sums of n draws, in whole steps, and in how many of the n^n ways each comes about."""
    n, low = len(steps), min(steps)
    # the generating function to the power of n, its coefficients as digits of one large number
    bits = n * n.bit_length() + 1
    power = sum(times << (bits * (step - low)) for step, times in Counter(steps).items()) ** n
    ways = []
    for _ in range(n * (max(steps) - low) + 1):
        ways.append(power & ((1 << bits) - 1))
        power >>= bits
    return [n * low + place for place in range(len(ways))], ways


def between_atoms(means: np.ndarray, masses: np.ndarray, *, gap: float) -> list[tuple[float, float]]:
    """Points in the middle of gaps wider than ``gap``, each with the mass below it."""
    below = np.cumsum(masses)
    return [((means[k] + means[k + 1]) / 2, float(below[k])) for k in np.flatnonzero(np.diff(means) > gap)]


def resampled(x: np.ndarray, replicates: int, *, seed: int) -> np.ndarray:
    """Monte Carlo: means of resamples, ascending, in blocks, so that 10^7 of 250 topics fit."""
    rng = np.random.default_rng(seed)
    means = np.empty(replicates)
    for start in range(0, replicates, 20_000):
        size = min(20_000, replicates - start)
        means[start : start + size] = x[rng.integers(0, x.size, size=(size, x.size), dtype=np.uint16)].mean(axis=1)
    return np.sort(means)


def furthest_off(x: np.ndarray, means: np.ndarray, *, levels: tuple[float, ...]) -> float:
    """How far exact limits and bias correction are from simulated ones, in standard errors of a share of replicates.

    A limit at p is right if no more than p of the replicates lie below it, and no less at or below it, give or take
    a grid's step. The bias correction is right if it tells the share below the mean, half of those at it counted.
    """
    sample, near = Sample.of(x), 4e-4 * float(np.std(x)) / math.sqrt(x.size)

    def off(value: float, p: float) -> float:
        below = np.searchsorted(means, value - near, side="left") / means.size
        up_to = np.searchsorted(means, value + near, side="right") / means.size
        noise = math.sqrt(p * (1 - p) / means.size)
        return float(max((below - p) / noise, (p - up_to) / noise))

    share = sample.sums.mid
    half = np.mean([np.searchsorted(means, sample.mean + step) for step in (-near / 99, near / 99)]) / means.size
    worst = float(abs(half - share)) / math.sqrt(share * (1 - share) / means.size)
    for level, side in itertools.product(levels, (-1, 1)):
        z, name = float(ndtri((1 + side * level) / 2)), "lower" if side < 0 else "upper"
        worst = max(worst, off(getattr(interval(x, method="percentile", level=level), name), float(ndtr(z))))
        p = float(ndtr(adjusted_score(z, float(ndtri(share)), sample.acceleration)))
        worst = max(worst, off(getattr(interval(x, method="bca", level=level), name), p))
    return worst


def convolved(steps: np.ndarray, chances: np.ndarray) -> np.ndarray:
    """The probabilities of the sums 0, 1, ... of bets of whole sizes, topic by topic."""
    masses = np.ones(1)
    for step, chance in zip(steps.tolist(), chances.tolist(), strict=True):
        masses = np.append(masses * (1 - chance), np.zeros(step)) + np.append(np.zeros(step), masses * chance)
    return masses


def met_in_the_middle(sizes: np.ndarray, chances: np.ndarray, lost: np.ndarray) -> float:
    """P(sum of bets >= observed) by the patterns of each half."""

    def listed(sizes: np.ndarray, chances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        sums, masses = np.zeros(1), np.ones(1)
        for size, chance in zip(sizes.tolist(), chances.tolist(), strict=True):
            sums = np.concatenate([sums, sums + size])
            masses = np.concatenate([masses * (1 - chance), masses * chance])
        return sums, masses

    first, second = listed(sizes[::2], chances[::2]), listed(sizes[1::2], chances[1::2])
    order = np.argsort(second[0])
    from_here = np.append(np.cumsum(second[1][order][::-1])[::-1], 0.0)
    limit = math.fsum(sizes[lost]) - 1e-12 * math.fsum(sizes)
    return float(np.sum(first[1] * from_here[np.searchsorted(second[0][order], limit - first[0])]))
