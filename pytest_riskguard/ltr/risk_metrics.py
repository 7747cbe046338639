"""Risk measures of a model while it is trained, for evaluation sets of LightGBM and XGBoost, and early stopping."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from pytest_riskguard.errors import DataError, UsageError
from pytest_riskguard.ltr.queries import NO_GROUPS, NO_PARTS, QueryBaselines
from pytest_riskguard.reports import counted
from pytest_riskguard.risk import georisk, trisk, urisk
from pytest_riskguard.risk.checks import FloatArray, loss_weight, mean

if TYPE_CHECKING:
    from lightgbm import Dataset
    from xgboost import DMatrix

#: ``ndcg`` is the mean of nDCG@k over queries.
Measure = Literal["trisk", "urisk", "georisk", "ndcg"]

#: XGBRanker and rankers of other kinds give labels and scores alone, XGBRanker those of one query at a time.
_NO_GROUPS = (
    "RiskMetrics needs all queries of a set at once, which XGBRanker does not give a measure: train with "
    "xgboost.train(..., custom_metric=), lightgbm.train(..., feval=) or LGBMRanker.fit(..., eval_metric=)"
)


class RiskMetrics:
    """TRisk, URisk, GeoRisk and mean nDCG@k of the model so far, for each evaluation set, after each round.

    It is the ``feval`` of ``lightgbm.train``, the ``eval_metric`` of ``LGBMRanker.fit`` and the
    ``custom_metric`` of ``xgboost.train``. Higher is better for all. To stop early on the first measure, LightGBM
    takes ``lightgbm.early_stopping(50, first_metric_only=True)`` with ``"metric": "None"``, and XGBoost
    ``EarlyStopping(rounds=50, metric_name="trisk", maximize=True)``.

    The values are those of ``pytest_riskguard.risk``. Weights of rows and queries do not enter them. TRisk is 0 while
    no query differs from the baseline, and infinite, with the sign of URisk, where all differ by the same.

    Parameters
    ----------
    baselines : QueryBaselines or sequence of QueryBaselines
        Baselines on the queries of the evaluation sets, one object for each set, recognised by its labels and
        groups. Of several baselines in one object URisk and TRisk take the mean per query, and all are GeoRisk's
        pool, to which the model is added.
    alpha : float
        Extra weight of a loss, at least 0.
    measures : sequence of {"trisk", "urisk", "georisk", "ndcg"}
        What to report, the one to stop on first.

    Raises
    ------
    ValueError
        For no baselines, an unknown measure or none, one given twice, or a bad alpha.
    DataError
        During training, for an evaluation set that no baselines are of.
    UsageError
        During training, for an evaluation set without groups, in ``lightgbm.cv``, and in ``XGBRanker``, whose
        measures see one query.
    """

    def __init__(
        self,
        baselines: QueryBaselines | Sequence[QueryBaselines],
        *,
        alpha: float = 1.0,
        measures: Sequence[Measure] = ("trisk", "urisk", "georisk", "ndcg"),
    ) -> None:
        self._baselines = tuple(baselines) if isinstance(baselines, Iterable) else (baselines,)
        if not self._baselines:
            raise ValueError("baselines must hold those of at least one evaluation set, got none")
        self.alpha = loss_weight(alpha)
        self.measures = tuple(measures)
        if not self.measures or not {*self.measures} <= {*get_args(Measure)}:
            known, given = ", ".join(get_args(Measure)), ", ".join(self.measures) or "none"
            raise ValueError(f"measures must be one or more of {known}, got {given}")

    def __call__(
        self,
        first: FloatArray,
        second: FloatArray | Dataset | DMatrix,
        weight: npt.ArrayLike | None = None,  # noqa: ARG002, LightGBM gives groups only to four parameters
        group: npt.ArrayLike | None = None,
    ) -> list[tuple[str, float]] | list[tuple[str, float, bool]]:
        """The measures as LightGBM and XGBoost ask for them: names and values, for LightGBM with ``True``.

        Both give scores and their data; ``LGBMRanker``, which counts these parameters, gives labels, scores, weights
        and groups.
        """
        data: Any = second
        if not hasattr(data, "get_label"):
            if group is None:
                raise UsageError(_NO_GROUPS)
            return [(*found, True) for found in self.values(first, data, group)]
        labels = data.get_label()
        if hasattr(data, "get_uint_info"):  # XGBoost
            return self.values(labels, first, np.diff(data.get_uint_info("group_ptr").astype(np.int64)))
        if data.used_indices is not None:
            raise UsageError(NO_PARTS)
        groups = data.get_group()
        if groups is None:
            raise UsageError(NO_GROUPS)
        return [(*found, True) for found in self.values(labels, first, groups)]

    def values(self, labels: npt.ArrayLike, scores: npt.ArrayLike, group: npt.ArrayLike) -> list[tuple[str, float]]:
        """Names and values of the measures for documents of shape (n_documents,), in groups of shape (n_queries,)."""
        for baselines in self._baselines:
            if baselines.data.has(labels, group):
                model = baselines.data.ndcg(scores)
                return [(measure, self._value(measure, model, baselines)) for measure in self.measures]
        raise DataError(
            f"an evaluation set of {counted(np.size(group), 'query', 'queries')} and {np.size(labels)} documents has "
            "no baselines: make some for its labels and groups"
        )

    def _value(self, measure: Measure, model: FloatArray, baselines: QueryBaselines) -> float:
        if measure == "ndcg":
            return mean(model)
        if measure == "georisk":
            return float(georisk(np.vstack([baselines.scores, model]), alpha=self.alpha)[-1])
        differences = model - baselines.mean().only()
        if measure == "urisk":
            return urisk(differences, alpha=self.alpha)
        test = trisk(differences, alpha=self.alpha)
        if test.statistic is not None:
            return test.statistic
        return math.copysign(math.inf, test.estimate) if test.estimate else 0.0
