"""The last laws of the bootstrap are kept for the next question about the same scores; a benchmark wants new ones."""

from __future__ import annotations

from pytest_riskguard.inference._bootstrap import choice


def forget_laws() -> None:
    """Empty both caches."""
    choice._kept_mean_law.cache_clear()
    choice._kept_studentized_law.cache_clear()
