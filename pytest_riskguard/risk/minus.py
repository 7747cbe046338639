"""The minus convention: figures shown so that high means risky.

A choice of display: what is computed and what is decided stay as they are.

References
----------
R. Benham, A. Moffat, J. S. Culpepper, "On the pluses and minuses of risk", AIRS 2019, Eq. 5-7.
"""

from __future__ import annotations

from typing import overload

from pytest_riskguard.risk.checks import FloatArray, loss_weight


@overload
def minus(value: float) -> float: ...
@overload
def minus(value: FloatArray) -> FloatArray: ...
def minus(value: float | FloatArray) -> float | FloatArray:
    """URisk- of a URisk, and so TRisk-, ZRisk-, GeoRisk-: the sign reversed, high is risky (Eq. 5-7).

    Parameters
    ----------
    value : float or array
        One figure, or one for each system or alpha.

    Notes
    -----
    GeoRisk- departs from the paper: Eq. 8 and Table 2 put ZRisk- into Phi, where more of it, so more risk, counts as
    safer. Here it is GeoRisk with its sign reversed.
    """
    return 0.0 - value  # -value would show 0 as -0


def minus_limits(lower: float, upper: float) -> tuple[float, float]:
    """The limits of an interval, lower first, in the minus convention: ``(-upper, -lower)``."""
    return minus(upper), minus(lower)


def alpha_hat(alpha: float) -> float:
    """The whole weight of a loss, ``1 + alpha``, which the minus convention takes as its parameter."""
    return 1 + loss_weight(alpha)
