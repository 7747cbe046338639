"""GeoRisk as its definition reads: slow, and obviously right."""

import math

import numpy as np
from scipy.special import ndtr


def georisk(scores: np.ndarray, *, alpha: float, tradeoff: str = "linear") -> np.ndarray:
    """Of every system, shape (n_systems,): SIGIR 2016's z, ZRisk and GeoRisk, cell by cell."""
    n = scores.shape[1]
    systems = np.array([math.fsum(row) for row in scores])
    topics = np.array([math.fsum(column) for column in scores.T])
    total = math.fsum(systems)
    if total == 0:
        return np.zeros(scores.shape[0])
    expected = np.outer(systems, topics) / total
    d, roots = scores - expected, np.sqrt(expected)
    if tradeoff == "smooth":
        d = ((1.38426 * d - 0.51659) * d + 0.11578) * d
    z = np.divide(d, roots, out=np.zeros_like(d), where=roots > 0)
    zrisk = [math.fsum(row if tradeoff == "smooth" else np.where(row < 0, (1 + alpha) * row, row)) for row in z]
    return np.sqrt(systems / n * ndtr(np.array(zrisk) / n))


def replicate(scores: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The columns that a replicate draws, each as often as it does."""
    return scores[:, np.repeat(np.arange(scores.shape[1]), counts)]
