"""Which models no other model beats in both mean and risk."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pytest_riskguard.risk.checks import BoolArray, FloatArray


def pareto_front(means: npt.ArrayLike, risks: npt.ArrayLike) -> BoolArray:
    """Which models are on the Pareto front of mean against risk.

    A model is off the front if another one has a mean at least as high and a risk at most as high, and one of the two
    is better. Models that are equal in both are on it together or not at all.

    Parameters
    ----------
    means : array, shape (n_models,)
        Mean effectiveness, higher is better.
    risks : array, shape (n_models,)
        Risk against the same baseline or baselines, such as ``risk.frisk``; lower is better.

    Returns
    -------
    array of bool, shape (n_models,)
        At least one is true, except where there are no models.

    Raises
    ------
    ValueError
        A second axis, a value that is not finite, or different numbers of means and risks.
    """
    means, risks = (_values(values, name=name) for values, name in ((means, "means"), (risks, "risks")))
    if means.size != risks.size:
        raise ValueError(f"expected as many means as risks, got {means.size} and {risks.size}")
    front = np.zeros(means.size, dtype=np.bool_)
    if not means.size:
        return front
    order = np.lexsort((risks, -means))  # the best mean first, and of equal means the lowest risk
    means, risks = means[order], risks[order]
    starts = np.append(True, means[1:] < means[:-1])
    lowest_of_mean = risks[starts]
    lowest_above = np.append(np.inf, np.minimum.accumulate(lowest_of_mean)[:-1])
    group = np.cumsum(starts) - 1
    front[order] = (risks == lowest_of_mean[group]) & (risks < lowest_above[group])
    return front


def _values(values: npt.ArrayLike, *, name: str) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"{name} must have one axis (models), got shape {array.shape}")
    if not np.all(np.isfinite(array)):
        raise ValueError(f"{name} must be finite, got {array[~np.isfinite(array)][0]}")
    return array
