"""``riskguard power``: what a gate can detect, and how many topics it needs."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import click

from pytest_riskguard.cli.inputs import Inputs, gates_at, system_options
from pytest_riskguard.cli.options import number_type, repeated, slice_option
from pytest_riskguard.cli.output import Outputs, output_options
from pytest_riskguard.errors import UsageError
from pytest_riskguard.gates.kinds import NotSignificantlyRisky
from pytest_riskguard.gates.option_types import Number

if TYPE_CHECKING:
    from pytest_riskguard.gates.power import Plan

EFFECTS = (0.005, 0.01, 0.02, 0.05)
CORRELATIONS = (0.7, 0.8, 0.9, 0.95)


def _listed(values: tuple[float, ...]) -> str:
    return ", ".join(f"{value:g}" for value in values)


@click.command()
@system_options(
    "CANDIDATE",
    *("level", "method", "tolerance", "missing", "on_churn"),
    metavar="[BASELINE] [CANDIDATE]",
    baseline="A run file, or the name of a stored baseline.",
    required=False,
    first=1,
)
@slice_option
@click.option(
    "--power",
    "chance",
    type=number_type(Number(0, 1, open_range=True)),
    default=0.8,
    show_default=True,
    help="The probability of detecting an effect, between 0 and 1.",
)
@repeated(
    "--effect",
    "effects",
    type=number_type(Number(0, open_range=True)),
    help="A fall to detect, of the mean (with on_churn=fail of URisk), in units of the measure. "
    f"[default: {_listed(EFFECTS)}]",
)
@repeated(
    "--correlation",
    "correlations",
    type=number_type(Number(-1, 1, open_range=True)),
    help="Without CANDIDATE: the correlation of its scores with the baseline's over topics, between -1 and 1. "
    f"[default: {_listed(CORRELATIONS)}]",
)
@output_options("the plans")
def power(
    inputs: Inputs, chance: float, effects: tuple[float, ...], correlations: tuple[float, ...], outputs: Outputs
) -> int:
    """Plan how many topics a gate needs.

    Shows the smallest loss that the gate detects with these topics, and how many topics smaller losses need: from the
    differences between CANDIDATE and a baseline, or from a baseline alone and an assumed correlation.

    The first run is the baseline, a file or the name of a stored one; with --baseline the only run is CANDIDATE.
    """
    from pytest_riskguard.gates.power import plan_of
    from pytest_riskguard.reports.power_table import dumps, section

    if not inputs.named_baselines:
        raise UsageError("no baseline: write it first, as in riskguard power BASELINE CANDIDATE --qrels QRELS")
    if len(inputs.runs) > 1:
        raise UsageError("power plans for one candidate: give at most one run beside the baselines")
    if inputs.runs and correlations:
        raise UsageError("--correlation is only for plans without CANDIDATE; drop one of the two")
    outputs.check(*inputs.files)
    tested, first = inputs.candidates, (*inputs.candidates, *inputs.baselines)[0]
    measures = inputs.measures()
    plans: list[Plan] = []
    gates = gates_at(inputs.alphas, "power", NotSignificantlyRisky.kind, inputs.options)
    for measure, baseline, part, asked in product(
        measures, inputs.baselines, inputs.slices(first, measures[0]), gates
    ):
        gate = replace(asked, slice=part)
        of_baseline = inputs.engine.scores(baseline, measure, gate=gate)
        of_candidate = inputs.engine.scores(tested[0], measure, gate=gate) if tested else None
        plans += [
            plan_of(
                gate,
                of_candidate,
                of_baseline,
                power=chance,
                effects=effects or EFFECTS,
                correlation=correlation,
                topics=inputs.engine.sources.topics,
            )
            for correlation in ([None] if tested else correlations or CORRELATIONS)
        ]
    return outputs.finish(section(plans), dumps(plans))
