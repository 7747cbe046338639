"""Many tests at once: p-values adjusted for their number, and the threshold that each then meets.

References
----------
S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979).
P. H. Westfall, S. S. Young, "Resampling-Based Multiple Testing" (1993), algorithm 2.8: the step-down minimum.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pytest_riskguard.inference.break_even import chances_of_loss
from pytest_riskguard.risk.checks import BoolArray, FloatArray, per_topic

#: How many families are drawn of which nothing is lost: the same for everybody.
DRAWS, SEED = 20_000, 0
#: So many numbers are drawn at a time.
CHUNK = 1 << 20
#: A statistic this little above the observed one counts as equal to it: sums of the same numbers differ by rounding.
EQUAL = 1e-9


def holm(p_values: npt.ArrayLike) -> FloatArray:
    """P-values adjusted by Holm's method: rejecting those up to a keeps the chance of any false rejection below a.

    The p-value of rank i among k, lowest first, becomes the largest of ``(k - j + 1) p_j`` over ranks j up to i, and
    at most 1. It holds for any dependence between tests. ``p_values``, shape (n_tests,), are in any order, which the
    result keeps. ValueError with none, or one outside [0, 1].
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.size == 0:
        raise ValueError("expected at least one p-value, got none")
    wrong = np.flatnonzero(~((p >= 0) & (p <= 1)))
    if wrong.size:
        raise ValueError(f"p-values must be numbers from 0 to 1, got {float(p[wrong[0]])!r} at position {wrong[0]}")
    order = np.argsort(p, kind="stable")
    factors = np.arange(p.size, 0, -1)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(factors * p[order]), 1.0)
    return adjusted


def effective_levels(p_values: npt.ArrayLike, *, level: float) -> FloatArray:
    """The significance threshold that each test meets once the others are known: above 0, at most ``1 - level``.

    An interval at level ``1 - a_i`` then decides as the adjusted p-value does: ``p_i <= a_i`` exactly where the
    adjusted p-value is at most ``1 - level``. Where rounding would separate the two, the threshold moves by one
    unit in the last place.

    A rejected test of rank i among k has ``(1 - level)/(k - i + 1)``, all others have the threshold of the first that
    is not rejected; equal p-values have the rank of their first.

    Parameters
    ----------
    p_values : array, shape (n_tests,)
        As for ``holm``; two-sided where the intervals are.
    level : float
        Confidence of each interval without correction, in (0, 1).
    """
    p = np.asarray(p_values, dtype=np.float64)
    rejected = holm(p) <= 1 - level
    # rank of the first of equal p-values, less 1; for tests not rejected, that of the first of them
    ranks = np.minimum(np.searchsorted(np.sort(p), p, side="left"), np.count_nonzero(rejected))
    thresholds = (1 - level) / (p.size - np.minimum(ranks, p.size - 1))
    return np.where(rejected, np.maximum(thresholds, p), np.minimum(thresholds, np.nextafter(p, 0.0)))


def pooled_draws(scores: Sequence[npt.ArrayLike], *, bound: float = 0.0) -> FloatArray:
    """One-sided p-values of losses on disjoint topics, adjusted by Westfall and Young's step-down minimum.

    The statistic of a test is the mean of its scores less the bound, over its standard error. What it would be if
    nothing were lost is drawn from the changes of all tests together: each, less the mean of its own test's m changes
    and times the root of m/(m - 1), may be drawn by any test, which draws as many as it has and keeps its zeros. So
    tests with few changes each know how skewed such changes are, if those of all tests are alike.

    Parameters
    ----------
    scores : sequence of arrays, one for each test, shape (n_topics_of_the_test,)
        At least two trade-off scores in one unit; 0 where nothing changed. The order of tests and topics does not
        matter.
    bound : float
        Means below it are losses.

    Returns
    -------
    array, shape (n_tests,)
        Rejecting those up to a keeps the chance of any false rejection near a, as far as tests are alike; 1 where
        nothing changed.

    Raises
    ------
    ValueError
        A second axis, a value that is not finite.
    """
    tests = [np.sort(per_topic(x, name="scores")) for x in scores]
    changes = [x[x != 0] for x in tests]
    observed = np.array([float(_t(np.sum(x) - x.size * bound, np.sum(x**2), np.sum(x), x.size)) for x in tests])
    residuals = [(x - np.mean(x)) * math.sqrt(x.size / (x.size - 1)) for x in changes if x.size > 1]
    pool = np.sort(np.concatenate([*residuals, np.zeros(0)]))
    if not pool.size:
        return np.ones(len(tests))
    order = sorted(range(len(tests)), key=lambda i: (observed[i], changes[i].size, tests[i].size))
    drawn = np.full((len(tests), DRAWS), math.inf)
    for place, i in enumerate(order):  # the draws belong to the place, so that the order of tests does not matter
        if changes[i].size:
            drawn[place] = _drawn_t(pool, changes[i].size, tests[i].size, np.random.default_rng([SEED, place]))
    return _step_down(drawn, observed, order, [x.size > 0 for x in changes])


def _drawn_t(pool: FloatArray, changed: int, n: int, rng: np.random.Generator) -> FloatArray:
    """The statistic of so many draws from the pool among n topics, ``DRAWS`` times."""
    parts = []
    rows = max(CHUNK // changed, 1)
    for start in range(0, DRAWS, rows):
        x = np.take(pool, rng.integers(pool.size, size=(changed, min(rows, DRAWS - start))), mode="clip")
        sums = np.sum(x, axis=0)
        parts.append(_t(sums, np.sum(x * x, axis=0), sums, n))
    return np.concatenate(parts)


def joint_flips(
    gains: FloatArray, losses: FloatArray, lost: BoolArray, *, n: int, tolerated: Sequence[float]
) -> FloatArray:
    """One-sided p-values of losses on the same topics, adjusted by Westfall and Young's step-down minimum.

    The statistic is the mean plus the tolerance over the standard error. What it would be if nothing were lost is
    drawn as in the break-even test: every change is a win or a loss by chance, as large as it is. One number decides
    a topic for all tests, so that what they have in common stays: with equal chances, tests in which it went the same
    way see it win or lose together, and tests in which it went opposite ways see it do so again.

    Parameters
    ----------
    gains, losses : array, shape (n_tests, n_changed)
        What each topic adds to the sum of trade-off scores if it is a win, and takes from it if it is a loss; both 0
        where it did not change. The order of tests does not matter, that of topics chooses their draws.
    lost : array of bool, same shape
        Which topics lost.
    n : int
        How many topics there are, unchanged ones included.
    tolerated : sequence of float, one for each test
        How far below 0 each test's sum may be on average.

    Returns
    -------
    array, shape (n_tests,)
        As for ``pooled_draws``.
    """
    sizes, chances = gains + losses, np.zeros(gains.shape)
    moved = sizes > 0
    for test, some in enumerate(moved):
        chances[test, some] = chances_of_loss(gains[test, some], sizes[test, some], tolerated[test])
    low, high = chances.astype(np.float32), (1 - chances).astype(np.float32)

    def statistics(test: int, loses: BoolArray) -> FloatArray:
        share = loses.astype(np.float64)
        sums = np.sum(gains[test]) - share @ sizes[test]
        squares = np.sum(gains[test] ** 2) + share @ (losses[test] ** 2 - gains[test] ** 2)
        return _t(sums + tolerated[test], squares, sums, n)

    tests, changes = len(gains), np.any(moved, axis=1)
    drawn, rng = np.full((tests, DRAWS), math.inf), np.random.default_rng([SEED, 1])
    rows = max(CHUNK // max(gains.shape[1], 1), 1)
    for start in range(0, DRAWS, rows):
        uniform = rng.random((min(rows, DRAWS - start), gains.shape[1]), dtype=np.float32)
        for test in np.flatnonzero(changes).tolist():
            loses = np.where(lost[test], uniform >= high[test], uniform < low[test])
            drawn[test, start : start + rows] = statistics(test, loses)
    observed = np.array([float(statistics(test, lost[test][None])[0]) for test in range(tests)])
    order = np.argsort(observed, kind="stable").tolist()
    return _step_down(drawn[order], observed, order, changes)


def _t(above: npt.ArrayLike, squares: npt.ArrayLike, sums: npt.ArrayLike, n: int) -> FloatArray:
    """A mean over its standard error: from ``above``, n times its distance from the bound, and sums over n scores.

    0 where the distance is 0, infinite where scores do not vary.
    """
    distance, total, second = (np.asarray(values, dtype=np.float64) for values in (above, sums, squares))
    spread = second - total**2 / n
    spread = np.where(spread > EQUAL**2 * second, spread, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = distance / np.sqrt(spread * (n / (n - 1)))
    return np.where(distance == 0, 0.0, t)


def _step_down(drawn: FloatArray, observed: FloatArray, order: list[int], changes: npt.ArrayLike) -> FloatArray:
    """Adjusted p-values of the observed statistics; rows of ``drawn`` are tests in their ``order``, lowest first."""
    lowest = np.minimum.accumulate(drawn[::-1], axis=0)[::-1]
    ordered = observed[order]
    near = np.where(np.isfinite(ordered), EQUAL * np.maximum(np.abs(ordered), 1.0), 0.0)
    reached = lowest <= (ordered + near)[:, None]
    p = (np.count_nonzero(reached, axis=1) + 1) / (drawn.shape[1] + 1)
    adjusted = np.empty(observed.size)
    adjusted[order] = np.maximum.accumulate(p)
    return np.where(np.asarray(changes), adjusted, 1.0)
