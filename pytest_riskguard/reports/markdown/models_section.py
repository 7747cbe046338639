"""Trained models compared, as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_riskguard.reports.markdown.escape import prose, table
from pytest_riskguard.reports.studies import models_table as words
from pytest_riskguard.reports.studies.judged_models import MeasuredModels, TrainReport


def render(report: TrainReport) -> str:
    """For each measure the conclusions and the tables of every baseline, then what to know about all of them."""
    lines = ["## riskguard: trained models", ""]
    for measured in report.measures:
        lines += _measured(report, measured)
    lines += [line for remark in words.remarks(report) for line in (prose(remark), "")]
    return "\n".join(lines)


def _measured(report: TrainReport, measured: MeasuredModels) -> Iterator[str]:
    yield from (f"### {prose(words.heading(report, measured))}", "")
    yield from (*(f"- {prose(line)}" for line in words.conclusions(measured)), "")
    for against in measured.tables:
        tables = [words.figures_table(against)]
        if against is not measured.macro_average:
            tables.append(words.verdicts_table(against, alphas=len(report.gate.alphas)))
        for one in tables:
            yield from (f"**{prose(one.title)}**", "", *table(one, most=len(one.rows)), "")
    if problems := words.problems(measured):
        yield from (*(f"- {prose(line)}" for line in problems), "")
