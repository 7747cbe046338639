"""``riskguard ltr report``: trained models against baselines, in the papers' columns and with verdicts."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import click

from pytest_riskguard.cli import output_options, system_options
from pytest_riskguard.errors import UsageError

if TYPE_CHECKING:
    from pytest_riskguard.cli import Inputs, Outputs
    from pytest_riskguard.ltr.report import TrainReport

KIND = "not_significantly_risky"


@click.group()
def ltr() -> None:
    """Learning to rank."""


@ltr.command("report")
@system_options("MODEL", kind=KIND, baseline="A run file, or the name of a stored baseline.")
@output_options("the figures")
def train_report(inputs: Inputs, outputs: Outputs) -> int:
    """Compare trained models by mean and risk.

    Each MODEL is a run, a stored baseline or, with --scores, a table of per-topic scores. The report gives each
    model's mean, risk, reward, wins and losses against every baseline and on average over them, as in the papers on
    risk-sensitive learning to rank, and its verdicts of not_significantly_risky.

    Without --qrels and --scores, riskguard.yaml names judgements, topics, store and measures. The exit status is 0
    whatever the verdicts are, but 3 if a model cannot be compared.
    """
    from pytest_riskguard.ltr.report import SCHEMA
    from pytest_riskguard.ltr.report_section import section
    from pytest_riskguard.reports import document

    outputs.withdraw()
    if not inputs.baselines:
        raise UsageError("no baseline: give --baseline")
    outputs.check(*inputs.files)
    report = _report(inputs)
    missing, problem = sum(verdict.outcome == "incomparable" for verdict in report.verdicts), ""
    if missing:
        problem = f"{missing} verdict{'s' * (missing > 1)} without an answer: the data cannot be compared"
    content = document(SCHEMA, report)  # infinite ratios are null
    return outputs.finish(section(report), content, problem=problem)


def _report(inputs: Inputs) -> TrainReport:
    """All figures and verdicts, for every measure asked for, or every column of the first table of scores."""
    from pytest_riskguard.ltr.report import Comparison, TrainReport, comparisons_of

    measures, number = inputs.measures(), len(inputs.systems)
    pairs = [(model, baseline) for baseline, model in product(inputs.baselines, inputs.systems)]
    together, names = [], list[str]()
    for measure in measures:
        one = inputs.together([*inputs.systems, *inputs.baselines], measure, **inputs.options)
        names = [scores.name for scores in one.scores]
        together.append(one)
    if both := [name for name in names[:number] if name in names[number:]]:
        raise UsageError(
            f"MODEL: {both[0]} is a baseline too: leave it out of one of the two, or give one another name with "
            "NAME=RUN"
        )
    verdicts = inputs.verdicts(
        KIND, pairs, measures=measures, alphas=inputs.alphas, correction=inputs.correction, **inputs.options
    )
    size, made = len(verdicts) // len(measures), list[Comparison]()
    for place, one in enumerate(together):
        values = [(scores.name, scores.values) for scores in one.scores]
        models, baselines = dict(values[:number]), dict(values[number:])
        own = verdicts[place * size : (place + 1) * size]
        made += comparisons_of(one.scores[0].measure, models, baselines, own, weights=one.weights)
    first = verdicts[0]
    return TrainReport(
        gate=first.kind,
        alphas=tuple(dict.fromkeys(verdict.alpha for verdict in verdicts)),
        level=first.level,
        tolerance=first.tolerance,
        correction=next((verdict.family.correction for verdict in verdicts if verdict.family), "none"),
        comparisons=tuple(made),
    )
