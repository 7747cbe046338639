"""The law of the sum by counting every pattern of wins and losses, half of the topics against the other half.

Topics with the same size and chance are counted together: of these only the number of losses matters.
"""

from __future__ import annotations

import math

import numpy as np

from pytest_riskguard.inference._flips.bets import Bets
from pytest_riskguard.risk.checks import FloatArray, IntArray

#: Up to this many patterns are counted, and each half lists at most so many sums.
MAX_PATTERNS, MAX_LISTED = 2**30, 2**16


def counted(bets: Bets) -> float | None:
    """P(sum >= observed), by counting; None where there are too many patterns."""
    ways = bets.repeats + 1
    if np.sum(np.log2(ways)) > math.log2(MAX_PATTERNS):
        return None
    first, second = _halves(ways)
    if max(math.prod(ways[first].tolist()), math.prod(ways[second].tolist())) > MAX_LISTED:
        return None
    sums, masses = _listed(bets, first)
    others, other_masses = _listed(bets, second)
    # added up from the highest sum on, so that small probabilities keep their digits
    at_least = np.append(np.cumsum(other_masses[::-1])[::-1], 0.0)
    return float(np.sum(masses[::-1] * at_least[np.searchsorted(others, bets.limit - sums[::-1])]))


def _halves(ways: IntArray) -> tuple[list[int], list[int]]:
    """The runs of topics, shared out so that both halves have about as many patterns."""
    halves: tuple[list[int], list[int]] = ([], [])
    listed = [1, 1]
    for run in np.argsort(-ways, kind="stable").tolist():
        half = int(listed[1] < listed[0])
        halves[half].append(run)
        listed[half] *= int(ways[run])
    return halves


def _listed(bets: Bets, runs: list[int]) -> tuple[FloatArray, FloatArray]:
    """Every sum of some runs in ascending order, and its probability."""
    sums, masses = np.zeros(1), np.ones(1)
    for run in runs:
        start, repeats = int(bets.starts[run]), int(bets.repeats[run])
        steps = np.arange(repeats + 1) * bets.sizes[start]
        sums = np.add.outer(steps, sums).ravel()
        # merges what is in order already
        order = np.argsort(sums, kind="stable")
        sums = sums[order]
        masses = np.multiply.outer(binomial(repeats, float(bets.chances[start])), masses).ravel()[order]
    return sums, masses


def binomial(topics: int, chance: float) -> FloatArray:
    """The probabilities of 0, 1, ... losses among topics with the same chance."""
    if topics == 1:
        return np.array([1 - chance, chance])
    most_likely = min(topics, int((topics + 1) * chance))
    losses = np.arange(1, topics + 1)
    ratios = (topics + 1 - losses) / losses * (chance / (1 - chance))
    up = np.cumprod(ratios[most_likely:])
    down = np.cumprod(1 / ratios[:most_likely][::-1])[::-1]
    masses = np.concatenate([down, np.ones(1), up])
    return np.asarray(masses / np.sum(masses))
