"""Gradients of LambdaMART's risk-sensitive objectives, pair by pair of documents, compiled by numba.

For each pair of documents of a query with different labels, RankNet's derivative is multiplied by the size of what
swapping the two does to the risk measure, given what it does to nDCG (C. Burges, "From RankNet to LambdaRank to
LambdaMART", MSR-TR-2010-82; L. Wang, P. Bennett, K. Collins-Thompson, "Robust ranking models via risk-sensitive
optimization", SIGIR 2012; B. T. Dinçer et al., SIGIR 2014 and 2016).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np

from pytest_riskguard.ltr.swap_effects import GEORISK, TRADEOFF, WEIGHTED, Pairs, SwapEffects
from pytest_riskguard.risk.checks import FloatArray

#: Added to the difference of scores by which a pair is divided, as LightGBM does.
_SCORE_OFFSET = 0.01
#: Differences of scores, times sigmoid, up to which exp of each score can be used instead of exp of each difference.
_WIDEST = 600.0
#: Steps of ZRisk / c up to which its series is exact to rounding, and how far from 0 it may start.
_SMALL_STEP, _SERIES_FROM = 0.02, 3.0

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _compiled(function: _Function) -> _Function:
    """The function in machine code, kept on disk for the next process; other threads run meanwhile."""
    compiled: Any = numba.njit(nogil=True, cache=True, error_model="numpy")(function)
    return cast(_Function, compiled)


@_compiled
def _phi_step(start: float, step: float) -> float:
    """Phi(start + step) - Phi(start), with small steps without cancellation."""
    if abs(step) < _SMALL_STEP and abs(start) < _SERIES_FROM:
        u = start
        density = math.exp(-0.5 * u * u) / math.sqrt(2 * math.pi)
        series = (u**4 - 6 * u**2 + 3) / 120 - step * (u**5 - 10 * u**3 + 15 * u) / 720
        series = (u * u - 1) / 6 + step * (-(u**3 - 3 * u) / 24 + step * series)
        return density * step * (1 + step * (-0.5 * u + step * series))
    return 0.5 * (math.erfc(-(start + step) / math.sqrt(2)) - math.erfc(-start / math.sqrt(2)))


@_compiled
def _georisk_step(
    change: float, score: float, expected: float, root: float, loss: float, total: float, zrisk: float, queries: float
) -> float:
    """``queries`` times the change of GeoRisk where one query's score changes and all expectations stay.

    ``root`` is 1 / sqrt(expected), 0 where nothing is expected; ``loss`` is 1 + alpha.
    """
    before, after = (score - expected) * root, (score + change - expected) * root
    if before < 0:
        before *= loss
    if after < 0:
        after *= loss
    mean, place = total / queries, zrisk / queries
    mean_after = max(mean + change / queries, 0.0)
    step = _phi_step(place, (after - before) / queries)
    phi = 0.5 * math.erfc(-place / math.sqrt(2))
    numerator = (mean_after - mean) * (phi + step) + mean * step
    denominator = math.sqrt(mean_after * max(phi + step, 0.0)) + math.sqrt(mean * phi)
    return queries * numerator / denominator if denominator > 0 else 0.0


@_compiled
def _effect(effects: SwapEffects, query: int, change: float) -> float:
    """What a change of a query's nDCG does to the risk measure."""
    if effects.kind == GEORISK:
        score, expected, root = effects.georisk[query, 0], effects.georisk[query, 1], effects.georisk[query, 2]
        loss, total, zrisk, queries = effects.pool[0], effects.pool[1], effects.pool[2], effects.pool[3]
        return _georisk_step(change, score, expected, root, loss, total, zrisk, queries)
    alpha: float = effects.alpha[query]
    if effects.kind == WEIGHTED:
        return (1 + alpha) * change
    difference: float = effects.differences[query]
    if effects.kind == TRADEOFF:
        return change + alpha * (min(difference + change, 0.0) - min(difference, 0.0))
    return change if difference + change >= 0 else (1 + alpha) * change


@_compiled
def _mistake(sigmoid: float, distance: float, power_of_better: float, power_of_worse: float, narrow: bool) -> float:
    """RankNet's probability that the worse document is ranked first; ``distance`` is what the better one has more."""
    if narrow:
        return power_of_worse / (power_of_better + power_of_worse)
    return 1 / (1 + math.exp(min(sigmoid * distance, 700.0)))


@_compiled
def _query_gradients(
    pairs: Pairs, effects: SwapEffects, query: int, gradient: FloatArray, hessian: FloatArray
) -> float:
    """Add up the pairs of one query; returns the size of plain LambdaMART's gradient."""
    scores, gains, discounts, sigmoid = pairs.scores, pairs.gains, pairs.discounts, pairs.sigmoid
    order = pairs.order[pairs.starts[query] : pairs.starts[query + 1]]
    best, worst = scores[order[0]], scores[order[-1]]
    spread, narrow = pairs.norm and best != worst, sigmoid * (best - worst) < _WIDEST
    powers, plain = np.exp(sigmoid * (scores[order] - best)), 0.0
    for i in range(min(order.size - 1, pairs.truncation)):
        upper = order[i]
        for j in range(i + 1, order.size):
            lower = order[j]
            # Swapping the two helps nDCG where the better document stands below the other.
            change = (gains[lower] - gains[upper]) * (discounts[i] - discounts[j]) * pairs.inverse_ideal[query]
            if change == 0:
                continue
            distance = scores[upper] - scores[lower]
            scale = 1 / (_SCORE_OFFSET + distance) if spread else 1.0
            if change < 0:
                wrong = _mistake(sigmoid, distance, powers[i], powers[j], narrow)
            else:
                wrong = _mistake(sigmoid, -distance, powers[j], powers[i], narrow)
            plain += 2 * sigmoid * abs(change) * scale * wrong
            slope = sigmoid * abs(_effect(effects, query, change)) * scale * wrong
            curve = sigmoid * slope * (1 - wrong)
            towards = slope if change < 0 else -slope
            gradient[upper] -= towards
            gradient[lower] += towards
            hessian[upper] += curve
            hessian[lower] += curve
    return plain


@_compiled
def add_gradients(
    pairs: Pairs, effects: SwapEffects, first: int, last: int, gradient: FloatArray, hessian: FloatArray
) -> None:
    """Write gradient and hessian, shape (n_documents,), of the rows of queries ``first`` to ``last``, exclusive."""
    for query in range(first, last):
        begin, end = pairs.starts[query], pairs.starts[query + 1]
        gradient[begin:end] = 0.0
        hessian[begin:end] = 0.0
        if pairs.inverse_ideal[query] == 0:
            continue
        plain = _query_gradients(pairs, effects, query, gradient, hessian)
        if pairs.norm and plain > 0:
            # The size of plain LambdaMART's gradient: that of the risk-sensitive one would take back its weight.
            gradient[begin:end] *= math.log2(1 + plain) / plain
            hessian[begin:end] *= math.log2(1 + plain) / plain
