"""The page of trained models: the Pareto curve and the tables for each baseline. It has no script."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_riskguard.reports.html.charts.chart import Chart
from pytest_riskguard.reports.html.charts.pareto_chart import pareto_curve
from pytest_riskguard.reports.html.whole_page import whole_page
from pytest_riskguard.reports.sections import Table
from pytest_riskguard.reports.studies import models_table as words
from pytest_riskguard.reports.studies.judged_models import JudgedAgainst, MeasuredModels, TrainReport
from pytest_riskguard.text import counted

#: Baselines that are open from the start, beside the average over them.
MAX_OPEN = 2


@dataclass(frozen=True)
class AgainstView:
    """Models against one baseline, or on average: the chart, and the tables behind it."""

    title: str
    is_open: bool
    chart: Chart
    tables: tuple[Table, ...]


@dataclass(frozen=True)
class MeasureView:
    """All of one measure."""

    heading: str
    conclusions: list[str]
    problems: list[str]
    against: list[AgainstView]


def render(report: TrainReport) -> str:
    """The page; the same report gives the same text."""
    return whole_page(
        "models.html",
        title=_title(report),
        style="models.css",
        views=[_view(report, measured, place) for place, measured in enumerate(report.measures, 1)],
        remarks=words.remarks(report),
    )


def _title(report: TrainReport) -> str:
    """The answer where there is one measure, else what was compared."""
    if len(report.measures) == 1:
        return words.conclusions(report.measures[0])[0]
    return f"{counted(len(report.models), 'model')} by {counted(len(report.measures), 'measure')}"


def _view(report: TrainReport, measured: MeasuredModels, place: int) -> MeasureView:
    return MeasureView(
        heading=words.heading(report, measured),
        conclusions=words.conclusions(measured)[len(report.measures) == 1 :],  # the first one is the page's title
        problems=words.problems(measured),
        against=[
            _against(report, measured, table, key=f"{place}-{number}")
            for number, table in enumerate(measured.tables, 1)
        ],
    )


def _against(report: TrainReport, measured: MeasuredModels, table: JudgedAgainst, *, key: str) -> AgainstView:
    tables = [words.figures_table(table)]
    is_average = table is measured.macro_average
    if not is_average:
        tables.append(words.verdicts_table(table, alphas=len(report.gate.alphas)))
    return AgainstView(
        title=words.title_of(table),
        is_open=is_average or len(report.baselines) <= MAX_OPEN,
        chart=pareto_curve(table, key=key, measure=measured.measure),
        tables=tuple(tables),
    )
