"""Studies, which judge nothing: a pool of systems as the papers on risk look at it, and past releases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_riskguard.studies.baselines import every_baseline
    from pytest_riskguard.studies.overlap import rank_biased_overlap

__all__ = ["every_baseline", "rank_biased_overlap"]

_HOMES = {"every_baseline": "baselines", "rank_biased_overlap": "overlap"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
