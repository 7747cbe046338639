"""The alpha at which a candidate first fails its gate."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from pytest_riskguard.gates.rule.limits import highest_p, own_method
from pytest_riskguard.gates.ruling import Ruling
from pytest_riskguard.inference.intervals import critical_value
from pytest_riskguard.risk.checks import ROUNDING_ERROR

#: A candidate that passes at this alpha, where a loss counts a million times, is said to pass at any.
MAX_ALPHA = 2.0**20
#: The relative width to which alpha* is found; its lower end, which still passes, is reported.
WIDTH = 1e-4
#: Where the gate's own interval has to be followed, alphas are tried from this one on, each so many times the last.
FIRST, GROWTH = 2.0**-6, 1.1
#: From the first of these on, what a win still counts beside a loss changes scores no more than from alpha 1 to 1.1.
FAR, GROWTH_FAR = 40.0, 4.0


class _Change(NamedTuple):
    """An alpha at which something still passes, and one not far above it at which it fails."""

    passes: float
    fails: float


Passes = Callable[[float], bool]


def alpha_star(ruling: Ruling) -> float | Literal["any"] | None:
    """The alpha up to which the candidate passes the gate's own interval rule, and above which it first fails.

    None where it fails even at alpha 0, for the smooth trade-off and for a gate that is about alpha 0 alone;
    ``"any"`` when it passes up to 2^20, or where churn only warns and the mean alone passes.
    The gate passes at the value reported, and fails within a ten-thousandth above it. Limits of few topics are steps,
    so it may pass again at some higher alpha: the first failure counts. It is exact where Student-t or the
    break-even test decides; a failure of the gate's own interval between two alphas a tenth apart (beyond 40: four
    times), at both of which it passes, goes unnoticed.
    """
    evidence = ruling.evidence
    if evidence.kind != "linear" or ruling.gate.side == "both":
        return None
    at_zero = ruling.at(0.0)
    if not at_zero.passes:
        return None
    if ruling.gate.on_churn == "warn" and ruling.plain.passes:  # at a higher alpha it could only be churn
        return "any"
    loses = np.any(evidence.differences < -ROUNDING_ERROR) or np.any(evidence.noise < -ROUNDING_ERROR)
    if not loses and ruling.gate.side == "upper":  # to show a lower limit, more wins are needed the higher alpha is
        return "any"
    found = _first_failure(ruling, at_zero)
    return "any" if found is None else _few_digits(found, ruling)


def _first_failure(ruling: Ruling, at_zero: Ruling) -> _Change | None:
    """Where the gate first fails; None where it passes up to ``MAX_ALPHA``; ``at_zero`` is the ruling at alpha 0."""

    def passes(alpha: float) -> bool:
        return ruling.at(alpha).passes

    evidence = ruling.evidence
    if evidence.strata is not None:  # the degrees of freedom of Student-t depend on alpha too
        return _scanned(passes, _Change(0.0, FIRST))
    by_student_t = _student_t_fails(ruling, at_zero) if at_zero.reaches("student_t") else None
    if ruling.gate.side == "lower":  # both intervals must show it, so Student-t ends the search
        return _scanned(passes, _Change(0.0, FIRST), until=by_student_t)
    if own_method(ruling.gate) == "student_t":
        return by_student_t
    # at alpha 0 one of them may fail already; and with noise, or clusters of wins and losses, the break-even test
    # may find less at a higher alpha
    falls = not (evidence.noisy or evidence.clusters is not None)
    if not (falls and at_zero.reaches("student_t") and at_zero.breaks_even):
        return _scanned(passes, _Change(0.0, FIRST))
    # up to here neither Student-t nor the break-even test finds a loss: the gate passes whatever its interval says
    start = _break_even_fails(ruling, below=by_student_t)
    return (
        start
        if start is None or not passes(start.fails)
        else _scanned(passes, _Change(start.fails, GROWTH * start.fails))
    )


def _scanned(passes: Passes, tried: _Change, *, until: _Change | None = None) -> _Change | None:
    """The first failure among alphas so many times as large as the last, narrowed down; None without one."""
    low, high = tried
    end = MAX_ALPHA if until is None else until.passes
    while passes(min(high, end)):
        if high >= end:
            return until
        low, high = high, high * (GROWTH if high < FAR else GROWTH_FAR)
    return _narrowed(passes, _Change(low, min(high, end)))


def _narrowed(passes: Passes, between: _Change) -> _Change:
    low, high = between
    while high - low > WIDTH * high:
        middle = (low + high) / 2 if low == 0 else math.sqrt(low * high)
        low, high = (middle, high) if passes(middle) else (low, middle)
    return _Change(low, high)


def _student_t_fails(ruling: Ruling, at_zero: Ruling) -> _Change | None:
    """Where Student-t first fails; None where it never does.

    Scores are linear in alpha, so its limit is a mean that is linear, plus the root of a quadratic.
    """
    gate, plain = ruling.gate, at_zero.scores
    slopes = ruling.at(1.0).scores - plain
    order = np.lexsort((slopes, plain))
    plain, slopes = plain[order], slopes[order]
    n, half = plain.size, critical_value(plain.size, level=gate.level)
    mean, slope = float(np.mean(plain)) + gate.tolerance, float(np.mean(slopes))
    spread = np.cov(plain, slopes) * half**2 / n
    roots = np.roots([slope**2 - spread[1, 1], 2 * (mean * slope - spread[0, 1]), mean**2 - spread[0, 0]])

    def passes(alpha: float) -> bool:
        return ruling.at(alpha).reaches("student_t")

    sign = 1 if gate.side == "lower" else -1  # squaring has added roots of the other limit
    real = roots[np.isreal(roots)].real
    for root in sorted(real[(real > 0) & (sign * (mean + real * slope) >= 0)].tolist()):
        low, high = root * (1 - WIDTH / 2), root * (1 + WIDTH / 2)
        if low < MAX_ALPHA and passes(low) and not passes(high):
            return _Change(low, high)
    return None


def _break_even_fails(ruling: Ruling, *, below: _Change | None) -> _Change | None:
    """Where the break-even test first fails, or Student-t does (``below``) if that is earlier.

    The higher alpha, the lower are the chances of loss at which bets are fair, and with them the p-value: it falls
    about as a power of 2 + alpha.
    """

    def log_p(alpha: float) -> float:
        return math.log(ruling.at(alpha).break_even)

    def passes(log_p: float) -> bool:
        return math.exp(log_p) > highest_p(ruling.gate)

    low, high = 0.0, MAX_ALPHA if below is None else below.fails
    at_low, at_high = log_p(low), log_p(high)
    if passes(at_high):
        return below
    target, step = math.log((1 - ruling.gate.level) / 2), 0
    while high - low > WIDTH * high:
        share = 0.5 if step % 3 == 2 or not at_high < at_low else (at_low - target) / (at_low - at_high)
        share += (-1, 1)[step % 2] * 1e-3 if step % 3 != 2 else 0  # so that both ends close in
        width = math.log((2 + high) / (2 + low))
        alpha = (2 + low) * math.exp(min(max(share, 1e-3), 1 - 1e-3) * width) - 2
        at_alpha = log_p(alpha)
        if passes(at_alpha):
            low, at_low = alpha, at_alpha
        else:
            high, at_high = alpha, at_alpha
        step += 1
    return _Change(low, high)


def _few_digits(found: _Change, ruling: Ruling) -> float:
    """An alpha with few digits at which the gate still passes: the search gives more digits than it knows."""
    low, high = found
    asked, round_number = float(ruling.gate.alpha), float(f"{high:.4g}")  # scores on a grid often break even at one
    for alpha in (asked, round_number):
        if low < alpha <= high * (1 + WIDTH) and ruling.at(alpha).passes:
            return alpha
    scale = 10.0 ** (5 - math.floor(math.log10(low))) if low > 0 else 1.0
    fewer = math.floor(low * scale) / scale
    return fewer if ruling.at(fewer).passes else low
