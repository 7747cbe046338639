"""``riskguard power``: what a gate can see, before there is anything to judge."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pytest_riskguard.cli.inputs import engine_for, measures_of, once, slices_asked, source_of
from pytest_riskguard.cli.options import baseline_option, collection_options, question_options, slice_options
from pytest_riskguard.cli.output import ExitStatus
from pytest_riskguard.cli.parameters import FILE, FiniteFloat, NamedPath
from pytest_riskguard.errors import UsageError

if TYPE_CHECKING:
    from pytest_riskguard.gates.planning import Plan
    from pytest_riskguard.gates.spec import Gate
    from pytest_riskguard.sources import Source

EFFECTS = (0.005, 0.01, 0.02, 0.05)
CORRELATIONS = (0.7, 0.8, 0.9, 0.95)


def _ladder(values: tuple[float, ...]) -> str:
    return ", ".join(f"{value:g}" for value in values)


@click.command()
@click.argument("candidate", type=FILE, required=False)
@baseline_option(required=True)
@collection_options
@question_options
@slice_options
@click.option(
    "--power",
    "chance",
    type=FiniteFloat(0, 1, open_range=True),
    default=0.8,
    show_default=True,
    help="The chance of seeing a loss that a plan asks for, between 0 and 1.",
)
@click.option(
    "--effect",
    "effects",
    type=FiniteFloat(0, open_range=True),
    multiple=True,
    help=f"A loss of URisk to plan topics for, in units of the measure. Repeatable. [default: {_ladder(EFFECTS)}]",
)
@click.option(
    "--correlation",
    "correlations",
    type=FiniteFloat(-1, 1, open_range=True),
    multiple=True,
    help="Without CANDIDATE: the correlation of its scores with the baseline's over topics, between -1 and 1. "
    f"Repeatable. [default: {_ladder(CORRELATIONS)}]",
)
@click.option("--json", "json_path", metavar="PATH|-", help="Write the plans here as JSON; - is standard output.")
def power(
    candidate: Path | None,
    baselines: tuple[NamedPath, ...],
    qrels: Path | None,
    topics: Path | None,
    store: Path | None,
    scores: bool,
    measures: tuple[str, ...],
    alphas: tuple[float, ...],
    slices: tuple[str, ...],
    smallest_slice: int | None,
    chance: float,
    effects: tuple[float, ...],
    correlations: tuple[float, ...],
    json_path: str | None,
    **options: object,
) -> int:
    """Plan how many topics a gate needs.

    From the differences between CANDIDATE and a baseline, or from a baseline alone and an assumption: the smallest
    loss that the gate sees with the topics at hand, and the topics that smaller ones need.
    """
    from pytest_riskguard.gates.planning import plan_from_baseline, plan_from_runs
    from pytest_riskguard.gates.spec import Gate
    from pytest_riskguard.sources import RunFile, ScoreFile

    if candidate is not None and correlations:
        raise UsageError("--correlation plans from a baseline alone; with CANDIDATE the differences are there to see")
    engine, stored = engine_for(qrels, topics, store, measures, baselines, scores=scores)
    ours: Source | None = None
    if candidate is not None:
        ours = ScoreFile(candidate) if scores else RunFile(candidate)
    theirs = [source_of(given, stored, scores=scores) for given in baselines]
    once("--baseline", [source.label for source in theirs])
    for option, values in (("--alpha", alphas), ("--effect", effects), ("--correlation", correlations)):
        once(option, [f"{value:g}" for value in values])
    table = candidate or Path(baselines[0].text)

    def plans(gate: Gate, other: Source, measure: str) -> list[Plan]:
        asked = {"power": chance, "effects": effects or EFFECTS}
        known = engine.scores(other, measure, gate=gate)
        if ours is not None:
            return [plan_from_runs(gate, engine.scores(ours, measure, gate=gate), known, **asked)]  # type: ignore[arg-type]
        return [
            plan_from_baseline(gate, known, correlation=correlation, **asked)  # type: ignore[arg-type]
            for correlation in correlations or CORRELATIONS
        ]

    asked = measures_of(measures, table, scores=scores)
    parts = slices_asked(slices, smallest_slice, engine, ours or theirs[0], asked[0])
    found = [
        plan
        for measure in asked
        for other in theirs
        for part in parts
        for alpha in alphas
        for plan in plans(Gate(name="power", alpha=alpha, slice=part, **options), other, measure)  # type: ignore[arg-type]
    ]
    _show(found, json_path)
    return ExitStatus.PASSED


def _show(plans: list[Plan], json_path: str | None) -> None:
    from pytest_riskguard.reports.files import write_text
    from pytest_riskguard.reports.planning import dumps, explain

    click.echo(explain(plans, width=max(shutil.get_terminal_size().columns, 40)), err=json_path == "-")
    if json_path == "-":
        click.echo(dumps(plans), nl=False)
    elif json_path is not None:
        try:
            write_text(Path(json_path), dumps(plans))
        except OSError as error:
            raise UsageError(f"--json {json_path}: cannot write ({error.strerror})") from None
