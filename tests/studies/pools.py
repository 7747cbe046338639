"""A small pool, and the measures of the papers written out: what studies say is computed by other means."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import ttest_1samp

approx = pytest.approx
RNG = np.random.default_rng(7)
#: In a table rows stand as strings sort: 1, 10, 11, ..., 2, 20.
TOPICS = [str(number) for number in range(1, 41)]
LEVEL = RNG.random(40)
KIN = 0.1 + 0.6 * LEVEL + 0.25 * RNG.random((6, 40)) - 0.015 * np.array([2, 0, 4, 1, 3, 5])[:, None]
#: Six systems that follow one another, one that differs from kin2 on three topics, and one with its own profile.
SCORES = {f"kin{i}": values for i, values in enumerate(KIN.round(3))}
SCORES["near"] = SCORES["kin2"] + 0.05 * np.isin(TOPICS, ["3"]) - 0.05 * np.isin(TOPICS, ["17", "30"])
SCORES["stranger"] = (0.15 + 0.6 * RNG.random(40)).round(3)
#: The best first.
ORDER = sorted(SCORES, key=lambda name: -SCORES[name].mean())
MATRIX = np.array([SCORES[name] for name in ORDER])
#: A baseline that is not the first column, and the differences of the others from it.
BASE = "kin2"
DIFFERENCES = {name: SCORES[name] - SCORES[BASE] for name in ORDER if name != BASE}
JUDGED = [*DIFFERENCES]


def write(path: Path, scores: Mapping[str, Iterable[float]], topics: Iterable[str] = TOPICS) -> None:
    """A table of scores."""
    rows = sorted(zip(topics, *scores.values(), strict=True))
    path.write_text("\n".join(",".join(map(str, row)) for row in [("topic", *scores), *rows]), encoding="utf-8")


def weighted(differences: np.ndarray, alpha: float) -> np.ndarray:
    """l(x): a loss counts 1 + alpha times."""
    return np.array([(1 + alpha) * d if d < 0 else d for d in differences.flat]).reshape(differences.shape)


def urisk(differences: np.ndarray, alpha: float) -> float:
    """Mean trade-off score."""
    return float(weighted(differences, alpha).mean())


def trisk(differences: np.ndarray, alpha: float) -> float:
    """The statistic of Student's test of trade-off scores."""
    return float(ttest_1samp(weighted(differences, alpha), 0).statistic)


def by_name(values: Iterable[float]) -> dict[str, float]:
    """Of all systems, the best first."""
    return dict(zip(ORDER, values, strict=True))


def places(values: Mapping[str, float]) -> dict[str, float]:
    """One more than how many are higher."""
    return {name: 1 + sum(other > value + 1e-12 for other in values.values()) for name, value in values.items()}


def agree(table: Mapping[str, Mapping[str, Any]], what: str, values: Mapping[str, float], *, ranked: bool = True):
    """A column of a table has these values and no others, and beside them the systems' places by them."""
    columns = [(what, approx(values, abs=1e-11))] + [(f"R {what.replace('Risk', '')}", places(values))] * ranked
    for column, expected in columns:
        assert {name: row[column] for name, row in table.items() if row[column] is not None} == expected, what
