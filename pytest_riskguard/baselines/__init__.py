"""The store of baselines on disk: runs that a team trusts, with the scores they had when they were stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_riskguard.baselines.reader import stored_scores

__all__ = ["stored_scores"]


def __getattr__(name: str) -> Any:
    if name != "stored_scores":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from pytest_riskguard.baselines.reader import stored_scores

    return stored_scores
