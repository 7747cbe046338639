"""The topics without which a gate passes: the most harmful ones, as few as a greedy search finds."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pytest_riskguard.gates.kinds import MIN_TOPICS, Gate
from pytest_riskguard.gates.ruling import Ruling
from pytest_riskguard.inference.intervals import critical_value
from pytest_riskguard.risk.checks import FloatArray, exact_sum, stable_order

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
