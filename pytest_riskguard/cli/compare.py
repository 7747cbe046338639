"""``riskguard compare``: a candidate against baselines, outside pytest."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_riskguard.cli.inputs import computed_baselines, engine_for, measures_of, once, slices_asked, source_of
from pytest_riskguard.cli.options import (
    baseline_option,
    collection_options,
    computed_options,
    leniency_options,
    question_options,
    slice_options,
)
from pytest_riskguard.cli.output import Reports, detail_options, report_options, show, tell_github
from pytest_riskguard.cli.parameters import FILE, FiniteFloat, NamedPath, NumberOrNone
from pytest_riskguard.errors import UsageError
from pytest_riskguard.gates.kinds import (
    COMPUTED,
    CONVENTIONS,
    CORRECTIONS,
    KINDS,
    RESPONSES,
    TRADEOFFS,
)
from pytest_riskguard.text import clean

if TYPE_CHECKING:
    from pytest_riskguard.sources import Baseline, Source


@click.command()
@click.argument("candidate", type=FILE)
@baseline_option(required=False)
@collection_options
@question_options
@click.option(
    "--tradeoff",
    type=click.Choice(TRADEOFFS),
    default="linear",
    show_default=True,
    help="How a difference becomes a trade-off score. smooth: at alpha 1 only, for scores that differ by at most 1.",
)
@click.option(
    "--convention",
    type=click.Choice(CONVENTIONS),
    default="plus",
    show_default=True,
    help="Whether a risk is shown as a negative (plus) or as a positive number (minus). It decides nothing.",
)
@click.option("--weighted", is_flag=True, help="Count topics by the weight column of the topics file.")
@slice_options
@click.option(
    "--gate",
    "kind",
    type=click.Choice(tuple(KINDS)),
    default=next(iter(KINDS)),
    show_default=True,
    help="The question of the gate.",
)
@computed_options
@click.option(
    "--reference",
    metavar="NAME|any|median",
    help="georisk_not_worse: the baseline to compare GeoRisk with, any of them, or their median. "
    "[default: the first baseline]",
)
@click.option(
    "--max-loss",
    type=NumberOrNone(0),
    default=0.5,
    show_default=True,
    help="no_topic_collapse: largest loss a topic may have, in units of the measure; none for no limit.",
)
@click.option(
    "--max-share",
    type=FiniteFloat(0, 1),
    help="no_topic_collapse: largest share of the baseline's score a topic may lose, from 0 to 1.",
)
@click.option(
    "--protect",
    "protected",
    multiple=True,
    metavar="TOPIC|TAG=VALUE",
    help="no_topic_collapse: a topic, or the topics with a tag, that may not lose at all. Repeatable.",
)
@click.option(
    "--family",
    type=click.Choice(CORRECTIONS),
    default="none",
    show_default=True,
    help="Correction for judging several gates; all risk gates of the command are one family.",
)
@leniency_options
@click.option(
    "--on-inconclusive",
    type=click.Choice(RESPONSES),
    default="fail",
    show_default=True,
    help="What happens when a comparison is too small or too weak to judge.",
)
@report_options
@click.option("--no-github", is_flag=True, help="In GitHub Actions: no annotations, nothing in the step's summary.")
@detail_options
def compare(
    candidate: Path,
    baselines: tuple[NamedPath, ...],
    qrels: Path | None,
    topics: Path | None,
    store: Path | None,
    scores: bool,
    candidate_inside: bool,
    measures: tuple[str, ...],
    alphas: tuple[float, ...],
    slices: tuple[str, ...],
    smallest_slice: int | None,
    family: str,
    reports: Reports,
    no_github: bool,
    verbose: bool,
    quiet: bool,
    **options: Any,
) -> int:
    """Judge a run against baselines.

    One verdict for each measure, alpha, baseline and slice, in the order given; georisk_not_worse gives one for each
    measure, alpha and slice, over all baselines.
    """
    from pytest_riskguard.gates.kinds import gate_of
    from pytest_riskguard.sources import Question, RunFile, ScoreFile

    reports.check()
    asked: dict[str, tuple[tuple[NamedPath, ...], ...]] = {kind: options.pop(f"baseline_{kind}") for kind in COMPUTED}
    named = [*baselines, *(given for groups in asked.values() for group in groups for given in group)]
    if not named:
        raise UsageError("no baseline: give --baseline, or --baseline-mean with several")
    engine, stored = engine_for(qrels, topics, store, measures, named, scores=scores, report=reports.any)
    ours: Source = ScoreFile(candidate) if scores else RunFile(candidate)
    theirs = [source_of(given, stored, scores=scores) for given in baselines]
    once("--baseline", [source.label for source in theirs])
    yardsticks = computed_baselines(asked, stored, scores=scores, inside=candidate_inside)
    once("--alpha", [f"{alpha:g}" for alpha in alphas])
    try:
        gates = [gate_of(str(options["kind"]), alpha=alpha, **options) for alpha in alphas]
    except ValueError as error:
        raise UsageError(f"--gate {options['kind']}: {error}") from None
    if options["kind"] == "georisk_not_worse":
        if yardsticks:
            raise UsageError("--gate georisk_not_worse: a pool is of systems, give them with --baseline")
        pools: list[tuple[Baseline, tuple[Source, ...]]] = [(theirs[0], tuple(theirs[1:]))]
    else:
        pools = [(other, ()) for other in (*theirs, *yardsticks)]
    known = measures_of(measures, candidate, scores=scores)
    asked_slices = slices_asked(slices, smallest_slice, engine, ours, known[0])
    questions = [
        Question(replace(gate, slice=part), ours, first, measure, pool=others, alphas=alphas)
        for measure in known
        for gate in gates
        for first, others in pools
        for part in asked_slices
    ]
    verdicts = engine.verdicts(questions, correction=family)
    show(verdicts, verbose=verbose, quiet=quiet, to_stderr=reports.on_stdout, problem_of=engine.message_of)
    if not quiet and any(not verdict.passed for verdict in verdicts):
        words = map(_printable, click.get_current_context().obj)
        click.echo(f"  reproduce: riskguard {' '.join(words)}", err=reports.on_stdout)
    reports.write(verdicts)
    if not no_github:
        tell_github(verdicts, to_stderr=reports.on_stdout)
    from pytest_riskguard.cli.output import status_of

    return status_of(verdicts)


def _printable(word: str) -> str:
    """A word of a command as a shell reads it; one that a terminal would not show as it is loses what it hides."""
    return shlex.quote(word if word.isprintable() else clean(word, limit=10_000))
