"""LambdaMART's gradients in plain Python: nDCG and the risk measure are recomputed after each swap."""

import itertools
import math
from collections.abc import Callable, Sequence
from statistics import NormalDist

phi = NormalDist().cdf


def dcg(gains: Sequence[float], *, cut: int | None) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1) if cut is None or rank <= cut)


def ndcg(gains: Sequence[float], *, cut: int | None, ideal: float) -> float:
    return dcg(gains, cut=cut) / ideal if ideal else 0.0


def ideal_dcg(gains: Sequence[float], depth: int) -> float:
    return dcg(sorted(gains, reverse=True), cut=depth)


def expected_ndcg(gains: Sequence[float], scores: Sequence[float], k: int) -> float:
    """The mean nDCG over all orders of documents with equal scores, by trying them."""
    ideal = ideal_dcg(gains, k)
    order = sorted(range(len(gains)), key=lambda row: -scores[row])
    blocks = [list(block) for _, block in itertools.groupby(order, key=lambda row: scores[row])]
    found = [
        ndcg([gains[row] for block in choice for row in block], cut=k, ideal=ideal)
        for choice in itertools.product(*(list(itertools.permutations(block)) for block in blocks))
    ]
    return math.fsum(found) / len(found)


def gradients(
    gains: Sequence[float],
    scores: Sequence[float],
    effect: Callable[[float], float],
    *,
    k: int,
    truncation_level: int | None = None,
    sigmoid: float = 1.0,
    norm: bool = True,
) -> tuple[list[float], list[float]]:
    """Gradient and hessian of one query; ``effect`` turns a change of its nDCG into one of the risk measure."""
    rows = range(len(gains))
    order = sorted(rows, key=lambda row: -scores[row])  # stable: equal scores in the order of rows
    depth, cut = (k, k) if truncation_level is None else (truncation_level, None)
    ideal = ideal_dcg(gains, depth)
    gradient, hessian, plain = [0.0] * len(gains), [0.0] * len(gains), 0.0
    for (i, upper), (j, lower) in itertools.combinations(enumerate(order), 2):
        if i >= depth or gains[upper] == gains[lower]:
            continue
        swapped = list(order)
        swapped[i], swapped[j] = lower, upper
        change = ndcg([gains[row] for row in swapped], cut=cut, ideal=ideal) - ndcg(
            [gains[row] for row in order], cut=cut, ideal=ideal
        )
        better, worse = (upper, lower) if gains[upper] > gains[lower] else (lower, upper)
        scale = 1.0
        if norm and scores[order[0]] != scores[order[-1]]:
            scale = 1 / (0.01 + abs(scores[upper] - scores[lower]))
        wrong = 1 / (1 + math.exp(sigmoid * (scores[better] - scores[worse])))
        size = abs(effect(change)) * scale
        gradient[better] -= sigmoid * size * wrong
        gradient[worse] += sigmoid * size * wrong
        for row in (better, worse):
            hessian[row] += sigmoid**2 * size * wrong * (1 - wrong)
        plain += 2 * sigmoid * abs(change) * scale * wrong
    factor = math.log2(1 + plain) / plain if norm and plain > 0 else 1.0
    return [factor * value for value in gradient], [factor * value for value in hessian]


def tradeoff(difference: float, alpha: float) -> float:
    return difference if difference >= 0 else (1 + alpha) * difference


def urisk_effect(score: float, baseline: float, alpha: float) -> Callable[[float], float]:
    """The change of the trade-off score itself."""
    return lambda change: tradeoff(score + change - baseline, alpha) - tradeoff(score - baseline, alpha)


def smooth_effect(score: float, baseline: float, coefficients: Sequence[float]) -> Callable[[float], float]:
    """The change of a polynomial of the difference, which is from -1 to 1 where nDCG is."""

    def worth(difference: float) -> float:
        d = min(max(difference, -1.0), 1.0)
        return math.fsum(c * d**power for power, c in enumerate(reversed(coefficients), 1))

    return lambda change: worth(score + change - baseline) - worth(score - baseline)


def expected(pool: Sequence[Sequence[float]], system: int, query: int) -> float:
    of_all = sum(map(sum, pool))
    return sum(pool[system]) * sum(row[query] for row in pool) / of_all if of_all else 0.0


def georisk(scores: Sequence[float], expectations: Sequence[float], alpha: float) -> float:
    zrisk = 0.0
    for score, expectation in zip(scores, expectations, strict=True):
        z = (score - expectation) / math.sqrt(expectation) if expectation > 0 else 0.0
        zrisk += z if z >= 0 else (1 + alpha) * z
    # A swap may cost more than a query with tied documents has, which is its mean over their orders.
    return math.sqrt(max(sum(scores), 0.0) / len(scores) * phi(zrisk / len(scores)))


def georisk_effect(
    scores: Sequence[float], baselines: Sequence[Sequence[float]], query: int, alpha: float
) -> Callable[[float], float]:
    """The change of GeoRisk times the number of queries, where expectations stay what they were."""
    pool = [*baselines, scores]
    kept = [expected(pool, len(baselines), place) for place in range(len(scores))]

    def effect(change: float) -> float:
        after = list(scores)
        after[query] += change
        return len(scores) * (georisk(after, kept, alpha) - georisk(scores, kept, alpha))

    return effect
