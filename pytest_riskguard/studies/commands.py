"""The commands ``riskguard study pool`` and ``riskguard study replay``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from pytest_riskguard.cli import output_options, system_options
from pytest_riskguard.errors import UsageError

if TYPE_CHECKING:
    from pytest_riskguard.cli import Inputs, Outputs


@click.group()
def study() -> None:
    """Study systems and past releases; nothing is judged."""


@study.command()
@system_options("SYSTEM", "missing", alphas=(1.0,))
@output_options("the figures")
def pool(inputs: Inputs, outputs: Outputs) -> int:
    """Ask whether one baseline is a fair yardstick.

    Uses each SYSTEM, a run or a stored baseline, as the baseline of all the others, and shows which of them correlate
    over topics and whether their order by risk depends on the baseline.
    """
    from pytest_riskguard.studies.pool_study import MAX_SYSTEMS, MIN_SYSTEMS, dumps, pool_report, section

    outputs.check(*inputs.files)
    systems = inputs.systems
    if not MIN_SYSTEMS <= len(systems) <= MAX_SYSTEMS:
        raise UsageError(f"a pool has {MIN_SYSTEMS} to {MAX_SYSTEMS} systems; found {len(systems)}")
    pools = [inputs.together(systems, measure, **inputs.options) for measure in inputs.measures()]
    report = pool_report(pools, alphas=inputs.alphas)
    return outputs.finish(section(report), dumps(report))


@study.command()
@system_options(
    "RUN",
    *("level", "method", "tolerance", "missing"),
    baseline="Judge every release against this run or stored baseline, not each against the one before it.",
    alphas=(0.0, 1.0, 2.0, 5.0, 10.0),
)
@click.option(
    "--regretted",
    multiple=True,
    metavar="NAME",
    help="A release that should not have been shipped. Repeatable.",
)
@output_options("the figures")
def replay(inputs: Inputs, outputs: Outputs, regretted: tuple[str, ...]) -> int:
    """Judge past releases under several alphas.

    RUNs are releases, oldest first: run files, or stored baselines. A single stored baseline stands for all the runs
    that it has held. The table shows which of them would have passed under which alpha, so that it can be chosen on
    releases whose effects are known. The exit status is 0 whatever the answers are, but 3 if two releases cannot be
    compared.
    """
    from pytest_riskguard.studies.replay import dumps, section
    from pytest_riskguard.studies.replay import replay as replayed

    outputs.check(*inputs.files)
    if len(inputs.baselines) > 1:
        raise UsageError("--baseline: releases are judged against one baseline")
    replays = []
    for measure in inputs.measures():
        runs = inputs.history(measure)
        against = [inputs.engine.scores(baseline, measure) for baseline in inputs.baselines]
        try:
            replays.append(
                replayed(
                    runs,
                    partial(inputs.verdicts, measures=[measure]),
                    alphas=inputs.alphas,
                    baseline=against[0] if against else None,
                    regretted=regretted,
                    **inputs.options,
                )
            )
        except ValueError as error:
            raise UsageError(str(error)) from None
    problems = sum(release.problem is not None for made in replays for release in made.releases)
    problem = f"{problems} release{'s' * (problems > 1)} cannot be compared" if problems else ""
    return outputs.finish(section(replays), dumps(replays), problem=problem)
