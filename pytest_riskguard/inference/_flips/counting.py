"""The law of the sum by counting every pattern of wins and losses, half of the topics against the other half.

Of topics with the same size and chance only the number of losses matters, so they are counted together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pytest_riskguard.inference._flips.bets import Bets
from pytest_riskguard.risk.checks import FloatArray, IntArray

#: Up to 2 to this power patterns are counted at once: so many topics with sizes of their own.
MAX_COUNTED = 30
#: Each half may list this many times the sums of an even split, which one entry of many topics can make impossible.
UNEVEN = 4


def counted(bets: Bets, max_counted: int = MAX_COUNTED) -> float | None:
    """P(sum >= observed), by counting; None with more patterns than 2 to the power given."""
    halves = _halves(bets, max_counted)
    return None if halves is None else float(np.sum(_reaching(bets, _listed(bets, halves[0]), halves[1])[::-1]))


def counted_without_each(bets: Bets, max_counted: int) -> tuple[FloatArray, FloatArray] | None:
    """P(sum >= observed) without one topic of each entry: a loss, and a win; None with too many patterns.

    That is the probability given that the topic is what it was observed to be, so one count serves all topics. NaN
    where an entry has none.
    """
    halves = _halves(bets, max_counted)
    if halves is None:
        return None
    without_a_loss, without_a_win = (np.full(bets.sizes.size, np.nan) for _ in range(2))
    for entries, others in (halves, halves[::-1]):
        listed = _listed(bets, entries)
        reaching, patterns = _reaching(bets, listed, others), listed.patterns
        for entry in entries:
            topics, chance = int(bets.topics[entry]), float(bets.chances[entry])
            patterns, losses = np.divmod(patterns, topics + 1)
            share = losses / topics
            if bets.lost[entry]:
                without_a_loss[entry] = np.sum((reaching * share)[::-1]) / chance
            if bets.won[entry]:
                without_a_win[entry] = np.sum((reaching * (1 - share))[::-1]) / (1 - chance)
    return without_a_loss, without_a_win


@dataclass(frozen=True)
class _Listed:
    """Every sum of some entries in ascending order, its probability, and its pattern.

    A pattern is one number: that of the losses of each entry, the first entry's being its last digit.
    """

    sums: FloatArray
    masses: FloatArray
    patterns: IntArray


def _reaching(bets: Bets, listed: _Listed, others: list[int]) -> FloatArray:
    """The probability of each listed pattern together with those of the other entries that reach the observed sum."""
    rest = _listed(bets, others)
    # added up from the highest sum on, so that small probabilities keep their digits
    at_least = np.append(np.cumsum(rest.masses[::-1])[::-1], 0.0)
    reached = np.searchsorted(rest.sums, bets.limit - listed.sums[::-1])[::-1]
    return np.asarray(listed.masses * at_least[reached])


def _halves(bets: Bets, max_counted: int) -> tuple[list[int], list[int]] | None:
    """The entries, shared out so that both halves have about as many patterns; None if these are too many."""
    ways = bets.topics + 1
    if np.sum(np.log2(ways)) > max_counted:
        return None
    halves: tuple[list[int], list[int]] = ([], [])
    listed = [1, 1]
    for entry in np.argsort(-ways, kind="stable").tolist():
        half = int(listed[1] < listed[0])
        halves[half].append(entry)
        listed[half] *= int(ways[entry])
    return halves if max(listed) <= UNEVEN * 2 ** (max_counted / 2) else None


def _listed(bets: Bets, entries: list[int]) -> _Listed:
    sums, masses, patterns, ways = np.zeros(1), np.ones(1), np.zeros(1, dtype=np.int64), 1
    for entry in entries:
        losses = np.arange(int(bets.topics[entry]) + 1)
        sums = np.add.outer(losses * bets.sizes[entry], sums).ravel()
        order = np.argsort(sums, kind="stable")  # which merges what is in order already
        sums = sums[order]
        masses = np.multiply.outer(binomial(losses.size - 1, float(bets.chances[entry])), masses).ravel()[order]
        patterns = np.add.outer(losses * ways, patterns).ravel()[order]
        ways *= losses.size
    return _Listed(sums, masses, patterns)


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
