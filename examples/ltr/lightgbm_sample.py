"""Reads the learning-to-rank data of LightGBM's repository, ``examples/lambdarank``, gzipped or not."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
from search_log import Floats, SearchLog

from pytest_riskguard.ltr.queries import JudgedQueries


def read_sample(folder: Path) -> SearchLog:
    """All queries of ``rank.train.gz`` and ``rank.test.gz``, which are SVMlight rows, with their ``.query`` files."""
    rows = [row for part in ("train", "test") for row in _lines(folder / f"rank.{part}.gz")]
    group = [int(size) for part in ("train", "test") for size in _lines(folder / f"rank.{part}.query.gz")]
    cells = [[cell.split(":") for cell in row.split()[1:]] for row in rows]
    features: Floats = np.zeros((len(rows), 1 + max(int(column) for row in cells for column, _ in row)))
    for place, row in enumerate(cells):
        for column, value in row:
            features[place, int(column)] = float(value)
    return SearchLog(
        features,
        np.array([int(float(row.split()[0])) for row in rows]),
        np.array(group),
        tuple(f"q{number:03d}" for number in range(1, len(group) + 1)),
        ("unknown",) * len(group),
        tuple(f"feature_{number}" for number in range(features.shape[1])),
    )


def best_feature(part: SearchLog) -> int:
    """The column that ranks these queries best by itself, higher values first."""
    judged = JudgedQueries(part.labels, part.group)
    return int(np.argmax([judged.ndcg(column).mean() for column in part.features.T]))


def _lines(path: Path) -> list[str]:
    return gzip.decompress(path.read_bytes()).decode("ascii").splitlines()
