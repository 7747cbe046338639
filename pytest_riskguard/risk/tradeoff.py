"""How a difference becomes a trade-off score: what a loss costs against a win."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pytest_riskguard.risk.checks import FloatArray, loss_weight, per_topic

#: The ways a difference can be weighed.
KINDS = ("linear", "smooth")
#: Coefficients of d^3, d^2 and d as printed: R. Benham, A. Moffat, J. S. Culpepper, "On the pluses and minuses of
#: risk", AIRS 2019, section 4.
SMOOTH = (1.38426, -0.51659, 0.11578)
#: The points the smooth function was fitted to lie on and around the linear one at alpha-hat = 2.
SMOOTH_ALPHA = 1.0


def tradeoff(differences: npt.ArrayLike, *, kind: str = "linear", alpha: float) -> FloatArray:
    """Trade-off scores of either kind: ``linear`` with its loss weight, or ``smooth``; errors are theirs.

    The smooth function has no alpha: it was fitted for 1, and any other is refused, because it would change nothing.
    """
    alpha = loss_weight_of(kind, alpha)
    return linear(differences, alpha=alpha) if kind == "linear" else smooth(differences)


def loss_weight_of(kind: str, alpha: float) -> float:
    """The extra weight of a loss, checked together with the trade-off that it goes with; else ValueError."""
    if kind not in KINDS:
        raise ValueError(f"tradeoff must be one of {', '.join(KINDS)}, got {kind!r}")
    weight = loss_weight(alpha)
    if kind == "smooth" and weight != SMOOTH_ALPHA:
        raise ValueError(
            f"the smooth trade-off was fitted for alpha {SMOOTH_ALPHA:g} and has no other: "
            f"expected alpha {SMOOTH_ALPHA:g}, got {alpha!r}"
        )
    return weight


def linear(differences: npt.ArrayLike, *, alpha: float) -> FloatArray:
    """Differences with each loss multiplied by ``1 + alpha``, in units of the measure.

    ValueError with no topic, a second axis, a value that is not finite, ``alpha < 0``, or a loss that exceeds 1e100
    once weighted.

    Parameters
    ----------
    differences : array, shape (n_topics,)
        Candidate minus baseline.
    alpha : float
        Extra weight of a loss, at least 0.

    References
    ----------
    B. T. Dinçer, C. Macdonald, I. Ounis, "Hypothesis testing for the risk-sensitive evaluation of retrieval
    systems", SIGIR 2014, Eq. 11.
    """
    differences = per_topic(differences, name="differences")
    with np.errstate(over="ignore"):  # a product beyond the largest float is refused by name below
        weighted = np.where(differences < 0, (1 + loss_weight(alpha)) * differences, differences)
    return per_topic(weighted, name="differences weighted by 1 + alpha")


def smooth(differences: npt.ArrayLike) -> FloatArray:
    """A cubic that is flat for small differences and weighs large ones, losses above all.

    ``s(d) = 1.38426 d^3 - 0.51659 d^2 + 0.11578 d``, strictly increasing, from s(-1) = -2.01663 through s(0) = 0 to
    s(1) = 0.98345. These are not differences of the measure any more: compare them with each other only. Differences,
    shape (n_topics,), are from -1 to 1 (else ValueError), between which the cubic was fitted.

    References
    ----------
    R. Benham, A. Moffat, J. S. Culpepper, "On the pluses and minuses of risk", AIRS 2019, section 4.
    """
    d = per_topic(differences, name="differences")
    outside = np.abs(d) > 1
    if np.any(outside):
        raise ValueError(f"differences must be from -1 to 1 for the smooth trade-off, got {d[outside][0]}")
    cubic, square, plain = SMOOTH
    return ((cubic * d + square) * d + plain) * d
