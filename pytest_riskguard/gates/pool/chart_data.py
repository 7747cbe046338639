"""The data that the charts of a gate over a pool draw."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_riskguard.gates.chart_data import alphas_for, topic_columns
from pytest_riskguard.gates.findings import Exhibits, GeoRiskCurves, SystemMap
from pytest_riskguard.gates.pool.comparison import PoolComparison, Reference
from pytest_riskguard.gates.pool.responsible import contributions
from pytest_riskguard.pool_study import principal_components
from pytest_riskguard.risk import georisk, standardised

#: How many principal axes a map of systems has.
AXES = 2


def pool_exhibits(
    comparison: PoolComparison, reference: Reference, *, tags: Mapping[str, Mapping[str, str]]
) -> Exhibits:
    """What the charts of a gate over a pool show; topics are those of candidate and the reference that decided."""
    parts = contributions(comparison, reference)
    columns = topic_columns(comparison.pair(reference), contributions=parts, standard=standardised(parts), tags=tags)
    return Exhibits(columns, georisk=_curves(comparison), components=_map(comparison))


def _curves(comparison: PoolComparison) -> GeoRiskCurves | None:
    """GeoRisk of all systems; the smooth trade-off has no alpha to vary."""
    if comparison.gate.tradeoff != "linear":
        return None
    alphas = alphas_for(comparison.gate)
    values = [georisk(comparison.scores, alpha=alpha) for alpha in alphas]
    return GeoRiskCurves(
        alphas, {name: tuple(float(v[row]) for v in values) for row, name in enumerate(comparison.names)}
    )


def _map(comparison: PoolComparison) -> SystemMap | None:
    """Uncentred, as in ECIR 2014: the first axis is close to the mean score."""
    axes = principal_components(comparison.scores, centred=False)
    if axes.shares.size < AXES:
        return None
    return SystemMap(
        explained=tuple(axes.shares[:AXES].tolist()),
        systems={
            name: tuple(place[:AXES].tolist()) for name, place in zip(comparison.names, axes.coordinates, strict=True)
        },
    )
