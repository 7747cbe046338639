"""``riskguard compare``: a candidate against baselines, outside pytest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_riskguard.cli.output import Outputs, detail_options, present, report_options
from pytest_riskguard.cli.parameters import (
    Collection,
    NamedPath,
    baseline_option,
    collection_options,
    gate_options,
    in_roles,
    metadata_option,
    no_cache_option,
    place_words,
    runs_argument,
    slice_option,
)
from pytest_riskguard.errors import UsageError
from pytest_riskguard.gates.kinds import KINDS, OPTIONS, POLICY, NotSignificantlyRisky, kinds_with, options_of
from pytest_riskguard.text import listed

if TYPE_CHECKING:
    from pytest_riskguard.config.schema import ComputedBaseline
    from pytest_riskguard.engine.question import Baseline, Computed, Question, Source
    from pytest_riskguard.gates.verdict import Verdict


#: Options of a gate that have a flag.
_FLAGS = ("alpha", "level", "tolerance", "on_churn")
_SETTINGS = tuple(name for name in OPTIONS if name not in ("alpha", "slice"))


@click.command()
@runs_argument()
@baseline_option(computed=True)
@collection_options(*_SETTINGS, "family", "on_changed_inputs")
@no_cache_option
@click.option(
    "--gate",
    "kind",
    type=click.Choice(tuple(KINDS)),
    help="Ask this question alone. [default: not_significantly_risky, and no_topic_collapse twice: at most 5% of the "
    "queries may lose more than 0.3, and none more than 0.5]",
)
@gate_options(*_FLAGS)
@slice_option
@metadata_option("What is known of every CANDIDATE, such as index=v8; reports say what differs.")
@report_options
@detail_options
def compare(
    runs: tuple[NamedPath, ...],
    baselines: tuple[NamedPath, ...],
    collection: Collection,
    kind: str | None,
    alphas: tuple[float, ...],
    slices: tuple[str, ...],
    metadata: dict[str, str],
    outputs: Outputs,
    verbose: bool,
    quiet: bool,
    **flags: Any,
) -> int:
    """Judge runs against baselines.

    The first run is the baseline, a file or the name of a stored one, and each of the others is judged against it.
    With --baseline every run is judged. NAME=RUN gives a run another name than its file's.

    One verdict for each candidate, gate, measure, alpha, baseline and slice, in the order given; georisk_not_worse
    gives one for each candidate, measure, alpha and slice, over all baselines. Options of a gate are those of
    --gate, without it those of not_significantly_risky.

    Without --qrels and --scores, riskguard.yaml supplies what is not given: its first gate of this kind (--gate),
    then the whole file; without --gate its gates on single queries too, each about its own baselines and measures.
    This applies to baselines, measures, alpha, the family and every option of a gate; the defaults below hold without
    a file. A line after the verdicts says what was taken from it.
    """
    from pytest_riskguard.cli.inputs import ON_SINGLE_QUERIES, Inputs
    from pytest_riskguard.engine.advice import about_runs, advised

    outputs.withdraw()
    baselines, candidates = in_roles(runs, baselines)
    asked_kind = kind or NotSignificantlyRisky.kind
    given = {name: value for name, value in flags.items() if value is not None}
    if twice := sorted(given.keys() & collection.options.keys()):
        raise UsageError(f"{twice[0]} given twice, as an option and with --set")
    collection = replace(collection, settings={**collection.settings, **given})
    for name in collection.options if kind is None else ():
        if name not in options_of(NotSignificantlyRisky):
            raise UsageError(
                f"{name}: without --gate the default gates are asked, which set or lack "
                f"that option; add --gate {kinds_with(name)[0]}, or declare gates in a riskguard.yaml"
            )
    inputs = Inputs(collection, (), baselines, alphas=alphas, report=outputs.any, kind=asked_kind)
    declared = inputs.declared
    if not baselines and not declared.baselines:
        raise UsageError(
            "no baseline: write it first, as in riskguard compare BASELINE CANDIDATE --qrels QRELS, or give "
            "--baseline"
        )
    tested = inputs.candidates(candidates, metadata)
    outputs.check(*(candidate.path for candidate in tested), *inputs.files)
    single, computed = inputs.single_and_computed()
    pools = (
        _pools(asked_kind, single, computed)
        if baselines
        else [_declared_pool(question) for question in declared.baselines]
    )
    alphas, correction, values, from_file, typed = inputs.asked
    name = "" if kind else declared.gate or POLICY[0][0]
    questions: list[Question] = []
    for candidate in tested:
        questions += inputs.questions(
            asked_kind, candidate, pools, alphas=alphas, options=values, name=name, slices=slices
        )
        for gate in declared.beside if kind is None else ():
            own = {name: value for name, value in gate.options.items() if name not in typed}
            questions += inputs.questions(
                gate.kind,
                candidate,
                pools if baselines or not gate.baselines else [_declared_pool(one) for one in gate.baselines],
                alphas=alphas[:1] if "alphas" in typed else gate.alphas,
                options={**_shared(values, gate.kind), **own},
                name=gate.name,
                measures=gate.measures,
                slices=slices,
            )
    notes = [from_file]
    if kind is None and declared.beside is ON_SINGLE_QUERIES and not collection.scores:
        questions, note = _within_its_scale(questions)
        notes.append(note)
    verdicts = inputs.engine.verdicts(questions, correction=correction)
    verdicts = [
        advised(verdict, partial(about_runs, question, verdict, where=place_words(), here=Path.cwd()))
        for question, verdict in zip(questions, verdicts, strict=True)
    ]
    config = inputs.config
    del inputs, declared, questions  # reports need nothing of the runs
    return present(
        verdicts,
        outputs=outputs,
        verbose=verbose,
        quiet=quiet,
        folder=Path.cwd(),
        notes=tuple(note for note in notes if note is not None),
        roles=_roles(verdicts),
        config=config,
    )


def _roles(verdicts: Sequence[Verdict]) -> str:
    """``prod (baseline) against a, b``: what is judged, and against what."""
    candidates = tuple(dict.fromkeys(verdict.candidate for verdict in verdicts))
    baselines = tuple(dict.fromkeys(name for verdict in verdicts for name in verdict.baselines))
    word = "baseline" if len(baselines) == 1 else "baselines"
    return f"{listed(candidates, most=5)} against {listed(baselines, most=5)} ({word})"


def _within_its_scale(questions: Sequence[Question]) -> tuple[list[Question], str | None]:
    """Those that the default limits of single queries fit, which are for scores from 0 to 1, and what is left out."""
    from pytest_riskguard.data.measures import span

    measures = {question.measure or "" for question in questions}
    unlimited = tuple(sorted(measure for measure in measures if math.isinf(span(measure))))
    kept = [question for question in questions if not (question.gate.by_topic and question.measure in unlimited)]
    if len(kept) == len(questions):
        return kept, None
    have = "has" if len(unlimited) == 1 else "have"
    return kept, (
        f"{listed(unlimited, most=5)} {have} no greatest value, so single queries were not judged; give a limit: "
        "--gate no_topic_collapse --set max_loss=LIMIT"
    )


def _shared(values: dict[str, Any], kind: str) -> dict[str, Any]:
    """Those of the options of one gate that a gate of another kind has too."""
    return {name: value for name, value in values.items() if name in options_of(KINDS[kind])}


def _declared_pool(systems: Sequence[str | ComputedBaseline]) -> tuple[Baseline, tuple[Source, ...]]:
    """The baselines of one question of a gate of riskguard.yaml."""
    from pytest_riskguard.engine.declared_gates import baseline_source
    from pytest_riskguard.engine.question import Computed

    first, *pool = (baseline_source(system) for system in systems)
    return first, tuple(source for source in pool if not isinstance(source, Computed))


def _pools(
    kind: str, single: Sequence[Source], computed: Sequence[Computed]
) -> list[tuple[Baseline, tuple[Source, ...]]]:
    """For each question its baseline and, if the gate compares a pool, the other systems."""
    if not KINDS[kind].is_pool:
        return [(baseline, ()) for baseline in (*single, *computed)]
    if computed:
        raise UsageError(f"--gate {kind}: a pool takes no computed baselines; give its systems with --baseline")
    return [(single[0], tuple(single[1:]))]
