"""The store of baselines on disk: runs that a team trusts, with the scores they had when they were stored."""

from typing import TYPE_CHECKING

from pytest_riskguard.lazily import lazily

if TYPE_CHECKING:
    from pytest_riskguard.baselines.store import stored_scores

__all__ = ["stored_scores"]

__getattr__ = lazily(__name__, {"baselines.store": "stored_scores"})
