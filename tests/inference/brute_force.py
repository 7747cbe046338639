"""Slow, independent ways to the laws that the package computes fast."""

from __future__ import annotations

import itertools
import math

import numpy as np


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
