"""How probable something is that happened a number of times, with its interval."""

from __future__ import annotations

from dataclasses import dataclass
from operator import index

from scipy.special import betaincinv

from pytest_riskguard.risk.checks import between_0_and_1


@dataclass(frozen=True)
class Share:
    """A probability and its two-sided interval."""

    value: float
    lower: float
    upper: float


def share(count: int, n: int, *, level: float) -> Share:
    """A probability from how often something happened, with the interval of Clopper and Pearson.

    Parameters
    ----------
    count, n : int
        How often it happened, of how many times; ``0 <= count <= n``, ``n >= 1``.
    level : float
        Confidence of the interval, which covers the probability at least that often.

    Raises
    ------
    ValueError
        Counts that cannot be, a level not between 0 and 1.

    References
    ----------
    C. J. Clopper, E. S. Pearson, "The Use of Confidence or Fiducial Limits Illustrated in the Case of the Binomial",
    Biometrika 26(4), 1934, 404-413.
    """
    between_0_and_1(level, name="level")
    if not 0 <= index(count) <= index(n) or n < 1:
        raise ValueError(f"count must lie between 0 and n, and n be at least 1, got {count} of {n}")
    tail = (1 - level) / 2
    lower = 0.0 if count == 0 else float(betaincinv(count, n - count + 1, tail))
    upper = 1.0 if count == n else float(betaincinv(count + 1, n - count, 1 - tail))
    return Share(count / n, lower, upper)
