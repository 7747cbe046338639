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

import numpy as np
import numpy.typing as npt

from pytest_riskguard.frozen import frozen
from pytest_riskguard.inference._bootstrap.replicates import Counts, Draws, ExactColumns
from pytest_riskguard.risk.checks import FloatArray, exact_sum, refuse
from pytest_riskguard.risk.distributions import ndtr
from pytest_riskguard.risk.georisk import pool_scores
from pytest_riskguard.risk.tradeoff import SMOOTH, loss_weight_of

#: Sums held at once: bounds the memory of large pools.
MAX_SUMS = 2**21
#: Topics whose scores are lists at a time: bounds the memory.
TOPICS_AT_ONCE = 2**14


@frozen
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

    @classmethod
    def of(cls, scores: npt.ArrayLike) -> Pool:
        """Take the scores apart; they are checked as ``pool_scores`` does."""
        x = pool_scores(scores)
        totals = sums_of_topics(x)
        answered = totals > 0
        divisors = np.where(answered, totals, 1.0)
        return cls(x, totals, np.where(answered, x / divisors, np.inf), x / np.sqrt(divisors), np.sqrt(totals))

    def only(self, rows: Sequence[int]) -> Pool:
        """Some of the systems, with what the scores of all of them lead to expect."""
        chosen = list(rows)
        return replace(self, scores=self.scores[chosen], ratios=self.ratios[chosen], a=self.a[chosen])

    @property
    def n_systems(self) -> int:
        """Systems in the pool."""
        return int(self.scores.shape[0])

    @property
    def n_topics(self) -> int:
        """Topics, including those that no system answered: c in the formulas."""
        return int(self.scores.shape[1])


def sums_of_topics(scores: FloatArray) -> FloatArray:
    """T_j, each rounded once: those of two systems by one addition, which is rounded once as well."""
    if len(scores) == 2:
        return np.asarray(scores[0] + scores[1])
    blocks = (scores[:, start : start + TOPICS_AT_ONCE] for start in range(0, scores.shape[1], TOPICS_AT_ONCE))
    return np.array([math.fsum(topic) for block in blocks for topic in block.T.tolist()])


def checked_alphas(pool: Pool, alphas: Sequence[float], tradeoff: str) -> FloatArray:
    """The loss weights, checked; ValueError for none, or one that does not go with the trade-off."""
    checked = np.array([loss_weight_of(tradeoff, alpha) for alpha in alphas])
    if checked.size == 0:
        raise ValueError("expected at least one alpha, got none")
    if tradeoff == "smooth":
        refuse(pool.scores, pool.scores > 1, "scores must be from 0 to 1 for the smooth trade-off")
    return checked


def georisk_from(means: FloatArray, zrisk: FloatArray, *, n_topics: int) -> FloatArray:
    """``sqrt(mean Phi(ZRisk/c))``: 0 for a system without any score."""
    return np.asarray(np.sqrt(means * ndtr(zrisk / n_topics)))


def smooth_coefficients(pool: Pool) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Coefficients of s(x - rho T)/sqrt(T), s being the cubic of AIRS 2019, in ascending powers of rho, by topic.

    The first three differ by system, shape (n_systems, n_topics); the last is the same for all, shape (n_topics,).
    """
    cubic, square, plain = SMOOTH
    x, b = pool.scores, pool.b
    return (
        ((cubic * x + square) * x + plain) * pool.a,
        -((3 * cubic * x + 2 * square) * x + plain) * b,
        (3 * cubic * x + square) * b**3,
        -cubic * b**5,
    )


class PoolKernel:
    """GeoRisk in replicates that are given by their counts.

    All sums are of whole numbers and exact, so neither the order of adding nor the number of threads moves a bit.
    Scores, whose small sums matter, are summed in two parts of about 40 binary digits each.
    """

    def __init__(self, pool: Pool, *, alphas: Sequence[float], tradeoff: str = "linear") -> None:
        checked = checked_alphas(pool, alphas, tradeoff)
        self._systems, self._topics = pool.n_systems, pool.n_topics
        self._terms = LinearTerms(pool, checked) if tradeoff == "linear" else SmoothTerms(pool)
        scores = np.vstack([pool.scores, pool.totals]).T
        coarse = ExactColumns.of(scores)
        fine = ExactColumns.of(scores - coarse.integers * coarse.units)
        self._coarse, self._fine = coarse.units[:, None], fine.units[:, None]
        self.columns = np.vstack([coarse.integers.T, fine.integers.T, self._terms.columns])

    def sample(self) -> tuple[FloatArray, FloatArray]:
        """GeoRisk, shape (n_alphas, n_systems), and mean, shape (n_systems,), of the sample itself."""
        georisk, means = self.replicates(np.ones((self._topics, 1), dtype=np.uint8))
        return georisk[:, :, 0], means[:, 0]

    def drawn(self, replicates: int, *, draws: Draws | None = None) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Replicates, chunk after chunk, from one set of draws: asking for more leaves the first ones unchanged.

        ``draws``, of as many topics, may be shared with other pools.
        """
        for counts in (draws or Draws(self._topics)).counts(replicates):
            yield self.replicates(counts)

    def replicates(self, counts: Counts) -> tuple[FloatArray, FloatArray]:
        """GeoRisk, shape (n_alphas, n_systems, rows), and mean, shape (n_systems, rows), of every system.

        ``counts``, shape (n_topics, rows), says how often each topic is drawn; columns sum to n_topics. GeoRisk is 0
        where the system has no score in the replicate.
        """
        step = max(1, MAX_SUMS // self.columns.shape[0])
        parts = [self._block(counts[:, start : start + step]) for start in range(0, counts.shape[1], step)]
        if len(parts) == 1:
            return parts[0]
        return np.concatenate([georisk for georisk, _ in parts], axis=2), np.hstack([means for _, means in parts])

    def _block(self, counts: Counts) -> tuple[FloatArray, FloatArray]:
        return self._from_sums(self.columns @ counts.astype(np.float64), counts)

    def from_sums(self, sums: FloatArray) -> FloatArray:
        """GeoRisk, shape (n_alphas, n_systems, rows), from sums of ``columns`` in each replicate: (n_columns, rows).

        For replicates of very many topics that have no counts: topics whose z changes its sign count once each.
        """
        k = self._systems
        np.maximum(sums[: k + 1], 0.0, out=sums[: k + 1])
        return self._from_sums(sums, None)[0]

    def _from_sums(self, sums: FloatArray, counts: Counts | None) -> tuple[FloatArray, FloatArray]:
        k = self._systems
        totals = sums[: k + 1] * self._coarse + sums[k + 1 : 2 * k + 2] * self._fine
        scores, total = totals[:k], totals[k]
        shares = scores / np.where(total > 0, total, 1.0)
        means: FloatArray = scores / self._topics
        zrisk = self._terms.zrisk(sums[2 * k + 2 :], shares, counts)
        return georisk_from(means, zrisk, n_topics=self._topics), means


class LinearTerms:
    """The sums over drawn topics that make up ZRisk, with wins as they are and losses weighted by 1 + alpha.

    ``columns``, shape (n_columns, n_topics), are what is summed. Signs of z are at first those of the sample, and
    corrected in each replicate for topics whose ratio x_ij/T_j lies between the sample's rho_i and the replicate's:
    few, since rho_i moves little.
    """

    def __init__(self, pool: Pool, alphas: FloatArray) -> None:
        self._alphas, self._systems = alphas, pool.n_systems
        total = exact_sum(pool.totals)
        self._shares = np.array([exact_sum(row) for row in pool.scores]) / (total if total > 0 else 1.0)
        negative = pool.ratios < self._shares[:, None]
        parts = np.vstack([pool.a, pool.b])
        exact = ExactColumns.of(parts.T)
        integers, self._units = exact.integers.T, exact.units[:, None]
        a, b = integers[:-1], integers[-1]
        self.columns = np.vstack([integers, np.where(negative, a, 0.0), np.where(negative, b, 0.0)])
        self._order = np.argsort(pool.ratios, axis=1, kind="stable")
        self._ratios = np.take_along_axis(pool.ratios, self._order, axis=1)
        self._negative = np.count_nonzero(negative, axis=1)
        # in order of ratios: those counted as negative are subtracted, the others added
        sides = np.where(np.arange(pool.n_topics) < self._negative[:, None], -1.0, 1.0)
        self._changes = np.stack([np.take_along_axis(a, self._order, axis=1), b[self._order]], axis=1)
        self._changes *= sides[:, None, :]

    def zrisk(self, sums: FloatArray, shares: FloatArray, counts: Counts | None) -> FloatArray:
        """ZRisk, shape (n_alphas, n_systems, rows), from the sums (n_columns, rows) and rho (n_systems, rows)."""
        k = self._systems
        all_a, all_b = sums[:k], sums[k]
        negative_a, negative_b = sums[k + 1 : 2 * k + 1], sums[2 * k + 1 :]
        for system, share in enumerate(shares):
            if counts is None:
                self._correct_expected(system, share, negative_a[system], negative_b[system])
            else:
                self._correct_signs(system, share, counts, negative_a[system], negative_b[system])
        unit_a, unit_b = self._units[:-1], self._units[-1]
        parts = (all_a * unit_a, all_b * unit_b, negative_a * unit_a, negative_b * unit_b)
        return linear_zrisk(parts, shares, self._alphas)

    def _correct_signs(self, system: int, share: FloatArray, counts: Counts, a: FloatArray, b: FloatArray) -> None:
        """Correct the sums of negative z where rho has passed a topic's ratio."""
        in_sample, ratios = int(self._negative[system]), self._ratios[system]
        least, most = np.searchsorted(ratios, (np.min(share), np.max(share)), side="left").tolist()
        first, last = min(in_sample, least), max(in_sample, most)
        if first == last:
            return
        crossed = ratios[first:last, None] < share
        np.logical_not(crossed[: in_sample - first], out=crossed[: in_sample - first])
        drawn = counts[self._order[system, first:last]]
        drawn *= crossed.view(np.uint8)
        changes = self._changes[system, :, first:last] @ drawn.astype(np.float64)
        a += changes[0]
        b += changes[1]

    def _correct_expected(self, system: int, share: FloatArray, a: FloatArray, b: FloatArray) -> None:
        """The same without counts: every topic that rho has passed counts once.

        Its z is close to 0 there, so that how often it is drawn hardly matters.
        """
        ratios = self._ratios[system]
        least, most = np.searchsorted(ratios, (np.min(share), np.max(share)), side="left").tolist()
        first, last = min(int(self._negative[system]), least), max(int(self._negative[system]), most)
        sides = np.where(np.arange(first, last) < self._negative[system], -1.0, 1.0)
        passed = np.searchsorted(ratios[first:last], share, side="left")
        for sums, changes in zip((a, b), self._changes[system, :, first:last] * sides, strict=True):
            cumulated = np.append(0.0, np.cumsum(changes))
            sums += cumulated[passed] - cumulated[self._negative[system] - first]


def linear_zrisk(sums: Sequence[FloatArray], shares: FloatArray, alphas: FloatArray) -> FloatArray:
    """ZRisk at each alpha from the sums of a and of b, and from those over topics with a negative z."""
    all_a, all_b, negative_a, negative_b = sums
    roots = np.sqrt(np.where(shares > 0, shares, 1.0))
    z, losses = all_a / roots - all_b * roots, negative_a / roots - negative_b * roots
    return np.stack([z + alpha * losses for alpha in alphas])


class SmoothTerms:
    """The cubic s(x - e)/sqrt(e) is a polynomial in rho, over sqrt(rho): signs do not matter."""

    def __init__(self, pool: Pool) -> None:
        self._systems = pool.n_systems
        exact = ExactColumns.of(np.vstack(smooth_coefficients(pool)).T)
        self.columns, self._units = exact.integers.T.copy(), exact.units[:, None]

    def zrisk(self, sums: FloatArray, shares: FloatArray, counts: Counts | None) -> FloatArray:  # noqa: ARG002 - no signs
        """ZRisk in the shape that ``LinearTerms`` gives, for the only alpha there is."""
        k = self._systems
        return smooth_zrisk(np.split(sums * self._units, [k, 2 * k, 3 * k]), shares)


def smooth_zrisk(sums: Sequence[FloatArray], shares: FloatArray) -> FloatArray:
    """ZRisk at the only alpha there is, from the sums of the coefficients of powers of rho."""
    constant, first, second, third = sums
    safe = np.where(shares > 0, shares, 1.0)
    polynomial = ((third * safe + second) * safe + first) * safe + constant
    return np.asarray(polynomial / np.sqrt(safe))[None]


def georisk_left_out(pool: Pool, *, alphas: Sequence[float], tradeoff: str = "linear") -> FloatArray:
    """GeoRisk of every system at every alpha with each topic left out: shape (n_alphas, n_systems, n_topics).

    c is then n - 1. Leaving out a topic changes every rho_i a little. In order of ratios x_ij/T_j topics with a
    negative z come first, so sums over them are cumulated sums, found by bisection: n log n steps for a system.
    """
    checked = checked_alphas(pool, alphas, tradeoff)
    n = pool.n_topics
    if n < 2:
        raise ValueError(f"expected at least 2 topics, because one is left out at a time; got {n}")
    sums, total = _sums_without_each(pool.scores), _sums_without_each(pool.totals)
    shares = sums / np.where(total > 0, total, 1.0)
    if tradeoff == "smooth":
        zrisk = smooth_zrisk([_sums_without_each(part) for part in smooth_coefficients(pool)], shares)
    else:
        negative = np.stack([_negative_parts(pool, system, rho) for system, rho in enumerate(shares)], axis=1)
        zrisk = linear_zrisk((_sums_without_each(pool.a), _sums_without_each(pool.b), *negative), shares, checked)
    return georisk_from(sums / (n - 1), zrisk, n_topics=n - 1)


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
