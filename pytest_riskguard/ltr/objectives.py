"""LambdaMART and its risk-sensitive relatives: how each weighs a swap of two documents.

U-CRO is that of L. Wang, P. Bennett, K. Collins-Thompson, "Robust ranking models via risk-sensitive optimization",
SIGIR 2012, T-SARO and T-FARO those of B. T. Dinçer, C. Macdonald, I. Ounis, SIGIR 2014, T*-FARO and GeoRisk those of
the same authors, SIGIR 2016, whose names and equation numbers are used here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from pytest_riskguard.errors import UsageError
from pytest_riskguard.ltr.baselines import QueryBaselines, check_baselines
from pytest_riskguard.ltr.judged_queries import Gain, JudgedQueries, check_measure, is_whole
from pytest_riskguard.ltr.ranking_objective import RankedQueries, RankingObjective
from pytest_riskguard.ltr.risk_levels import Standardization, adaptive_alpha, risk_spread
from pytest_riskguard.ltr.swap_effects import CROSSING, GEORISK, TRADEOFF, WEIGHTED, GeoRiskNow, SwapEffects
from pytest_riskguard.risk.checks import FloatArray, loss_weight
from pytest_riskguard.risk.georisk import expected_scores, topic_contributions

#: ``change``: what a swap does to the trade-off score itself. ``crossing``: Eq. 9 of SIGIR 2016, which gives a swap
#: that crosses the baseline the weight of the side where it ends.
Form = Literal["change", "crossing"]

#: The largest alpha of gates. Far beyond, gradients are too large for LightGBM, which then learns nothing.
_MAX_ALPHA = 1e9
#: With a smaller Phi(ZRisk / c), gradients are too small for LightGBM, which keeps them in 32 bits.
_VANISHED = 1e-12


@dataclass(kw_only=True, eq=False)
class LambdaMART(RankingObjective):
    """Plain LambdaMART for nDCG@k: what the others are at alpha 0, except GeoRisk.

    With ``truncation_level=30`` it gives the gradients of LightGBM's ``lambdarank``.

    Attributes
    ----------
    k : int
        The cutoff of nDCG.
    gain : {"exponential", "linear"}
        What a label is worth; see ``JudgedQueries``.
    """

    k: int = 10
    gain: Gain = "exponential"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_measure(self.k, self.gain)

    def _measure(self) -> tuple[int, Gain]:
        return self.k, self.gain

    def _swaps(self, now: RankedQueries) -> SwapEffects:
        return SwapEffects(WEIGHTED, np.zeros(now.queries.group.size))

    def _check(self, queries: JudgedQueries) -> None:
        """Without baselines any data will do."""


@dataclass(eq=False)
class _RiskObjective(RankingObjective):
    baselines: QueryBaselines
    alpha: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_baselines(self.baselines)
        self.alpha = loss_weight(self.alpha)
        if self.alpha > _MAX_ALPHA:
            raise ValueError(f"alpha must be at most {_MAX_ALPHA:g}, got {self.alpha:g}: nothing would be learned")

    def _measure(self) -> tuple[int, Gain]:
        return self.baselines.k, self.baselines.gain

    def _check(self, queries: JudgedQueries) -> None:
        self.baselines.check(queries)


@dataclass(eq=False)
class _OneBaseline(_RiskObjective):
    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.baselines.names) != 1:
            raise ValueError(
                f"{type(self).__name__} takes one baseline, got {len(self.baselines.names)}; baselines.mean() makes "
                "one of them"
            )

    @property
    def _baseline(self) -> FloatArray:
        baseline: FloatArray = self.baselines.scores[0]
        return baseline


@dataclass(eq=False)
class UCRO(_OneBaseline):
    """U-CRO: a swap counts by what it does to URisk, with the same alpha for every query.

    Attributes
    ----------
    baselines : QueryBaselines
        One baseline.
    alpha : float
        Extra weight of a loss, at least 0.
    form : {"change", "crossing"}
        ``change``: v(d + dM) - v(d), where v(d) is d, or (1 + alpha) d below the baseline. ``crossing``: Eq. 9, dM
        if the query ends at or above the baseline and (1 + alpha) dM otherwise.
    """

    form: Form = field(default="change", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.form not in get_args(Form):
            raise ValueError(f"form must be one of {', '.join(get_args(Form))}, got {self.form!r}")

    def _alphas(self, now: RankedQueries) -> FloatArray:
        return np.full(now.queries.group.size, self.alpha)

    def _swaps(self, now: RankedQueries) -> SwapEffects:
        found = now.effectiveness
        kind = TRADEOFF if self.form == "change" else CROSSING
        return SwapEffects(kind, self._alphas(now), found - self._baseline)


@dataclass(eq=False)
class _Adaptive(_OneBaseline):
    """alpha' of each query, estimated from the model's scores now, or with a spread that was estimated before."""

    standardization: Standardization = field(default="deviation", kw_only=True)
    spread_after: int | None = field(default=None, kw_only=True)
    _began_with: FloatArray | None = field(default=None, init=False, repr=False)
    _iteration: int = field(default=0, init=False, repr=False)
    _spread: float | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.standardization not in get_args(Standardization):
            known = ", ".join(get_args(Standardization))
            raise ValueError(f"standardization must be one of {known}, got {self.standardization!r}")
        if self.spread_after is not None and not is_whole(self.spread_after):
            raise ValueError(f"spread_after must be None or a whole number, got {self.spread_after!r}")
        if self.spread_after is not None and self.spread_after < 1:
            raise ValueError(
                f"spread_after must be at least 1, got {self.spread_after!r}: before the first tree all documents "
                "have the same score, and the spread would be that of the baseline"
            )

    def _alphas(self, now: RankedQueries) -> FloatArray:
        spread = risk_spread(
            now.effectiveness, self._baseline, alpha=self.alpha, standardization=self.standardization
        )
        if self.spread_after is not None:
            spread = self._kept(now.scores, spread, after=self.spread_after)
        return adaptive_alpha(
            now.effectiveness,
            self._baseline,
            alpha=self.alpha,
            standardization=self.standardization,
            spread=spread,
        )

    def _kept(self, scores: FloatArray, spread: float, *, after: int) -> float:
        """The spread as it was after ``after`` iterations; until then, or until scores change, the present one.

        Training that starts again, from the same scores or on other data, forgets it.
        """
        before = self._began_with
        if before is None or before.shape != scores.shape or np.array_equal(before, scores):
            self._began_with, self._iteration, self._spread = scores.copy(), 0, None
        if self._spread is None and self._iteration >= after:
            self._spread = spread
        self._iteration += 1
        return spread if self._spread is None else self._spread


@dataclass(eq=False)
class TSARO(UCRO, _Adaptive):
    """T-SARO: U-CRO with alpha'_j = (1 - Phi(TR_j)) alpha, so that risky queries weigh more (Eq. 10).

    Attributes
    ----------
    baselines, alpha, form
        As for ``UCRO``.
    standardization : {"deviation", "error"}
        How TR_j is computed; see ``adaptive_alpha``.
    spread_after : int or None
        None: the standard deviation (or error) is re-estimated at every iteration. A number n: it is kept as it is
        after n iterations; the papers kept it after the first.
    """

    def _alphas(self, now: RankedQueries) -> FloatArray:
        return _Adaptive._alphas(self, now)


@dataclass(eq=False)
class TFARO(_Adaptive):
    """T-FARO: all swaps of a query weigh 1 + alpha'_j, won queries as well as lost ones (SIGIR 2014, Eq. 26).

    With ``baselines.mean()`` it is T*-FARO (SIGIR 2016). ``faro_weights`` does the same with query weights, for
    rankers other than LightGBM too.

    Attributes
    ----------
    baselines, alpha, standardization, spread_after
        As for ``TSARO``.
    """

    def _swaps(self, now: RankedQueries) -> SwapEffects:
        return SwapEffects(WEIGHTED, self._alphas(now))


@dataclass(eq=False)
class GeoRisk(_RiskObjective):
    """GeoRisk over a pool of baselines: a swap counts by what it does to the model's GeoRisk.

    Expected scores stay as they are while a query's z is recomputed (SIGIR 2016, section 6). The change is multiplied
    by the number of queries, which matters only to parameters of LightGBM that expect gradients of this size, such as
    ``min_sum_hessian_in_leaf`` and ``lambda_l2``. A query on which neither the model nor any baseline scores has no
    z. At alpha 0 this is not LambdaMART: queries still weigh by what is expected of them.

    Attributes
    ----------
    baselines : QueryBaselines
        At least one; good ones, since they say what to expect of a query. They must not have been trained on these
        queries.
    alpha : float
        Extra weight of doing worse than expected, at least 0. When alpha is in the hundreds GeoRisk vanishes, and
        training ends with a ``UsageError``.
    """

    def _swaps(self, now: RankedQueries) -> SwapEffects:
        found = now.effectiveness
        pool = np.vstack([self.baselines.scores, found])
        expected = expected_scores(pool)[-1]
        root = np.sqrt(expected)
        inverse = np.divide(1, root, out=np.zeros(root.size), where=root > 0)
        zrisk = float(topic_contributions(pool, alpha=self.alpha)[-1].sum())
        pool_now = GeoRiskNow.of(alpha=self.alpha, scores=found, zrisk=zrisk)
        if pool_now.phi < _VANISHED:
            raise UsageError(
                f"GeoRisk vanishes at alpha {self.alpha:g} (Phi(ZRisk/c) is {pool_now.phi:.0e}), so there is nothing "
                "to learn from: take a smaller alpha"
            )
        return SwapEffects(GEORISK, differences=found - expected, inverse_roots=inverse, pool=pool_now)
