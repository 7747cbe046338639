"""Who is responsible: each topic's part in the verdict, and the topics without which the gate would pass."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np

from pytest_riskguard.gates.collapse import collapsed
from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.decision import interval_margin, passes
from pytest_riskguard.gates.evidence import Evidence, FloatArray
from pytest_riskguard.gates.explanation import Explanation
from pytest_riskguard.gates.groups import groups, tagged
from pytest_riskguard.gates.left_out import LeftOut
from pytest_riskguard.gates.slices import slices
from pytest_riskguard.gates.spec import FEWEST_TOPICS, Gate
from pytest_riskguard.gates.summary import summarised
from pytest_riskguard.gates.verdict import ResponsibleTopic, Verdict
from pytest_riskguard.inference import critical_value
from pytest_riskguard.risk import standard_error
from pytest_riskguard.risk.urisk import varies
from pytest_riskguard.rounding import ROUNDING_ERROR

#: Above this alpha a candidate that still passes is said to pass at any: a loss then counts a million times.
LARGEST_ALPHA = 2.0**20
#: How many numbers of topics are tried where the search for those without which the gate passes ends without any.
TRIED = 16
#: alpha* is found to this relative width; its lower end, which still passes, is reported.
ALPHA_STAR_WIDTH = 1e-4


def responsible_topics(
    comparison: Comparison, alone: LeftOut
) -> tuple[tuple[ResponsibleTopic, ...], tuple[ResponsibleTopic, ...]]:
    """Every topic that lost, most harmful first, and apart from them the wins that are flagged.

    A topic is flagged when its TR_i lies outside the Student-t critical values of the gate's level (SIGIR'14
    Eq. 21). ``alone`` is the gate with each topic left out.
    """
    alpha, weights, exceeded = comparison.gate.alpha, comparison.aligned.weights, collapsed(comparison)
    losers, winners = topic_rows(
        comparison,
        parts=comparison.evidence.parts(alpha),
        standard=standardised_parts(comparison.evidence, alpha),
        alone=alone,
    )

    def whole(place: int, row: ResponsibleTopic) -> ResponsibleTopic:
        weight = None if weights is None else float(weights[place])
        return replace(row, weight=weight, exceeds=exceeded.get(place, ()))

    return tuple(whole(*row) for row in losers), tuple(whole(*row) for row in winners)


#: Topics with their places among all topics.
Rows = tuple[tuple[int, ResponsibleTopic], ...]


def topic_rows(
    comparison: Comparison,
    *,
    parts: FloatArray,
    standard: FloatArray,
    alone: LeftOut,
) -> tuple[Rows, Rows]:
    """Losses, most harmful first, and flagged wins, from each topic's part in the estimate.

    ``parts`` have the estimate as their mean, ``standard`` are the same in standard deviations.
    """
    candidate, baseline = comparison.aligned.candidate, comparison.aligned.baseline
    differences, n = comparison.differences, comparison.n
    critical = critical_value(n, level=comparison.gate.level) if n > 1 else math.inf
    lost = differences < -ROUNDING_ERROR
    total_loss = math.fsum(np.minimum(parts[lost], 0.0))
    losses = np.flatnonzero(lost)
    losses = losses[np.argsort(np.round(parts[losses], 12), kind="stable")]
    flagged_wins = np.flatnonzero((differences > ROUNDING_ERROR) & (standard > critical))
    flagged_wins = flagged_wins[np.argsort(-parts[flagged_wins], kind="stable")]

    def row(i: int) -> ResponsibleTopic:
        topic = candidate.topics[i]
        return ResponsibleTopic(
            topic=topic,
            query=candidate.queries.get(topic, baseline.queries.get(topic)),
            candidate=float(candidate.values[i]),
            baseline=float(baseline.values[i]),
            difference=float(differences[i]),
            contribution=float(parts[i] / n),
            share=float(min(parts[i], 0.0) / total_loss) + 0.0 if lost[i] and total_loss < 0 else None,
            standardised=float(standard[i]),
            flagged=bool(abs(standard[i]) > critical),
            flips_verdict=alone.failed and bool(alone.flips[i]),
            limit_without=float(alone.limits[i]) if math.isfinite(alone.limits[i]) else None,
        )

    return tuple((i, row(i)) for i in losses.tolist()), tuple((i, row(i)) for i in flagged_wins.tolist())


def explained(
    verdict: Verdict, comparison: Comparison, alone: LeftOut, *, parts: FloatArray, standard: FloatArray
) -> Verdict:
    """The verdict with its explanation, from topics' parts in the estimate and these in standard deviations."""
    topics, n = comparison.aligned.candidate.topics, comparison.n
    tags = tagged(comparison.aligned)
    critical = critical_value(n, level=comparison.gate.level) if n > 1 else math.inf
    explanation = Explanation(
        summary="",
        pivotal_topics=tuple(topics[i] for i in alone.pivots),
        groups=groups(comparison.differences, parts, topics, tags),
        slices=slices(comparison, tags, flagged=np.abs(standard) > critical),
    )
    return summarised(replace(verdict, explanation=explanation))


def standardised_parts(evidence: Evidence, alpha: float) -> FloatArray:
    """TR_i: each topic's part in standard deviations of the trade-off scores (SIGIR'14 Eq. 21)."""
    scores = evidence.scores(alpha)
    if evidence.n < 2 or not varies(scores):
        return np.zeros(evidence.n)
    return evidence.parts(alpha) / (standard_error(scores) * math.sqrt(evidence.n))


def flip_set(gate: Gate, topics: tuple[str, ...], evidence: Evidence) -> tuple[str, ...] | None:
    """Topics removed by contribution, most harmful first, until the gate passes.

    Greedy, so an upper bound on the smallest such set. Empty for a gate that passes; None when it does not pass
    before fewer than 10 topics are left. The search starts where Student-t, which costs nothing, would flip, and
    ends with a number of topics without which the gate passes while it fails with the last of them put back. With
    every topic removed the rest says less, so a gate may pass without some topics and fail again without more: where
    removing all that may go does not help, the numbers that Student-t likes best are tried.
    """
    parts = evidence.parts(gate.alpha)
    order = np.argsort(np.round(parts, 12), kind="stable")  # equal losses go by topic, whatever their rounding
    most = evidence.n - FEWEST_TOPICS

    def passes_without(count: int) -> bool:
        return passes(gate, evidence.without(order[:count]))

    if passes_without(0):
        return ()
    fails_at, passes_at = 0, most + 1
    reached = _reached_by_student_t(gate, evidence.scores(gate.alpha)[order], most)
    guess, stride = (int(np.argmax(reached >= 0)) + 1 if np.any(reached >= 0) else max(most, 1)), 1
    while passes_at - fails_at > 1:
        if passes_without(guess):
            passes_at, guess = guess, max(guess - stride, fails_at + 1)
        else:
            fails_at, guess = guess, min(guess + stride, passes_at - 1)
        stride *= 2
        if fails_at > 0 and passes_at <= most:
            guess = (fails_at + passes_at) // 2
    if passes_at > most:
        likely = (np.argsort(-reached, kind="stable")[:TRIED] + 1).tolist()
        passes_at = next((count for count in sorted(likely) if passes_without(count)), passes_at)
    return tuple(topics[int(i)] for i in order[:passes_at]) if passes_at <= most else None


def _reached_by_student_t(gate: Gate, scores: FloatArray, most: int) -> FloatArray:
    """How far Student-t's limit lies above the bound with the first 1, 2, ... of the trade-off scores gone."""
    counts = np.arange(1, most + 1)
    left = scores.size - counts
    sums = np.cumsum(scores[::-1])[::-1][1 : most + 1]
    squares = np.cumsum(scores[::-1] ** 2)[::-1][1 : most + 1]
    means = sums / left
    errors = np.sqrt(np.maximum(squares / left - means**2, 0) / (left - 1))
    reached: FloatArray = means + _half(gate, scores.size) * errors + gate.tolerance
    return reached


def _half(gate: Gate, n: int) -> float:
    """How many standard errors from the mean Student-t's limit lies that the gate asks about."""
    critical = critical_value(n, level=gate.level)
    return -critical if gate.kind == "not_inferior" else critical


def alpha_star(gate: Gate, evidence: Evidence) -> float | Literal["any"] | None:
    """The largest alpha up to which the candidate passes the gate's own interval rule.

    None for a loss (it fails even at alpha 0), ``"any"`` when it passes at every alpha up to 2^20; None too for the
    smooth trade-off, which has no alpha to vary. The gate passes at the value reported and fails within about a
    thousandth above it (limits of few topics are steps, and not quite monotone in alpha). The search starts where
    Student-t, which costs nothing, would change its mind.
    """

    def margin(alpha: float) -> float:
        return interval_margin(gate, evidence, alpha=alpha)

    if evidence.kind != "linear":
        return None
    at_zero = margin(0.0)
    if not at_zero >= 0:
        return None
    if not (np.any(evidence.differences < -ROUNDING_ERROR) or np.any(evidence.noise < -ROUNDING_ERROR)):
        return "any"
    guess = _alpha_star_by_student_t(gate, evidence)
    low, at_low = 0.0, at_zero
    high, growth = (guess, 1.25) if guess is not None else (0.25, 4.0)
    while (at_high := margin(high)) >= 0:
        if high >= LARGEST_ALPHA:
            return "any"
        low, at_low, high = high, at_high, min(growth * high, LARGEST_ALPHA)
    nearer_low, step = False, 0
    while high - low > ALPHA_STAR_WIDTH * high:
        # the margin is nearly straight: a secant, then a probe just beyond it, and a bisection in case it is not
        if step % 3 == 0:
            alpha = low + (high - low) * at_low / (at_low - at_high)
        elif step % 3 == 1:
            alpha = low + 0.9 * ALPHA_STAR_WIDTH * high if nearer_low else high - 0.9 * ALPHA_STAR_WIDTH * high
        else:
            alpha = (low + high) / 2
        alpha = min(max(alpha, low + 1e-3 * (high - low)), high - 1e-3 * (high - low))
        at_alpha = margin(alpha)
        nearer_low = at_alpha >= 0
        if nearer_low:
            low, at_low = alpha, at_alpha
        else:
            high, at_high = alpha, at_alpha
        step += 1
    round_number = float(f"{high:.4g}")  # scores on a grid often break even at one
    if low < round_number <= high * (1 + ALPHA_STAR_WIDTH) and margin(round_number) >= 0:
        return max(round_number, gate.alpha if margin(gate.alpha) >= 0 else 0.0)
    return _passing_digits(low, margin)


def _passing_digits(alpha: float, margin: Callable[[float], float]) -> float:
    """An alpha with few digits at which the gate still passes: what the search found has more than it knows."""
    scale = 10.0 ** (5 - math.floor(math.log10(alpha))) if alpha > 0 else 1.0
    fewer = math.floor(alpha * scale) / scale
    return fewer if margin(fewer) >= 0 else alpha


def _alpha_star_by_student_t(gate: Gate, evidence: Evidence) -> float | None:
    """Where Student-t's limit first falls below the bound, to a few percent; None where it never does.

    Trade-off scores are straight lines in alpha.
    """
    grid = np.geomspace(2.0**-6, LARGEST_ALPHA, 512)
    plain = evidence.scores(0.0)
    slopes = evidence.scores(1.0) - plain
    order = np.lexsort((slopes, plain))
    plain, slopes = plain[order], slopes[order]
    means = np.mean(plain) + grid * np.mean(slopes)
    spread = np.cov(plain, slopes)
    variances = spread[0, 0] + 2 * grid * spread[0, 1] + grid**2 * spread[1, 1]
    half = _half(gate, evidence.n) * np.sqrt(np.maximum(variances, 0) / evidence.n)
    fails = means + half < -gate.tolerance
    return float(grid[int(np.argmax(fails))]) if np.any(fails) else None
