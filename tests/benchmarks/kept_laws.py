"""The last laws of the bootstrap are kept for the next question about the same scores; a benchmark wants new ones."""

from __future__ import annotations

import sys

from pytest_riskguard.gates import judge
from pytest_riskguard.inference import break_even as break_even_test
from pytest_riskguard.inference import sign_flip as sign_flip_test
from pytest_riskguard.inference._bootstrap import choice
from pytest_riskguard.inference.intervals import intervals


def forget_laws() -> None:
    """Empty all caches."""
    judge._kept.cache_clear()
    choice._kept_mean_law.cache_clear()
    sys.modules[intervals.__module__]._kept_limits.cache_clear()
    choice._kept_studentized_law.cache_clear()
    sys.modules[sign_flip_test.__module__]._kept_sign_flip.cache_clear()
    sys.modules[break_even_test.__module__]._kept_p_value.cache_clear()
