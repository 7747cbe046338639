"""Charts of a verdict: a Vega-Lite specification for each, which is then drawn as SVG."""

from __future__ import annotations

from altair.utils.schemapi import debug_mode

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.html.charts import pool_charts, risk_charts, topic_charts
from pytest_riskguard.reports.html.charts.drawing import Chart

__all__ = ["Chart", "charts"]

#: In the order in which a page shows them.
_CHARTS = (
    topic_charts.differences,
    topic_charts.most_harmful,
    risk_charts.intervals,
    risk_charts.trisk,
    risk_charts.urisk,
    pool_charts.georisk,
    pool_charts.ranks,
    pool_charts.components,
    topic_charts.scatter,
    risk_charts.quantiles,
    topic_charts.slices,
)


def charts(verdict: Verdict) -> list[Chart]:
    """The charts that the verdict has data for."""
    with debug_mode(False):  # validating every part while it is put together takes longer than drawing
        return [chart for draw in _CHARTS if (chart := draw(verdict)) is not None]
