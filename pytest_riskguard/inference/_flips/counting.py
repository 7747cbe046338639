"""The law of the sum by counting every pattern of wins and losses, half of the topics against the other half.

Of topics with the same size and chance only the number of losses matters, so they are counted together.
"""

from __future__ import annotations

import math

import numpy as np

from pytest_riskguard.inference._flips.bets import Bets
from pytest_riskguard.risk.checks import FloatArray, IntArray

#: Up to 2 to this power patterns are counted at once: so many topics with sizes of their own.
MAX_COUNTED = 30
#: Each half may list this many times the sums of an even split, which one entry of many topics can make impossible.
UNEVEN = 4


def counted(bets: Bets, max_counted: int = MAX_COUNTED) -> float | None:
    """P(sum >= observed), by counting; None with more patterns than 2 to the power given."""
    ways = bets.topics + 1
    if np.sum(np.log2(ways)) > max_counted:
        return None
    first, second = _halves(ways)
    if max(math.prod(ways[first].tolist()), math.prod(ways[second].tolist())) > UNEVEN * 2 ** (max_counted / 2):
        return None
    sums, masses = _listed(bets, first)
    others, other_masses = _listed(bets, second)
    # added up from the highest sum on, so that small probabilities keep their digits
    at_least = np.append(np.cumsum(other_masses[::-1])[::-1], 0.0)
    return float(np.sum(masses[::-1] * at_least[np.searchsorted(others, bets.limit - sums[::-1])]))


def _halves(ways: IntArray) -> tuple[list[int], list[int]]:
    """The entries, shared out so that both halves have about as many patterns."""
    halves: tuple[list[int], list[int]] = ([], [])
    listed = [1, 1]
    for entry in np.argsort(-ways, kind="stable").tolist():
        half = int(listed[1] < listed[0])
        halves[half].append(entry)
        listed[half] *= int(ways[entry])
    return halves


def _listed(bets: Bets, entries: list[int]) -> tuple[FloatArray, FloatArray]:
    """Every sum of some entries in ascending order, and its probability."""
    sums, masses = np.zeros(1), np.ones(1)
    for entry in entries:
        losses = np.arange(int(bets.topics[entry]) + 1)
        sums = np.add.outer(losses * bets.sizes[entry], sums).ravel()
        order = np.argsort(sums, kind="stable")  # which merges what is in order already
        sums = sums[order]
        masses = np.multiply.outer(binomial(losses.size - 1, float(bets.chances[entry])), masses).ravel()[order]
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
