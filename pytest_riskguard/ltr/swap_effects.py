"""The documents of training queries in pairs, and what swapping a pair does to a risk measure."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from pytest_riskguard.risk.checks import FloatArray, IntArray

#: ``WEIGHTED``: (1 + alpha_j) dM. ``TRADEOFF``: the change of the trade-off score. ``CROSSING``: Eq. 9 of SIGIR 2016.
#: ``GEORISK``: the change of GeoRisk.
WEIGHTED, TRADEOFF, CROSSING, GEORISK = range(4)

_NONE = np.zeros(0)


class Pairs(NamedTuple):
    """What RankNet's derivative and the change of nDCG are computed from, for each pair of documents.

    Attributes
    ----------
    starts : array of int, shape (n_queries + 1,)
        The rows where queries begin, and the end of the last.
    order : array of int, shape (n_documents,)
        For each query its rows, from the highest score down.
    scores, gains : array, shape (n_documents,)
        In the order of rows.
    discounts : array, shape (n_ranks,)
        By rank.
    inverse_ideal : array, shape (n_queries,)
        One over the discounted gains of the best order; 0 where nothing is relevant.
    truncation : int
        The number of ranks at which a pair may begin.
    sigmoid : float
        How steep RankNet's probability is.
    norm : bool
        Whether pairs are divided by their difference of scores, and queries by the size of their gradient.
    """

    starts: IntArray
    order: IntArray
    scores: FloatArray
    gains: FloatArray
    discounts: FloatArray
    inverse_ideal: FloatArray
    truncation: int
    sigmoid: float
    norm: bool


class GeoRiskNow(NamedTuple):
    """A model's GeoRisk before a swap, and what it is made of.

    Attributes
    ----------
    loss : float
        1 + alpha.
    queries : float
        Their number, c.
    mean : float
        The model's mean score.
    place : float
        ZRisk / c.
    phi, density : float
        The standard normal distribution and density there.
    series : tuple of float
        The density's derivatives there, first to fifth, over it and over the factorials from 2 to 6: Taylor's series
        of the distribution.
    georisk : float
        sqrt(mean Phi(ZRisk / c)).
    """

    loss: float = 1.0
    queries: float = 1.0
    mean: float = 0.0
    place: float = 0.0
    phi: float = 0.0
    density: float = 0.0
    series: tuple[float, float, float, float, float] = (0.0, 0.0, 0.0, 0.0, 0.0)
    georisk: float = 0.0

    @classmethod
    def of(cls, *, alpha: float, scores: FloatArray, zrisk: float) -> GeoRiskNow:
        """That of a model with these scores, shape (n_queries,), and this ZRisk."""
        mean, place = float(scores.mean()), zrisk / scores.size
        phi, density = float(ndtr(place)), math.exp(-place * place / 2) / math.sqrt(2 * math.pi)
        u = place
        series = (
            *(-u / 2, (u**2 - 1) / 6, -(u**3 - 3 * u) / 24),
            *((u**4 - 6 * u**2 + 3) / 120, -(u**5 - 10 * u**3 + 15 * u) / 720),
        )
        return cls(1.0 + alpha, float(scores.size), mean, place, phi, density, series, math.sqrt(mean * phi))


class SwapEffects(NamedTuple):
    """How the effect of a swap follows from its change of nDCG, query by query.

    Attributes
    ----------
    kind : int
        ``WEIGHTED``, ``TRADEOFF``, ``CROSSING`` or ``GEORISK``.
    alpha : array, shape (n_queries,)
        Extra weight of a loss, for the first three kinds.
    differences : array, shape (n_queries,)
        Effectiveness of the model less that of the baseline, or for ``GEORISK`` less the expected score.
    inverse_roots : array, shape (n_queries,)
        For ``GEORISK``: one over the root of the expected score, 0 where that is 0.
    pool : GeoRiskNow
        For ``GEORISK``.
    """

    kind: int
    alpha: FloatArray = _NONE
    differences: FloatArray = _NONE
    inverse_roots: FloatArray = _NONE
    pool: GeoRiskNow = GeoRiskNow()
