"""Every system of a pool as the baseline of all the others: which of them are alike, their risks and their places.

B. T. Dinçer, I. Ounis, C. Macdonald, "Tackling biased baselines in the risk-sensitive evaluation of retrieval
systems", ECIR 2014: a baseline favours systems whose scores rise and fall over topics as its own do. In every matrix
of this module, rows are judged systems and columns are the baselines that they are judged against.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_riskguard.risk.checks import ROUNDING_ERROR, FloatArray, loss_weight, mean, systems_by_topics
from pytest_riskguard.risk.urisk import varies

#: An axis that explains less than this share is rounding.
MIN_SHARE = 1e-24
#: What is left of equal scores after subtracting their mean, as a share of their size.
MEAN_ROUNDING = 1e-15
#: Coordinates closer than this share of the largest are equal when the sign of an axis is chosen.
SAME_COORDINATE = 1e-9


def correlations(scores: npt.ArrayLike) -> FloatArray:
    """Pearson's correlation over topics between all pairs of systems: symmetric, from -1 to 1.

    The row and the column of a system that scores the same on every topic are NaN, the diagonal included. ``scores``,
    shape (n_systems, n_topics), are in units of the measure; at least two systems and one topic, finite (else
    ValueError).
    """
    scores = systems_by_topics(scores)
    directions = np.full(scores.shape, np.nan)
    for row, system in enumerate(scores):
        if varies(system):
            centred = system - mean(system)
            # scaled to a size near 1: squares of very small or very large scores leave the range of floats
            centred = centred / np.max(np.abs(centred))
            directions[row] = centred / math.sqrt(math.fsum(centred**2))
    matrix: FloatArray = np.clip(directions @ directions.T, -1.0, 1.0)
    matrix = (matrix + matrix.T) / 2
    matrix[np.abs(matrix - 1) <= ROUNDING_ERROR] = 1.0  # exact for a system with itself or with its equal
    return matrix


@dataclass(frozen=True, eq=False)
class Components:
    """Systems on principal axes.

    ``coordinates``, shape (n_systems, n_axes), are in units of the measure times the square root of topics.
    ``shares``, shape (n_axes,), are those of the total sum of squares, the largest first; they add up to 1. There are
    no axes where all scores are 0 or, centred, all systems equal.
    """

    coordinates: FloatArray
    shares: FloatArray


def principal_components(scores: npt.ArrayLike, *, centred: bool) -> Components:
    """Coordinates of the systems on the principal axes of their scores, and the share that each axis explains.

    Uncentred, as in ECIR 2014 (section 2.4 and Figure 2), the first axis is close to the mean score, and the others
    contrast systems that do well on different topics: a baseline favours systems on its side. Centred, each topic's
    mean over the systems is subtracted first, which leaves only the differences between systems.

    The sign of an axis is arbitrary: the system farthest from 0 (the first one, if several are) has a positive
    coordinate. Scores are those of ``correlations``.
    """
    table = systems_by_topics(scores)
    size = float(np.max(np.abs(table)))
    if centred:
        table = table - table.mean(axis=0)
    largest = float(np.max(np.abs(table)))
    if largest <= MEAN_ROUNDING * size:  # all 0, or equal systems without their mean
        return Components(np.zeros((len(table), 0)), np.zeros(0))
    left, singular, _ = np.linalg.svd(table / largest, full_matrices=False)
    squares = singular**2
    kept = squares > MIN_SHARE * squares.sum()
    coordinates = left[:, kept] * singular[kept] * largest
    sizes = np.abs(coordinates)
    farthest = np.argmax(sizes >= (1 - SAME_COORDINATE) * sizes.max(axis=0), axis=0)
    coordinates *= np.sign(coordinates[farthest, np.arange(coordinates.shape[1])])
    return Components(coordinates, squares[kept] / squares[kept].sum())


@dataclass(frozen=True, eq=False)
class EveryBaseline:
    """Risk of all systems against all, shape (n_systems, n_systems): rows are judged, columns are baselines.

    ``urisk`` is in units of the measure, 0 on the diagonal; ``trisk`` is that over its standard error, NaN where the
    trade-off scores do not vary, as on the diagonal.
    """

    urisk: FloatArray
    trisk: FloatArray


def every_baseline(scores: npt.ArrayLike, *, alpha: float) -> EveryBaseline:
    """URisk and TRisk of every system against every system as the baseline (ECIR 2014, Table 2).

    Scores are those of ``correlations``, of either sign; alpha is at least 0; the trade-off is linear.
    """
    scores = systems_by_topics(scores)
    weight = 1 + loss_weight(alpha)
    n, topics = scores.shape
    urisk, trisk = np.zeros((n, n)), np.full((n, n), np.nan)
    for column, baseline in enumerate(scores):
        x = scores - baseline
        x = np.where(x < 0, weight * x, x)
        means = np.array([math.fsum(row) for row in x.tolist()]) / topics
        urisk[:, column] = means + 0.0
        if topics < 2:
            continue
        squares = ((x - means[:, None]) ** 2).tolist()
        errors = np.sqrt(np.array([math.fsum(row) for row in squares]) / (topics - 1) / topics)
        varying = np.ptp(x, axis=1) > ROUNDING_ERROR * np.maximum(
            1.0, np.max(np.abs(x), axis=1)
        )  # as ``urisk.varies``
        trisk[varying, column] = means[varying] / errors[varying]
    return EveryBaseline(urisk, trisk)


def sortable_trisk(risks: EveryBaseline) -> FloatArray:
    """TRisk with a value for every pair: without variation 0 for equal systems, infinite for others, signed as URisk.

    So a system that is worse than its baseline by the same amount on every topic comes after all those that vary.
    """
    limits: FloatArray = np.where(np.abs(risks.urisk) <= ROUNDING_ERROR, 0.0, np.copysign(np.inf, risks.urisk))
    return np.where(np.isnan(risks.trisk), limits, risks.trisk)


def ranks(values: npt.ArrayLike) -> FloatArray:
    """Places of the systems under each baseline: 1 is the least risky; ties within 1e-12 share their mean place.

    ``values``, shape (n_systems, n_systems), are as from ``every_baseline``: higher is better; ValueError for
    another shape, and a NaN off the diagonal. The diagonal is NaN in the result: a baseline has no place in its own
    ranking, as in ECIR 2014's Table 2.
    """
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 2 or values.shape[0] != values.shape[1]:
        raise ValueError(f"values must be systems by the same systems as baselines, got shape {values.shape}")
    others = ~np.eye(len(values), dtype=bool)
    if np.any(np.isnan(values[others])):
        raise ValueError("values must be numbers off the diagonal, got nan")
    table = np.full(values.shape, np.nan)
    for column in range(len(values)):
        rows = others[:, column]
        table[rows, column] = places(values[rows, column])
    return table


def places(values: npt.ArrayLike) -> FloatArray:
    """Places from the highest value (1) to the lowest; values within 1e-12 of a neighbour share their mean place."""
    values = np.asarray(values, dtype=np.float64)
    order = np.argsort(-values, kind="stable")
    falling = values[order]
    with np.errstate(invalid="ignore"):  # inf - inf is NaN, and the two are tied
        gaps = (falling[:-1] - falling[1:] > ROUNDING_ERROR) & (falling[:-1] != falling[1:])
    groups = np.concatenate([[0], np.cumsum(gaps)]) if values.size else np.zeros(0, dtype=np.intp)
    sizes = np.bincount(groups)
    shared = np.cumsum(sizes) - (sizes - 1) / 2
    ranked = np.empty(values.size)
    ranked[order] = shared[groups]
    return ranked
