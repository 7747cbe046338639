"""Labels, weights and groups that LightGBM hands to objectives and measures, refused where they cannot be used."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pytest_riskguard.errors import DataError, UsageError
from pytest_riskguard.risk.checks import FloatArray, IntArray

if TYPE_CHECKING:
    from lightgbm import Dataset


NO_GROUPS = "the training data have no groups: give group=, how many documents each query has"


class TrainingData(NamedTuple):
    """Labels and weights of rows, shape (n_documents,), and how many rows each query has, shape (n_queries,)."""

    labels: FloatArray
    weights: FloatArray | None
    group: IntArray


def training_data(dataset: Dataset) -> TrainingData:
    """What gradients need of a Dataset.

    ``UsageError`` for ``bagging_by_query``, with which LightGBM learns nothing from any objective but its own, and
    ``DataError`` without groups, or for a part that holds some rows of a query and not the others.
    """
    parameters = dataset.params or {}
    if parameters.get("bagging_by_query") and parameters.get("bagging_freq", parameters.get("subsample_freq")):
        raise UsageError(
            "bagging_by_query learns nothing with an objective that is not LightGBM's own: leave it out of params, "
            "or use bagging_fraction without it"
        )
    group = dataset.get_group()
    if group is None:
        raise DataError(NO_GROUPS)
    reference = None if dataset.reference is None else dataset.reference.get_group()
    if dataset.used_indices is not None and reference is not None:
        check_whole_queries(np.asarray(dataset.used_indices), np.asarray(reference, dtype=np.int64))
    weights = dataset.get_weight()
    return TrainingData(
        np.asarray(dataset.get_label(), dtype=np.float64),
        None if weights is None else np.asarray(weights, dtype=np.float64),
        np.asarray(group, dtype=np.int64),
    )


def check_whole_queries(rows: IntArray, group: IntArray) -> None:
    """``DataError`` unless these rows of data with these groups are all rows of some queries."""
    query_of_row = np.repeat(np.arange(group.size), group)
    used = np.bincount(query_of_row[rows], minlength=group.size)
    cut = np.flatnonzero((used > 0) & (used < group))
    if cut.size:
        raise DataError(
            f"a part of the data has {used[cut[0]]} of the {group[cut[0]]} documents of query {cut[0] + 1}: give "
            "lightgbm.cv folds= that keep queries together, such as those of scikit-learn's GroupKFold"
        )
