"""The commands of the group ``riskguard study``: a pool as its own yardsticks, past releases, reports over time."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from pytest_riskguard.cli.exit_status import ExitStatus
from pytest_riskguard.cli.output import Reports, json_option, show_study, terminal_width, write_text
from pytest_riskguard.cli.parameters import (
    FILE,
    Collection,
    NamedPath,
    NumberType,
    collection_options,
    gate_options,
    named_path,
)
from pytest_riskguard.errors import MissingFileError, UsageError
from pytest_riskguard.formats.input_files import is_folder
from pytest_riskguard.gates.kinds import MAX_ALPHA, OPTIONS
from pytest_riskguard.gates.option_types import Number
from pytest_riskguard.text import counted


@click.group()
def study() -> None:
    """Study systems, past releases and reports; nothing is judged."""


@study.command()
@click.argument("systems", type=named_path, nargs=-1, metavar="[[NAME=]SYSTEM]...")
@collection_options("missing", files=1)
@gate_options("alpha")
@json_option("the figures")
def pool(
    systems: tuple[NamedPath, ...],
    collection: Collection,
    alphas: tuple[float, ...],
    json_path: str | None,
) -> int:
    """Ask whether one baseline is a fair yardstick.

    Uses each SYSTEM, a run or a stored baseline, as the baseline of all the others, and shows which of them correlate
    over topics and whether their order by risk depends on the baseline. Without SYSTEM, uses all stored baselines.
    """
    from pytest_riskguard.cli.inputs import Inputs, once
    from pytest_riskguard.gates.alignment import on_one_list
    from pytest_riskguard.gates.kinds import NotSignificantlyRisky
    from pytest_riskguard.studies.pool_report import MAX_SYSTEMS, MIN_SYSTEMS, pool_report
    from pytest_riskguard.studies.pool_table import dumps, explain

    if collection.scores and not systems:
        raise UsageError("--scores needs at least two tables of per-topic scores")
    inputs = Inputs(collection, systems, whole=not systems)
    Reports(json_path).check(*inputs.files)
    sources = inputs.systems(systems, option="SYSTEM") if systems else inputs.whole_store()
    alphas = alphas or (OPTIONS["alpha"].default,)
    once("--alpha", [f"{value:g}" for value in alphas])
    if not MIN_SYSTEMS <= len(sources) <= MAX_SYSTEMS:
        where = "given" if systems else "stored"
        raise UsageError(f"a pool has {MIN_SYSTEMS} to {MAX_SYSTEMS} systems; {len(sources)} {where}")
    gate = NotSignificantlyRisky("pool", **collection.options)
    pools = [
        on_one_list(gate, [inputs.engine.scores(source, measure) for source in sources])
        for measure in inputs.measures(Path(systems[0].text) if systems else Path())
    ]
    report = pool_report(pools, alphas=alphas)
    show_study(explain(report, width=terminal_width()), dumps(report), json_path=json_path)
    return ExitStatus.PASSED


ALPHAS = (0.0, 1.0, 2.0, 5.0, 10.0)


@study.command()
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
@collection_options("level", "method", "tolerance", "missing", "max_loss", files=1)
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
    from pytest_riskguard.gates.kinds import NoTopicCollapse, NotSignificantlyRisky
    from pytest_riskguard.studies.replay import dumps, explain
    from pytest_riskguard.studies.replay import replay as replayed

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


@study.command()
@click.argument("reports", type=FILE, nargs=-1, required=True, metavar="REPORTS...")
@json_option("the figures")
@click.option("--html", type=FILE, help="Write the trend as an HTML page here. Needs the extra [report].")
def trend(reports: tuple[Path, ...], json_path: str | None, html: Path | None) -> int:
    """Show verdicts, estimates and weak topics over time.

    REPORTS are JSON reports, or folders that hold some. Runs are ordered by the date in the report, or else by that
    of the file. The exit status is 0 whatever the verdicts are, but 3 if a report cannot be read or compared with the
    others.
    """
    from pytest_riskguard.studies.trend_section import section
    from pytest_riskguard.studies.trend_series import dumps
    from pytest_riskguard.studies.trend_series import trend as trend_of

    files = _files(reports)
    Reports(json_path, html).check(*files)
    made = trend_of(files)
    shown = section(made)
    show_study(shown.to_text(max(terminal_width(), 60)), dumps(made), json_path=json_path)
    if html is not None:
        write_text(shown.to_page(), html, option="--html")
    if not made.problems:
        return ExitStatus.PASSED
    click.echo(f"Error: {len(made.problems)} of {counted(len(files), 'report')} cannot be compared", err=True)
    return ExitStatus.INCOMPARABLE


def _files(given: Sequence[Path]) -> list[Path]:
    """The reports, those of a folder by name; each once."""
    from pytest_riskguard.formats.limits import REPORTS

    files: dict[str, Path] = {}
    for path in given:
        inside = _inside(path) if is_folder(path) else [path]
        if not inside:
            raise MissingFileError(path, None, "expected JSON reports (*.json) in this folder, found none")
        for file in inside:
            files.setdefault(os.path.realpath(file), file)
            if len(files) > REPORTS.value:
                raise UsageError(REPORTS.problem(len(files)))
    return list(files.values())


def _inside(folder: Path) -> list[Path]:
    """JSON files in a folder and in those below it; links to folders are not followed."""
    found = [
        Path(root) / name for root, _, names in os.walk(folder) for name in names if name.lower().endswith(".json")
    ]
    return sorted(found)
