"""The gate without each topic: the limit that decides then, and the topics that carry the verdict alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_riskguard.gates.evidence import BoolArray
from pytest_riskguard.gates.kinds import MIN_TOPICS, Gate
from pytest_riskguard.gates.rule.limits import highest_p, least_shown, limit_of, margins_of, own_method, witnesses
from pytest_riskguard.gates.ruling import Comparison, Ruling
from pytest_riskguard.gates.verdict import Outcome
from pytest_riskguard.inference import break_even
from pytest_riskguard.inference.break_even import break_even_without_each
from pytest_riskguard.risk.checks import FloatArray, exact_sum, first_in_order

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


@dataclass(frozen=True)
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
        saved[asked] = break_even_without_each(*stakes, tolerated=tolerated, places=rank[asked]) > highest_p(gate)
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
