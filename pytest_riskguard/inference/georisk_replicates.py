"""GeoRisk of several systems in resamples of their topics: scores taken apart so that z are sums of their parts.

Let S_i be the sum of system i over topics, T_j that of topic j over systems, and N that of all scores. Then the
expected score is e_ij = rho_i T_j with rho_i = S_i/N. Drawing topics with replacement changes rho_i but never T_j, so

    z_ij = (x_ij - e_ij)/sqrt(e_ij) = a_ij/sqrt(rho_i) - b_j sqrt(rho_i),    a_ij = x_ij/sqrt(T_j), b_j = sqrt(T_j),

which is negative where x_ij/T_j < rho_i.

References
----------
B. T. Dinçer, C. Macdonald, I. Ounis, "Risk-sensitive evaluation and learning to rank using multiple baselines",
SIGIR 2016 (z, ZRisk and GeoRisk); R. Benham, A. Moffat, J. S. Culpepper, "On the pluses and minuses of risk", AIRS
2019 (the smooth trade-off).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from pytest_riskguard.frozen import frozen
from pytest_riskguard.inference.replicates import next_words, stream
from pytest_riskguard.risk.checks import FloatArray, exact_sum, refuse
from pytest_riskguard.risk.georisk import georisk_from, pool_scores
from pytest_riskguard.risk.tradeoff import SMOOTH, loss_weight_of

Counts = npt.NDArray[np.uint8]

#: A chunk has about this many cells (topics times replicates) and at most this many replicates: bounds the memory.
CHUNK_CELLS, MAX_ROWS = 2**20, 2**13
#: Chunks kept for other pools of the same size, of a megabyte each; sums held at once.
KEPT_CHUNKS, MAX_SUMS = 64, 2**21
#: Poisson counts have mean 1 - SHORT/sqrt(n), so that about one replicate in forty has too many draws at once; no
#: count with a mean up to 1 is larger than MAX_COUNT, in 16 bits; so many cells are compared at once.
SHORT, MAX_COUNT, BLOCK = 2.0, 12, 2**17


@lru_cache(maxsize=KEPT_CHUNKS)
def draw_counts(n: int, *, chunk: int) -> Counts:
    """Counts of n topics drawn uniformly with replacement in a chunk's replicates: (n_topics, rows_per_chunk(n)).

    Every topic has exactly the same chance and every replicate, a column, exactly n draws. Poisson probabilities are
    rounded to 2^-16, which moves the variance of a count by less than 2e-4 of itself.
    """
    rows, generator = rows_per_chunk(n), stream(chunk)
    halves = next_words(generator, -(-n * rows // 4)).view("<u2")[: n * rows].reshape(n, rows)
    counts = _poisson_counts(halves, mean=max(0.0, 1 - SHORT / math.sqrt(n)))
    missing = n - np.add.reduce(counts, axis=0, dtype=np.uint32).astype(np.int64)
    # whether a replicate is drawn again depends on its sum alone, so no topic is favoured
    too_many = np.flatnonzero(missing < 0)
    counts[:, too_many], missing[too_many] = 0, n
    total = int(np.sum(missing))  # the chance of each topic is within 2^-32 of 1/n
    uniform = next_words(generator, (total + 1) // 2).view("<u4")[:total].astype(np.uint64)
    topics = (uniform * np.uint64(n) >> np.uint64(32)).astype(np.int64)
    np.add.at(counts.reshape(-1), topics * rows + np.repeat(np.arange(rows), missing), np.uint8(1))
    return counts


def rows_per_chunk(n: int) -> int:
    """How many replicates of n topics one chunk of ``draw_counts`` holds."""
    return max(1, min(MAX_ROWS, CHUNK_CELLS // n))


def _poisson_counts(halves: npt.NDArray[np.uint16], *, mean: float) -> Counts:
    """A Poisson count from each 16 random bits: how many of the cumulated probabilities they reach."""
    below = np.cumsum([np.exp(-mean) * mean**count / math.factorial(count) for count in range(MAX_COUNT)])
    edges = np.rint(2.0**16 * below)
    edges = edges[edges < 2**16].astype(np.uint16)
    counts = np.zeros(halves.shape, dtype=np.uint8)
    step = max(1, BLOCK // halves.shape[1])
    for start in range(0, halves.shape[0], step):
        for edge in edges:
            counts[start : start + step] += halves[start : start + step] >= edge
    return counts


def whole(rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rows as whole numbers so small that no sum of as many draws as columns is ever rounded, and their units.

    A matrix product with counts is then the same to the bit for every number of threads. Units are powers of two.
    """
    largest = np.max(np.abs(rows), axis=1, keepdims=True)
    # n |integer| stays below 2^53 with half a unit of rounding to spare
    _, exponents = np.frexp(largest * rows.shape[1])
    units = np.where(largest > 0, np.ldexp(1.0, np.maximum(exponents - 51, -1022)), 1.0)
    return np.rint(rows / units), units


@frozen(eq=False)
class Pool:
    """Scores of systems on the same topics, shape (n_systems, n_topics), with what their z-scores are made of.

    ``totals`` are T_j, rounded once, so that the order of systems cannot move them; ``ratios`` are x_ij/T_j, infinite
    for a topic that no system answered, whose z are 0; ``a`` and ``b`` are the two parts of z.
    """

    scores: FloatArray
    totals: FloatArray
    ratios: FloatArray
    a: FloatArray
    b: FloatArray
    alpha: float
    smooth: bool

    @classmethod
    def of(cls, scores: npt.ArrayLike, *, alpha: float, tradeoff: str = "linear") -> Pool:
        """Check and take the scores apart; ValueError for an alpha that does not go with the trade-off."""
        x = pool_scores(scores)
        weight = loss_weight_of(tradeoff, alpha)
        if tradeoff == "smooth":
            refuse(x, x > 1, "scores must be from 0 to 1 for the smooth trade-off")
        totals = np.array([exact_sum(topic) for topic in x.T])
        divisors = np.where(totals > 0, totals, 1.0)
        ratios = np.where(totals > 0, x / divisors, np.inf)
        return cls(x, totals, ratios, x / np.sqrt(divisors), np.sqrt(totals), weight, tradeoff == "smooth")

    def only(self, rows: Sequence[int]) -> Pool:
        """Some of the systems, with what the scores of all of them lead to expect."""
        chosen = list(rows)
        return replace(self, scores=self.scores[chosen], ratios=self.ratios[chosen], a=self.a[chosen])

    @property
    def n_topics(self) -> int:
        """Topics, including those that no system answered: c in the formulas."""
        return int(self.scores.shape[1])

    def zrisk(self, sums: Sequence[FloatArray], shares: FloatArray) -> FloatArray:
        """ZRisk, shape (n_systems, rows), from rho and the sums of its terms.

        Of the linear trade-off these are a and b, then both over topics with a negative z; of the smooth one, the
        ``polynomial``.
        """
        roots = np.sqrt(np.where(shares > 0, shares, 1.0))
        if self.smooth:
            constant, first, second, third = sums
            return np.asarray((((third * shares + second) * shares + first) * shares + constant) / roots)
        z, losses = (part_a / roots - part_b * roots for part_a, part_b in (sums[:2], sums[2:]))
        return z + self.alpha * losses

    @property
    def polynomial(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Coefficients of s(x - rho T)/sqrt(T), s being the cubic of AIRS 2019, in ascending powers of rho, by topic.

        The first three differ by system, shape (n_systems, n_topics); the last is the same for all, (1, n_topics).
        """
        cubic, square, plain = SMOOTH.coefficients
        x, b = self.scores, self.b[None]
        return (
            ((cubic * x + square) * x + plain) * self.a,
            -((3 * cubic * x + 2 * square) * x + plain) * b,
            (3 * cubic * x + square) * b**3,
            -cubic * b**5,
        )


class PoolKernel:
    """GeoRisk in replicates. Sums over topics are of whole numbers and exact.

    Signs of z are at first those of the sample, and corrected in each replicate for topics whose ratio x_ij/T_j lies
    between the sample's rho_i and the replicate's: few, since rho_i moves little.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool, k = pool, len(pool.scores)
        total = exact_sum(pool.totals)
        shares = np.array([exact_sum(row) for row in pool.scores]) / (total if total > 0 else 1.0)
        negative = pool.ratios < shares[:, None]
        terms = np.vstack(pool.polynomial) if pool.smooth else np.vstack([pool.a, pool.b])
        scores, score_units = whole(np.vstack([pool.scores, pool.totals]))
        integers, units = whole(terms)
        if not pool.smooth:
            a, b = integers[:-1], integers[-1]
            integers = np.vstack([integers, np.where(negative, a, 0.0), np.where(negative, b, 0.0)])
            units = np.vstack([units, units[:-1], np.repeat(units[-1:], k, axis=0)])
            self._shares, self._negative = shares, negative
            # what is taken off where z is negative in the sample, and added elsewhere
            self._changes = (
                np.stack([a, np.broadcast_to(b, a.shape)], axis=1) * np.where(negative, -1.0, 1.0)[:, None]
            )
        self._columns, self._units = np.vstack([scores, integers]), np.vstack([score_units, units])

    def replicates(self, counts: Counts) -> FloatArray:
        """GeoRisk, shape (n_systems, rows), 0 where the system has no score in the replicate.

        ``counts``, shape (n_topics, rows), says how often each topic is drawn; columns sum to n_topics.
        """
        step = max(1, MAX_SUMS // self._columns.shape[0])
        blocks = (counts[:, start : start + step] for start in range(0, counts.shape[1], step))
        return np.concatenate([self._replicates(block) for block in blocks], axis=1)

    def _replicates(self, counts: Counts) -> FloatArray:
        pool, k, sums = self._pool, len(self._pool.scores), self._columns @ counts.astype(np.float64)
        totals = np.maximum(sums[: k + 1], 0.0) * self._units[: k + 1]
        shares = totals[:k] / np.where(totals[k] > 0, totals[k], 1.0)
        terms = sums[k + 1 :]
        if not pool.smooth:
            for system, share in enumerate(shares):
                terms[[k + 1 + system, 2 * k + 1 + system]] += self._corrections(system, share, counts)
        cuts = [k, 2 * k, 3 * k] if pool.smooth else [k, k + 1, 2 * k + 1]
        zrisk = pool.zrisk(np.split(terms * self._units[k + 1 :], cuts), shares)
        return georisk_from(totals[:k] / pool.n_topics, zrisk, n_topics=pool.n_topics)

    def _corrections(self, system: int, share: FloatArray, counts: Counts) -> FloatArray:
        """What the sums of negative z lack where rho has passed a topic's ratio: of a, and of b."""
        ratios, both = self._pool.ratios[system], np.append(share, self._shares[system])
        some = np.flatnonzero((ratios >= np.min(both)) & (ratios < np.max(both)))
        crossed = (ratios[some, None] < share) != self._negative[system, some, None]
        return np.asarray(self._changes[system][:, some] @ (counts[some] * crossed).astype(np.float64))


def georisk_replicates(pool: Pool, *, replicates: int) -> Iterator[FloatArray]:
    """GeoRisk of shape (n_systems, rows), chunk after chunk; more do not change the first ones."""
    kernel, rows = PoolKernel(pool), rows_per_chunk(pool.n_topics)
    for chunk in range(-(-replicates // rows)):
        yield kernel.replicates(draw_counts(pool.n_topics, chunk=chunk)[:, : replicates - chunk * rows])


def georisk_left_out(pool: Pool) -> FloatArray:
    """GeoRisk of every system with each topic left out: shape (n_systems, n_topics).

    c is then n - 1. Leaving out a topic changes every rho_i a little. In order of ratios x_ij/T_j topics with a
    negative z come first, so sums over them are cumulated sums, found by bisection: n log n steps for a system.
    """
    n = pool.n_topics
    sums, total = _sums_without_each(pool.scores), _sums_without_each(pool.totals)
    shares = sums / np.where(total > 0, total, 1.0)
    if pool.smooth:
        terms = [_sums_without_each(part) for part in pool.polynomial]
    else:
        negative = np.stack([_negative_parts(pool, system, rho) for system, rho in enumerate(shares)], axis=1)
        terms = [_sums_without_each(pool.a), _sums_without_each(pool.b), *negative]
    return georisk_from(sums / (n - 1), pool.zrisk(terms, shares), n_topics=n - 1)


def _sums_without_each(terms: FloatArray) -> FloatArray:
    """Sums over the last axis without each of its places: what comes before plus what comes after.

    Without subtraction, so that a small sum beside a large topic keeps its digits.
    """
    sums = np.zeros(terms.shape)
    sums[..., 1:] += np.cumsum(terms[..., :-1], axis=-1)
    sums[..., :-1] += np.cumsum(terms[..., :0:-1], axis=-1)[..., ::-1]
    return sums


def _negative_parts(pool: Pool, system: int, shares: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The sums of a and b over a system's topics with a negative z, with each topic left out."""
    ratios, a = pool.ratios[system], pool.a[system]
    order = np.argsort(ratios, kind="stable")
    negative = np.searchsorted(ratios[order], shares, side="left")
    counted = ratios < shares  # the topic left out is among them
    sums_a = np.append(0.0, np.cumsum(a[order]))[negative] - np.where(counted, a, 0.0)
    sums_b = np.append(0.0, np.cumsum(pool.b[order]))[negative] - np.where(counted, pool.b, 0.0)
    return sums_a, sums_b
