"""Risk measures of a model while it is trained, for evaluation sets of LightGBM and XGBoost, and early stopping."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from pytest_riskguard.errors import DataError, UsageError
from pytest_riskguard.ltr.queries import JudgedQueries, QueryBaselines, check_whole_queries
from pytest_riskguard.reports import counted, listed
from pytest_riskguard.risk import georisk, trisk, urisk
from pytest_riskguard.risk.checks import FloatArray, IntArray, loss_weight, mean

if TYPE_CHECKING:
    from lightgbm import Dataset
    from xgboost import DMatrix

#: ``ndcg`` is the mean of nDCG@k over queries.
Measure = Literal["trisk", "urisk", "georisk", "ndcg"]

_MAX_NAMED = 5
_NO_ROWS = np.zeros(0, dtype=np.int64)
_NO_GROUPS = "an evaluation set has no groups"
#: XGBRanker and rankers of other kinds give labels and scores alone, XGBRanker those of one query at a time.
_NO_GROUPS_HERE = (
    f"{_NO_GROUPS}: RiskMetrics needs all queries of the set at once, which XGBRanker does not give a measure; train "
    "with xgboost.train(..., custom_metric=), lightgbm.train(..., feval=) or LGBMRanker.fit(..., eval_metric=)"
)


class RiskMetrics:
    """TRisk, URisk, GeoRisk and mean nDCG@k of the model so far, for each evaluation set, after each round.

    It is the ``feval`` of ``lightgbm.train`` and ``lightgbm.cv``, the ``eval_metric`` of ``LGBMRanker.fit`` and the
    ``custom_metric`` of ``xgboost.train``. Higher is better for all. To stop early on the first measure, LightGBM
    takes ``lightgbm.early_stopping(50, first_metric_only=True)`` with ``"metric": "None"``, and XGBoost
    ``EarlyStopping(rounds=50, metric_name="trisk", maximize=True)``.

    The values are those of ``pytest_riskguard.risk``. Weights of rows and queries do not enter them. TRisk is 0 while
    no query differs from the baseline, and infinite, with the sign of URisk, where all differ by the same.

    Parameters
    ----------
    baselines : QueryBaselines or sequence of QueryBaselines
        Baselines on the queries of the evaluation sets, one object for each set; or, for ``lightgbm.cv``, on the
        queries of the whole data. An evaluation set is recognised by its labels and groups where the baselines know
        them, otherwise by its number of queries. Of several baselines in one object URisk and TRisk take the mean per
        query, and all are GeoRisk's pool, to which the model is added.
    alpha : float
        Extra weight of a loss, at least 0.
    measures : sequence of {"trisk", "urisk", "georisk", "ndcg"}
        What to report, the one to stop on first.

    Raises
    ------
    ValueError
        For no baselines, an unknown measure or none, one given twice, or a bad alpha.
    DataError
        During training, for an evaluation set that no baselines fit, or several, and for a fold that holds a part of
        a query: ``lightgbm.cv`` keeps queries together for its own ranking objectives, and for others only with
        ``folds=`` such as scikit-learn's ``GroupKFold(3)``.
    UsageError
        During training, for an evaluation set without groups, and in ``XGBRanker``, whose measures see one query.
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
        unknown = [measure for measure in self.measures if measure not in get_args(Measure)]
        if unknown or not self.measures or len(set(self.measures)) != len(self.measures):
            known = ", ".join(get_args(Measure))
            given = ", ".join(self.measures) or "none"
            raise ValueError(f"measures must be one or more of {known}, each only once, got {given}")
        self._sets: list[_EvaluationSet] = []

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
                raise UsageError(_NO_GROUPS_HERE)
            return [(*found, True) for found in self.values(first, data, group)]
        labels = data.get_label()
        if hasattr(data, "get_uint_info"):  # XGBoost
            return self.values(labels, first, np.diff(data.get_uint_info("group_ptr").astype(np.int64)))
        sizes, fold = data.get_group(), None
        if data.used_indices is not None:
            fold = np.asarray(data.used_indices), np.asarray(data.reference.get_group())
        return [(*found, True) for found in self.values(labels, first, sizes, fold=fold)]

    def values(
        self,
        labels: npt.ArrayLike,
        scores: npt.ArrayLike,
        group: npt.ArrayLike | None,
        *,
        fold: tuple[IntArray, IntArray] | None = None,
    ) -> list[tuple[str, float]]:
        """Names and values of the measures for documents of shape (n_documents,), in groups of shape (n_queries,).

        ``fold``: the rows that these documents are of larger data, and the groups of those.
        """
        if group is None or np.size(group) == 0:
            raise UsageError(f"{_NO_GROUPS}: give it how many documents each query has")
        found = self._set_of(np.asarray(labels, dtype=np.float64), np.asarray(group), fold)
        model = found.judged.ndcg(scores)
        return [(measure, self._value(measure, model, found.baselines)) for measure in self.measures]

    def _value(self, measure: Measure, model: FloatArray, baselines: QueryBaselines) -> float:
        if measure == "ndcg":
            return mean(model)
        if measure == "georisk":
            return float(georisk(np.vstack([baselines.scores, model]), alpha=self.alpha)[-1])
        differences = model - baselines.mean().scores[0]
        if measure == "urisk":
            return urisk(differences, alpha=self.alpha)
        test = trisk(differences, alpha=self.alpha)
        if test.statistic is not None:
            return test.statistic
        return math.copysign(math.inf, test.estimate) if test.estimate else 0.0

    def _set_of(self, labels: FloatArray, group: IntArray, fold: tuple[IntArray, IntArray] | None) -> _EvaluationSet:
        rows = _NO_ROWS if fold is None else fold[0]
        for known in self._sets:
            judged = known.judged
            if all(map(np.array_equal, (known.rows, judged.labels, judged.group), (rows, labels, group))):
                return known
        wanted = [(baselines, _fit(baselines, labels, group)) for baselines in self._baselines]
        if fold is not None:
            check_whole_queries(*fold)
            if not any(fit for _, fit in wanted):
                parts = [_part(whole, *fold) for whole in self._baselines if _fit_groups(whole, fold[1])]
                wanted = [(part, _fit(part, labels, group)) for part in parts] or wanted
        best = max(fit for _, fit in wanted)
        matching = [baselines for baselines, fit in wanted if fit == best > 0]
        if len(matching) != 1:
            raise DataError(_unmatched(labels, group, [baselines for baselines, _ in wanted], many=len(matching)))
        judged = JudgedQueries(labels, group, k=matching[0].k, gain=matching[0].gain)
        self._sets.append(_EvaluationSet(rows, judged, matching[0]))
        return self._sets[-1]


@dataclass(frozen=True, eq=False)
class _EvaluationSet:
    """``rows``: which rows these are of larger data, if they are a fold."""

    rows: IntArray
    judged: JudgedQueries
    baselines: QueryBaselines


def _fit(baselines: QueryBaselines, labels: FloatArray, group: IntArray) -> int:
    """How well the data are known to be those of the baselines: 0 not at all, 3 by their labels."""
    if not _fit_groups(baselines, group):
        return 0
    if baselines.labels is not None:
        # Trainers keep labels in 32 bits.
        return 3 * np.array_equal(baselines.labels.astype(np.float32), labels.astype(np.float32))
    return 1 if baselines.group is None else 2


def _fit_groups(baselines: QueryBaselines, group: IntArray) -> bool:
    if baselines.group is None:
        return len(baselines.queries) == group.size
    return np.array_equal(baselines.group, group)


def _unmatched(labels: FloatArray, group: IntArray, known: Sequence[QueryBaselines], *, many: int) -> str:
    what = f"an evaluation set of {counted(group.size, 'query', 'queries')} and {labels.size} documents"
    if many:
        return (
            f"{what} could be that of {many} baselines: make them with labels, by from_document_scores or with "
            "data=, which tell the sets apart"
        )
    # What differs, for baselines of as many queries: those of the same groups come first.
    as_many = [baselines for baselines in known if len(baselines.queries) == group.size]
    for baselines in sorted(as_many, key=lambda each: not _fit_groups(each, group)):
        try:
            baselines.check(JudgedQueries(labels, group, k=baselines.k, gain=baselines.gain))
        except DataError as error:
            return f"{what} has no baselines: {error}"
    given = tuple(counted(len(baselines.queries), "query", "queries") for baselines in known)
    return (
        f"{what} has no baselines: expected one of those that baselines were made for, with "
        f"{listed(given, most=_MAX_NAMED)}; give RiskMetrics the baselines of every evaluation set"
    )


def _part(whole: QueryBaselines, rows: IntArray, group: IntArray) -> QueryBaselines:
    """Baselines of the queries that these rows are of, in data with these groups."""
    places = np.unique(np.repeat(np.arange(group.size), group)[rows])
    return replace(
        whole,
        queries=tuple(whole.queries[place] for place in places),
        scores=whole.scores[:, places],
        group=group[places],
        labels=None if whole.labels is None else whole.labels[rows],
    )
