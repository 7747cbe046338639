"""What would flip a verdict: one topic left out (pivotal), a set of topics (the flip set), another alpha (alpha*)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from pytest_riskguard.gates.evidence import BoolArray
from pytest_riskguard.gates.kinds import MIN_TOPICS, Gate
from pytest_riskguard.gates.ruling import Comparison, Rule, Ruling, limit_of, margin_of, margins_of, rule_for
from pytest_riskguard.gates.verdict import Outcome
from pytest_riskguard.inference import critical_value
from pytest_riskguard.risk.checks import ROUNDING_ERROR, FloatArray, exact_sum, first_in_order, stable_order

#: Intervals for which one pass over all topics gives the limits without each of them.
SHARED = ("student_t", "percentile", "bca")
#: Beyond this many topics even that takes seconds, so only topics that bring the limit near the bound are left out.
MAX_AT_ONCE = 200_000
#: Intervals so slow that limits are computed only where the verdict could change.
COSTLY = ("studentized",)
#: Where every topic needs an interval of its own: how many of the most harmful, and of the best, always get one.
ALONE = 10
#: Beyond this product of topics and topics left out, the minimum detectable effect is that of all topics.
MAX_RULED_ANEW = 20_000
#: Where every topic needs an interval of its own: the largest product of topics and topics left out; a costly
#: interval counts as ``COSTLIER`` others. Topics with the largest parts come first.
MAX_SCORES, COSTLIER = 100_000, 20
#: How much further a limit may move when a topic is left out than its mean and width suggest. On 400 samples, among
#: them Student's t with 1.5 degrees of freedom, one outlier, few changes, it was 4.5 times at most.
NEAR = 6.0
#: A candidate that passes at this alpha, where a loss counts a million times, is said to pass at any.
MAX_ALPHA = 2.0**20
#: How many sizes of a flip set are tried when the search for the smallest ends without one.
MAX_TRIED = 16
#: The relative width to which alpha* is found; its lower end, which still passes, is reported.
ALPHA_STAR_WIDTH = 1e-4


@dataclass(frozen=True)
class LeftOut:
    """A gate with each topic left out alone: the limit that decides then (NaN: not looked for), and whether it flips.

    ``failed`` says whether it fails on all topics; both arrays have shape (n_topics,).
    """

    limits: FloatArray
    flips: BoolArray
    failed: bool

    @property
    def pivots(self) -> tuple[int, ...]:
        """The topics that flip the verdict: first the one without which the limit is furthest beyond the bound."""
        places = np.flatnonzero(self.flips)
        beyond = np.round(-self.limits[places] if self.failed else self.limits[places], 12)
        return tuple(places[np.argsort(beyond, kind="stable")].tolist())


def without_each(comparison: Comparison, outcome: Outcome) -> LeftOut:
    """The gate on n - 1 topics, for each topic that may be left out; nothing flips where it neither fails nor passes.

    With weights, or intervals that share nothing between topics, only topics with the largest parts and those
    near the bound are left out, as many as time allows; otherwise one pass finds all limits.
    """
    n, failed = comparison.n, outcome == "fail"
    limits, flips = np.full(n, np.nan), np.zeros(n, dtype=np.bool_)
    if comparison.gate.by_topic:
        guilty = list(comparison.collapsed)
        flips[guilty] = len(guilty) == 1
        return LeftOut(limits, flips, failed)
    ruling = comparison.ruling
    if comparison.identical or n - 1 < MIN_TOPICS or not ruling.enough_topics:
        return LeftOut(limits, flips, failed)
    limits, lets_through = passes_without_each(ruling, passing=not failed)
    if failed and comparison.gate.max_mde is not None and np.any(lets_through):
        lets_through &= _detects_max_mde(ruling, np.flatnonzero(lets_through))
    return LeftOut(limits, lets_through == failed if outcome in ("pass", "fail") else flips, failed)


def _detects_max_mde(ruling: Ruling, places: npt.NDArray[np.intp]) -> BoolArray:
    """Whether the gate could still detect a loss of ``max_mde`` without each of these topics.

    Among many topics one makes no difference: the answer is then that of all topics.
    """
    n = ruling.evidence.n
    if places.size * n > MAX_RULED_ANEW:
        return np.full(n, ruling.detects_max_mde)
    enough = np.zeros(n, dtype=np.bool_)
    enough[places] = [ruling.without(int(place)).detects_max_mde for place in places]
    return enough


def passes_without_each(ruling: Ruling, *, passing: bool) -> tuple[FloatArray, BoolArray]:
    """Deciding limits without each topic, and whether the gate passes then: ``passing`` where no limit is known."""
    if ruling.evidence.weights is not None:
        return _one_by_one(ruling, passing=passing)
    gate = ruling.gate
    limits = _limits(ruling, passing=passing)
    lets_through = _reached(gate, limits, otherwise=passing)
    if ruling.asks_at_zero_too and np.any(lets_through):
        lets_through &= _reached(gate, _limits(ruling.plain, passing=passing), otherwise=passing)
    if gate.on_churn == "warn" and gate.alpha > 0 and not np.all(lets_through):
        lets_through |= _reached(gate, _limits(ruling.plain, passing=passing), otherwise=passing)
    return limits, lets_through


def _reached(gate: Gate, limits: FloatArray, *, otherwise: bool) -> BoolArray:
    """Which limits suffice; ``otherwise`` stands for those that are not known."""
    return np.where(np.isnan(limits), otherwise, margins_of(gate, limits) >= 0)


def _affordable(likely: BoolArray, parts: FloatArray, rule: Rule, *, passing: bool) -> npt.NDArray[np.intp]:
    """The likely topics whose intervals there is time for: those whose parts pull most towards the actual verdict."""
    places = np.flatnonzero(likely)
    costs = parts.size * (COSTLIER if {*rule.witnesses} & {*COSTLY} else 1)
    pull = np.round(parts[places] if not passing else -parts[places], 12)
    return places[first_in_order(pull, max(ALONE, MAX_SCORES // costs))]


def _limits(ruling: Ruling, *, passing: bool) -> FloatArray:
    """The deciding limit without each topic; NaN where it is not looked for."""
    scores, evidence = ruling.scores, ruling.evidence
    limits = np.full(scores.size, np.nan)
    has_moved, changed = evidence.moved(ruling.alpha), evidence.changed(ruling.alpha)
    for moved in (True, False):  # leaving out a changed topic leaves one change fewer
        rule = rule_for(ruling.gate, n_topics=evidence.n - 1, n_changed=changed - moved)
        members = np.flatnonzero(has_moved == moved)
        if members.size and (scores.size > MAX_AT_ONCE or not {*rule.witnesses} <= {*SHARED}):
            likely = _affordable(_near(ruling, rule), scores, rule, passing=passing)
            tried = np.union1d(likely, _extremes(scores, rule))
            members = tried[has_moved[tried] == moved]
        if members.size:
            limits[members] = ruling.limits_without_each(rule, members)
    return limits


def _one_by_one(ruling: Ruling, *, passing: bool) -> tuple[FloatArray, BoolArray]:
    rulings = [ruling]
    if ruling.alpha > 0 and (ruling.gate.on_churn == "warn" or ruling.asks_at_zero_too):
        rulings.append(ruling.plain)
    likely = np.any([_near_by_any_rule(at_alpha) for at_alpha in rulings], axis=0)
    n, parts = ruling.evidence.n, ruling.evidence.parts(ruling.alpha)
    limits, lets_through = np.full(n, np.nan), np.full(n, passing)
    for i in np.union1d(_extremes(parts, ruling.rule), _affordable(likely, parts, ruling.rule, passing=passing)):
        rest = ruling.without(int(i))
        if rest.enough_topics:
            limits[i] = limit_of(rest.gate, rest.deciding)
            lets_through[i] = rest.lets_through
    return limits, lets_through


def _extremes(parts: FloatArray, rule: Rule) -> npt.NDArray[np.intp]:
    """The topics whose limits are wanted though they decide nothing: those with the largest parts on either side."""
    if {*rule.witnesses} & {*COSTLY}:
        return np.zeros(0, dtype=np.intp)
    rounded, last = np.round(parts, 12), parts.size - 1
    return np.union1d(first_in_order(rounded, ALONE), last - first_in_order(-rounded[::-1], ALONE))


def _near(ruling: Ruling, rule: Rule) -> BoolArray:
    """Topics without which the limit would reach the bound if it moved ``NEAR`` times as far as mean and width do."""
    scores = ruling.scores
    mean, limit = exact_sum(scores) / scores.size, limit_of(ruling.gate, ruling.deciding_by(rule))
    shifts = (np.abs(scores - mean) + abs(limit - mean)) / (scores.size - 1)
    return np.asarray(NEAR * shifts >= abs(limit + ruling.gate.tolerance))


def _near_by_any_rule(ruling: Ruling) -> BoolArray:
    """The same where leaving out a heavy topic may bring in another rule; all topics where two rules disagree."""
    gate, n = ruling.gate, ruling.evidence.n
    rules = ruling.rule, rule_for(gate, n_topics=n, n_changed=0)
    if len({margin_of(gate, limit_of(gate, ruling.deciding_by(rule))) >= 0 for rule in rules}) > 1:
        return np.ones(n, dtype=np.bool_)
    return np.asarray(np.any([_near(ruling, rule) for rule in rules], axis=0))


def flip_set(ruling: Ruling, topics: tuple[str, ...]) -> tuple[str, ...] | None:
    """Topics removed by contribution, most harmful first, until the gate passes; None if it never does.

    Greedy, so an upper bound on the smallest such set; it ends where fewer than 10 topics are left. The search
    starts where Student-t would flip, and ends with a set without which the gate passes, though it fails with the
    last of them put back. If removing as many as allowed does not help, the sizes with the highest limits by
    Student-t are tried: fewer topics say less, so a gate may pass without some and fail again without more.
    """
    parts = ruling.evidence.parts(ruling.alpha)
    order = stable_order(np.round(parts, 12))  # equal losses go by topic, whatever their rounding
    most = ruling.evidence.n - MIN_TOPICS

    def passes_without(count: int) -> bool:
        return ruling.without(order[:count]).lets_through

    if ruling.lets_through:
        return ()
    fails_at, passes_at = 0, most + 1
    reached = _reached_by_student_t(ruling.gate, ruling.scores[order], most)
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
        likely = (np.argsort(-reached, kind="stable")[:MAX_TRIED] + 1).tolist()
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
    """Standard errors from the mean to the limit of Student-t that the gate asks about; negative for a lower one."""
    critical = critical_value(n, level=gate.level)
    return -critical if gate.side == "lower" else critical


def alpha_star(ruling: Ruling) -> float | Literal["any"] | None:
    """The largest alpha up to which the candidate passes the gate's own interval rule.

    None for a loss (it fails even at alpha 0) and for the smooth trade-off, ``"any"`` when it passes up to 2^20.
    The gate passes at the value reported and fails within about a thousandth above it (limits of few topics are
    steps, and not quite monotone in alpha). The search starts where Student-t would change its mind.
    """

    def margin(alpha: float) -> float:
        return (ruling.plain if alpha == 0 else ruling.at(alpha)).margin

    gate, evidence = ruling.gate, ruling.evidence
    if evidence.kind != "linear":
        return None
    at_zero = margin(0.0)
    if not at_zero >= 0:
        return None
    if not (np.any(evidence.differences < -ROUNDING_ERROR) or np.any(evidence.noise < -ROUNDING_ERROR)):
        return "any"
    guess = _alpha_star_by_student_t(ruling)
    low, at_low = 0.0, at_zero
    high, growth = (guess, 1.25) if guess is not None else (0.25, 4.0)
    while (at_high := margin(high)) >= 0:
        if high >= MAX_ALPHA:
            return "any"
        low, at_low, high = high, at_high, min(growth * high, MAX_ALPHA)
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
    """An alpha with few digits at which the gate still passes: the search gives more digits than it knows."""
    scale = 10.0 ** (5 - math.floor(math.log10(alpha))) if alpha > 0 else 1.0
    fewer = math.floor(alpha * scale) / scale
    return fewer if margin(fewer) >= 0 else alpha


def _alpha_star_by_student_t(ruling: Ruling) -> float | None:
    """Where Student-t's limit first falls below the bound, to a few percent; None where it never does."""
    grid = np.geomspace(2.0**-6, MAX_ALPHA, 512)
    gate, plain = ruling.gate, ruling.plain.scores
    slopes = ruling.at(1.0).scores - plain
    order = np.lexsort((slopes, plain))
    plain, slopes = plain[order], slopes[order]
    means = np.mean(plain) + grid * np.mean(slopes)
    spread = np.cov(plain, slopes)
    variances = spread[0, 0] + 2 * grid * spread[0, 1] + grid**2 * spread[1, 1]
    half = _half(gate, plain.size) * np.sqrt(np.maximum(variances, 0) / plain.size)
    fails = means + half < -gate.tolerance
    return float(grid[int(np.argmax(fails))]) if np.any(fails) else None
