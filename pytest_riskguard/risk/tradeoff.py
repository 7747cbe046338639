"""How a difference becomes a trade-off score: what a loss costs against a win."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pytest_riskguard.frozen import frozen
from pytest_riskguard.risk.checks import FloatArray, loss_weight, per_topic

#: The ways a difference can be weighed.
KINDS = ("linear", "smooth")
#: The points the smooth function was fitted to lie on and around the linear one at alpha-hat = 2.
SMOOTH_ALPHA = 1.0


@frozen
class SmoothTradeoff:
    """A trade-off that is a polynomial without a constant term, so that no difference counts as none.

    Attributes
    ----------
    coefficients : tuple of float
        The highest power first: ``(a, b, c)`` is ``a d^3 + b d^2 + c d``.
    """

    coefficients: tuple[float, ...]

    def __call__(self, differences: npt.ArrayLike) -> FloatArray:
        """Trade-off scores of differences, in their shape, which may be any; nothing is checked."""
        d = np.asarray(differences, dtype=np.float64)
        found = np.zeros_like(d)
        for coefficient in self.coefficients:
            found = (found + coefficient) * d
        return found

    @property
    def is_increasing(self) -> bool:
        """Whether it is strictly increasing from -1 to 1: a larger difference never counts for less.

        This is the consistency that a cost of LambdaMART needs (AIRS 2019, section 4). The derivative must not be 0
        throughout, nor negative where it is least, which is at an end or at a root of its own derivative.
        """
        slope = np.polyder((*self.coefficients, 0))
        turns = np.clip(np.roots(np.polyder(slope)).real, -1, 1)
        return bool(slope.any() and min(np.polyval(slope, [-1, *turns, 1])) >= 0)


#: The cubic of AIRS 2019, section 4, with its coefficients as printed.
SMOOTH = SmoothTradeoff((1.38426, -0.51659, 0.11578))


def fitted_tradeoff(lower_fence: float, upper_fence: float, *, alpha: float) -> SmoothTradeoff:
    """The smooth trade-off for other fences or another alpha, fitted as that of AIRS 2019 was.

    It is the least-squares cubic through (-1, -(1 + alpha)), (lower_fence, -0.05), (0, 0), (upper_fence, 0.05) and
    (1, 1), less its intercept. With a large alpha, or with fences far from 0, it is not
    increasing: see ``is_increasing``.

    Parameters
    ----------
    lower_fence, upper_fence : float
        The differences, in units of the measure, beyond which one is an outlier among those of many systems: the
        fences of their boxplot. Those of the paper are -0.241 and 0.292.
    alpha : float
        Extra weight of a loss of everything, at least 0; 1 in the paper.

    Raises
    ------
    ValueError
        Unless ``-1 < lower_fence < 0 < upper_fence < 1``, or for a bad alpha.

    References
    ----------
    R. Benham, A. Moffat, J. S. Culpepper, "On the pluses and minuses of risk", AIRS 2019, section 4.
    """
    if not -1 < lower_fence < 0 < upper_fence < 1:
        raise ValueError(f"expected -1 < lower_fence < 0 < upper_fence < 1, got {lower_fence!r} and {upper_fence!r}")
    points = (-1, lower_fence, 0, upper_fence, 1), (-1 - loss_weight(alpha), -0.05, 0, 0.05, 1)
    *coefficients, _ = np.polyfit(*points, deg=3).tolist()
    return SmoothTradeoff(tuple(coefficients))


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
    return SMOOTH(d)
