"""What a policy costs and sees over many pull requests: false alarms of harmless ones, losses of harmful ones.

A pull request is assumed to move the topics as far as the differences that are given, each up or down by chance. A
**harmless** one leaves the mean alone: each topic is a win or a loss with equal chances. In a **harmful** one losses
are so much more likely that the mean falls by a stated size; where even losses alone are too little, all are larger.

The figures come from a fixed generator and the rule of judgement itself. All draws are judged by Student-t and the
break-even test, which for sizes that stay the same are two thresholds. Where neither finds a loss the gate passes. Of
the others, in the order of Student-t's statistic, so many equally spaced ones are judged by the whole rule.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.kinds import MIN_TOPICS, Gate
from pytest_riskguard.gates.ruling import Ruling
from pytest_riskguard.inference.break_even import break_even_quantile
from pytest_riskguard.inference.intervals import critical_value
from pytest_riskguard.risk.checks import ROUNDING_ERROR, FloatArray

#: Pull requests that are drawn, signs of topics that are held for them, and the fewest that say anything.
DRAWS, MAX_SIGNS, MIN_DRAWS = 4000, 4_000_000, 400
#: How many of the draws that may fail are judged by the whole rule.
JUDGED = 20
#: The seed of the fixed generator.
SEED = 20140706
#: How far beyond the threshold of the break-even test, which is known to a hundredth of its spread, a draw may fail.
_BEYOND = 0.02


@dataclass(frozen=True)
class Chances:
    """How many of 100 pull requests fail as a ``loss``, and as ``churn``, if the mean falls by ``size``."""

    size: float
    loss: float
    churn: float


@dataclass(frozen=True)
class PolicyCost:
    """False alarms of 100 ``harmless`` pull requests, and failures of 100 ``harmful`` ones for each size of harm."""

    harmless: Chances
    harmful: tuple[Chances, ...]


def policy_cost(gate: Gate, differences: FloatArray, sizes: Sequence[float]) -> PolicyCost | None:
    """What a gate costs and sees, if pull requests move topics as these ``differences`` do.

    ``sizes`` are falls of the mean in units of the measure. None below 10 topics, where nothing changed, and for so
    many topics that too few pull requests could be drawn. ``ValueError`` for a gate without an upper limit, and for
    a size that is not above 0.
    """
    if not gate.is_tested or gate.is_pool:
        raise ValueError(f"expected a gate that asks about the upper limit of URisk, got {gate.kind}")
    if any(not (math.isfinite(size) and size > 0) for size in sizes):
        raise ValueError(f"sizes of harm must be finite and above 0, got {list(sizes)}")
    moved = np.abs(differences[np.abs(differences) > ROUNDING_ERROR])
    draws = min(DRAWS, MAX_SIGNS // max(moved.size, 1))
    if differences.size < MIN_TOPICS or moved.size == 0 or draws < MIN_DRAWS:
        return None
    uniform = np.random.default_rng(SEED).random((draws, moved.size), dtype=np.float32)
    moved = np.sort(moved)[::-1]
    chances = [_chances(gate, moved, differences.size, uniform, size) for size in (0.0, *sizes)]
    return PolicyCost(chances[0], tuple(chances[1:]))


def _chances(gate: Gate, moved: FloatArray, n: int, uniform: npt.NDArray[np.float32], size: float) -> Chances:
    """For one size of harm; ``uniform``, shape (draws, changed), decides which topics lose."""
    fall = size * n / float(np.sum(moved))  # as a share of all movement
    signs = np.where(uniform < (1 + min(fall, 1.0)) / 2, -1.0, 1.0).astype(np.float64)
    drawn = Drawn(gate, moved * max(fall, 1.0), signs, n)
    failing = drawn.share_of(lambda ruling: not ruling.holds, at=gate.alpha, tolerance=gate.tolerance)
    loss = failing
    if gate.alpha:
        loss = drawn.share_of(lambda ruling: not (ruling.plain.passes or ruling.holds), at=0.0, tolerance=0.0)
    loss = min(loss, failing)
    return Chances(size, 100 * loss, 100 * (failing - loss))


@dataclass(frozen=True)
class Drawn:
    """Draws of pull requests: sizes of the changes, their signs (draws, changed), and the number of topics."""

    gate: Gate
    moved: FloatArray
    signs: FloatArray
    n: int

    def share_of(self, fails: Callable[[Ruling], bool], *, at: float, tolerance: float) -> float:
        """The share of draws that fail; those that can fail at this alpha and tolerance are judged in part."""
        statistics, may_fail = self.screened(at, tolerance)
        places = np.flatnonzero(may_fail)
        if not places.size:
            return 0.0
        places = places[np.argsort(statistics[places], kind="stable")]
        if places.size > JUDGED:
            places = places[((np.arange(JUDGED) + 0.5) * places.size / JUDGED).astype(np.intp)]
        failed = [fails(Ruling(self.gate, Evidence.of(self.differences(int(place))))) for place in places]
        return float(np.mean(failed) * np.count_nonzero(may_fail) / self.signs.shape[0])

    def differences(self, place: int) -> FloatArray:
        """One of the draws, shape (n_topics,)."""
        values = np.zeros(self.n)
        values[: self.moved.size] = self.signs[place] * self.moved
        return values

    def screened(self, alpha: float, tolerance: float) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
        """Student-t's statistic at this alpha and tolerance, and whether it or the break-even test finds a loss."""
        weights = np.where(self.signs < 0, -(1 + alpha), 1.0)
        sums, squares = weights @ self.moved, (weights**2) @ (self.moved**2)
        variances = np.maximum(squares - sums**2 / self.n, 0.0) / (self.n - 1)
        tolerated = tolerance * self.n
        with np.errstate(divide="ignore", invalid="ignore"):
            statistics = (sums + tolerated) / np.sqrt(variances * self.n)
        statistics = np.where(variances > 0, statistics, np.where(sums + tolerated < 0, -np.inf, np.inf))
        by_student_t = statistics <= -critical_value(self.n, level=self.gate.level) * (1 - 1e-9)
        if self.gate.method == "student_t":
            return statistics, by_student_t
        p = (1 - self.gate.level) / 2
        lowest = break_even_quantile(self.moved, (1 + alpha) * self.moved, p, tolerated=tolerated)
        spread = float(np.sqrt(np.mean(self.moved**2) * self.moved.size * (1 + alpha)))
        return statistics, by_student_t | (sums <= lowest + _BEYOND * spread)
