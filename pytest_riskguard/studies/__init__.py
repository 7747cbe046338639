"""Studies, which judge nothing: a pool of systems as the papers on risk look at it, and past releases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_riskguard.studies.baselines import every_baseline

__all__ = ["every_baseline"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from pytest_riskguard.studies import baselines

    return getattr(baselines, name)
