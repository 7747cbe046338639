"""The last laws of the bootstrap are kept for the next question about the same scores; a benchmark wants new ones."""

from __future__ import annotations

from pytest_riskguard.inference._bootstrap import mean_law, studentized


def forget_laws() -> None:
    """Empty both caches."""
    mean_law._kept_law.cache_clear()
    studentized._kept_law.cache_clear()
