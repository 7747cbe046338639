"""The sign-flip test of a mean difference: deterministic, exact under exchangeability.

If candidate and baseline are exchangeable, each topic's difference is as likely to have the other sign. The p-value
is the share of sign patterns whose sum is as low as the observed one. It is the same for every alpha, because under
flips URisk increases with the mean difference. It is the break-even test at alpha 0, where a fair bet is a coin.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from pytest_riskguard.frozen import frozen
from pytest_riskguard.inference.break_even import p_value_of_bets
from pytest_riskguard.risk.checks import ROUNDING_ERROR, per_topic

#: The p-value is the same at every alpha, so gates ask for it again: the last few are kept, of up to so many topics.
MAX_KEPT, MAX_KEPT_TOPICS = 8, 10_000


@frozen
class SignFlip:
    """A one-sided p-value: the smaller, the less a mean this low looks like chance.

    ``exact`` says whether it is the share of patterns, up to rounding; else the law was inverted, with an estimate of
    what the inversion leaves out added to keep the p-value valid.
    """

    p_value: float
    exact: bool


def sign_flip(differences: npt.ArrayLike) -> SignFlip:
    """P(sum of randomly signed differences <= observed sum), for candidate minus baseline.

    Unchanged topics do not matter; with none changed p is 1. ValueError with no topic, a second axis, or a value that
    is not finite.
    """
    d = np.sort(per_topic(differences, name="differences"))
    d = d[np.abs(d) > ROUNDING_ERROR]
    return _sign_flip(d.tobytes()) if d.size > MAX_KEPT_TOPICS else _kept_sign_flip(d.tobytes())


def _sign_flip(d: bytes) -> SignFlip:
    differences = np.frombuffer(d)
    p, exact = p_value_of_bets(np.abs(differences), np.full(differences.size, 0.5), differences < 0)
    return SignFlip(p, exact)


_kept_sign_flip = lru_cache(maxsize=MAX_KEPT)(_sign_flip)
