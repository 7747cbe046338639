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

from pytest_riskguard.ltr.objectives import GEORISK, TRADEOFF, WEIGHTED, GeoRiskNow, Pairs, SwapEffects
from pytest_riskguard.risk.checks import ROUNDING_ERROR, FloatArray, IntArray

#: Added to the difference of scores by which a pair is divided, as LightGBM does.
_SCORE_OFFSET = 0.01
#: Differences of scores, times sigmoid, up to which exp of each score can be used instead of exp of each difference.
_WIDEST = 600.0
#: Steps of ZRisk / c up to which its series is exact to rounding, and how far from 0 it may start.
_SMALL_STEP, _SERIES_FROM = 0.02, 3.0

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _compiled(function: _Function) -> _Function:
    """The function in machine code, which other threads need not wait for.

    It is kept on disk for the next process, unless neither this folder nor the user's can be written to.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    try:
        compiled: Any = numba.njit(cache=True, **options)(function)
    except RuntimeError:
        compiled = numba.njit(**options)(function)
    return cast(_Function, compiled)


@_compiled
def _phi_step(pool: GeoRiskNow, step: float) -> float:
    """Phi(place + step) - Phi(place), with small steps by Taylor's series, which does not cancel."""
    if abs(step) < _SMALL_STEP and abs(pool.place) < _SERIES_FROM:
        second, third, fourth, fifth, sixth = pool.series
        series = third + step * (fourth + step * (fifth + step * sixth))
        return pool.density * step * (1 + step * (second + step * series))
    return 0.5 * (math.erfc(-(pool.place + step) / math.sqrt(2)) - math.erfc(-pool.place / math.sqrt(2)))


@_compiled
def _georisk_step(pool: GeoRiskNow, change: float, above: float, inverse_root: float) -> float:
    """The number of queries times the change of GeoRisk where one query's score changes and all expectations stay.

    ``above`` is how far the query's score lies above the expected one, ``inverse_root`` is 1 / sqrt(expected).
    """
    before, after = above * inverse_root, (above + change) * inverse_root
    if before < 0:
        before *= pool.loss
    if after < 0:
        after *= pool.loss
    mean_after = max(pool.mean + change / pool.queries, 0.0)
    step = _phi_step(pool, (after - before) / pool.queries)
    phi_after = max(pool.phi + step, 0.0)
    # The difference of two roots, without cancellation.
    numerator = (mean_after - pool.mean) * phi_after + pool.mean * step
    denominator = math.sqrt(mean_after * phi_after) + pool.georisk
    return pool.queries * numerator / denominator if denominator > 0 else 0.0


@_compiled
def _effect(effects: SwapEffects, query: int, change: float) -> float:
    """What a change of a query's nDCG does to the risk measure."""
    if effects.kind == GEORISK:
        return _georisk_step(effects.pool, change, effects.differences[query], effects.inverse_roots[query])
    alpha: float = effects.alpha[query]
    if effects.kind == WEIGHTED:
        return (1 + alpha) * change
    difference: float = effects.differences[query]
    if effects.kind == TRADEOFF:
        return change + alpha * (min(difference + change, 0.0) - min(difference, 0.0))
    return change if difference + change >= -ROUNDING_ERROR else (1 + alpha) * change


@_compiled
def _mistake(sigmoid: float, distance: float, power_of_better: float, power_of_worse: float, narrow: bool) -> float:
    """RankNet's probability that the worse document is ranked first.

    ``distance`` is the better document's score less the worse one's.
    """
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
def sort_queries(starts: IntArray, scores: FloatArray, first: int, last: int, order: IntArray) -> None:
    """Write the rows of some queries from the highest score down, equal scores in the order of rows."""
    for query in range(first, last):
        begin, end = starts[query], starts[query + 1]
        order[begin:end] = begin + np.argsort(-scores[begin:end], kind="mergesort")


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
