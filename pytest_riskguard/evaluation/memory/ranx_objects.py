"""ranx' ``Run`` and ``Qrels`` as mappings; ranx is not imported, since an object of it has done so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def is_of_ranx(data: object) -> bool:
    """Whether an object is one of ranx' or of a class derived from it."""
    return any(base.__module__.partition(".")[0] == "ranx" for base in type(data).__mro__)


def mapping_of(data: Any, *, wanted: str, what: str) -> Mapping[str, Mapping[str, float]]:
    """Topic -> document -> number; ``TypeError`` for a ``Run`` where ``Qrels`` are expected, or the reverse."""
    kinds = [base.__name__ for base in type(data).__mro__]
    if wanted not in kinds:
        raise TypeError(f"{what}: expected a ranx {wanted}, found a ranx {type(data).__name__}")
    mapping: Mapping[str, Mapping[str, float]] = data.to_dict()
    return mapping


def scores_of(run: Any, *, what: str) -> Mapping[str, Mapping[str, float]]:
    """Measure -> topic -> value, of a ``Run`` that has been evaluated."""
    by_measure: Mapping[str, Mapping[str, float]] = getattr(run, "scores", {})
    if not by_measure:
        raise TypeError(f"{what}: expected per-topic scores, found a ranx {type(run).__name__} without any")
    return by_measure
