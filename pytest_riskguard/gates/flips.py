"""What would flip a verdict: a set of topics left out, another alpha."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import numpy as np

from pytest_riskguard.gates.kinds import MIN_TOPICS
from pytest_riskguard.gates.ruling import Ruling, margin_of
from pytest_riskguard.risk.checks import ROUNDING_ERROR

if TYPE_CHECKING:
    from pytest_riskguard.gates.comparison import Comparison

#: So many times the size of a set is sought by an estimate, then by halves.
ESTIMATES = 6


def flip_set(comparison: Comparison) -> tuple[int, ...] | None:
    """Topics removed in order, most harmful first, until the gate passes; None if it never does.

    Greedy, so an upper bound on the smallest such set; it ends where fewer than 10 topics are left. The search starts
    where a quick estimate would flip, which each size that is tried makes better, and ends with a set without which
    the gate passes, though it fails with the last of them put back. Fewer topics say less, so a gate may pass without
    some and fail again without more.
    """
    order, most = comparison.order, comparison.n - MIN_TOPICS
    if most < 1:
        return None
    fails_at, passes_at, tries, moved = 0, most + 1, 0, 0
    reached, by_limit = comparison.reached(order, most), comparison.gate.on_churn != "warn"
    while passes_at - fails_at > 1:
        guess = int(np.argmax(reached >= 0)) + 1 + moved if np.any(reached >= 0) else most
        if tries > ESTIMATES or (fails_at > 0 and passes_at <= most and not by_limit):
            guess = (fails_at + passes_at) // 2
        guess, tries = min(max(guess, fails_at + 1), passes_at - 1), tries + 1
        passes, limit = comparison.without(order[:guess])
        fails_at, passes_at = (fails_at, guess) if passes else (guess, passes_at)
        if not by_limit:  # which rule lets it pass is not known: a step further, each twice as long
            moved += -(2 ** (tries - 1)) if passes else 2 ** (tries - 1)
        elif math.isfinite(at := limit()):
            reached += margin_of(comparison.gate, at) - reached[guess - 1]
    return tuple(order[:passes_at].tolist()) if passes_at <= most else None


#: A candidate that passes at this alpha, where a loss counts a million times, is said to pass at any.
MAX_ALPHA = 2.0**20
#: The relative width to which alpha* is found; its lower end, which still passes, is reported.
WIDTH = 1e-4
#: Alphas are tried from this one on, each so many times the last.
FIRST, GROWTH = 2.0**-6, 1.1
#: From the first of these on, what a win still counts beside a loss changes scores no more than from alpha 1 to 1.1.
FAR, GROWTH_FAR = 40.0, 4.0


def alpha_star(ruling: Ruling) -> float | Literal["any"] | None:
    """The alpha up to which the candidate passes the gate's own interval rule, and above which it first fails.

    None where it fails even at alpha 0, for the smooth trade-off and for a gate that is about alpha 0 alone;
    ``"any"`` when it passes up to 2^20, or where churn only warns and the mean alone passes.
    The gate passes at the value reported, and fails within a ten-thousandth above it. Limits of few topics are steps,
    so it may pass again at some higher alpha: the first failure counts. One between two alphas a tenth apart (beyond
    40: four times), at both of which the gate passes, goes unnoticed.
    """
    evidence = ruling.evidence
    if evidence.kind != "linear" or ruling.gate.side == "both" or not ruling.at(0.0).passes:
        return None
    if ruling.gate.on_churn == "warn" and ruling.plain.passes:  # at a higher alpha it could only be churn
        return "any"
    loses = np.any(evidence.differences < -ROUNDING_ERROR) or np.any(evidence.noise < -ROUNDING_ERROR)
    if not loses and ruling.gate.side == "upper":  # to show a lower limit, more wins are needed the higher alpha is
        return "any"

    low, high, safe = 0.0, FIRST, 0.0
    # where neither Student-t nor the break-even test finds a loss, at a lower alpha neither does; whatever the gate's
    # own interval says, it passes
    if ruling.gate.side == "upper" and evidence.counts_alike and not evidence.noisy and ruling.at(low).safety >= 0:
        while high < MAX_ALPHA and ruling.at(high).reaches("student_t"):
            high *= 2
        if ruling.at(high).safety < 0:
            low, high = _narrowed(lambda alpha: ruling.at(alpha).safety, low, high)
            safe = low

    def passes(alpha: float) -> bool:
        return alpha <= safe or ruling.at(alpha).passes

    while passes(high):
        if high >= MAX_ALPHA:
            return "any"
        low, high = high, min(high * (GROWTH if high < FAR else GROWTH_FAR), MAX_ALPHA)
    low, high = _narrowed(lambda alpha: ruling.at(alpha).room, low, high)
    return _few_digits(low, high, float(ruling.gate.alpha), passes)


def _narrowed(room: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """Two alphas ``WIDTH`` apart, with room at the lower one and none at the higher, between two such alphas."""
    at_low = at_high = math.nan
    step = 0
    while high - low > WIDTH * high:
        close, step = WIDTH * high / 3, step + 1
        if step % 3 and math.isfinite(at_low + at_high):
            # where a straight line has none left, and a little further, so that both ends come near
            middle = low + (high - low) * at_low / (at_low - at_high)
            middle += math.copysign(close, (low + high) / 2 - middle)
            middle = min(max(middle, low + close), high - close)
        else:
            middle = math.sqrt(low * high) if low > 0 else high / 2
        here = room(middle)
        if here >= 0:
            low, at_low = middle, here
        else:
            high, at_high = middle, here
    return low, high


def _few_digits(low: float, high: float, asked: float, passes: Callable[[float], bool]) -> float:
    """An alpha with few digits at which the gate still passes: the search gives more digits than it knows."""
    for alpha in (asked, float(f"{high:.4g}")):  # scores on a grid often break even at a round number
        if low < alpha <= high * (1 + WIDTH) and passes(alpha):
            return alpha
    scale = 10.0 ** (5 - math.floor(math.log10(low))) if low > 0 else 1.0
    fewer = math.floor(low * scale) / scale
    return fewer if passes(fewer) else low
