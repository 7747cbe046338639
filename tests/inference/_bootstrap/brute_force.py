"""Slow, independent ways to the laws that the package computes fast."""

from __future__ import annotations

import itertools
import math

import numpy as np
from pytest_riskguard.inference._bootstrap.choice import mean_law
from scipy.special import ndtr

from pytest_riskguard.inference.intervals import adjusted, bias_correction, interval


def all_multisets(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means of every multiset of n draws, ascending, and their probabilities."""
    n = x.size
    means, masses = [], []
    for drawn in itertools.combinations_with_replacement(range(n), n):
        counts = np.bincount(drawn, minlength=n)
        ways = math.factorial(n)
        for count in counts:
            ways //= math.factorial(int(count))
        means.append(math.fsum(counts * x) / n)
        masses.append(ways / n**n)
    order = np.argsort(means)
    return np.array(means)[order], np.array(masses)[order]


def changed_topics_law(changed: np.ndarray, n: int, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Means when the changed topics are drawn c_1, c_2, ... times (at most ``most`` each): plain multinomial."""
    means, masses = [], []
    for counts in itertools.product(range(most + 1), repeat=changed.size):
        rest = n - sum(counts)
        if rest < 0:
            continue
        mass = math.factorial(n) // math.factorial(rest)
        for count in counts:
            mass //= math.factorial(count)
        means.append(math.fsum(np.array(counts) * changed) / n)
        masses.append(math.exp(math.log(mass) + rest * math.log((n - changed.size) / n) - sum(counts) * math.log(n)))
    order = np.argsort(means)
    return np.array(means)[order], np.array(masses)[order]


def between_atoms(means: np.ndarray, masses: np.ndarray, *, gap: float) -> list[tuple[float, float]]:
    """Points in the middle of gaps wider than ``gap``, each with the mass below it."""
    below = np.cumsum(masses)
    return [((means[k] + means[k + 1]) / 2, float(below[k])) for k in np.flatnonzero(np.diff(means) > gap)]


def resampled_means(x: np.ndarray, replicates: int, *, seed: int) -> np.ndarray:
    """Monte Carlo: counts of the changed topics only, the rest adds nothing."""
    rng = np.random.default_rng(seed)
    changed = x[x != 0]
    means = []
    for start in range(0, replicates, 100_000):
        size = min(100_000, replicates - start)
        drawn = rng.binomial(x.size, changed.size / x.size, size=size)
        # given their number, changed topics are drawn uniformly
        owner = np.repeat(np.arange(size), drawn)
        values = changed[rng.integers(0, changed.size, size=int(drawn.sum()))]
        means.append(np.bincount(owner, values, minlength=size) / x.size)
    return np.concatenate(means)


def resampled_in_blocks(x: np.ndarray, replicates: int, *, seed: int) -> np.ndarray:
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
    what the law resolves. The bias correction is right if it tells the share below the mean, half of those at it
    counted.
    """
    law, centred = mean_law(x), x - x.mean()
    near = max(law.resolution, 1e-9) * float(np.std(x)) / math.sqrt(x.size)

    def off(value: float, p: float) -> float:
        below = np.searchsorted(means, value - near, side="left") / means.size
        up_to = np.searchsorted(means, value + near, side="right") / means.size
        noise = math.sqrt(p * (1 - p) / means.size)
        return float(max((below - p) / noise, (p - up_to) / noise))

    bias = bias_correction(law)
    a = float(np.sum(centred**3) / (6 * np.sum(centred**2) ** 1.5))
    half = np.mean([np.searchsorted(means, law.centre + step) for step in (-near, near)]) / means.size
    share = float(ndtr(bias))
    worst = float(abs(half - share)) / math.sqrt(share * (1 - share) / means.size)
    for level in levels:
        for side in ("lower", "upper"):
            p = (1 - level) / 2 if side == "lower" else (1 + level) / 2
            worst = max(worst, off(getattr(interval(x, method="percentile", level=level), side), p))
            p = adjusted(p, bias, a)
            worst = max(worst, off(getattr(interval(x, method="bca", level=level), side), p))
    return worst
