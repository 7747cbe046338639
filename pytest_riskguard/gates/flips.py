"""What would flip a verdict: one topic left out, a set of topics, another alpha."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.evidence import BoolArray
from pytest_riskguard.gates.kinds import MIN_TOPICS, Gate
from pytest_riskguard.gates.limits import highest_p, least_shown, limit_of, margins_of, own_method, witnesses
from pytest_riskguard.gates.ruling import Comparison, Ruling
from pytest_riskguard.gates.verdict import Outcome
from pytest_riskguard.inference.break_even import break_even, exceeds_without_each
from pytest_riskguard.inference.intervals import critical_value
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
#: Where the break-even test is repeated without topics: the largest product of changed topics and topics left out.
MAX_FLIPPED = 2_000_000
#: The same for a gate that asks for a lower limit, whose changes are counted anew without each topic.
MAX_SHOWN = 200_000


@frozen
class LeftOut:
    """A gate with each topic left out alone: the limit that decides then (NaN: not looked for), and whether it flips.

    ``failed`` says whether it fails on all topics, ``both_sides`` whether limits far from 0 on either side fail it;
    both arrays have shape (n_topics,).
    """

    limits: FloatArray
    flips: BoolArray
    failed: bool
    both_sides: bool = False

    @property
    def pivots(self) -> tuple[int, ...]:
        """The topics that flip the verdict: first the one without which the limit is furthest beyond the bound."""
        places = np.flatnonzero(self.flips)
        height = -np.abs(self.limits[places]) if self.both_sides else self.limits[places]
        beyond = np.round(-height if self.failed else height, 12)
        return tuple(places[np.argsort(beyond, kind="stable")].tolist())


def without_each(comparison: Comparison, outcome: Outcome) -> LeftOut:
    """The gate on n - 1 topics, for each topic that may be left out; nothing flips where it neither fails nor passes.

    With weights or clusters, or intervals that share nothing between topics, only topics with the largest parts and
    those near the bound are left out, as many as time allows; otherwise one pass finds all limits.
    """
    n, failed = comparison.n, outcome == "fail"
    limits, flips = np.full(n, np.nan), np.zeros(n, dtype=np.bool_)
    if comparison.gate.by_topic:
        flips[list(comparison.collapsed)] = len(comparison.too_many) == 1
        return LeftOut(limits, flips, failed)
    ruling = comparison.ruling
    if comparison.identical or n - 1 < MIN_TOPICS or not ruling.enough_topics:
        return LeftOut(limits, flips, failed)
    limits, lets_through = passes_without_each(ruling, passing=not failed)
    if failed and comparison.gate.max_mde is not None and np.any(lets_through):
        lets_through &= _detects_max_mde(ruling, np.flatnonzero(lets_through))
    flips = lets_through == failed if outcome in ("pass", "fail") else flips
    return LeftOut(limits, flips, failed, both_sides=comparison.gate.side == "both")


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
    if not ruling.evidence.counts_alike:
        return _one_by_one(ruling, passing=passing)
    gate = ruling.gate
    limits, lets_through = _met_without_each(ruling, passing=passing)
    if ruling.at_zero_too is not None and np.any(lets_through):
        lets_through &= _met_without_each(ruling.at_zero_too, passing=passing)[1]
    if gate.on_churn == "warn" and gate.alpha > 0 and not np.all(lets_through):
        lets_through |= _met_without_each(ruling.plain, passing=passing)[1]
    return limits, lets_through


def _met_without_each(ruling: Ruling, *, passing: bool) -> tuple[FloatArray, BoolArray]:
    """Deciding limits without each topic, and whether the rule is met then, at the ruling's alpha alone."""
    gate, own = ruling.gate, own_method(ruling.gate)
    by_student_t = _limits(ruling, "student_t", passing=passing)
    student_t_reaches = _reached(gate, by_student_t, otherwise=passing)
    if own == "student_t" and gate.side == "upper":
        return by_student_t, student_t_reaches
    limits = by_student_t if own == "student_t" else _limits(ruling, own, passing=passing)
    own_reaches = _reached(gate, limits, otherwise=passing)
    if gate.must_show:
        reached = own_reaches & student_t_reaches
        return least_shown(gate, limits, by_student_t), _shown(ruling, np.flatnonzero(reached), passing=passing)
    open_to_chance = student_t_reaches & ~own_reaches & np.isfinite(limits)
    saved = _saved(ruling, np.flatnonzero(open_to_chance), passing=passing)
    return np.where(saved, by_student_t, limits), own_reaches | saved


def _shown(ruling: Ruling, places: npt.NDArray[np.intp], *, passing: bool) -> BoolArray:
    """Without which of these topics, each alone, the changes of the others show a lower limit; False for all others.

    Among many topics one makes no difference to the break-even test: the answer is then that of all topics, except
    for those whose parts pull most towards the other verdict.
    """
    shown = np.zeros(ruling.evidence.n, dtype=np.bool_)
    if not places.size:
        return shown
    shown[places] = passing
    moved = ruling.evidence.moved(ruling.alpha)
    unmoved, changed = places[~moved[places]], places[moved[places]]
    parts = ruling.sense * ruling.scores[changed]
    pull = np.round(parts if not passing else -parts, 12)
    asked = changed[first_in_order(pull, max(ALONE, MAX_SHOWN // max(int(np.count_nonzero(moved)), 1)))]
    for place in asked.tolist():
        rest = ruling.without(place)
        shown[place] = rest.changes_show
    if unmoved.size:
        rest = ruling.without(int(unmoved[0]))
        shown[unmoved] = rest.changes_show
    return shown


def _saved(ruling: Ruling, places: npt.NDArray[np.intp], *, passing: bool) -> BoolArray:
    """Without which of these topics, each alone, the break-even test finds no loss; False for all other topics."""
    saved = np.zeros(ruling.evidence.n, dtype=np.bool_)
    if not places.size:
        return saved
    gate, stakes = ruling.gate, ruling.evidence.stakes(ruling.alpha)
    moved, tolerated = ruling.evidence.moved(ruling.alpha), (ruling.evidence.n - 1) * gate.tolerance
    which, rank = places[moved[places]], np.cumsum(moved) - 1
    if which.size < places.size:  # the test asks for changed topics alone
        p_value = break_even(*stakes, tolerated=tolerated).p_value if tolerated else ruling.break_even
        saved[places] = p_value > highest_p(gate)
    if tolerated:  # with each topic that leaves, what is tolerated and all chances change
        open_ones = np.ones(which.size, dtype=np.bool_)
    else:
        open_ones = _open(gate, stakes, ruling.break_even)[rank[which]]
        saved[which] = ruling.breaks_even
    asked = which[open_ones]
    affordable = max(ALONE, MAX_FLIPPED // max(stakes[0].size, 1))
    if asked.size > affordable:  # those whose parts pull most towards the actual verdict
        pull = np.round(ruling.scores[asked] if not passing else -ruling.scores[asked], 12)
        saved[asked] = passing
        asked = asked[first_in_order(pull, affordable)]
    if asked.size:
        saved[asked] = exceeds_without_each(*stakes, p_value=highest_p(gate), tolerated=tolerated, places=rank[asked])
    return saved


def _open(gate: Gate, stakes: tuple[FloatArray, FloatArray, BoolArray], p_value: float) -> BoolArray:
    """Without which changed topics the break-even test may say something else than with all of them.

    If q is a topic's chance of loss, p is q times P(the others' losses suffice with it) plus 1 - q times P(they
    suffice alone). Without a topic that lost, p is the first of these: at least p, at most p/q. Without one that won
    it is the second: at most p, at least (p - q)/(1 - q).
    """
    gains, losses, lost = stakes
    chances = gains / (gains + losses)
    if p_value > highest_p(gate):
        return np.asarray(~lost & ((p_value - chances) / (1 - chances) <= highest_p(gate)))
    return np.asarray(lost & (p_value / chances > highest_p(gate)))


def _reached(gate: Gate, limits: FloatArray, *, otherwise: bool) -> BoolArray:
    """Which limits suffice; ``otherwise`` stands for those that are not known."""
    return np.where(np.isnan(limits), otherwise, margins_of(gate, limits) >= 0)


def _affordable(likely: BoolArray, parts: FloatArray, method: str, *, passing: bool) -> npt.NDArray[np.intp]:
    """The likely topics whose intervals there is time for: those whose parts pull most towards the actual verdict."""
    places = np.flatnonzero(likely)
    costs = parts.size * (COSTLIER if method in COSTLY else 1)
    pull = np.round(parts[places] if not passing else -parts[places], 12)
    return places[first_in_order(pull, max(ALONE, MAX_SCORES // costs))]


def _limits(ruling: Ruling, method: str, *, passing: bool) -> FloatArray:
    """The limit of an interval without each topic; NaN where it is not looked for."""
    n = ruling.evidence.n
    limits = np.full(n, np.nan)
    if n > MAX_AT_ONCE or method not in SHARED:
        likely = _affordable(_likely(ruling), ruling.sense * ruling.scores, method, passing=passing)
        places = np.union1d(likely, _extremes(ruling.scores, method))
    else:
        places = np.arange(n)
    if places.size:
        limits[places] = ruling.limits_without_each(method, places)
    return limits


def _one_by_one(ruling: Ruling, *, passing: bool) -> tuple[FloatArray, BoolArray]:
    rulings = [ruling]
    if ruling.alpha > 0 and ruling.gate.on_churn == "warn":
        rulings.append(ruling.plain)
    if ruling.at_zero_too is not None:
        rulings.append(ruling.at_zero_too)
    n, own = ruling.evidence.n, own_method(ruling.gate)
    likely, parts = np.any([_likely(at_alpha) for at_alpha in rulings], axis=0), ruling.evidence.parts(ruling.alpha)
    limits, lets_through = np.full(n, np.nan), np.full(n, passing)
    for i in np.union1d(_extremes(parts, own), _affordable(likely, ruling.sense * parts, own, passing=passing)):
        rest = ruling.without(int(i))
        if rest.enough_topics:
            limits[i] = limit_of(rest.gate, rest.deciding)
            lets_through[i] = rest.lets_through
    return limits, lets_through


def _extremes(parts: FloatArray, method: str) -> npt.NDArray[np.intp]:
    """The topics whose limits are wanted though they decide nothing: those with the largest parts on either side."""
    if method in COSTLY:
        return np.zeros(0, dtype=np.intp)
    rounded, last = np.round(parts, 12), parts.size - 1
    return np.union1d(first_in_order(rounded, ALONE), last - first_in_order(-rounded[::-1], ALONE))


def _likely(ruling: Ruling) -> BoolArray:
    """Topics without which the verdict may change: those near the bound; all where the two intervals disagree."""
    asked = witnesses(ruling.gate)
    if len({ruling.reaches(method) for method in asked}) > 1:
        return np.ones(ruling.evidence.n, dtype=np.bool_)
    return np.asarray(np.any([_near(ruling, method) for method in asked], axis=0))


def _near(ruling: Ruling, method: str) -> BoolArray:
    """Topics without which a limit would reach the bound if it moved ``NEAR`` times as far as mean and width do."""
    interval = ruling.interval(method)
    if ruling.gate.side == "both":
        ends = (interval.lower, -ruling.gate.tolerance), (interval.upper, ruling.gate.tolerance)
        return np.asarray(np.any([_near_bound(ruling, limit, bound) for limit, bound in ends], axis=0))
    return _near_bound(ruling, limit_of(ruling.gate, interval), -ruling.gate.tolerance)


def _near_bound(ruling: Ruling, limit: float, bound: float) -> BoolArray:
    scores = ruling.scores
    mean = exact_sum(scores) / scores.size
    shifts = (np.abs(scores - mean) + abs(limit - mean)) / (scores.size - 1)
    if ruling.evidence.clusters is not None:  # a topic may hold a larger part of its cluster than all of it
        parts = ruling.evidence.parts(ruling.alpha)
        shifts = shifts[ruling.evidence.clusters] + np.abs(parts - mean) / ruling.evidence.n
    return np.asarray(NEAR * shifts >= abs(limit - bound))


#: How many sizes of a flip set are tried when the search for the smallest ends without one.
MAX_TRIED = 16


def flip_set(ruling: Ruling, topics: tuple[str, ...]) -> tuple[str, ...] | None:
    """Topics removed by contribution, most harmful first, until the gate passes; None if it never does.

    Of a gate that asks for both limits they go from either end, so that the mean comes nearer to 0.
    Greedy, so an upper bound on the smallest such set; it ends where fewer than 10 topics are left. The search
    starts where Student-t would flip, and ends with a set without which the gate passes, though it fails with the
    last of them put back. If removing as many as allowed does not help, the sizes with the highest limits by
    Student-t are tried: fewer topics say less, so a gate may pass without some and fail again without more.
    """
    parts = ruling.evidence.parts(ruling.alpha)
    order = stable_order(np.round(parts, 12))  # equal losses go by topic, whatever their rounding
    if ruling.gate.side == "both":
        order = _from_both_ends(parts, order)
    most = ruling.evidence.n - MIN_TOPICS

    def passes_without(count: int) -> bool:
        return ruling.without(order[:count]).lets_through

    if ruling.lets_through:
        return ()
    fails_at, passes_at = 0, most + 1
    # clusters have fewer scores than topics: which sizes are tried first then goes by parts
    of_topics = ruling.scores if ruling.evidence.clusters is None else parts
    reached = _reached_by_student_t(ruling.gate, of_topics[order], most)
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
    means = -np.abs(means) if gate.side == "both" else means
    reached: FloatArray = means + _half(gate, scores.size) * errors + gate.tolerance
    return reached


def _half(gate: Gate, n: int) -> float:
    """Standard errors from the mean to the limit of Student-t that the gate asks about; negative for a lower one."""
    critical = critical_value(n, level=gate.level)
    return -critical if gate.must_show else critical


def _from_both_ends(parts: FloatArray, order: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """Topics in the order in which they go: of those left the lowest while their sum is below 0, else the highest."""
    removed, low, high, total = np.empty_like(order), 0, order.size - 1, exact_sum(parts)
    sorted_parts, places = parts[order].tolist(), order.tolist()
    for step in range(order.size):
        if total < 0:
            place, low = low, low + 1
        else:
            place, high = high, high - 1
        removed[step] = places[place]
        total -= sorted_parts[place]
    return removed


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
