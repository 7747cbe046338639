"""Charts of a verdict, drawn as SVG; they need no library."""

from __future__ import annotations

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.html.charts import query_charts, risk_charts, topic_charts
from pytest_riskguard.reports.html.charts.drawing import Chart

__all__ = ["Chart", "charts"]

#: In the order in which a page shows them, the main ones first.
_CHARTS = (
    query_charts.dumbbells,
    query_charts.slices,
    query_charts.cumulative_loss,
    risk_charts.intervals,
    risk_charts.urisk,
    topic_charts.differences,
    risk_charts.georisk,
)


def charts(verdict: Verdict) -> list[Chart]:
    """The charts that the verdict has something to show in; none for data that could not be compared."""
    if verdict.outcome == "incomparable":
        return []
    return [chart for draw in _CHARTS if (chart := draw(verdict)) is not None]
