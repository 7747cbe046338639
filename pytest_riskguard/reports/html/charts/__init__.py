"""Charts of a verdict: what each shows as a Vega-Lite specification, and that as SVG."""

from __future__ import annotations

from altair.utils.schemapi import debug_mode

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.html.charts import law, risk, scores, slices, systems, topics
from pytest_riskguard.reports.html.charts.drawing import Chart

__all__ = ["Chart", "charts"]

#: In the order in which a page shows them.
_ALL = (
    topics.differences,
    topics.most_harmful,
    law.intervals,
    risk.trisk,
    risk.urisk,
    systems.georisk,
    systems.ranks,
    systems.components,
    scores.scatter,
    law.quantiles,
    slices.slices,
)


def charts(verdict: Verdict) -> list[Chart]:
    """Those that the verdict has data for."""
    with debug_mode(False):  # no validation of every part as it is put together: it takes longer than drawing
        found = [draw(verdict) for draw in _ALL]
    return [chart for chart in found if chart is not None]
