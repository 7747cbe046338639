"""Laws of the sum by slow and obvious ways."""

from __future__ import annotations

import math

import numpy as np
from pytest_riskguard.inference._flips.bets import Bets


def convolved(steps: np.ndarray, chances: np.ndarray) -> np.ndarray:
    """The probabilities of the sums 0, 1, ... of whole sizes, topic by topic."""
    masses = np.ones(1)
    for step, chance in zip(steps.tolist(), chances.tolist(), strict=True):
        masses = np.append(masses * (1 - chance), np.zeros(step)) + np.append(np.zeros(step), masses * chance)
    return masses


def met_in_the_middle(sizes: np.ndarray, chances: np.ndarray, lost: np.ndarray) -> float:
    """P(sum >= observed) by the patterns of each half."""

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


def bets(sizes: np.ndarray, alpha: float, lost: np.ndarray) -> Bets:
    """Bets of the linear trade-off."""
    return Bets.of((2 + alpha) * sizes, np.full(sizes.size, 1 / (2 + alpha)), lost)
