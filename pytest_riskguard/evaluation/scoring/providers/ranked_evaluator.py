"""What riskguard's own providers share: the documents of each topic are ranked, and a function gives the value.

Like the providers, this module imports ir-measures when it is loaded.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ir_measures import Metric, providers
from ir_measures.util import QrelsConverter, RunConverter

from pytest_riskguard.evaluation.runs.order import as_scored

#: The name of riskguard's providers: documents are ranked by score in 64 bits, then docid, both descending.
PROVIDER_NAME = "riskguard"

# ir-measures types its public functions only; what it leaves untyped is used through these.
_as_qrels: Any = QrelsConverter
_as_run: Any = RunConverter

#: From a measure, the documents of a topic from rank 1 on and its judgements to the value.
Value = Callable[[Any, Sequence[str], Mapping[str, float]], float]


class RankedEvaluator(providers.Evaluator):
    """Scores runs for some measures; ``order_of`` names the provider that ranks documents in the same way."""

    def __init__(
        self,
        measures: Iterable[Any],
        qrels: Any,
        value: Value,
        order_of: Callable[[Any], str] = lambda _measure: PROVIDER_NAME,
    ) -> None:
        self._qrels: dict[str, dict[str, float]] = _as_qrels(qrels).as_dict_of_dict()
        super().__init__(list(measures), set(self._qrels))
        self._value, self._order_of = value, order_of

    def _iter_calc(self, run: Any) -> Iterator[Metric]:
        for topic, documents in _as_run(run).as_dict_of_dict().items():
            judged = self._qrels.get(topic)
            if judged is None:
                continue
            for measure in self.measures:
                ranking = as_scored(list(documents), list(documents.values()), self._order_of(measure))
                yield Metric(query_id=topic, measure=measure, value=self._value(measure, ranking, judged))


def plain_sum(parts: Iterable[float]) -> float:
    """The sum of numbers added one after the other, as trec_eval does.

    Python's ``sum`` makes up for rounding from 3.12 on, so that a score would depend on the version of Python.
    """
    return functools.reduce(operator.add, parts, 0.0)
