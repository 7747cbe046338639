"""The systems of a pool on their principal axes.

B. T. Dinçer, I. Ounis, C. Macdonald, "Tackling biased baselines in the risk-sensitive evaluation of retrieval
systems", ECIR 2014, section 2.4.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pytest_riskguard.frozen import frozen
from pytest_riskguard.risk.checks import FloatArray, systems_by_topics

#: An axis that explains less than this share is rounding.
MIN_SHARE = 1e-24
#: What is left of equal scores after subtracting their mean, as a share of their size.
MEAN_ROUNDING = 1e-15
#: Coordinates closer than this share of the largest are equal when the sign of an axis is chosen.
SAME_COORDINATE = 1e-9


@frozen(eq=False)
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
    coordinate. ``scores``, shape (n_systems, n_topics), are finite,
    of at least two systems and one topic (else ValueError).
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
