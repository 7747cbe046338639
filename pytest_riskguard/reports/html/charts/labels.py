"""Words of charts: names of topics and systems, of figures and their units."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.shown import Shown
from pytest_riskguard.text import clean


def unique(names: Iterable[str], *, limit: int = 60) -> list[str]:
    """Names made printable, each still different from the others."""
    counts: dict[str, int] = {}
    printable = []
    for name in names:
        shown = clean(name, limit=limit)
        counts[shown] = counts.get(shown, 0) + 1
        printable.append(shown if counts[shown] == 1 else f"{shown} ({counts[shown]})")
    return printable


def urisk_name(verdict: Verdict) -> str:
    """URisk in the verdict's convention, or its excess over the baseline's own noise."""
    excess = "excess " if verdict.estimates.noise_urisk is not None else ""
    return f"{excess}URisk{Shown(verdict).suffix}"


def risk_name(verdict: Verdict) -> str:
    """What the gate judges: URisk at its alpha, or the difference of GeoRisk."""
    if verdict.kind == "georisk_not_worse":
        return f"difference of {Shown(verdict).georisk_name}"
    return f"{urisk_name(verdict)}({Shown(verdict).parameter})"


def with_unit(verdict: Verdict, name: str) -> str:
    """An axis title: the quantity and its unit, where the verdict knows it."""
    if verdict.measure is None or name.startswith("difference of GeoRisk"):
        return name
    return f"{name} ({clean(verdict.measure, limit=40)})"
