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

    Without --qrels and --scores, riskguard.yaml supplies what is not given, as for compare. The exit status is 0
    whatever the verdicts are, but 3 if a model cannot be compared.
    """
    from pytest_riskguard.ltr.report import dumps
    from pytest_riskguard.ltr.report_section import section

    outputs.withdraw()
    if not inputs.baselines:
        raise UsageError("no baseline: give --baseline")
    outputs.check(*inputs.files)
    report = _report(inputs)
    verdicts, problem = report.incomparable, ""
    if verdicts:
        problem = f"{verdicts} verdict{'s' * (verdicts > 1)} without an answer: the data cannot be compared"
    return outputs.finish(section(report), dumps(report), note=inputs.asked.from_file or "", problem=problem)


def _report(inputs: Inputs) -> TrainReport:
    """All figures and verdicts, for every measure asked for, or every column of the first table of scores."""
    from pytest_riskguard.ltr.report import AskedGate, TrainReport, judged_models

    measures, number, asked = inputs.measures(), len(inputs.systems), inputs.asked
    systems = [
        inputs.together([*inputs.systems, *inputs.baselines], measure, **asked.options) for measure in measures
    ]
    first = systems[0].scores
    names = [one.name for one in first]
    if both := [name for name in names[:number] if name in names[number:]]:
        raise UsageError(
            f"MODEL: {both[0]} is a baseline too: leave it out of one of the two, or give one another name with "
            "NAME=RUN"
        )
    pairs = [(model, baseline) for baseline, model in product(inputs.baselines, inputs.systems)]
    verdicts = inputs.verdicts(
        KIND, pairs, measures=measures, alphas=asked.alphas, correction=asked.correction, **asked.options
    )
    size = len(verdicts) // len(measures)
    made = []
    for place, one in enumerate(systems):
        values = [(scores.name, scores.values) for scores in one.scores]
        made.append(
            judged_models(
                one.scores[0].measure,
                dict(values[:number]),
                dict(values[number:]),
                verdicts[place * size : (place + 1) * size],
                weights=one.weights,
                missing_topics={name: len(topics) for name, topics in zip(names, one.missing, strict=True)},
            )
        )
    return TrainReport(
        gate=AskedGate.of(verdicts),
        models=tuple(names[:number]),
        baselines=tuple(names[number:]),
        qrels=next((one.qrels_digest for one in first if one.qrels_digest), None),
        digests={one.name: one.digest for one in first},
        measures=tuple(made),
    )
