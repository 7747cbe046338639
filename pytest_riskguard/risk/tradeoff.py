"""How a difference becomes a trade-off score: what a loss costs against a win."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pytest_riskguard.risk.checks import FloatArray, loss_weight, per_topic


def linear(differences: npt.ArrayLike, *, alpha: float) -> FloatArray:
    """Differences with each loss multiplied by ``1 + alpha``.

    Parameters
    ----------
    differences : array, shape (n_topics,)
        Candidate minus baseline, in units of the measure.
    alpha : float
        Extra weight of a loss, at least 0.

    Returns
    -------
    array, shape (n_topics,)
        In units of the measure.

    Raises
    ------
    ValueError
        No topic, a second axis, a value that is not finite, or ``alpha < 0``; a weighted loss beyond 1e100.

    References
    ----------
    B. T. Dinçer, C. Macdonald, I. Ounis, "Hypothesis testing for the risk-sensitive evaluation of retrieval
    systems", SIGIR 2014, Eq. 11.
    """
    differences = per_topic(differences, name="differences")
    with np.errstate(over="ignore"):  # a product beyond the largest float is refused by name below
        weighted = np.where(differences < 0, (1 + loss_weight(alpha)) * differences, differences)
    return per_topic(weighted, name="differences weighted by 1 + alpha")
