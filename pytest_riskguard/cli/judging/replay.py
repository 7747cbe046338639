"""``riskguard replay``: past releases under several alphas."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from pytest_riskguard.cli.exit_status import ExitStatus
from pytest_riskguard.cli.output import Reports, json_option, show_study, terminal_width
from pytest_riskguard.cli.parameters import (
    Collection,
    NamedPath,
    NumberType,
    collection_options,
    named_path,
)
from pytest_riskguard.errors import UsageError
from pytest_riskguard.gates.kinds import MAX_ALPHA, OPTIONS
from pytest_riskguard.gates.option_types import Number
from pytest_riskguard.text import counted

ALPHAS = (0.0, 1.0, 2.0, 5.0, 10.0)


@click.command()
@click.argument("runs", type=named_path, nargs=-1, required=True, metavar="[NAME=]RUN...")
@click.option(
    "--baseline",
    type=named_path,
    metavar="[NAME=]RUN",
    help="Judge every release against this run or stored baseline. [default: each against the one before it]",
)
@click.option(
    "--regretted",
    multiple=True,
    metavar="NAME",
    help="A release that should not have been shipped. Repeatable.",
)
@collection_options("level", "method", "tolerance", "missing", "max_loss")
@click.option(
    "--alpha",
    "alphas",
    type=NumberType(Number(0, MAX_ALPHA)),
    multiple=True,
    help=f"An alpha to try. Repeatable. [default: {', '.join(f'{alpha:g}' for alpha in ALPHAS)}]",
)
@json_option("the figures")
def replay(
    runs: tuple[NamedPath, ...],
    baseline: NamedPath | None,
    regretted: tuple[str, ...],
    collection: Collection,
    alphas: tuple[float, ...],
    json_path: str | None,
) -> int:
    """Judge past releases under several alphas.

    RUNs are releases, oldest first: run files, or stored baselines. A single stored baseline stands for all the runs
    that it has held. The table shows which of them would have passed under which alpha, and what each alpha would
    have stopped, so that it can be chosen on releases whose effects are known. The exit status is 0 whatever the
    answers are, but 3 if two releases cannot be compared.
    """
    from pytest_riskguard.cli.inputs import Inputs, once
    from pytest_riskguard.engine.judging import refuse_if_it_cannot_fail
    from pytest_riskguard.gates.chain.past_releases import replay as replayed
    from pytest_riskguard.gates.kinds import NoTopicCollapse, NotSignificantlyRisky
    from pytest_riskguard.reports.studies.replay_table import dumps, explain

    options = collection.options
    max_loss = options.pop("max_loss", OPTIONS["max_loss"].default)
    named = runs if baseline is None else (*runs, baseline)
    inputs = Inputs(collection, named)
    Reports(json_path).check(*inputs.files)
    sources = inputs.systems(runs, option="RUN")
    against = None if baseline is None else inputs.systems((baseline,))[0]
    once("--alpha", [f"{alpha:g}" for alpha in alphas])
    once("--regretted", regretted)
    alphas = alphas or ALPHAS
    # churn counts: this is about what each alpha would have stopped
    gate, collapse = NotSignificantlyRisky(on_churn="fail", **options), NoTopicCollapse(max_loss=max_loss)
    replays = []
    for measure in inputs.measures(Path(runs[0].text)):
        for asked in (*(replace(gate, alpha=alpha) for alpha in alphas), collapse):
            refuse_if_it_cannot_fail(asked, measure)
        chain = inputs.chain(sources, measure)
        yardstick = None if against is None else inputs.engine.scores(against, measure)
        if len(chain) < 2 and yardstick is None:
            raise UsageError("one run has no release before it: name more runs, oldest first, or a --baseline")
        try:
            replays.append(
                replayed(
                    gate,
                    chain,
                    alphas=alphas,
                    baseline=yardstick,
                    regretted=regretted,
                    max_loss=max_loss,
                    topics=inputs.engine.topics,
                )
            )
        except ValueError as error:
            raise UsageError(f"--{error}") from None
    show_study(explain(replays, width=terminal_width()), dumps(replays), json_path=json_path)
    problems = sum(release.problem is not None for made in replays for release in made.releases)
    if not problems:
        return ExitStatus.PASSED
    click.echo(f"Error: {counted(problems, 'release')} cannot be compared", err=True)
    return ExitStatus.INCOMPARABLE
