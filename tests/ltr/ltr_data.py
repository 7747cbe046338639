"""Small data for training: three features that matter, and a baseline that knows one of them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pytest_riskguard.ltr import JudgedQueries, QueryBaselines

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Data:
    features: Array
    labels: Array
    group: npt.NDArray[np.int64]

    @cached_property
    def judged(self) -> JudgedQueries:
        return JudgedQueries(self.labels, self.group)

    def baselines_of(self, **features: int) -> QueryBaselines:
        """Baselines that are features."""
        scores = {name: self.features[:, column] for name, column in features.items()}
        return QueryBaselines.from_document_scores(self.judged, scores)


def made(seed: int, *, queries: int = 40) -> Data:
    """The first feature is worth much in most queries and little in the others, where the third is."""
    rng = np.random.default_rng(seed)
    group = rng.integers(5, 15, queries)
    features = rng.normal(size=(group.sum(), 4)).round(2)
    tail = np.repeat(rng.uniform(size=queries) < 0.3, group)
    signal = np.where(tail, features[:, 2] - 0.3 * features[:, 0], features[:, 0]) + 0.5 * features[:, 1]
    labels = np.digitize(signal + 0.5 * rng.normal(size=group.sum()), [0.3, 1.0, 2.0]).astype(float)
    return Data(features, labels, group)


def scored(*rows: object) -> QueryBaselines:
    """Baselines with these scores, on queries of one document each."""
    scores = np.array(rows, float)
    data = JudgedQueries(np.ones(scores.shape[1]), np.ones(scores.shape[1]))
    return QueryBaselines(data, tuple(f"b{number}" for number in range(len(rows))), scores)
