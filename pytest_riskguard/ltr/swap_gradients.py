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

from pytest_riskguard.ltr.objectives import GEORISK, WEIGHTED, GeoRiskNow, Pairs, SwapEffects
from pytest_riskguard.risk.checks import FloatArray

#: Added to the difference of scores by which a pair is divided, as LightGBM does.
_SCORE_OFFSET = 0.01

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
def _georisk_step(pool: GeoRiskNow, change: float, above: float, inverse_root: float) -> float:
    """The number of queries times the change of GeoRisk where one query's score changes and all expectations stay.

    ``above`` is how far the query's score lies above the expected one, ``inverse_root`` is 1 / sqrt(expected).
    """
    before, after = above * inverse_root, (above + change) * inverse_root
    if before < 0:
        before *= pool.loss
    if after < 0:
        after *= pool.loss
    mean = max(pool.mean + change / pool.queries, 0.0)
    place = pool.place + (after - before) / pool.queries
    return pool.queries * (math.sqrt(mean * 0.5 * math.erfc(-place / math.sqrt(2))) - pool.georisk)


@_compiled
def _smooth(coefficients: FloatArray, difference: float) -> float:
    """What ``SmoothTradeoff`` gives for one difference; what lies beyond -1 and 1 counts as these.

    A change leads there only from the mean over tied documents, or with ``truncation_level``.
    """
    difference = min(max(difference, -1.0), 1.0)
    found = 0.0
    for coefficient in coefficients:
        found = (found + coefficient) * difference
    return found


@_compiled
def _effect(effects: SwapEffects, query: int, change: float) -> float:
    """What a change of a query's nDCG does to the risk measure."""
    if effects.kind == GEORISK:
        return _georisk_step(effects.pool, change, effects.differences[query], effects.inverse_roots[query])
    alpha: float = effects.alpha[query]
    if effects.kind == WEIGHTED:
        return (1 + alpha) * change
    difference: float = effects.differences[query]
    if effects.coefficients.size:
        return _smooth(effects.coefficients, difference + change) - _smooth(effects.coefficients, difference)
    return change + alpha * (min(difference + change, 0.0) - min(difference, 0.0))


@_compiled
def _query_gradients(
    pairs: Pairs, effects: SwapEffects, query: int, gradient: FloatArray, hessian: FloatArray
) -> float:
    """Add up the pairs of one query; returns the size of plain LambdaMART's gradient."""
    scores, gains, discounts, sigmoid = pairs.scores, pairs.gains, pairs.discounts, pairs.sigmoid
    order = pairs.order[pairs.starts[query] : pairs.starts[query + 1]]
    spread, plain = pairs.norm and scores[order[0]] != scores[order[-1]], 0.0
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
            # RankNet's probability that the worse document is ranked first
            better_by = distance if change < 0 else -distance
            wrong = 1 / (1 + math.exp(min(sigmoid * better_by, 700.0)))
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
    """Add gradient and hessian, shape (n_documents,), of the rows of queries ``first`` to ``last``, exclusive."""
    for query in range(first, last):
        begin, end = pairs.starts[query], pairs.starts[query + 1]
        plain = _query_gradients(pairs, effects, query, gradient, hessian)
        if pairs.norm and plain > 0:
            # The size of plain LambdaMART's gradient: that of the risk-sensitive one would take back its weight.
            gradient[begin:end] *= math.log2(1 + plain) / plain
            hessian[begin:end] *= math.log2(1 + plain) / plain
